#include "io/huge_memory.h"

#include <linux/mempolicy.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>

#include "core/bytes.h"

namespace forebay::io {
namespace {

constexpr std::size_t kHugePageBytes = 2 * kMiB;

// Pages come from the NUMA node this thread runs on, whoever touches them first (a kernel worker, a
// thread that fills ahead), and from the others when it is full. A kernel without NUMA says no, and
// then there is but one node.
void prefer_node_of_this_thread(void* at, std::size_t bytes) {
  constexpr unsigned kNodesMax = 1024;  // as many as a kernel may be built for
  constexpr unsigned kWordBits = sizeof(unsigned long) * CHAR_BIT;
  std::array<unsigned long, kNodesMax / kWordBits> nodes{};
  unsigned node = 0;
  if (::syscall(SYS_getcpu, nullptr, &node, nullptr) != 0 || node >= kNodesMax) return;
  nodes[node / kWordBits] = 1UL << (node % kWordBits);
  (void)::syscall(SYS_mbind, at, bytes, MPOL_PREFERRED, nodes.data(), kNodesMax + 1, 0);
}

std::byte* map_anonymous(std::size_t bytes, int extra_flags) {
  void* at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | extra_flags, -1, 0);
  if (at == MAP_FAILED) return nullptr;
  prefer_node_of_this_thread(at, bytes);
  return static_cast<std::byte*>(at);
}

// Transparent huge pages need an aligned range: map more, give back both ends.
std::byte* map_aligned(std::size_t bytes, int extra_flags) {
  std::byte* raw = map_anonymous(bytes + kHugePageBytes, extra_flags);
  if (raw == nullptr) return nullptr;
  const auto address = reinterpret_cast<std::uintptr_t>(raw);
  const std::size_t before = round_up(address, kHugePageBytes) - address;
  if (before > 0) ::munmap(raw, before);
  std::byte* at = raw + before;
  if (const std::size_t after = kHugePageBytes - before; after > 0) ::munmap(at + bytes, after);
  ::madvise(at, bytes, MADV_HUGEPAGE);  // advice only: small pages work too
  return at;
}

}  // namespace

Result<HugeMemory> HugeMemory::map(std::size_t bytes) {
  if (bytes == 0) return HugeMemory();
  const std::size_t rounded = round_up(bytes, bytes < kHugePageBytes ? 4 * kKiB : kHugePageBytes);
  std::byte* at = nullptr;
  if (rounded >= kHugePageBytes) {
    // Reserved pages must be there now: a later shortage would be a SIGBUS. So never with
    // MAP_NORESERVE, which maps more than there is and lets MAP_POPULATE fail in silence.
    at = map_anonymous(rounded, MAP_HUGETLB | MAP_POPULATE);
    if (at == nullptr) {
      at = map_aligned(rounded, MAP_NORESERVE);
      if (at == nullptr) return fail(Errc::kNoSpace, "map memory", errno);
      HugeMemory memory({at, rounded});
      FOREBAY_TRY_STATUS(memory.populate());
      return memory;
    }
  } else {
    at = map_anonymous(rounded, MAP_NORESERVE);
  }
  if (at == nullptr) return fail(Errc::kNoSpace, "map memory", errno);
  return HugeMemory({at, rounded});
}

Result<HugeMemory> HugeMemory::map_on_demand(std::size_t bytes) {
  if (bytes == 0) return HugeMemory();
  const std::size_t rounded = round_up(bytes, 4 * kKiB);
  std::byte* at = map_aligned(rounded, 0);
  if (at == nullptr) return fail(Errc::kNoSpace, "map memory", errno);
  return HugeMemory({at, rounded});
}

Status HugeMemory::populate() {
  if (bytes_.empty() || ::madvise(bytes_.data(), bytes_.size(), MADV_POPULATE_WRITE) == 0 ||
      errno == EINVAL) {
    return {};
  }
  return fail(Errc::kNoSpace, "fill memory with pages", errno);
}

HugeMemory::~HugeMemory() {
  if (!bytes_.empty()) ::munmap(bytes_.data(), bytes_.size());
}

}  // namespace forebay::io
