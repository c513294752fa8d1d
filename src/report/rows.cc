#include "report/rows.h"

#include <algorithm>
#include <array>

namespace forebay::report {
namespace {

using R = RequestRow;
constexpr std::array kRequestColumns{
    Column<R>{"variant", "0: the run itself; 1 and more: re-runs of the sensitivity table",
              &R::variant},
    Column<R>{"round", "which round, from 0", &R::round},
    Column<R>{"arm", "which arm", &R::arm, Words::kArm},
    Column<R>{"index", "position of the request in the workload, from 0", &R::index},
    Column<R>{"session", "session of the request; 0: none", &R::session},
    Column<R>{"warm_up", "1: before the warm-up ended, not counted in any figure", &R::warm_up},
    Column<R>{"state", "done; failed (it can never fit); unfinished (the run was stopped)",
              &R::state, Words::kRequestState},
    Column<R>{"intended_ns", "when it should have started; latency counts from here",
              &R::intended_ns},
    Column<R>{"send_ns", "when the client sent it; send - intended is the client's lag",
              &R::send_ns},
    Column<R>{"admitted_ns", "when it left the queue", &R::admitted_ns},
    Column<R>{"load_done_ns", "when the KV from outside HBM was in place", &R::load_done_ns},
    Column<R>{"first_token_ns", "when the first token was there; 0: never", &R::first_token_ns},
    Column<R>{"end_ns", "when it ended", &R::end_ns},
    Column<R>{"input_tokens", "tokens of the prompt", &R::input_tokens},
    Column<R>{"output_tokens", "tokens to generate", &R::output_tokens},
    Column<R>{"hbm_blocks", "KV blocks of the prompt found in the engine's own cache",
              &R::hbm_blocks},
    Column<R>{"dram_blocks", "KV blocks loaded from the DRAM tier", &R::dram_blocks},
    Column<R>{"flash_blocks", "KV blocks loaded from flash (or from files)", &R::flash_blocks},
    Column<R>{"recomputed_blocks", "KV blocks of the prompt that were computed",
              &R::recomputed_blocks},
    Column<R>{"dram_bytes", "bytes loaded from the DRAM tier", &R::dram_bytes},
    Column<R>{"flash_bytes", "bytes loaded from flash (or from files)", &R::flash_bytes},
    Column<R>{"preemptions", "times that it gave its HBM away and was computed again",
              &R::preemptions},
    Column<R>{"wrong_blocks",
              "loaded blocks whose bytes were not what their name demands: must be 0",
              &R::wrong_blocks},
    Column<R>{"queue_ns", "part of TTFT: waiting for a place in the batch", &R::queue_ns},
    Column<R>{"lookup_ns", "part of TTFT: asking what the cache holds", &R::lookup_ns},
    Column<R>{"read_ns",
              "part of TTFT: waiting for bytes from outside HBM, all tiers; ops.csv has each",
              &R::read_ns},
    Column<R>{"recompute_ns", "part of TTFT: prefill steps", &R::recompute_ns},
    Column<R>{"other_ns", "part of TTFT: client lag, checking contents", &R::other_ns},
};

using C = CellRow;
constexpr std::array kCellColumns{
    Column<C>{"variant", "0: the run itself; 1 and more: re-runs of the sensitivity table",
              &C::variant},
    Column<C>{"round", "which round, from 0", &C::round},
    Column<C>{"arm", "which arm", &C::arm, Words::kArm},
    Column<C>{"position", "place of the arm in its round's order, from 0", &C::position},
    Column<C>{"state", "complete; partial (stopped, not compared); failed (could not run)",
              &C::state, Words::kCellState},
    Column<C>{"start_ns", "start of the cell, from the start of the run", &C::start_ns},
    Column<C>{"span_ns", "from the first intended start to the last end", &C::span_ns},
    Column<C>{"requests", "requests that started", &C::requests},
    Column<C>{"steps", "steps of the emulated engine", &C::steps},
    Column<C>{"step_lag_ns_p99", "how late steps ended against their plan", &C::step_lag_ns_p99},
    Column<C>{"step_lag_ns_total", "the same, summed: time the machine took, not the accelerator",
              &C::step_lag_ns_total},
    Column<C>{"emulator_cpu_ns", "CPU time spent on writing and checking contents",
              &C::emulator_cpu_ns},
    Column<C>{"process_cpu_ns", "CPU time of the whole process in this cell", &C::process_cpu_ns},
    Column<C>{"prefill_tokens", "tokens computed in prefill", &C::prefill_tokens},
    Column<C>{"decode_tokens", "tokens computed in decode", &C::decode_tokens},
    Column<C>{"filled_bytes", "KV bytes written by the engine", &C::filled_bytes},
    Column<C>{"checked_bytes", "loaded KV bytes compared with what they must be",
              &C::checked_bytes},
    Column<C>{"prepared_blocks", "blocks stored before the clock started", &C::prepared_blocks},
    Column<C>{"saved_blocks", "blocks offered to the cache", &C::saved_blocks},
    Column<C>{"save_dropped_blocks", "not offered: too many bytes were on their way already",
              &C::save_dropped_blocks},
    Column<C>{"save_refused_blocks", "offered and refused (busy, full, quota)",
              &C::save_refused_blocks},
    Column<C>{"admission_refused_blocks", "kept out of flash by the admission filter",
              &C::admission_refused_blocks},
    Column<C>{"load_timeouts", "loads that the engine gave up at its deadline", &C::load_timeouts},
    Column<C>{"wrong_blocks", "loaded blocks with wrong bytes: must be 0", &C::wrong_blocks},
    Column<C>{"corrupt_blocks", "blocks that did not prove themselves: a miss, never served",
              &C::corrupt_blocks},
    Column<C>{"device_errors", "blocks missed because a device failed", &C::device_errors},
    Column<C>{"hbm_evicted_blocks", "blocks pushed out of HBM", &C::hbm_evicted_blocks},
    Column<C>{"preemptions", "sequences that gave their HBM away", &C::preemptions},
    Column<C>{"device_read_bytes", "bytes read through the storage device (or files)",
              &C::device_read_bytes},
    Column<C>{"device_written_bytes", "bytes written through the storage device (or files)",
              &C::device_written_bytes},
    Column<C>{"disk_read_bytes",
              "the kernel's count for the disk below, everybody's reads; -1: "
              "unknown",
              &C::disk_read_bytes},
    Column<C>{"disk_written_bytes",
              "the kernel's count for the disk below, everybody's writes; "
              "-1: unknown",
              &C::disk_written_bytes},
    Column<C>{"ops_dropped", "the oldest operations: fell out of the bounded log of ops.csv",
              &C::ops_dropped},
};

using O = OpRow;
constexpr std::array kOpColumns{
    Column<O>{"variant", "0: the run itself; 1 and more: re-runs of the sensitivity table",
              &O::variant},
    Column<O>{"round", "which round, from 0", &O::round},
    Column<O>{"arm", "which arm", &O::arm, Words::kArm},
    Column<O>{"op_id", "the request's index + 1", &O::op_id},
    Column<O>{"direction", "read: into the engine; write: offered by it", &O::direction,
              Words::kDirection},
    Column<O>{"tier", "where from, or where to first; none: not delivered", &O::tier, Words::kTier},
    Column<O>{"start_ns", "start of the call", &O::start_ns},
    Column<O>{"end_ns", "end of the call", &O::end_ns},
    Column<O>{"bytes", "bytes moved", &O::bytes},
    Column<O>{"block_count", "blocks moved", &O::block_count},
    Column<O>{"failed_blocks", "blocks asked for and not moved", &O::failed_blocks},
};

using T = TrafficRow;
constexpr std::array kTrafficColumns{
    Column<T>{"variant", "0: the run itself; 1 and more: re-runs of the sensitivity table",
              &T::variant},
    Column<T>{"round", "which round, from 0", &T::round},
    Column<T>{"arm", "which arm", &T::arm, Words::kArm},
    Column<T>{"tier", "which device", &T::tier, Words::kTier},
    Column<T>{"slice_start_ns", "start of the slice", &T::slice_start_ns},
    Column<T>{"slice_ns", "length of the slice", &T::slice_ns},
    Column<T>{"read_bytes", "bytes read in the slice", &T::read_bytes},
    Column<T>{"written_bytes", "bytes written in the slice", &T::written_bytes},
};

template <class Row, std::size_t kCount>
constexpr std::array<Column<Row>, kCount + 1> after_attempt(
    const std::array<Column<Row>, kCount>& columns) {
  constexpr Column<Row> kAttempt{"attempt", "which try of this cell it was, from 1", &Row::attempt};
  std::array<Column<Row>, kCount + 1> all{};
  all[0] = kAttempt;
  std::ranges::copy(columns, all.begin() + 1);
  return all;
}
constexpr auto kLateRequestColumns = after_attempt(kRequestColumns);
constexpr auto kLateCellColumns = after_attempt(kCellColumns);

}  // namespace

std::span<const Column<RequestRow>> request_columns() { return kRequestColumns; }
std::span<const Column<CellRow>> cell_columns() { return kCellColumns; }
std::span<const Column<RequestRow>> late_request_columns() { return kLateRequestColumns; }
std::span<const Column<CellRow>> late_cell_columns() { return kLateCellColumns; }
std::span<const Column<OpRow>> op_columns() { return kOpColumns; }
std::span<const Column<TrafficRow>> traffic_columns() { return kTrafficColumns; }

}  // namespace forebay::report
