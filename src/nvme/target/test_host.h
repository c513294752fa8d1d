// For tests: a host that speaks NVMe/TCP over an engine's sockets, well or badly.
//
// Every call drives the loop until it is done. Commands are numbered as they are sent.
#pragma once

#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "core/bytes.h"
#include "core/check.h"
#include "core/crc32c.h"
#include "io/loop.h"
#include "nvme/pdu_encoder.h"
#include "nvme/pdu_parser.h"

namespace forebay::nvme::target {

struct ReceivedPdu {
  PduType type{};
  std::array<std::byte, kHeaderBytesMax> header{};
  std::vector<std::byte> data;
  bool intact = true;
  bool closed = false;  // there is no PDU: the target closed
  template <class T>
  [[nodiscard]] T as() const {
    return load_as<T>(header);
  }
};

class TestHost {
 public:
  TestHost(io::Loop& loop, std::uint16_t port) : loop_(loop) {
    socket_ = loop_.engine().socket(AF_INET).value();
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    io::Op op;
    op.kind = io::OpKind::kConnect;
    op.address = &address;
    op.address_bytes = sizeof address;
    FOREBAY_CHECK(perform(op).has_value());
  }
  ~TestHost() { close(); }
  TestHost(const TestHost&) = delete;
  TestHost& operator=(const TestHost&) = delete;

  void close() {
    if (socket_ != io::kNoFile) loop_.engine().close(std::exchange(socket_, io::kNoFile));
  }

  // False when the target closed meanwhile.
  bool send(std::span<const std::byte> bytes) {
    std::vector<std::byte> copy(bytes.begin(), bytes.end());
    for (std::size_t at = 0; at < copy.size();) {
      const iovec piece{copy.data() + at, copy.size() - at};
      io::Op op;
      op.kind = io::OpKind::kSend;
      op.buffers = {&piece, 1};
      const auto sent = perform(op);
      if (!sent) return false;
      at += *sent;
    }
    return true;
  }
  bool send(const HeaderBytes& header, std::span<const std::byte> data = {}) {
    std::vector<std::byte> bytes(header.bytes().begin(), header.bytes().end());
    bytes.insert(bytes.end(), data.begin(), data.end());
    if (format.digests.data && !data.empty()) {
      const auto digest = crc32c(data) ^ spoil_data_digest;
      bytes.insert(bytes.end(), bytes_of(digest).begin(), bytes_of(digest).end());
    }
    return send(bytes);
  }

  ReceivedPdu receive() {
    ReceivedPdu pdu;
    while (true) {
      switch (parser_.next(rest_)) {
        case PduEvent::kHeader:
          pdu.type = parser_.type();
          std::ranges::copy(parser_.header_bytes(), pdu.header.begin());
          break;
        case PduEvent::kData:
          pdu.data.insert(pdu.data.end(), parser_.data().begin(), parser_.data().end());
          break;
        case PduEvent::kEnd:
          pdu.intact = parser_.data_intact();
          return pdu;
        case PduEvent::kFault:
          FOREBAY_CHECK(parser_.state() != ParserState::kFailed);
          break;
        case PduEvent::kMore: {
          iovec piece{input_.data(), input_.size()};
          io::Op op;
          op.kind = io::OpKind::kReceive;
          op.buffers = {&piece, 1};
          const auto size = perform(op);
          pdu.closed = !size || *size == 0;
          if (pdu.closed) return pdu;
          rest_ = std::span(input_).first(*size);
          break;
        }
      }
    }
  }

  // ICReq and ICResp.
  ReceivedPdu negotiate(Digests digests = {}, std::uint8_t data_align = 0) {
    send(encode_ic_request({.data_align = data_align, .digests = bits_of(digests)}));
    ReceivedPdu answer = receive();
    format.digests = digests;
    parser_.initialize(digests);
    return answer;
  }

  // A command; data from the host goes in its capsule.
  std::uint16_t command(Sqe sqe, std::span<const std::byte> capsule_data = {}) {
    sqe.flags |= kFlagsSgl;
    sqe.command_id = next_id_++;
    if (!capsule_data.empty()) {
      sqe.sgl.type = kSglInCapsule;
      sqe.sgl.length_bytes = static_cast<std::uint32_t>(capsule_data.size());
    } else if (sqe.sgl.length_bytes != 0) {
      sqe.sgl.type = kSglTransport;
    }
    send(encode_command(sqe, static_cast<std::uint32_t>(capsule_data.size()), format),
         capsule_data);
    return sqe.command_id;
  }

  static ConnectData connect_data(std::string_view nqn, std::uint16_t controller = 0xFFFF,
                                  const std::string& identity = "test") {
    ConnectData data;
    data.host_id.fill(static_cast<std::byte>(identity[0]));
    data.controller_id = controller;
    std::ranges::copy(nqn, data.subsystem_nqn.begin());
    std::ranges::copy("nqn.2014-08.org.nvmexpress:uuid:" + identity, data.host_nqn.begin());
    return data;
  }
  static Sqe connect_command(const ConnectFields& fields) {
    Sqe sqe;
    sqe.opcode = kFabricsOpcode;
    sqe.namespace_id = static_cast<std::uint32_t>(FabricsType::kConnect);
    set_fields(sqe, fields);
    return sqe;
  }
  // Connect; the completion.
  Cqe connect(std::string_view nqn, const ConnectFields& fields,
              std::uint16_t controller = 0xFFFF) {
    const ConnectData data = connect_data(nqn, controller, identity);
    command(connect_command(fields), bytes_of(data));
    return receive().as<ResponseCapsule>().cqe;
  }
  // CC.EN.
  Cqe enable() {
    Sqe sqe;
    sqe.opcode = kFabricsOpcode;
    sqe.namespace_id = static_cast<std::uint32_t>(FabricsType::kPropertySet);
    set_fields(sqe, PropertyFields{.offset = 0x14, .value = 0x460001});
    command(sqe);
    return receive().as<ResponseCapsule>().cqe;
  }

  // Takes what is there, at most so much, and looks at none of it.
  std::size_t swallow(std::size_t most) {
    iovec piece{input_.data(), std::min(most, input_.size())};
    io::Op op;
    op.kind = io::OpKind::kReceive;
    op.buffers = {&piece, 1};
    return perform(op).value_or(0);
  }

  SendFormat format;
  std::string identity = "test";  // the end of its NQN; the host id follows from the first letter
  std::uint32_t spoil_data_digest = 0;

 private:
  Result<std::size_t> perform(io::Op& op) {
    bool done = false;
    op.file = socket_;
    op.context = &done;
    op.on_done = [](io::Op& o) { *static_cast<bool*>(o.context) = true; };
    FOREBAY_CHECK(loop_.engine().submit(op).has_value());
    while (!done) loop_.turn();
    return op.done_bytes;
  }

  io::Loop& loop_;
  io::FileId socket_ = io::kNoFile;
  std::uint16_t next_id_ = 100;
  PduParser parser_{{.sender = Sender::kController, .data_bytes_max = 8 << 20}};
  std::array<std::byte, 16384> input_{};
  std::span<const std::byte> rest_;
};

}  // namespace forebay::nvme::target
