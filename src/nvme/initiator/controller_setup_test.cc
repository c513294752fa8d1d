// What a host asks before it uses a namespace, answered by bytes at the specification's offsets.
#include "nvme/initiator/controller_setup.h"

#include <gtest/gtest.h>

#include "nvme/initiator/fake_options.h"

namespace forebay::nvme::initiator {
namespace {

constexpr std::uint64_t kCapabilities = (1ULL << 37) | (15ULL << 24) | 127;

// Answers the command of the present state: a number, or an Identify page.
Status answer(ControllerSetup& setup, std::uint64_t result,
              const std::vector<std::byte>& page = {}) {
  setup.prepare();
  QueueCommand& command = setup.command();
  command.result = result;
  EXPECT_EQ(command.data_bytes, page.size());
  if (!page.empty()) std::memcpy(command.pieces[0].iov_base, page.data(), page.size());
  return setup.take();
}

ControllerSetup at_identify() {
  ControllerSetup setup({.controller_id = 7, .io_queues = 3});
  EXPECT_TRUE(answer(setup, kCapabilities));
  EXPECT_TRUE(answer(setup, 0));
  EXPECT_TRUE(answer(setup, 1));
  EXPECT_EQ(setup.state(), SetupState::kIdentifyController);
  return setup;
}

template <class T>
void put(std::vector<std::byte>& page, std::size_t offset, T value) {
  std::memcpy(&page[offset], &value, sizeof value);
}

TEST(ControllerSetup, ReadsWhatAControllerAndItsNamespaceCanDo) {
  const FakeDisk disk;
  ControllerSetup setup = at_identify();
  ASSERT_TRUE(answer(setup, 0, identify_page(disk, 0, 7)));
  ASSERT_TRUE(answer(setup, (1U << 16) | 1U));  // two queues of each kind, from 0
  ASSERT_TRUE(answer(setup, 0, identify_page(disk, 1, 7)));
  EXPECT_EQ(setup.state(), SetupState::kDone);
  const ControllerFacts& facts = setup.facts();
  EXPECT_EQ(facts.entries_max, 128U);
  EXPECT_EQ(facts.ready_time_max, std::chrono::milliseconds(7500));
  EXPECT_EQ(facts.io_queues, 2);  // fewer than asked for
  EXPECT_EQ(facts.capsule_data_bytes_max, 4096U);
  EXPECT_EQ(facts.transfer_bytes_max, 131072U);
  EXPECT_TRUE(facts.keeps_alive && facts.deallocates && facts.volatile_cache);
  EXPECT_EQ(facts.model, "Fake disk");
  EXPECT_EQ(facts.block_bytes, 4096U);
  EXPECT_EQ(facts.block_count, 2048U);
  EXPECT_FALSE(facts.write_protected);
}

TEST(ControllerSetup, AsksInTheWordsOfTheSpecification) {
  ControllerSetup setup({.controller_id = 7, .namespace_id = 5, .io_queues = 3});
  setup.prepare();
  EXPECT_EQ(setup.command().sqe.opcode, 0x7F);
  EXPECT_EQ(setup.command().sqe.fabrics_type(), 4);  // Property Get
  EXPECT_EQ(setup.command().sqe.dword(10), 1U);      // of 8 bytes
  EXPECT_EQ(setup.command().sqe.dword(11), 0U);      // CAP
  ASSERT_TRUE(answer(setup, kCapabilities));
  setup.prepare();
  EXPECT_EQ(setup.command().sqe.fabrics_type(), 0);  // Property Set
  EXPECT_EQ(setup.command().sqe.dword(11), 0x14U);   // CC
  EXPECT_EQ(setup.command().sqe.dword(12), 0x460001U);
  ASSERT_TRUE(answer(setup, 0));
  ASSERT_TRUE(answer(setup, 0));  // not ready yet: asked again
  EXPECT_EQ(setup.state(), SetupState::kAwaitReady);
  ASSERT_TRUE(answer(setup, 1));
  ASSERT_TRUE(answer(setup, 0, identify_page({}, 0, 7)));
  setup.prepare();
  EXPECT_EQ(setup.command().sqe.opcode, 9);
  EXPECT_EQ(setup.command().sqe.dword(10), 7U);
  EXPECT_EQ(setup.command().sqe.dword(11), 0x20002U);
  ASSERT_TRUE(answer(setup, 0));
  setup.prepare();
  EXPECT_EQ(setup.command().sqe.opcode, 6);
  EXPECT_EQ(setup.command().sqe.namespace_id, 5U);
}

TEST(ControllerSetup, RefusesAControllerThatItCannotUse) {
  const auto refused_page = [](auto spoil) {
    ControllerSetup setup = at_identify();
    auto page = identify_page({}, 0, 7);
    spoil(page);
    const Status taken = answer(setup, 0, page);
    return taken ? Errc{} : taken.error().code;
  };
  EXPECT_EQ(refused_page([](auto& page) { put(page, 78, std::uint16_t{8}); }), Errc::kIo);
  EXPECT_EQ(refused_page([](auto& page) { put(page, 536, 0U); }), Errc::kUnsupported);
  EXPECT_EQ(refused_page([](auto& page) { put(page, 1792, 3U); }), Errc::kUnsupported);
  EXPECT_EQ(refused_page([](auto& page) { put(page, 1800, std::uint16_t{1}); }),
            Errc::kUnsupported);
  ControllerSetup none({});
  EXPECT_EQ(answer(none, 127).error().code, Errc::kUnsupported);  // no command set
  ControllerSetup narrow({});
  EXPECT_EQ(answer(narrow, 1ULL << 37).error().code, Errc::kUnsupported);  // one entry
  ControllerSetup broken({});
  EXPECT_TRUE(answer(broken, kCapabilities));
  EXPECT_TRUE(answer(broken, 0));
  EXPECT_EQ(answer(broken, 2).error().code, Errc::kIo);  // CSTS.CFS
}

TEST(ControllerSetup, RefusesANamespaceThatItCannotUse) {
  const auto refused_page = [](auto spoil) {
    ControllerSetup setup = at_identify();
    EXPECT_TRUE(answer(setup, 0, identify_page({}, 0, 7)));
    EXPECT_TRUE(answer(setup, 0));
    auto page = identify_page({}, 1, 7);
    spoil(page);
    const Status taken = answer(setup, 0, page);
    return taken ? Errc{} : taken.error().code;
  };
  EXPECT_EQ(refused_page([](auto& page) { put(page, 0, std::uint64_t{0}); }), Errc::kNotFound);
  EXPECT_EQ(refused_page([](auto& page) { put(page, 132, std::uint16_t{8}); }), Errc::kUnsupported);
  EXPECT_EQ(refused_page([](auto& page) { put(page, 134, std::uint8_t{3}); }), Errc::kUnsupported);
  EXPECT_EQ(refused_page([](auto& page) { put(page, 134, std::uint8_t{200}); }),
            Errc::kUnsupported);
  EXPECT_EQ(refused_page([](auto& page) { put(page, 0, ~std::uint64_t{0}); }), Errc::kUnsupported);
}

}  // namespace
}  // namespace forebay::nvme::initiator
