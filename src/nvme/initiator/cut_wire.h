// For tests: a wire between a host and a target, which breaks at a byte that the test chooses.
//
// It listens on a port of its own and hands on what comes, both ways. Threads: one loop's.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "core/check.h"
#include "io/loop.h"
#include "nvme/initiator/fabric_testing.h"

namespace forebay::nvme::initiator {

// Of one connection, in the order in which the host made them: the admin queue is 0.
struct Cut {
  std::size_t connection = 1;
  bool to_target = true;  // counts what the host sends; else what it gets
  std::size_t after_bytes = 0;
  // The host alone sees the connection end, and this and all that it had before: no word of it
  // reaches the target. What the host had sent by then does when deliver() is called.
  bool deaf = false;
};

class CutWire {
 public:
  CutWire(io::Loop& loop, std::uint16_t target_port) : loop_(loop), target_(loopback(target_port)) {
    const PeerAddress any = loopback(0);
    listener_ = loop_.engine().listen(&any.storage, any.bytes).value();
    accept();
  }
  ~CutWire() {
    if (accepting_) loop_.engine().cancel(accept_op_);
    for (const auto& pair : pairs_) end(*pair);
    while (accepting_ || !idle()) loop_.turn();
    loop_.engine().close(listener_);
  }
  CutWire(const CutWire&) = delete;
  CutWire& operator=(const CutWire&) = delete;

  [[nodiscard]] std::uint16_t port() const { return loop_.engine().local_port(listener_).value(); }
  void cut(const Cut& cut) { cut_ = cut; }
  [[nodiscard]] bool was_cut() const { return was_cut_; }
  [[nodiscard]] std::size_t bytes(std::size_t connection, bool to_target) const {
    return pairs_.at(connection)->pipes[to_target ? 0 : 1].bytes;
  }
  [[nodiscard]] const std::vector<std::size_t>& boundaries(std::size_t connection,
                                                           bool to_target) const {
    return pairs_.at(connection)->pipes[to_target ? 0 : 1].boundaries;
  }
  void deliver() {
    for (const auto& pair : pairs_) {
      Pipe& pipe = pair->pipes[0];
      if (pair->held.empty() || pair->ending) continue;
      pipe.buffer.swap(pair->held);
      pair->held.clear();
      pipe.left = pipe.buffer;
      send(pipe);
    }
  }

 private:
  struct Pair;
  struct Pipe {
    Pair* pair = nullptr;
    bool to_target = true;
    std::size_t bytes = 0;
    std::vector<std::byte> pdu;           // the present one, so far
    std::vector<std::size_t> boundaries;  // where PDUs ended
    std::vector<std::byte> buffer = std::vector<std::byte>(65536);
    std::span<std::byte> left;  // of what was received, to be sent
    iovec piece{};
    io::Op receive_op;
    io::Op send_op;
    bool receiving = false;
    bool sending = false;
  };
  struct Pair {
    CutWire* wire = nullptr;
    std::size_t number = 0;
    io::FileId host = io::kNoFile;
    io::FileId target = io::kNoFile;
    io::Op connect_op;
    bool connecting = false;
    std::array<Pipe, 2> pipes;
    bool ending = false;
    bool deaf = false;
    std::vector<std::byte> held;
    io::Loop::Timer timer;
  };

  void accept() {
    accept_op_ = io::Op{};
    accept_op_.kind = io::OpKind::kAccept;
    accept_op_.file = listener_;
    accept_op_.context = this;
    accept_op_.on_done = [](io::Op& op) { static_cast<CutWire*>(op.context)->on_accepted(); };
    accepting_ = loop_.engine().submit(accept_op_).has_value();
  }
  void on_accepted() {
    accepting_ = false;
    if (!accept_op_.done_bytes) return;
    pairs_.push_back(std::make_unique<Pair>());
    Pair& pair = *pairs_.back();
    pair.wire = this;
    pair.number = pairs_.size() - 1;
    pair.host = static_cast<io::FileId>(*accept_op_.done_bytes);
    pair.target = loop_.engine().socket(AF_INET).value();
    for (Pipe& pipe : pair.pipes) pipe.pair = &pair;
    pair.pipes[1].to_target = false;
    pair.connect_op.kind = io::OpKind::kConnect;
    pair.connect_op.file = pair.target;
    pair.connect_op.address = &target_.storage;
    pair.connect_op.address_bytes = target_.bytes;
    pair.connect_op.context = &pair;
    pair.connect_op.on_done = [](io::Op& op) {
      auto& connected = *static_cast<Pair*>(op.context);
      connected.wire->on_connected(connected);
    };
    pair.connecting = true;
    FOREBAY_CHECK(loop_.engine().submit(pair.connect_op).has_value());
    accept();
  }
  void on_connected(Pair& pair) {
    pair.connecting = false;
    if (!pair.connect_op.done_bytes) pair.ending = true;
    if (pair.ending) return end(pair);
    for (Pipe& pipe : pair.pipes) receive(pipe);
  }
  void start(Pipe& pipe, io::Op& op, io::OpKind kind, io::FileId file, std::span<std::byte> where) {
    pipe.piece = {where.data(), where.size()};
    op = io::Op{};
    op.kind = kind;
    op.file = file;
    op.buffers = {&pipe.piece, 1};
    op.context = &pipe;
    op.on_done = [](io::Op& done) {
      auto& moved = *static_cast<Pipe*>(done.context);
      moved.pair->wire->on_moved(moved, done);
    };
    FOREBAY_CHECK(loop_.engine().submit(op).has_value());
  }
  void receive(Pipe& pipe) {
    Pair& pair = *pipe.pair;
    pipe.receiving = true;
    start(pipe, pipe.receive_op, io::OpKind::kReceive, pipe.to_target ? pair.host : pair.target,
          pipe.buffer);
  }
  void send(Pipe& pipe) {
    Pair& pair = *pipe.pair;
    pipe.sending = true;
    start(pipe, pipe.send_op, io::OpKind::kSend, pipe.to_target ? pair.target : pair.host,
          pipe.left);
  }
  void on_moved(Pipe& pipe, io::Op& op) {
    Pair& pair = *pipe.pair;
    const bool received = &op == &pipe.receive_op;
    (received ? pipe.receiving : pipe.sending) = false;
    if (pair.ending) return end(pair);
    if (!op.done_bytes || *op.done_bytes == 0) {
      if (!pair.deaf || !pipe.to_target) return end(pair);
      return loop_.engine().close(std::exchange(pair.host, io::kNoFile));
    }
    if (received) return on_received(pipe, std::span(pipe.buffer).first(*op.done_bytes));
    pipe.left = pipe.left.subspan(*op.done_bytes);
    if (!pipe.left.empty()) return send(pipe);
    if (pair.deaf && pipe.to_target) return;  // delivered; it stays open
    cuts(pipe) && pipe.bytes >= cut_->after_bytes ? break_here(pair) : receive(pipe);
  }
  // No digests: what a PDU's header says of its length is all of it.
  static void note_boundaries(Pipe& pipe, std::span<const std::byte> got) {
    for (const std::byte byte : got) {
      pipe.pdu.push_back(byte);
      if (pipe.pdu.size() < sizeof(CommonHeader)) continue;
      if (pipe.pdu.size() < load_as<CommonHeader>(pipe.pdu).total_bytes) continue;
      pipe.boundaries.push_back((pipe.boundaries.empty() ? 0 : pipe.boundaries.back()) +
                                pipe.pdu.size());
      pipe.pdu.clear();
    }
  }
  [[nodiscard]] bool cuts(const Pipe& pipe) const {
    return cut_ && cut_->connection == pipe.pair->number && cut_->to_target == pipe.to_target;
  }
  void on_received(Pipe& pipe, std::span<std::byte> got) {
    Pair& pair = *pipe.pair;
    if (pair.deaf) {  // from the host, after the cut; what the target says goes nowhere
      if (pipe.to_target) pair.held.insert(pair.held.end(), got.begin(), got.end());
      return receive(pipe);
    }
    std::size_t on = got.size();
    if (cuts(pipe)) on = std::min(on, cut_->after_bytes - std::min(pipe.bytes, cut_->after_bytes));
    if (on < got.size() && cut_->deaf) {
      pair.held.assign(got.begin() + static_cast<std::ptrdiff_t>(on), got.end());
    }
    note_boundaries(pipe, got.first(on));
    pipe.bytes += on;
    pipe.left = got.first(on);
    on == 0 ? break_here(pair) : send(pipe);
  }
  void break_here(Pair& pair) {
    was_cut_ = true;
    if (!cut_->deaf) return end(pair);
    for (const auto& each : pairs_) each->deaf = true;
    receive(pair.pipes[0]);  // the rest of what the host sends now
    loop_.arm(pair.timer, loop_.now() + std::chrono::milliseconds(50), [this, &pair] {
      if (pair.pipes[0].receiving) loop_.engine().cancel(pair.pipes[0].receive_op);
    });
  }
  void end(Pair& pair) {
    pair.ending = true;
    pair.timer.cancel();
    if (pair.connecting) return loop_.engine().cancel(pair.connect_op);
    for (Pipe& pipe : pair.pipes) {
      if (pipe.receiving) loop_.engine().cancel(pipe.receive_op);
      if (pipe.sending) loop_.engine().cancel(pipe.send_op);
    }
    for (const Pipe& pipe : pair.pipes) {
      if (pipe.receiving || pipe.sending) return;
    }
    for (io::FileId* file : {&pair.host, &pair.target}) {
      if (*file != io::kNoFile) loop_.engine().close(std::exchange(*file, io::kNoFile));
    }
  }
  [[nodiscard]] bool idle() const {
    return std::ranges::all_of(pairs_, [](const auto& pair) {
      return pair->host == io::kNoFile && pair->target == io::kNoFile;
    });
  }

  io::Loop& loop_;
  PeerAddress target_;
  io::FileId listener_ = io::kNoFile;
  io::Op accept_op_;
  bool accepting_ = false;
  std::optional<Cut> cut_;
  bool was_cut_ = false;
  std::vector<std::unique_ptr<Pair>> pairs_;
};

}  // namespace forebay::nvme::initiator
