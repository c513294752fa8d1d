#include "nvme/pdu_parser.h"

#include <algorithm>
#include <cstring>

#include "core/crc32c.h"

namespace forebay::nvme {

PduEvent PduParser::next(std::span<const std::byte>& input) {
  // States without an event of their own (the common header, padding) fall through to the next.
  while (true) {
    const ParserState before = state_;
    PduEvent event = PduEvent::kMore;
    switch (state_) {
      case ParserState::kCommonHeader:
        event = take_common_header(input);
        break;
      case ParserState::kHeader:
        event = take_header(input);
        break;
      case ParserState::kPadding:
        event = take_padding(input);
        break;
      case ParserState::kData:
        return take_data(input);
      case ParserState::kDataDigest:
        event = take_data_digest(input);
        break;
      case ParserState::kEnding:
        return end();
      case ParserState::kFailed:
        return PduEvent::kFault;
    }
    if (event != PduEvent::kMore || state_ == before) return event;
  }
}

bool PduParser::gather(std::span<const std::byte>& input, std::size_t wanted) {
  const std::size_t size = std::min(wanted - header_have_, input.size());
  if (size != 0) std::memcpy(header_.data() + header_have_, input.data(), size);
  header_have_ += size;
  input = input.subspan(size);
  return header_have_ == wanted;
}

PduEvent PduParser::take_common_header(std::span<const std::byte>& input) {
  if (!gather(input, sizeof(CommonHeader))) return PduEvent::kMore;
  const auto extent = header_extent(load_as<CommonHeader>(header_), rules_);
  if (!extent) return fail_with(extent.error());
  header_wanted_ = *extent;
  state_ = ParserState::kHeader;
  return PduEvent::kMore;
}

PduEvent PduParser::take_header(std::span<const std::byte>& input) {
  if (!gather(input, header_wanted_)) return PduEvent::kMore;
  const std::size_t size = load_as<CommonHeader>(header_).header_bytes;
  if (header_wanted_ != size) {
    const auto digest = load_as<std::uint32_t>(std::span(header_).subspan(size));
    if (crc32c(std::span(header_).first(size)) != digest) {
      return fail_with({TerminateReason::kHeaderDigest, 0});
    }
  }
  const auto extent = data_extent(std::span(header_).first(header_wanted_), rules_);
  if (!extent) return fail_with(extent.error());
  extent_ = *extent;
  data_intact_ = true;
  crc_ = 0;
  if (extent_.bytes == 0) {
    state_ = ParserState::kEnding;
  } else if (extent_.offset > header_wanted_) {
    state_ = ParserState::kPadding;
    left_ = extent_.offset - static_cast<std::uint32_t>(header_wanted_);
  } else {
    enter_data();
  }
  return PduEvent::kHeader;
}

void PduParser::enter_data() {
  state_ = ParserState::kData;
  left_ = extent_.bytes;
}

PduEvent PduParser::take_padding(std::span<const std::byte>& input) {
  const std::size_t size = std::min<std::size_t>(left_, input.size());
  input = input.subspan(size);
  left_ -= static_cast<std::uint32_t>(size);
  if (left_ == 0) enter_data();
  return PduEvent::kMore;
}

PduEvent PduParser::take_data(std::span<const std::byte>& input) {
  if (input.empty()) return PduEvent::kMore;
  data_ = input.first(std::min<std::size_t>(left_, input.size()));
  input = input.subspan(data_.size());
  left_ -= static_cast<std::uint32_t>(data_.size());
  if (extent_.digest) crc_ = crc32c(data_, crc_);
  if (left_ == 0) {
    state_ = extent_.digest ? ParserState::kDataDigest : ParserState::kEnding;
    left_ = extent_.digest ? kDigestBytes : 0;
  }
  return PduEvent::kData;
}

PduEvent PduParser::take_data_digest(std::span<const std::byte>& input) {
  while (left_ != 0 && !input.empty()) {
    digest_[kDigestBytes - left_] = input.front();
    input = input.subspan(1);
    --left_;
  }
  if (left_ != 0) return PduEvent::kMore;
  data_intact_ = load_as<std::uint32_t>(digest_) == crc_;
  state_ = ParserState::kEnding;
  return PduEvent::kMore;
}

PduEvent PduParser::end() {
  state_ = ParserState::kCommonHeader;
  header_have_ = 0;
  data_ = {};
  return PduEvent::kEnd;
}

PduEvent PduParser::fail_with(const PduFault& fault) {
  fault_ = fault;
  state_ = ParserState::kFailed;
  return PduEvent::kFault;
}

std::string_view to_string(ParserState state) {
  constexpr std::array<std::string_view, 7> kNames{"common_header", "header", "padding", "data",
                                                   "data_digest",   "ending", "failed"};
  return kNames[static_cast<std::size_t>(state)];
}

}  // namespace forebay::nvme
