#include "block/device.h"

namespace forebay::block {
namespace {

Request make(RequestKind kind, const IoOptions& options) {
  Request request;
  request.kind = kind;
  request.op_class = options.op_class;
  request.tenant = options.tenant;
  request.deadline = options.deadline;
  request.op_id = options.op_id;
  return request;
}

Request make_transfer(RequestKind kind, std::uint64_t offset_bytes, std::span<const iovec> buffers,
                      const IoOptions& options) {
  Request request = make(kind, options);
  request.offset_bytes = offset_bytes;
  request.buffers = buffers;
  request.length_bytes = total_bytes(buffers);
  return request;
}

}  // namespace

io::OpKind op_kind(RequestKind kind) {
  switch (kind) {
    case RequestKind::kRead:
      return io::OpKind::kRead;
    case RequestKind::kWrite:
      return io::OpKind::kWrite;
    case RequestKind::kFlush:
      return io::OpKind::kFlush;
    case RequestKind::kDiscard:
      return io::OpKind::kDiscard;
  }
  return io::OpKind::kNop;
}

std::uint64_t total_bytes(std::span<const iovec> buffers) {
  std::uint64_t total = 0;
  for (const iovec& piece : buffers) total += piece.iov_len;
  return total;
}

Await read(Device& device, std::uint64_t offset_bytes, std::span<const iovec> buffers,
           IoOptions options) {
  return {device, make_transfer(RequestKind::kRead, offset_bytes, buffers, options)};
}

Task<Result<std::size_t>> read_piece(Device* device, std::uint64_t offset_bytes, iovec piece) {
  co_return co_await read(*device, offset_bytes, {&piece, 1});
}

Await write(Device& device, std::uint64_t offset_bytes, std::span<const iovec> buffers,
            IoOptions options) {
  return {device, make_transfer(RequestKind::kWrite, offset_bytes, buffers, options)};
}

Await flush(Device& device, IoOptions options) {
  return {device, make(RequestKind::kFlush, options)};
}

Await discard(Device& device, std::uint64_t offset_bytes, std::uint64_t length_bytes,
              IoOptions options) {
  Request request = make(RequestKind::kDiscard, options);
  request.offset_bytes = offset_bytes;
  request.length_bytes = length_bytes;
  return {device, request};
}

Status check_request(const Request& request, const Geometry& geometry) {
  if (request.kind == RequestKind::kFlush) return {};
  const bool transfer = request.kind != RequestKind::kDiscard;
  std::uint64_t bits = request.offset_bytes | request.length_bytes;
  for (const iovec& piece : request.buffers) {
    bits |= reinterpret_cast<std::uintptr_t>(piece.iov_base) | piece.iov_len;
  }
  if (bits % geometry.align_bytes != 0) return fail(Errc::kInvalid, "device: unaligned request");
  if (request.offset_bytes > geometry.size_bytes ||
      request.length_bytes > geometry.size_bytes - request.offset_bytes) {
    return fail(Errc::kInvalid, "device: beyond the end");
  }
  if (transfer &&
      (request.length_bytes == 0 || request.length_bytes > geometry.transfer_bytes_max ||
       total_bytes(request.buffers) != request.length_bytes)) {
    return fail(Errc::kInvalid, "device: empty, oversized or mismatched transfer");
  }
  return {};
}

}  // namespace forebay::block
