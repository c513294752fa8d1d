#include "block/stripe.h"

#include <fmt/core.h>

#include <algorithm>
#include <deque>
#include <utility>

#include "core/bytes.h"
#include "core/check.h"

namespace forebay::block {
namespace {

class Stripe final : public Device {
 public:
  Stripe(std::vector<std::unique_ptr<Device>> parts, std::uint64_t unit_bytes);
  [[nodiscard]] const Geometry& geometry() const override { return geometry_; }
  [[nodiscard]] std::string describe() const override;
  [[nodiscard]] io::Loop& loop() override { return parts_[0]->loop(); }
  void submit(Request& request) override;
  void cancel(Request& request) override;

 private:
  struct Join;
  // One part's share of a request.
  struct Piece {
    Request request;
    Device* part = nullptr;
    Join* join = nullptr;
    std::vector<iovec> buffers;
    bool done = false;
  };
  struct Join {
    Request* whole = nullptr;
    std::deque<Piece> pieces;  // stable addresses while it grows
    std::size_t waiting = 0;
    Status status;
  };

  void cut(Request& request, Join& join);
  void add_piece(Join& join, std::size_t part, std::uint64_t offset_bytes, std::uint64_t bytes);
  static void on_piece_done(Request& request);
  static void release(Join& join);

  std::vector<std::unique_ptr<Device>> parts_;
  std::uint64_t unit_bytes_;
  std::uint64_t part_transfer_bytes_;  // the least of the parts: a unit may take several
  Geometry geometry_;
};

Stripe::Stripe(std::vector<std::unique_ptr<Device>> parts, std::uint64_t unit_bytes)
    : parts_(std::move(parts)), unit_bytes_(unit_bytes) {
  std::uint64_t smallest = ~std::uint64_t{0};
  std::uint64_t transfer = ~std::uint64_t{0};
  geometry_.direct = true;
  for (const auto& part : parts_) {
    const Geometry& facts = part->geometry();
    smallest = std::min(smallest, facts.size_bytes);
    transfer = std::min<std::uint64_t>(transfer, facts.transfer_bytes_max);
    geometry_.align_bytes = std::max(geometry_.align_bytes, facts.align_bytes);
    geometry_.direct = geometry_.direct && facts.direct;
    geometry_.read_only = geometry_.read_only || facts.read_only;
  }
  geometry_.size_bytes = round_down(smallest, unit_bytes_) * parts_.size();
  part_transfer_bytes_ = round_down(transfer, geometry_.align_bytes);
  geometry_.transfer_bytes_max =
      static_cast<std::uint32_t>(std::min<std::uint64_t>(transfer * parts_.size(), 1ULL << 30));
}

std::string Stripe::describe() const {
  std::string text = fmt::format("stripe({}, unit {})", parts_.size(), format_bytes(unit_bytes_));
  for (const auto& part : parts_) text += " " + part->describe();
  return text;
}

// Moves `bytes` from the head of `from` to `to`.
void take_bytes(std::vector<iovec>& from, std::size_t& first, std::uint64_t bytes,
                std::vector<iovec>& to) {
  while (bytes > 0) {
    iovec& piece = from[first];
    const std::size_t size = std::min<std::uint64_t>(bytes, piece.iov_len);
    to.push_back({piece.iov_base, size});
    piece.iov_base = static_cast<char*>(piece.iov_base) + size;
    piece.iov_len -= size;
    bytes -= size;
    if (piece.iov_len == 0) ++first;
  }
}

void Stripe::add_piece(Join& join, std::size_t part, std::uint64_t offset_bytes,
                       std::uint64_t bytes) {
  Piece& piece = join.pieces.emplace_back();
  piece.request = *join.whole;
  piece.request.next = nullptr;
  piece.request.offset_bytes = offset_bytes;
  piece.request.length_bytes = bytes;
  piece.request.on_done = on_piece_done;
  piece.part = parts_[part].get();
  piece.join = &join;
}

void Stripe::cut(Request& request, Join& join) {
  if (request.kind == RequestKind::kFlush) {
    for (std::size_t part = 0; part < parts_.size(); ++part) add_piece(join, part, 0, 0);
    return;
  }
  std::vector<iovec> left(request.buffers.begin(), request.buffers.end());
  std::size_t first = 0;
  std::uint64_t at = request.offset_bytes;
  const std::uint64_t end = at + request.length_bytes;
  while (at < end) {
    const std::uint64_t unit = at / unit_bytes_;
    const std::uint64_t size =
        std::min(std::min(end, (unit + 1) * unit_bytes_) - at, part_transfer_bytes_);
    const std::uint64_t offset = unit / parts_.size() * unit_bytes_ + at % unit_bytes_;
    add_piece(join, unit % parts_.size(), offset, size);
    if (request.kind != RequestKind::kDiscard) {
      take_bytes(left, first, size, join.pieces.back().buffers);
    }
    at += size;
  }
}

void Stripe::submit(Request& request) {
  if (const Status checked = check_request(request, geometry_); !checked) {
    request.done_bytes = std::unexpected(checked.error());
    request.on_done(request);
    return;
  }
  auto join = std::make_unique<Join>();
  join->whole = &request;
  cut(request, *join);
  // Counts the submission itself, so that a piece done inside submit() cannot end the whole early.
  join->waiting = join->pieces.size() + 1;
  Join* owned = join.release();
  request.device_word = owned;
  for (Piece& piece : owned->pieces) {
    piece.request.buffers = piece.buffers;
    piece.request.context = &piece;
    piece.part->submit(piece.request);
  }
  release(*owned);
}

// Gives back the count that submit() or cancel() held.
void Stripe::release(Join& join) {
  Piece holder;
  holder.join = &join;
  holder.request.context = &holder;
  on_piece_done(holder.request);
}

void Stripe::on_piece_done(Request& request) {
  auto& piece = *static_cast<Piece*>(request.context);
  Join* join = piece.join;
  piece.done = true;
  if (!request.done_bytes && join->status) {
    join->status = std::unexpected(request.done_bytes.error());
  }
  if (--join->waiting != 0) return;
  const std::unique_ptr<Join> owner(join);
  Request& whole = *join->whole;
  whole.device_word = nullptr;
  if (join->status) {
    whole.done_bytes = static_cast<std::size_t>(whole.length_bytes);
  } else {
    whole.done_bytes = std::unexpected(join->status.error());
  }
  whole.on_done(whole);
}

void Stripe::cancel(Request& request) {
  auto* join = static_cast<Join*>(request.device_word);
  if (join == nullptr || join->whole != &request) return;
  // A cancel may end a piece on the spot, and with the last one the join: hold it meanwhile.
  ++join->waiting;
  for (Piece& piece : join->pieces) {
    if (!piece.done) piece.part->cancel(piece.request);
  }
  release(*join);
}

}  // namespace

Result<std::unique_ptr<Device>> make_stripe(std::vector<std::unique_ptr<Device>> parts,
                                            std::uint64_t unit_bytes) {
  if (parts.size() < 2) return fail(Errc::kInvalid, "stripe: needs two devices or more");
  for (const auto& part : parts) {
    const Geometry& facts = part->geometry();
    if (unit_bytes % facts.align_bytes != 0 || facts.size_bytes < unit_bytes) {
      return fail(Errc::kInvalid, "stripe: the unit does not fit a part");
    }
  }
  return std::unique_ptr<Device>(std::make_unique<Stripe>(std::move(parts), unit_bytes));
}

}  // namespace forebay::block
