#include "io/touch_ahead.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <memory>

namespace forebay::io {
namespace {

constexpr std::size_t kPageBytes = 4096;
constexpr std::size_t kPages = 64;

std::size_t resident_pages(void* memory) {
  std::vector<unsigned char> resident(kPages);
  EXPECT_EQ(mincore(memory, kPages * kPageBytes, resident.data()), 0);
  return static_cast<std::size_t>(
      std::ranges::count_if(resident, [](unsigned char page) { return (page & 1) != 0; }));
}

TEST(TouchAhead, PagesAreThereAndWhatWasInThemStays) {
  void* memory = mmap(nullptr, kPages * kPageBytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  auto* bytes = static_cast<unsigned char*>(memory);
  bytes[5 * kPageBytes] = 77;
  {
    TouchAhead touch;
    touch.start({{memory, kPages * kPageBytes / 2},
                 {bytes + kPages * kPageBytes / 2, kPages * kPageBytes / 2}});
    // Not told to stop before the second part is looked at: it is there in the end either way.
    while (resident_pages(memory) < kPages) std::this_thread::yield();
  }
  EXPECT_EQ(bytes[5 * kPageBytes], 77);
  EXPECT_EQ(bytes[6 * kPageBytes], 0);
  munmap(memory, kPages * kPageBytes);
}

}  // namespace
}  // namespace forebay::io
