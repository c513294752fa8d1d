#include "engine/emulated.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "engine/backend_none.h"
#include "engine/fake_backend.h"
#include "io/sim.h"

namespace forebay::engine {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using workload::Request;

constexpr std::int64_t kMs = 1'000'000;

// 10,000 tokens a second, 20 ms a decode step, blocks of 100 tokens and 8,000 bytes.
EngineOptions small_engine() {
  EngineOptions options;
  options.kv_bytes_per_token = 80;
  options.block_tokens = 100;
  options.hbm_kv_bytes = 1000 * 8192;  // 1,000 blocks
  options.prefill_tokens_per_second = 10000;
  options.decode_seconds_per_step = 0.02;
  options.step_token_budget = 8000;
  options.space = {"tenant", "layout"};
  return options;
}

Request request_at(std::int64_t arrival_ms, std::uint32_t input, std::uint32_t output,
                   std::uint64_t first_id = 0) {
  Request request;
  request.arrival_ns = arrival_ms * kMs;
  request.input_tokens = input;
  request.output_tokens = output;
  request.block_tokens = 100;
  for (std::uint32_t i = 0; i < (input + 99) / 100; ++i) request.block_ids.push_back(first_id + i);
  return request;
}

struct Bench {
  io::SimEngine engine{{}};
  io::Loop loop{engine};
  FakeBackend fake{&loop};
  BackendNone none;
  std::vector<Request> requests;
  EngineOptions options = small_engine();

  EngineResult run(KvBackend& backend, CancelSource* cancel = nullptr) {
    for (std::size_t i = 0; i < requests.size(); ++i) requests[i].index = i;
    return loop.run(run_emulated(&loop, requests, &backend, options, cancel, {}));
  }
  EngineResult run() { return run(none); }
};

std::int64_t ttft_ns(const RequestRecord& record) {
  return record.first_token_ns - record.intended_ns;
}

void expect_parts(const RequestRecord& record, std::int64_t queue_ms, std::int64_t read_ms,
                  std::int64_t recompute_ms) {
  EXPECT_EQ(record.queue_ns, queue_ms * kMs);
  EXPECT_EQ(record.read_ns, read_ms * kMs);
  EXPECT_EQ(record.recompute_ns, recompute_ms * kMs);
  EXPECT_EQ(record.lookup_ns, 0);
  EXPECT_EQ(record.other_ns, 0);
  EXPECT_EQ(ttft_ns(record), (queue_ms + read_ms + recompute_ms) * kMs);
}

TEST(Emulated, AloneARequestTakesItsTokensOverTheRate) {
  Bench bench;
  bench.requests = {request_at(5, 1000, 1)};
  const EngineResult result = bench.run();
  ASSERT_EQ(result.records.size(), 1U);
  const RequestRecord& record = result.records[0];
  EXPECT_EQ(record.state, RequestState::kDone);
  EXPECT_EQ(record.intended_ns, 5 * kMs);
  EXPECT_EQ(record.send_ns, 5 * kMs);
  expect_parts(record, 0, 0, 100);
  EXPECT_EQ(record.end_ns, 105 * kMs);
  EXPECT_EQ(record.recomputed_blocks, 10U);
  EXPECT_EQ(result.steps, 1U);
  EXPECT_EQ(result.prefill_tokens, 1000U);
  EXPECT_EQ(result.span, milliseconds(100));
  EXPECT_EQ(result.lag_ns.max(), 0U);
  EXPECT_EQ(result.step_lag_ns.max(), 0U);
}

TEST(Emulated, EachFurtherTokenIsADecodeStep) {
  Bench bench;
  bench.requests = {request_at(0, 1000, 6)};
  bench.options.decode_seconds_per_sequence = 0.001;
  const EngineResult result = bench.run();
  EXPECT_EQ(result.records[0].first_token_ns, 100 * kMs);
  EXPECT_EQ(result.records[0].end_ns, (100 + 5 * 21) * kMs);
  EXPECT_EQ(result.decode_tokens, 5U);
  EXPECT_EQ(result.steps, 6U);
}

TEST(Emulated, RequestsThatComeTogetherShareAStep) {
  Bench bench;
  bench.requests = {request_at(0, 1000, 1, 0), request_at(0, 3000, 1, 1000)};
  const EngineResult result = bench.run();
  expect_parts(result.records[0], 0, 0, 400);
  expect_parts(result.records[1], 0, 0, 400);
}

TEST(Emulated, ALatecomerWaitsForTheStepInProgress) {
  Bench bench;
  bench.requests = {request_at(0, 2000, 1, 0), request_at(50, 1000, 1, 1000)};
  const EngineResult result = bench.run();
  expect_parts(result.records[0], 0, 0, 200);
  expect_parts(result.records[1], 150, 0, 100);
}

TEST(Emulated, LongPromptsAreComputedInChunksFirstComeFirstServed) {
  Bench bench;
  // 8,000, 8,000 and 4,000 of the first; the third step has room for the second.
  bench.requests = {request_at(0, 20000, 1, 0), request_at(100, 1000, 1, 1000)};
  const EngineResult result = bench.run();
  expect_parts(result.records[0], 0, 0, 2100);
  expect_parts(result.records[1], 1500, 0, 500);
  EXPECT_EQ(result.steps, 3U);
}

TEST(Emulated, DecodeGoesOnInEveryStepAndLengthensIt) {
  Bench bench;
  bench.requests = {request_at(0, 1000, 3, 0), request_at(100, 1000, 1, 1000)};
  const EngineResult result = bench.run();
  // At 100 ms both the first decode step and the second prefill: 20 + 100 ms.
  EXPECT_EQ(result.records[1].first_token_ns, 220 * kMs);
  EXPECT_EQ(result.records[0].end_ns, 240 * kMs);
}

TEST(Emulated, AttentionCostsByTheTokensBefore) {
  Bench bench;
  bench.requests = {request_at(0, 12000, 1)};
  bench.options.prefill_seconds_per_token_pair = 1e-9;
  const EngineResult result = bench.run();
  // n * n / 2 pairs for n tokens, however they are cut.
  EXPECT_EQ(result.records[0].first_token_ns, 1200 * kMs + 72 * kMs);
}

TEST(Emulated, ABatchHoldsNoMoreThanSequencesMax) {
  Bench bench;
  bench.options.sequences_max = 1;
  bench.requests = {request_at(0, 1000, 3, 0), request_at(0, 1000, 1, 1000)};
  const EngineResult result = bench.run();
  EXPECT_EQ(result.records[0].end_ns, 140 * kMs);
  expect_parts(result.records[1], 140, 0, 100);
}

TEST(Emulated, APrefixInHbmIsNotComputedAgain) {
  Bench bench;
  bench.requests = {request_at(0, 1000, 1), request_at(500, 1500, 1)};
  const EngineResult result = bench.run(bench.fake);
  EXPECT_EQ(result.records[1].hbm_blocks, 10U);
  EXPECT_EQ(result.records[1].recomputed_blocks, 5U);
  expect_parts(result.records[1], 0, 0, 50);
  EXPECT_EQ(bench.fake.touched_blocks, 10U);
}

TEST(Emulated, ThePartialLastBlockIsNeverCached) {
  Bench bench;
  bench.requests = {request_at(0, 1050, 1), request_at(500, 1050, 1)};
  const EngineResult result = bench.run();
  EXPECT_EQ(result.records[1].hbm_blocks, 10U);
  expect_parts(result.records[1], 0, 0, 5);
}

TEST(Emulated, OfAPromptThatIsAllCachedTheLastBlockIsComputedForItsFirstToken) {
  Bench bench;
  bench.requests = {request_at(0, 1000, 1), request_at(500, 1000, 1)};
  const EngineResult result = bench.run();
  EXPECT_EQ(result.records[1].hbm_blocks, 9U);
  expect_parts(result.records[1], 0, 0, 10);
}

// Saves by a first run, then HBM is empty again and everything comes from the backend.
struct WarmBench : Bench {
  WarmBench(std::uint32_t input) {
    requests = {request_at(0, input, 1)};
    const EngineResult result = run(fake);
    EXPECT_EQ(result.saved_blocks, input / 100);
    fake.lookup_count = fake.load_count = fake.save_count = 0;
  }
};

TEST(Emulated, ExternalBlocksAreLoadedAtTheBackendsRateAndTheRestIsComputed) {
  WarmBench bench(1000);
  bench.fake.bytes_per_second = 8e6;  // 10 blocks of 8,000 bytes: 10 ms
  bench.requests = {request_at(0, 1500, 1)};
  const EngineResult result = bench.run(bench.fake);
  const RequestRecord& record = result.records[0];
  expect_parts(record, 0, 10, 50);
  EXPECT_EQ(record.admitted_ns, 0);
  EXPECT_EQ(record.load_done_ns, 10 * kMs);
  EXPECT_EQ(record.tier_blocks[1], 10U);
  EXPECT_EQ(record.tier_bytes[1], 80000U);
  EXPECT_EQ(record.recomputed_blocks, 5U);
  EXPECT_EQ(record.wrong_blocks, 0U);
  EXPECT_EQ(result.checked_bytes, 80000U);
  // Only what was new is offered again.
  EXPECT_EQ(result.saved_blocks, 5U);
}

TEST(Emulated, TheLinkToTheDeviceIsPassedWhileTheBackendReads) {
  WarmBench bench(1000);
  bench.fake.bytes_per_second = 8e6;
  bench.options.link_bytes_per_second = 4e6;  // 20 ms, from the same start
  bench.requests = {request_at(0, 1500, 1)};
  expect_parts(bench.run(bench.fake).records[0], 0, 20, 50);
}

TEST(Emulated, ALoadDoesNotHoldTheBatch) {
  WarmBench bench(1000);
  bench.fake.bytes_per_second = 80e3;  // a second
  bench.requests = {request_at(0, 1500, 1), request_at(1, 1000, 1, 5000)};
  const EngineResult result = bench.run(bench.fake);
  expect_parts(result.records[0], 0, 1000, 50);
  expect_parts(result.records[1], 0, 0, 100);
}

TEST(Emulated, LoadsInFlightAreBoundedInBytes) {
  WarmBench bench(1000);
  bench.fake.bytes_per_second = 8e6;
  bench.options.load_in_flight_bytes_max = 80000;
  bench.requests = {request_at(0, 1001, 1), request_at(0, 1001, 1)};
  const EngineResult result = bench.run(bench.fake);
  EXPECT_EQ(bench.fake.loads_now_max, 1U);
  EXPECT_EQ(bench.fake.prefetched_blocks, 10U);  // of the one that waits
  EXPECT_EQ(result.records[0].read_ns, 10 * kMs);
  // By its turn the first has brought the blocks into HBM.
  EXPECT_EQ(result.records[1].hbm_blocks, 10U);
  EXPECT_EQ(result.records[1].read_ns, 0);
}

TEST(Emulated, WrongBytesAreCountedAndComputedAgain) {
  for (const auto fault : {FakeBackend::Fault::kFlipBit, FakeBackend::Fault::kForeign}) {
    WarmBench bench(1000);
    bench.fake.fault = fault;
    bench.requests = {request_at(0, 1001, 1)};
    const EngineResult result = bench.run(bench.fake);
    EXPECT_EQ(result.wrong_blocks, 1U);
    EXPECT_EQ(result.records[0].wrong_blocks, 1U);
    const bool second = fault == FakeBackend::Fault::kFlipBit;
    EXPECT_EQ(result.records[0].recompute_ns, second ? 90'100'000 : 10'100'000);
    EXPECT_EQ(result.records[0].recomputed_blocks, second ? 10U : 2U);
  }
}

TEST(Emulated, AShortLoadIsCompletedByComputing) {
  WarmBench bench(1000);
  bench.fake.fault = FakeBackend::Fault::kHalf;
  bench.requests = {request_at(0, 1500, 1)};
  const EngineResult result = bench.run(bench.fake);
  EXPECT_EQ(result.records[0].tier_blocks[1], 5U);
  expect_parts(result.records[0], 0, 0, 100);
}

TEST(Emulated, ABackendThatNeverAnswersIsLeftAtTheDeadlineAndRecomputed) {
  WarmBench bench(1000);
  bench.fake.fault = FakeBackend::Fault::kNeverAnswers;
  bench.options.load_deadline = seconds(2);
  bench.requests = {request_at(0, 1500, 1), request_at(100, 1500, 1, 7000)};
  const EngineResult result = bench.run(bench.fake);
  EXPECT_EQ(result.load_timeouts, 1U);
  expect_parts(result.records[0], 0, 2000, 150);
  expect_parts(result.records[1], 0, 0, 150);
}

// HBM of 12 blocks: the first load of 4 is lent away for good, a second does not fit into the half
// that loads may take, so everything else is computed.
TEST(Emulated, ADeadBackendTakesAtMostHalfOfHbmAndTheRunGoesOn) {
  WarmBench bench(400);
  bench.fake.fault = FakeBackend::Fault::kNeverAnswers;
  bench.options.load_deadline = seconds(1);
  bench.options.hbm_kv_bytes = 12 * 8192;
  bench.requests.clear();
  for (unsigned i = 0; i < 10; ++i) {
    // The odd ones push the even ones' prefix out of HBM.
    bench.requests.push_back(request_at(2500 * i, 701, 1, i % 2 == 0 ? 0 : 9000 * i));
  }
  const EngineResult result = bench.run(bench.fake);
  ASSERT_EQ(result.records.size(), 10U);
  for (const RequestRecord& record : result.records) EXPECT_EQ(record.state, RequestState::kDone);
  EXPECT_EQ(bench.fake.load_count, 1U);
  EXPECT_EQ(result.load_timeouts, 1U);
}

// Here the half is not enough: a dead backend holds what the request needs. It fails; nothing
// hangs.
TEST(Emulated, WhatWaitsForMemoryThatNeverComesBackFails) {
  WarmBench bench(400);
  bench.fake.fault = FakeBackend::Fault::kNeverAnswers;
  bench.options.load_deadline = seconds(1);
  bench.options.hbm_kv_bytes = 12 * 8192;
  bench.requests = {request_at(0, 401, 1), request_at(3000, 900, 1, 9000)};
  const EngineResult result = bench.run(bench.fake);
  EXPECT_EQ(result.records[0].state, RequestState::kDone);
  EXPECT_EQ(result.records[1].state, RequestState::kFailed);
  EXPECT_EQ(result.records[1].end_ns, 5000 * kMs);
}

// The load ends at 1 s with nothing, and the blocks are computed from 1,000 to 1,040 ms; the device
// writes at 1,020 ms. Only memory that is not lent away any more keeps what was computed.
TEST(Emulated, MemoryThatADeviceMayStillWriteIsNotUsedAgain) {
  WarmBench bench(400);
  bench.fake.fault = FakeBackend::Fault::kLateWriter;
  bench.options.load_deadline = seconds(1);
  bench.requests = {request_at(0, 401, 1)};
  const EngineResult result = bench.run(bench.fake);
  EXPECT_EQ(result.records[0].first_token_ns, 1040'100'000);
  EXPECT_EQ(result.saved_blocks, 4U);
  bench.fake.fault = FakeBackend::Fault::kNone;
  const EngineResult again = bench.run(bench.fake);
  EXPECT_EQ(again.records[0].tier_blocks[1], 4U);
  EXPECT_EQ(again.wrong_blocks, 0U);
}

TEST(Emulated, WhenDecodeRunsOutOfHbmTheYoungestIsPreemptedAndRecomputed) {
  Bench bench;
  bench.options.hbm_kv_bytes = 4 * 8192;
  // Two blocks each; the first to need a third takes it from the second.
  bench.requests = {request_at(0, 200, 60, 0), request_at(0, 190, 20, 1000)};
  const EngineResult result = bench.run();
  const RequestRecord& first = result.records[0];
  const RequestRecord& second = result.records[1];
  EXPECT_EQ(first.preemptions, 0U);
  EXPECT_EQ(second.preemptions, 1U);
  EXPECT_EQ(first.first_token_ns, 39 * kMs);
  EXPECT_EQ(second.first_token_ns, 39 * kMs);
  // The first decode step needs a third block at once.
  EXPECT_EQ(first.end_ns, (39 + 59 * 20) * kMs);
  // The second starts again when the first has ended: its block of 100 tokens is still in HBM,
  // 91 tokens (90 and the one generated) are computed, which gives the second token; 18 follow.
  EXPECT_EQ(second.end_ns, first.end_ns + 9'100'000 + 18 * 20 * kMs);
  EXPECT_EQ(result.preemptions, 1U);
}

TEST(Emulated, WhatCanNeverFitFailsAtOnceAndTheOthersGoOn) {
  Bench bench;
  bench.options.hbm_kv_bytes = 10 * 8192;
  bench.requests = {request_at(0, 1001, 1, 0), request_at(0, 1000, 1, 100),
                    request_at(0, 1000, 2, 200)};
  const EngineResult result = bench.run();
  EXPECT_EQ(result.records[0].state, RequestState::kFailed);
  EXPECT_EQ(result.records[1].state, RequestState::kDone);
  EXPECT_EQ(result.records[2].state, RequestState::kFailed);
}

TEST(Emulated, AChildStartsItsThinkTimeAfterItsParentEnded) {
  Bench bench;
  bench.requests = {request_at(0, 1000, 2, 0), request_at(50, 1500, 1, 0)};
  bench.requests[1].parent = 0;
  bench.requests[1].think_ns = 30 * kMs;
  const EngineResult result = bench.run();
  EXPECT_EQ(result.records[0].end_ns, 120 * kMs);
  EXPECT_EQ(result.records[1].intended_ns, 150 * kMs);
  expect_parts(result.records[1], 0, 0, 50);
}

TEST(Emulated, AChildNeverStartsBeforeItsArrival) {
  Bench bench;
  bench.requests = {request_at(0, 1000, 2, 0), request_at(800, 1500, 1, 0)};
  bench.requests[1].parent = 0;
  EXPECT_EQ(bench.run().records[1].intended_ns, 800 * kMs);
}

TEST(Emulated, AParentThatIsNotThereDoesNotHoldItsChild) {
  Bench bench;
  bench.requests = {request_at(10, 1000, 1)};
  bench.requests[0].parent = 77;
  EXPECT_EQ(bench.run().records[0].intended_ns, 10 * kMs);
}

TEST(Emulated, ACancelledRunKeepsWhatEndedAndMarksTheRest) {
  Bench bench;
  for (int i = 0; i < 10; ++i) {
    bench.requests.push_back(request_at(100 * i, 500, 3, static_cast<unsigned>(1000 * i)));
  }
  CancelSource cancel;
  io::Loop::Timer timer;
  bench.loop.arm(timer, bench.loop.now() + milliseconds(625), [&] { cancel.cancel(); });
  const EngineResult result = bench.run(bench.fake, &cancel);
  EXPECT_TRUE(bench.fake.interrupted);
  ASSERT_EQ(result.records.size(), 7U);  // those that had started
  EXPECT_EQ(result.records[0].state, RequestState::kDone);
  EXPECT_EQ(result.records[6].state, RequestState::kUnfinished);
  EXPECT_EQ(result.records[6].end_ns, 625 * kMs);
}

TEST(Emulated, ARunThatIsCancelledBeforeItStartsEndsAtOnce) {
  Bench bench;
  bench.requests = {request_at(0, 1000, 1)};
  CancelSource cancel;
  cancel.cancel();
  EXPECT_TRUE(bench.run(bench.none, &cancel).records.empty());
}

TEST(Emulated, SavesAreBoundedAndNeverWaitedFor) {
  Bench bench;
  bench.fake.saves_end = false;
  bench.options.load_deadline = seconds(1);
  bench.options.save_in_flight_bytes_max = 10 * 8000;
  bench.requests = {request_at(0, 800, 1, 0), request_at(500, 800, 1, 1000)};
  const EngineResult result = bench.run(bench.fake);
  EXPECT_EQ(result.records[1].first_token_ns, 580 * kMs);
  EXPECT_EQ(result.saved_blocks, 10U);
  EXPECT_EQ(result.save_dropped_blocks, 6U);
}

TEST(Emulated, ThePrefillRateIsToldToTheBackend) {
  Bench bench;
  bench.requests = {request_at(0, 1000, 3)};
  (void)bench.run(bench.fake);
  ASSERT_EQ(bench.fake.prefills.size(), 1U);
  EXPECT_EQ(bench.fake.prefills[0], std::pair(std::uint64_t{1000}, Nanos(milliseconds(100))));
}

// In true time: steps planned at a microsecond, with a megabyte to write in each.
TEST(Emulated, AnEmulatorThatCannotKeepUpSaysSo) {
  const auto engine = *io::make_engine(io::EngineChoice::kPosix);
  io::Loop loop(*engine);
  FakeBackend fake(&loop);
  EngineOptions options = small_engine();
  options.kv_bytes_per_token = 10486;
  options.hbm_kv_bytes = 16 << 20;
  options.prefill_tokens_per_second = 1e8;
  const std::vector<Request> requests = {request_at(0, 1000, 1)};
  const EngineResult result = loop.run(run_emulated(&loop, requests, &fake, options, nullptr, {}));
  EXPECT_EQ(result.step_lag_ns.count(), 1U);
  EXPECT_GT(result.step_lag_ns.max(), 10'000U);
  EXPECT_GT(result.emulator_cpu_ns, 10'000);
  EXPECT_EQ(result.filled_bytes, 10U * 1048600);
  const RequestRecord& record = result.records[0];
  EXPECT_GT(record.first_token_ns - record.send_ns, 20'000);  // what it really took
  EXPECT_EQ(
      record.queue_ns + record.lookup_ns + record.read_ns + record.recompute_ns + record.other_ns,
      record.first_token_ns - record.intended_ns);
}

TEST(Emulated, BadOptionsAreAnErrorNotACrash) {
  const auto code_of = [](auto change) {
    Bench bench;
    change(bench.options);
    bench.requests = {request_at(0, 10, 1)};
    const EngineResult result = bench.run();
    return result.status ? Errc{} : result.status.error().code;
  };
  EXPECT_EQ(code_of([](auto& o) { o.block_tokens = 0; }), Errc::kInvalid);
  EXPECT_EQ(code_of([](auto& o) { o.kv_bytes_per_token = 0; }), Errc::kInvalid);
  EXPECT_EQ(code_of([](auto& o) { o.hbm_kv_bytes = 0; }), Errc::kInvalid);
  EXPECT_EQ(code_of([](auto& o) { o.prefill_tokens_per_second = 0; }), Errc::kInvalid);
  EXPECT_EQ(code_of([](auto& o) { o.step_token_budget = 0; }), Errc::kInvalid);
  EXPECT_EQ(code_of([](auto& o) { o.sequences_max = 0; }), Errc::kInvalid);
}

std::vector<Request> any_requests() {
  std::vector<Request> requests;
  const auto count = *rc::gen::inRange(1, 40);
  std::int64_t at = 0;
  for (int i = 0; i < count; ++i) {
    at += *rc::gen::inRange(0, 200);
    requests.push_back(request_at(at, *rc::gen::inRange(0U, 3000U), *rc::gen::inRange(0U, 40U),
                                  *rc::gen::inRange(0U, 4U) * 1000U));
    if (i > 0 && *rc::gen::inRange(0, 3) == 0) {
      requests.back().parent = *rc::gen::inRange(0, i);
      requests.back().think_ns = *rc::gen::inRange(0, 100) * kMs;
    }
  }
  return requests;
}

RC_GTEST_PROP(Emulated, EveryRequestEndsAndItsPartsSumToItsTtft, ()) {
  Bench bench;
  bench.requests = any_requests();
  bench.options.hbm_kv_bytes = *rc::gen::inRange<std::uint64_t>(20, 120) * 8192;
  bench.options.load_in_flight_bytes_max = *rc::gen::inRange<std::uint64_t>(0, 50) * 8000;
  bench.options.save_in_flight_bytes_max = *rc::gen::inRange<std::uint64_t>(0, 50) * 8000;
  bench.options.link_bytes_per_second = *rc::gen::element(0.0, 1e6, 1e7);
  bench.options.load_deadline = milliseconds(*rc::gen::inRange(1, 500));
  bench.fake.bytes_per_second = *rc::gen::element(0.0, 1e5, 1e6, 1e8);
  bench.fake.fault =
      *rc::gen::element(FakeBackend::Fault::kNone, FakeBackend::Fault::kHalf,
                        FakeBackend::Fault::kFlipBit, FakeBackend::Fault::kNeverAnswers);
  const EngineResult result = bench.run(bench.fake);
  RC_ASSERT(result.records.size() == bench.requests.size());
  std::uint64_t wrong = 0;
  for (std::size_t i = 0; i < result.records.size(); ++i) {
    const RequestRecord& record = result.records[i];
    RC_ASSERT(record.index == i);
    RC_ASSERT(record.state != RequestState::kUnfinished);
    RC_ASSERT(record.send_ns >= record.intended_ns);
    wrong += record.wrong_blocks;
    if (record.state != RequestState::kDone) continue;
    RC_ASSERT(record.queue_ns + record.lookup_ns + record.read_ns + record.recompute_ns +
                  record.other_ns ==
              record.first_token_ns - record.intended_ns);
    RC_ASSERT(record.end_ns >= record.first_token_ns);
    RC_ASSERT(record.admitted_ns <= record.first_token_ns);
  }
  RC_ASSERT(wrong == result.wrong_blocks);
  RC_ASSERT(bench.fake.fault == FakeBackend::Fault::kFlipBit || wrong == 0);
}

TEST(Emulated, TheSameRunGivesTheSameRecords) {
  const auto once = [] {
    WarmBench bench(1000);
    bench.requests.clear();
    for (unsigned i = 0; i < 60; ++i) {
      bench.requests.push_back(request_at(17 * i, 300 + 97 * i % 2000, i % 13, i % 5 * 1000));
    }
    bench.options.hbm_kv_bytes = 60 * 8192;
    bench.fake.bytes_per_second = 1e6;
    return bench.run(bench.fake);
  };
  const EngineResult a = once();
  const EngineResult b = once();
  ASSERT_EQ(a.records.size(), b.records.size());
  EXPECT_EQ(a.steps, b.steps);
  for (std::size_t i = 0; i < a.records.size(); ++i) {
    EXPECT_EQ(a.records[i].first_token_ns, b.records[i].first_token_ns);
    EXPECT_EQ(a.records[i].end_ns, b.records[i].end_ns);
    EXPECT_EQ(a.records[i].read_ns, b.records[i].read_ns);
  }
}

}  // namespace
}  // namespace forebay::engine
