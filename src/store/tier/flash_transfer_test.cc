#include "store/tier/flash_transfer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <vector>

#include "io/sim.h"

namespace forebay::store {
namespace {

// Holds every request until the test lets it go.
class HandDevice final : public block::Device {
 public:
  explicit HandDevice(io::Loop& loop) : loop_(loop) {
    geometry_.size_bytes = 1 << 30;
    geometry_.transfer_bytes_max = 1 << 20;
  }
  [[nodiscard]] const block::Geometry& geometry() const override { return geometry_; }
  [[nodiscard]] std::string describe() const override { return "hand"; }
  [[nodiscard]] io::Loop& loop() override { return loop_; }
  void submit(block::Request& request) override { held.push_back(&request); }
  void cancel(block::Request&) override {}
  void complete_front() {
    block::Request& request = *held.front();
    held.pop_front();
    request.done_bytes = request.length_bytes;
    request.on_done(request);
  }
  std::deque<block::Request*> held;

 private:
  io::Loop& loop_;
  block::Geometry geometry_;
};

class Queue : public testing::Test {
 protected:
  Queue() : loop_(engine_), device_(loop_), buffers_(4096, 1 << 20) {
    TransferQueue::Hooks hooks;
    hooks.before_submit = [](const block::Request&) { return Status{}; };
    hooks.on_result = [](const block::Request&) {};
    hooks.keep = [] { return std::shared_ptr<void>(); };
    queue_ = std::make_unique<TransferQueue>(device_, buffers_, 1000, std::move(hooks));
  }
  Transfer& add(block::OpClass op_class, std::uint32_t tenant, std::uint64_t bytes) {
    Transfer& transfer = transfers_.emplace_back();
    transfer.request.op_class = op_class;
    transfer.request.tenant = tenant;
    transfer.request.length_bytes = bytes;
    transfer.on_done = [](Transfer& done) { *static_cast<int*>(done.context) += 1; };
    transfer.context = &done_;
    queue_->submit(transfer);
    return transfer;
  }

  io::SimEngine engine_{io::SimOptions{}};
  io::Loop loop_;
  HandDevice device_;
  BufferPool buffers_;
  std::unique_ptr<TransferQueue> queue_;
  std::deque<Transfer> transfers_;
  int done_ = 0;
};

using TransferQueueTest = Queue;

TEST_F(TransferQueueTest, KeepsTheDepthInBytesAndRefillsItWithEveryCompletion) {
  for (int i = 0; i < 20; ++i) add(block::OpClass::kDemand, 0, 300);
  EXPECT_EQ(device_.held.size(), 3U);
  for (int i = 0; i < 17; ++i) {
    device_.complete_front();
    EXPECT_EQ(device_.held.size(), 3U) << i;
  }
  while (!device_.held.empty()) device_.complete_front();
  EXPECT_EQ(done_, 20);
  EXPECT_EQ(queue_->in_flight_bytes(), 0U);
  EXPECT_EQ(queue_->in_flight_bytes_peak(), 900U);
}

TEST_F(TransferQueueTest, ARequestLargerThanTheDepthStillGoesAlone) {
  add(block::OpClass::kDemand, 0, 5000);
  add(block::OpClass::kDemand, 0, 5000);
  EXPECT_EQ(device_.held.size(), 1U);
  device_.complete_front();
  EXPECT_EQ(device_.held.size(), 1U);
}

TEST_F(TransferQueueTest, DemandGoesFirstAndPrefetchTakesHalfTheDepthOnly) {
  for (int i = 0; i < 10; ++i) add(block::OpClass::kPrefetch, 0, 250);
  EXPECT_EQ(device_.held.size(), 2U);
  add(block::OpClass::kDemand, 0, 250);
  EXPECT_EQ(device_.held.size(), 3U);
  EXPECT_EQ(device_.held.back()->op_class, block::OpClass::kDemand);
  add(block::OpClass::kDemand, 0, 250);
  add(block::OpClass::kDemand, 0, 250);
  device_.complete_front();  // a prefetch: the waiting demand takes its room
  EXPECT_EQ(device_.held.back()->op_class, block::OpClass::kDemand);
}

TEST_F(TransferQueueTest, ASmallLowRequestDoesNotSlipPastALargeHighOne) {
  add(block::OpClass::kDemand, 0, 600);
  add(block::OpClass::kDemand, 0, 600);
  add(block::OpClass::kGc, 0, 10);
  EXPECT_EQ(device_.held.size(), 1U);
}

TEST_F(TransferQueueTest, TenantsOfAClassTakeTurns) {
  for (int i = 0; i < 40; ++i) add(block::OpClass::kDemand, 1, 1000);
  add(block::OpClass::kDemand, 2, 1000);
  add(block::OpClass::kDemand, 2, 1000);
  std::vector<std::uint32_t> served;
  for (int i = 0; i < 6; ++i) {
    served.push_back(device_.held.front()->tenant);
    device_.complete_front();
  }
  EXPECT_EQ(std::ranges::count(served, 2U), 2) << "a newcomer waits for one turn at most";
}

TEST_F(TransferQueueTest, NoClassStarves) {
  add(block::OpClass::kDemand, 0, 1000);
  add(block::OpClass::kGc, 0, 100);
  int demand = 0;
  while (device_.held.front()->op_class == block::OpClass::kDemand && demand < 1000) {
    ++demand;
    add(block::OpClass::kDemand, 0, 1000);
    device_.complete_front();
  }
  EXPECT_LE(demand, 33);
}

TEST_F(TransferQueueTest, OnlyWhatTheDeviceHasNotGotCanBeRemoved) {
  Transfer& first = add(block::OpClass::kDemand, 0, 1000);
  Transfer& second = add(block::OpClass::kDemand, 0, 1000);
  EXPECT_FALSE(queue_->remove(first));
  EXPECT_TRUE(queue_->remove(second));
  device_.complete_front();
  EXPECT_TRUE(device_.held.empty());
  EXPECT_EQ(done_, 1);
}

TEST_F(TransferQueueTest, AFlushDoesNotWaitForWritesThatStillWait) {
  add(block::OpClass::kDemand, 0, 1000).request.kind = block::RequestKind::kWrite;
  add(block::OpClass::kDemand, 0, 1000);
  Transfer flush;
  flush.request.kind = block::RequestKind::kFlush;
  flush.on_done = [](Transfer&) {};
  queue_->submit(flush);
  EXPECT_EQ(device_.held.back()->kind, block::RequestKind::kFlush);
  while (!device_.held.empty()) device_.complete_front();
}

}  // namespace
}  // namespace forebay::store
