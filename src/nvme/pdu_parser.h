// Bytes of a connection, in pieces of any size, into PDUs.
//
//   while (true) switch (parser.next(input)) {        // `input` shrinks by what was taken
//     case kHeader: parser.header<CommandCapsule>() ...   the PDU's data, if any, follows
//     case kData:   parser.data(): a part of `input`      once or more often
//     case kEnd:    the PDU is complete; parser.data_intact()
//     case kMore:   `input` is empty
//     case kFault:  parser.fault(): the connection is over
//   }
//
// Nothing is copied but headers and nothing is allocated, so a length that a peer claims costs no
// memory. Data may be received straight into its place: receive at most data_left() bytes there and
// pass that memory as `input`. Pure. Threads: one owner.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "core/bytes.h"
#include "nvme/pdu_layout.h"

namespace forebay::nvme {

enum class PduEvent : std::uint8_t { kMore, kHeader, kData, kEnd, kFault };

// What the next byte belongs to.
enum class ParserState : std::uint8_t {
  kCommonHeader,
  kHeader,
  kPadding,
  kData,
  kDataDigest,
  kEnding,  // all bytes are here, kEnd was not told yet
  kFailed,
};
[[nodiscard]] std::string_view to_string(ParserState state);

class PduParser {
 public:
  explicit PduParser(const PduRules& rules) : rules_(rules) {}

  [[nodiscard]] PduEvent next(std::span<const std::byte>& input);

  // Between PDUs only: after kEnd of the IC PDU.
  void set_rules(const PduRules& rules) { rules_ = rules; }
  // The IC PDUs agreed to these: other PDUs may come from now on.
  void initialize(Digests digests) {
    rules_.initialized = true;
    rules_.digests = digests;
  }
  [[nodiscard]] const PduRules& rules() const { return rules_; }
  [[nodiscard]] ParserState state() const { return state_; }

  // From kHeader to the next call after kEnd.
  [[nodiscard]] PduType type() const { return load_as<CommonHeader>(header_).type; }
  template <class T>
  [[nodiscard]] T header() const {
    static_assert(sizeof(T) <= kHeaderBytesMax);
    return load_as<T>(header_);
  }
  [[nodiscard]] std::span<const std::byte> header_bytes() const {
    return std::span(header_).first(header_have_);
  }
  [[nodiscard]] std::uint32_t data_bytes() const { return extent_.bytes; }
  // What is still to come of this PDU's data; 0 unless the next byte is data.
  [[nodiscard]] std::uint32_t data_left() const { return state_ == ParserState::kData ? left_ : 0; }
  [[nodiscard]] std::span<const std::byte> data() const { return data_; }
  // False when the data digest does not fit. The connection may go on; the data may not be used.
  [[nodiscard]] bool data_intact() const { return data_intact_; }
  [[nodiscard]] const PduFault& fault() const { return fault_; }

 private:
  // True when `wanted` bytes of the header are there.
  bool gather(std::span<const std::byte>& input, std::size_t wanted);
  PduEvent take_common_header(std::span<const std::byte>& input);
  PduEvent take_header(std::span<const std::byte>& input);
  PduEvent take_padding(std::span<const std::byte>& input);
  PduEvent take_data(std::span<const std::byte>& input);
  PduEvent take_data_digest(std::span<const std::byte>& input);
  PduEvent end();
  PduEvent fail_with(const PduFault& fault);
  void enter_data();

  PduRules rules_;
  ParserState state_ = ParserState::kCommonHeader;
  std::array<std::byte, kHeaderBytesMax> header_{};
  std::size_t header_have_ = 0;
  std::size_t header_wanted_ = 0;
  DataExtent extent_;
  std::uint32_t left_ = 0;  // of the padding, data or digest that is being taken
  std::span<const std::byte> data_;
  std::uint32_t crc_ = 0;
  std::array<std::byte, kDigestBytes> digest_{};
  bool data_intact_ = true;
  PduFault fault_;
};

}  // namespace forebay::nvme
