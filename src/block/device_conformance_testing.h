// For tests: one promise for every device, leaf or decorator, of whatever room.
//
// A test program that includes this instantiates DeviceConformance with its kinds of devices.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "block/request_testing.h"

namespace forebay::block {

// What a kind of device stands on; it is gone before this is.
class ConformanceWorld {
 public:
  virtual ~ConformanceWorld() = default;
  [[nodiscard]] virtual io::Loop& loop() = 0;
  [[nodiscard]] virtual std::unique_ptr<Device> make_device() = 0;
};

struct DeviceKind {
  const char* name;
  std::function<std::unique_ptr<ConformanceWorld>()> make;
};

class DeviceConformance : public testing::TestWithParam<DeviceKind> {
 protected:
  std::unique_ptr<ConformanceWorld> world_ = GetParam().make();
  io::Loop& loop_ = world_->loop();
  std::unique_ptr<Device> device_ = world_->make_device();
};

TEST_P(DeviceConformance, ReadsBackWhatWasWrittenAcrossPiecesAndUnits) {
  const std::size_t count = 100;  // 400 KiB: several stripe units
  const Memory out = pages(count);
  for (std::size_t i = 0; i < count * kPage; ++i) {
    out.get()[i] = static_cast<std::byte>((i * 31 + i / kPage) & 0xff);
  }
  std::vector<iovec> pieces{{out.get(), 3 * kPage},
                            {out.get() + 3 * kPage, 50 * kPage},
                            {out.get() + 53 * kPage, 47 * kPage}};
  EXPECT_EQ(loop_.run(do_write(device_.get(), 7 * kPage, pieces)).value(), count * kPage);
  EXPECT_TRUE(loop_.run(do_flush(device_.get())).has_value());
  const Memory in = pages(count);
  EXPECT_EQ(loop_.run(do_read(device_.get(), 7 * kPage, {{in.get(), count * kPage}})).value(),
            count * kPage);
  EXPECT_EQ(std::memcmp(in.get(), out.get(), count * kPage), 0);
  EXPECT_FALSE(device_->describe().empty());
}

TEST_P(DeviceConformance, RefusesWhatIsUnalignedOrBeyondTheEnd) {
  const Memory memory = pages(2);
  const std::uint64_t end = device_->geometry().size_bytes;
  const auto code = [&](std::uint64_t offset, iovec piece) {
    const auto result = loop_.run(do_read(device_.get(), offset, {piece}));
    return result ? Errc{} : result.error().code;
  };
  EXPECT_EQ(code(1, {memory.get(), kPage}), Errc::kInvalid);
  EXPECT_EQ(code(0, {memory.get() + 8, kPage}), Errc::kInvalid);
  EXPECT_EQ(code(0, {memory.get(), 100}), Errc::kInvalid);
  EXPECT_EQ(code(0, {memory.get(), 0}), Errc::kInvalid);
  EXPECT_EQ(code(end, {memory.get(), kPage}), Errc::kInvalid);
  EXPECT_EQ(code(~std::uint64_t{0} - kPage + 1, {memory.get(), kPage}), Errc::kInvalid);
}

TEST_P(DeviceConformance, ManyAtOnceEndExactlyOnceEvenWhenCancelled) {
  constexpr std::size_t kCount = 200;
  const Memory memory = pages(kCount);
  std::vector<Request> requests(kCount);
  std::vector<iovec> pieces(kCount);
  std::vector<int> ended(kCount);
  for (std::size_t i = 0; i < kCount; ++i) {
    pieces[i] = {memory.get() + i * kPage, kPage};
    requests[i].offset_bytes = i * kPage;
    requests[i].length_bytes = kPage;
    requests[i].buffers = std::span(&pieces[i], 1);
    requests[i].context = &ended[i];
    requests[i].on_done = [](Request& r) { ++*static_cast<int*>(r.context); };
    device_->submit(requests[i]);
  }
  for (std::size_t i = 0; i < kCount; i += 2) device_->cancel(requests[i]);
  const Nanos limit = loop_.now() + std::chrono::seconds(10);
  while (loop_.now() < limit && std::ranges::count(ended, 0) != 0) loop_.turn();
  for (int turn = 0; turn < 2; ++turn) loop_.turn();
  for (std::size_t i = 0; i < kCount; ++i) {
    EXPECT_EQ(ended[i], 1) << i;
    if (i % 2 == 1) EXPECT_TRUE(requests[i].done_bytes.has_value()) << i;
  }
}

}  // namespace forebay::block
