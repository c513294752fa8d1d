// For tests: the controller's end of one connection, apart from sockets; written for them, with
// knobs for everything that a controller may choose.
#pragma once

#include <algorithm>
#include <bit>
#include <cstring>
#include <map>
#include <vector>

#include "core/bytes.h"
#include "core/crc32c.h"
#include "nvme/initiator/fake_options.h"
#include "nvme/pdu_encoder.h"
#include "nvme/pdu_parser.h"
#include "nvme/test_pdus.h"

namespace forebay::nvme::initiator {

class FakeController {
 public:
  FakeController(FakeDisk& disk, const FakeOptions& options) : disk_(disk), options(options) {}

  // What it answers is appended to `out`.
  void feed(std::span<const std::byte> input) {
    while (true) {
      switch (parser_.next(input)) {
        case PduEvent::kMore:
          return;
        case PduEvent::kHeader:
          data_.clear();
          break;
        case PduEvent::kData:
          append(data_, parser_.data());
          break;
        case PduEvent::kEnd:
          on_pdu();
          break;
        case PduEvent::kFault:
          faulty = true;
          return;
      }
    }
  }
  // Answers a command as a controller would; for the test that holds answers back.
  void respond(std::uint16_t id, std::uint16_t status = 0, std::uint64_t result = 0) {
    Cqe cqe;
    cqe.result = result;
    cqe.command_id = id;
    cqe.status = status;
    append(out, encode_response(cqe, format_).bytes());
  }
  void send_data(std::uint16_t id, std::uint32_t offset, std::span<const std::byte> data,
                 std::uint8_t flags) {
    const DataPdu pdu{.command_id = id,
                      .data_offset = offset,
                      .data_bytes = static_cast<std::uint32_t>(data.size())};
    append(out, encode_data(PduType::kControllerData, flags, pdu, format_).bytes());
    append(out, data);
    if (format_.digests.data) append(out, bytes_of(crc32c(data) ^ options.spoil_data_digest));
  }
  void send_ready(std::uint16_t id, std::uint32_t offset, std::uint32_t size) {
    append(out,
           encode_ready(
               {.command_id = id, .transfer_tag = 77, .data_offset = offset, .data_bytes = size},
               format_)
               .bytes());
  }

 private:
  FakeDisk& disk_;

 public:
  FakeOptions options;
  std::vector<std::byte> out;
  bool faulty = false;                   // the host broke the rules
  bool intact = true;                    // every data digest fitted
  std::vector<Sqe> commands;             // in the order they came
  std::vector<std::uint32_t> host_data;  // sizes of H2CData
  ConnectData connect{};
  bool terminated = false;
  Terminate terminate{};

 private:
  struct Write {
    Sqe sqe;
    std::vector<std::byte> data;
    std::uint32_t asked = 0;
  };

  void on_pdu() {
    intact = intact && parser_.data_intact();
    switch (parser_.type()) {
      case PduType::kIcRequest: {
        append(out, encode_ic_response({.data_align = options.data_align,
                                        .digests = options.digests,
                                        .host_data_bytes_max = options.host_data_bytes_max})
                        .bytes());
        format_.digests = digests_of(options.digests);
        parser_.initialize(format_.digests);
        break;
      }
      case PduType::kCommand:
        on_command(parser_.header<CommandCapsule>().sqe);
        break;
      case PduType::kHostData:
        on_host_data(parser_.header<DataPdu>());
        break;
      case PduType::kHostTerminate:
        terminated = true;
        terminate = parser_.header<Terminate>();
        break;
      case PduType::kIcResponse:
      case PduType::kControllerTerminate:
      case PduType::kResponse:
      case PduType::kControllerData:
      case PduType::kReadyToTransfer:
        faulty = true;
    }
  }

  void on_command(const Sqe& sqe) {
    commands.push_back(sqe);
    if ((sqe.flags & kFlagsPsdt) != kFlagsSgl) faulty = true;
    if (sqe.opcode == kFabricsOpcode) return on_fabrics(sqe);
    if (admin_) return on_admin(sqe);
    ++disk_.opcodes[sqe.opcode];
    disk_.bytes_most = std::max(disk_.bytes_most, sqe.sgl.length_bytes);
    if (options.answers_io) on_io(sqe);
  }

  void on_fabrics(const Sqe& sqe) {
    if (sqe.fabrics_type() == 1) {
      if (data_.size() != sizeof connect) faulty = true;
      connect = load_as<ConnectData>(data_);
      admin_ = fields_of<ConnectFields>(sqe).queue_id == 0;
      return respond(sqe.command_id, options.connect_status, options.connect_result);
    }
    const auto fields = fields_of<PropertyFields>(sqe);
    if (sqe.fabrics_type() == 0) {
      enabled_ = (fields.value & 1) != 0;
      return respond(sqe.command_id);
    }
    std::uint64_t value = 0;
    if (fields.offset == 0) value = (1ULL << 37) | (15ULL << 24) | 127;
    if (fields.offset == 0x1C && enabled_) {
      value = disk_.zero_ready_polls == 0 ? 1 : 0;
      if (disk_.zero_ready_polls > 0) --disk_.zero_ready_polls;
    }
    respond(sqe.command_id, 0, value);
  }

  void on_admin(const Sqe& sqe) {
    if (sqe.opcode == 0x18) {
      ++disk_.keep_alives;
      return respond(sqe.command_id);
    }
    if (sqe.opcode == 0x08) {
      disk_.aborts.push_back(sqe.dwords10[0]);
      const bool aborted = disk_.on_abort && disk_.on_abort(sqe.dwords10[0]);
      return respond(sqe.command_id, 0, aborted ? 0 : 1);
    }
    if (sqe.opcode == 0x09) {
      const std::uint32_t n = disk_.queues_granted - 1U;
      return respond(sqe.command_id, 0, (n << 16) | n);
    }
    if (sqe.opcode != 0x06) return respond(sqe.command_id, 0x0002);
    send_all(sqe, identify_page(disk_, sqe.dwords10[0] == 1 ? 0 : sqe.namespace_id,
                                options.connect_result));
  }

  void on_io(const Sqe& sqe) {
    const std::uint64_t at = sqe.qword(10) * disk_.block_bytes;
    switch (sqe.opcode) {
      case 0x01:
        if (sqe.sgl.type == kSglInCapsule) return write(sqe, data_);
        writes_[sqe.command_id] = {.sqe = sqe};
        return ask(writes_[sqe.command_id]);
      case 0x02: {
        const std::uint32_t size = ((sqe.dword(12) & 0xFFFF) + 1) * disk_.block_bytes;
        if (size != sqe.sgl.length_bytes) return respond(sqe.command_id, 0x0F << 1);
        if (at + size > disk_.bytes.size()) return respond(sqe.command_id, 0x80 << 1);
        return send_all(sqe, std::span(disk_.bytes).subspan(at, size));
      }
      default:
        respond(sqe.command_id);
    }
  }

  void write(const Sqe& sqe, std::span<const std::byte> data) {
    const std::uint64_t at = sqe.qword(10) * disk_.block_bytes;
    const std::uint32_t size = ((sqe.dword(12) & 0xFFFF) + 1) * disk_.block_bytes;
    if (size != data.size()) faulty = true;
    if (at + size > disk_.bytes.size()) return respond(sqe.command_id, 0x80 << 1);
    std::ranges::copy(data, disk_.bytes.begin() + static_cast<std::ptrdiff_t>(at));
    respond(sqe.command_id);
  }
  void ask(Write& write) {
    const auto have = static_cast<std::uint32_t>(write.data.size());
    write.asked = std::min(options.ready_bytes, write.sqe.sgl.length_bytes - have);
    send_ready(write.sqe.command_id, have, write.asked);
  }
  void on_host_data(const DataPdu& pdu) {
    host_data.push_back(pdu.data_bytes);
    const auto found = writes_.find(pdu.command_id);
    if (found == writes_.end() || pdu.transfer_tag != 77) {
      faulty = true;
      return;
    }
    Write& write = found->second;
    if (pdu.data_offset != write.data.size() || pdu.data_bytes > options.host_data_bytes_max) {
      faulty = true;
    }
    append(write.data, data_);
    write.asked -= pdu.data_bytes;
    if (((pdu.common.flags & kFlagLast) != 0) != (write.asked == 0)) faulty = true;
    if (write.asked != 0) return;
    if (write.data.size() < write.sqe.sgl.length_bytes) return ask(write);
    this->write(write.sqe, write.data);
    writes_.erase(found);
  }
  void send_all(const Sqe& sqe, std::span<const std::byte> data) {
    for (std::size_t at = 0; at < data.size(); at += options.data_bytes) {
      const auto part =
          data.subspan(at, std::min<std::size_t>(options.data_bytes, data.size() - at));
      const bool last = at + part.size() == data.size();
      std::uint8_t flags = last ? kFlagLast : 0;
      if (last && options.success_flag) flags |= kFlagSuccess;
      send_data(sqe.command_id, static_cast<std::uint32_t>(at), part, flags);
    }
    if (!options.success_flag) respond(sqe.command_id);
  }

  PduParser parser_{
      {.sender = Sender::kHost, .capsule_data_bytes_max = 64 * 1024, .data_bytes_max = 1 << 20}};
  SendFormat format_;
  std::vector<std::byte> data_;
  std::map<std::uint16_t, Write> writes_;
  bool admin_ = false;
  bool enabled_ = false;
};

}  // namespace forebay::nvme::initiator
