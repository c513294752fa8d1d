// For tests: fake controllers behind a port, one a connection, with knobs that our target has not.
#pragma once

#include <memory>
#include <vector>

#include "core/check.h"
#include "io/loop.h"
#include "nvme/initiator/fabric_testing.h"
#include "nvme/initiator/fake_controller.h"

namespace forebay::nvme::initiator {

class FakeServer {
 public:
  FakeServer(io::Loop& loop, FakeDisk& disk, const FakeOptions& options)
      : loop_(loop), disk_(disk), options_(options) {
    const PeerAddress any = loopback(0);
    listener_ = loop_.engine().listen(&any.storage, any.bytes).value();
    accept();
  }
  // The hosts are gone.
  ~FakeServer() {
    if (accepting_) loop_.engine().cancel(accept_op_);
    while (accepting_ || !idle()) loop_.turn();
    for (const auto& session : sessions_) loop_.engine().close(session->socket);
    loop_.engine().close(listener_);
  }
  [[nodiscard]] std::uint16_t port() const { return loop_.engine().local_port(listener_).value(); }
  // In the order in which the host connected: the admin queue is the first.
  [[nodiscard]] FakeController& controller(std::size_t number) {
    return sessions_.at(number)->controller;
  }

  // Sends what a controller has to say without being asked.
  void push(std::size_t number) { sessions_.at(number)->send(); }

 private:
  struct Session {
    Session(FakeServer& owner, io::FileId file)
        : server(owner), socket(file), controller(owner.disk_, owner.options_) {}
    void receive() {
      piece = {input.data(), input.size()};
      start(receive_op, io::OpKind::kReceive, piece,
            [](io::Op& op) { static_cast<Session*>(op.context)->on_received(); });
    }
    void on_received() {
      over = !receive_op.done_bytes || *receive_op.done_bytes == 0;
      if (over) return;
      controller.feed(std::span(input).first(*receive_op.done_bytes));
      send();
      receive();
    }
    void send() {
      if (sending) return;
      if (output.empty()) output.swap(controller.out);
      if (output.empty()) return;
      sending = true;
      out_piece = {output.data(), output.size()};
      start(send_op, io::OpKind::kSend, out_piece,
            [](io::Op& op) { static_cast<Session*>(op.context)->on_sent(); });
    }
    void on_sent() {
      sending = false;
      if (!send_op.done_bytes) return;
      const auto sent = static_cast<std::ptrdiff_t>(*send_op.done_bytes);
      output.erase(output.begin(), output.begin() + sent);
      send();
    }
    void start(io::Op& op, io::OpKind kind, iovec& what, void (*on_done)(io::Op&)) {
      op = io::Op{};
      op.kind = kind;
      op.file = socket;
      op.buffers = {&what, 1};
      op.context = this;
      op.on_done = on_done;
      FOREBAY_CHECK(server.loop_.engine().submit(op).has_value());
    }

    FakeServer& server;
    io::FileId socket;
    FakeController controller;
    std::vector<std::byte> input = std::vector<std::byte>(65536);
    std::vector<std::byte> output;
    iovec piece{};
    iovec out_piece{};
    io::Op receive_op;
    io::Op send_op;
    bool sending = false;
    bool over = false;
  };

  void accept() {
    accept_op_ = io::Op{};
    accept_op_.kind = io::OpKind::kAccept;
    accept_op_.file = listener_;
    accept_op_.context = this;
    accept_op_.on_done = [](io::Op& op) { static_cast<FakeServer*>(op.context)->on_accepted(); };
    accepting_ = loop_.engine().submit(accept_op_).has_value();
  }
  void on_accepted() {
    accepting_ = false;
    if (!accept_op_.done_bytes) return;
    sessions_.push_back(
        std::make_unique<Session>(*this, static_cast<io::FileId>(*accept_op_.done_bytes)));
    sessions_.back()->receive();
    accept();
  }
  [[nodiscard]] bool idle() const {
    return std::ranges::all_of(
        sessions_, [](const auto& session) { return session->over && !session->sending; });
  }

  io::Loop& loop_;
  FakeDisk& disk_;
  FakeOptions options_;
  io::FileId listener_ = io::kNoFile;
  io::Op accept_op_;
  bool accepting_ = false;
  std::vector<std::unique_ptr<Session>> sessions_;
};

}  // namespace forebay::nvme::initiator
