#include "store/tier/extents.h"

#include <bit>

#include "core/check.h"

namespace forebay::store {

ExtentAllocator::ExtentAllocator(std::uint32_t page_count)
    : free_pages_(page_count), total_pages_(page_count) {
  heads_.fill(kNoExtent);
  if (page_count == 0) return;
  const Extent whole = new_node();
  nodes_[whole].pages = page_count;
  list(whole);
}

// Classes are eighths of a power of two; below 8 pages every size is its own.
unsigned ExtentAllocator::class_of(std::uint32_t pages) {
  if (pages < kSubCount) return pages;
  const auto power = static_cast<unsigned>(std::bit_width(pages)) - 1;
  const unsigned sub = (pages >> (power - kSubBits)) & (kSubCount - 1);
  return (power - kSubBits + 1) * kSubCount + sub;
}

void ExtentAllocator::list(Extent extent) {
  Node& node = nodes_[extent];
  const unsigned size_class = class_of(node.pages);
  node.is_free = true;
  node.previous_free = kNoExtent;
  node.next_free = heads_[size_class];
  if (node.next_free != kNoExtent) nodes_[node.next_free].previous_free = extent;
  heads_[size_class] = extent;
  occupied_[size_class / 64] |= std::uint64_t{1} << (size_class % 64);
}

void ExtentAllocator::unlist(Extent extent) {
  Node& node = nodes_[extent];
  const unsigned size_class = class_of(node.pages);
  node.is_free = false;
  if (node.next_free != kNoExtent) nodes_[node.next_free].previous_free = node.previous_free;
  if (node.previous_free != kNoExtent) {
    nodes_[node.previous_free].next_free = node.next_free;
    return;
  }
  heads_[size_class] = node.next_free;
  if (node.next_free == kNoExtent) {
    occupied_[size_class / 64] &= ~(std::uint64_t{1} << (size_class % 64));
  }
}

Extent ExtentAllocator::find_fit(std::uint32_t pages) const {
  const unsigned own = class_of(pages);
  // The first of its own class may be a little short; every one of a higher class fits.
  if (heads_[own] != kNoExtent && nodes_[heads_[own]].pages >= pages) return heads_[own];
  for (unsigned from = own + 1; from < heads_.size(); from = (from / 64 + 1) * 64) {
    const std::uint64_t higher = occupied_[from / 64] >> (from % 64) << (from % 64);
    if (higher != 0) {
      return heads_[from / 64 * 64 + static_cast<unsigned>(std::countr_zero(higher))];
    }
  }
  return kNoExtent;
}

Extent ExtentAllocator::allocate(std::uint32_t pages) {
  FOREBAY_CHECK(pages > 0);
  const Extent extent = find_fit(pages);
  if (extent == kNoExtent) return kNoExtent;
  unlist(extent);
  if (nodes_[extent].pages > pages) {
    const Extent rest = new_node();  // may move nodes_
    Node& node = nodes_[extent];
    nodes_[rest].first = node.first + pages;
    nodes_[rest].pages = node.pages - pages;
    nodes_[rest].before = extent;
    nodes_[rest].after = node.after;
    if (node.after != kNoExtent) nodes_[node.after].before = rest;
    node.after = rest;
    node.pages = pages;
    list(rest);
  }
  free_pages_ -= pages;
  return extent;
}

void ExtentAllocator::absorb_next(Extent extent) {
  const Extent next = nodes_[extent].after;
  nodes_[extent].pages += nodes_[next].pages;
  nodes_[extent].after = nodes_[next].after;
  if (nodes_[next].after != kNoExtent) nodes_[nodes_[next].after].before = extent;
  drop_node(next);
}

void ExtentAllocator::free(Extent extent) {
  FOREBAY_CHECK(extent < nodes_.size() && !nodes_[extent].is_free && nodes_[extent].pages > 0);
  free_pages_ += nodes_[extent].pages;
  if (const Extent next = nodes_[extent].after; next != kNoExtent && nodes_[next].is_free) {
    unlist(next);
    absorb_next(extent);
  }
  if (const Extent before = nodes_[extent].before; before != kNoExtent && nodes_[before].is_free) {
    unlist(before);
    absorb_next(before);
    extent = before;
  }
  list(extent);
}

Extent ExtentAllocator::new_node() {
  if (spare_ == kNoExtent) {
    nodes_.emplace_back();
    return static_cast<Extent>(nodes_.size() - 1);
  }
  const Extent node = spare_;
  spare_ = nodes_[node].next_free;
  nodes_[node] = Node{};
  return node;
}

void ExtentAllocator::drop_node(Extent extent) {
  nodes_[extent] = Node{};
  nodes_[extent].next_free = spare_;
  spare_ = extent;
}

}  // namespace forebay::store
