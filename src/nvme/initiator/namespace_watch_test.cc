// The watch over a namespace, answer by answer; expected numbers are those of the specification.
#include "nvme/initiator/namespace_watch.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "nvme/initiator/fake_options.h"

namespace forebay::nvme::initiator {
namespace {

constexpr std::uint64_t kNamespaceEventResult = 0x00040002;  // notice, changed, log page 04h

// Answers as a controller would.
class Answers {
 public:
  bool answer(std::uint64_t result = 0, const std::vector<std::byte>& page = {}) {
    watch.prepare();
    asked = watch.command().sqe;
    untimed = watch.command().untimed;
    if (!page.empty()) {
      EXPECT_EQ(watch.command().data_bytes, 4096U);
      std::memcpy(watch.command().pieces[0].iov_base, page.data(), page.size());
    }
    watch.command().result = result;
    return watch.take();
  }
  bool answer_log(std::vector<std::uint32_t> ids) {
    std::vector<std::byte> page(4096);
    std::memcpy(page.data(), ids.data(), ids.size() * sizeof ids[0]);
    return answer(0, page);
  }
  bool answer_identify(std::uint32_t blocks) {
    FakeDisk disk;
    disk.bytes.resize(std::size_t{blocks} * disk.block_bytes);
    return answer(0, identify_page(disk, 1, 1));
  }

  NamespaceWatch watch{1, ControllerFacts{.entries_max = 77, .block_bytes = 4096}};
  Sqe asked;
  bool untimed = false;
};

TEST(NamespaceWatch, TellsTheNewSizeOfOursAndWaitsForTheNext) {
  Answers controller;
  EXPECT_FALSE(controller.answer());
  EXPECT_EQ(controller.asked.opcode, 0x09);
  EXPECT_EQ(controller.asked.dword(10), 0x0BU);
  EXPECT_EQ(controller.asked.dword(11), 0x100U);
  EXPECT_FALSE(controller.untimed);
  EXPECT_TRUE(controller.answer_identify(10));  // what changed before is seen too
  for (const std::uint32_t blocks : {100U, 50U}) {
    EXPECT_FALSE(controller.answer(kNamespaceEventResult));
    EXPECT_EQ(controller.asked.opcode, 0x0C);
    EXPECT_TRUE(controller.untimed);
    EXPECT_FALSE(controller.answer_log({7, 1}));
    EXPECT_EQ(controller.asked.opcode, 0x02);
    EXPECT_EQ(controller.asked.dword(10), 0x03FF0004U);  // 1024 dwords of page 04h, event cleared
    EXPECT_TRUE(controller.answer_identify(blocks));
    EXPECT_EQ(controller.asked.opcode, 0x06);
    EXPECT_EQ(controller.asked.namespace_id, 1U);
    ASSERT_TRUE(controller.watch.facts());
    EXPECT_EQ(controller.watch.facts()->block_count, blocks);
    EXPECT_EQ(controller.watch.facts()->entries_max, 77U);
  }
  EXPECT_EQ(controller.watch.state(), WatchState::kWait);
}

TEST(NamespaceWatch, LogsOfOthersAndOtherEventsAreReadAndLeft) {
  Answers controller;
  (void)controller.answer();
  (void)controller.answer_identify(10);
  (void)controller.answer(kNamespaceEventResult);
  EXPECT_FALSE(controller.answer_log({2, 3}));
  EXPECT_EQ(controller.watch.state(), WatchState::kWait);
  (void)controller.answer(0x00020101);  // SMART: temperature
  EXPECT_FALSE(controller.answer_log({1}));
  EXPECT_EQ(controller.asked.dword(10) & 0xFF, 2U);
  EXPECT_EQ(controller.watch.state(), WatchState::kWait);
}

TEST(NamespaceWatch, MoreChangesThanTheLogHoldsAreOursToo) {
  Answers controller;
  (void)controller.answer();
  (void)controller.answer_identify(10);
  (void)controller.answer(kNamespaceEventResult);
  (void)controller.answer_log({0xFFFFFFFF});
  EXPECT_EQ(controller.watch.state(), WatchState::kIdentify);
}

TEST(NamespaceWatch, ANamespaceThatIsGoneIsTold) {
  Answers controller;
  (void)controller.answer();
  (void)controller.answer_identify(10);
  (void)controller.answer(kNamespaceEventResult);
  (void)controller.answer_log({1});
  EXPECT_TRUE(controller.answer_identify(0));
  ASSERT_FALSE(controller.watch.facts());
  EXPECT_EQ(controller.watch.facts().error().code, Errc::kNotFound);
}

TEST(NamespaceWatch, ACommandThatFailsEndsIt) {
  Answers controller;
  controller.watch.prepare();
  controller.watch.command().result = fail(Errc::kUnsupported, "test: no such feature");
  EXPECT_FALSE(controller.watch.take());
  EXPECT_EQ(controller.watch.state(), WatchState::kOff);
}

}  // namespace
}  // namespace forebay::nvme::initiator
