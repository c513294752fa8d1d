#include "nvme/pdu_encoder.h"

#include <algorithm>
#include <cstring>

#include "core/bytes.h"
#include "core/check.h"
#include "core/crc32c.h"

namespace forebay::nvme {

class HeaderWriter {
 public:
  // A PDU whose header is all there is.
  template <class T>
  static HeaderBytes plain(PduType type, T pdu, bool digest) {
    return with_data(type, 0, pdu, {.digests = {.header = digest}}, 0);
  }

  template <class T>
  static HeaderBytes with_data(PduType type, std::uint8_t flags, T pdu, const SendFormat& format,
                               std::uint32_t data_bytes) {
    HeaderBytes out;
    const bool header_digest = format.digests.header;
    const bool data_digest = format.digests.data && data_bytes != 0;
    std::size_t size = sizeof(T) + (header_digest ? kDigestBytes : 0);
    if (data_bytes != 0) size = round_up(size, format.data_align_bytes);
    pdu.common.type = type;
    pdu.common.flags = static_cast<std::uint8_t>(flags | (header_digest ? kFlagHeaderDigest : 0) |
                                                 (data_digest ? kFlagDataDigest : 0));
    pdu.common.header_bytes = sizeof(T);
    pdu.common.data_offset = static_cast<std::uint8_t>(data_bytes != 0 ? size : 0);
    pdu.common.total_bytes = static_cast<std::uint32_t>(size) + data_bytes +
                             (data_digest ? static_cast<std::uint32_t>(kDigestBytes) : 0);
    FOREBAY_CHECK_LE(size, out.bytes_.size());
    store_as(out.bytes_, pdu);
    if (header_digest) {
      store_as(std::span(out.bytes_).subspan(sizeof(T)),
               crc32c(std::span(out.bytes_).first(sizeof(T))));
    }
    out.size_ = size;
    return out;
  }

  static HeaderBytes terminate(PduType type, Terminate pdu, std::span<const std::byte> refused) {
    HeaderBytes out = plain(type, pdu, false);
    refused = refused.first(std::min(refused.size(), out.bytes_.size() - out.size_));
    if (!refused.empty()) std::memcpy(&out.bytes_[out.size_], refused.data(), refused.size());
    out.size_ += refused.size();
    auto common = load_as<CommonHeader>(out.bytes_);
    common.total_bytes = static_cast<std::uint32_t>(out.size_);
    store_as(out.bytes_, common);
    return out;
  }
};

HeaderBytes encode_ic_request(IcRequest pdu) {
  return HeaderWriter::plain(PduType::kIcRequest, pdu, false);
}

HeaderBytes encode_ic_response(IcResponse pdu) {
  return HeaderWriter::plain(PduType::kIcResponse, pdu, false);
}

HeaderBytes encode_terminate(PduType type, TerminateReason reason, std::uint32_t detail,
                             std::span<const std::byte> refused) {
  Terminate pdu;
  pdu.reason = static_cast<std::uint16_t>(reason);
  pdu.detail_low = static_cast<std::uint16_t>(detail & 0xFFFF);
  pdu.detail_high = static_cast<std::uint16_t>(detail >> 16);
  return HeaderWriter::terminate(type, pdu, refused);
}

HeaderBytes encode_command(const Sqe& sqe, std::uint32_t data_bytes, const SendFormat& format) {
  CommandCapsule pdu;
  pdu.sqe = sqe;
  return HeaderWriter::with_data(PduType::kCommand, 0, pdu, format, data_bytes);
}

HeaderBytes encode_response(const Cqe& cqe, const SendFormat& format) {
  ResponseCapsule pdu;
  pdu.cqe = cqe;
  return HeaderWriter::plain(PduType::kResponse, pdu, format.digests.header);
}

HeaderBytes encode_data(PduType type, std::uint8_t flags, DataPdu pdu, const SendFormat& format) {
  FOREBAY_CHECK(pdu.data_bytes != 0);
  return HeaderWriter::with_data(type, flags, pdu, format, pdu.data_bytes);
}

HeaderBytes encode_ready(ReadyToTransfer pdu, const SendFormat& format) {
  return HeaderWriter::plain(PduType::kReadyToTransfer, pdu, format.digests.header);
}

}  // namespace forebay::nvme
