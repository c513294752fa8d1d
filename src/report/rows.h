// The rows of the raw logs: one a request, one a cell, one a storage operation, one a time slice.
//
// A cell is one arm in one round of one variant. Variant 0 is the run itself; further ones are the
// re-runs of a sensitivity table. A cell that was late may be done again: its late attempts are in
// logs of their own, with the same columns behind the number of the attempt. What each column
// means: docs/results-columns.md, made from these tables. Instants count from the start of their
// cell. Values; threads: pure.
#pragma once

#include <cstdint>
#include <span>

#include "report/column.h"

namespace forebay::report {

enum class RequestState : std::uint8_t { kDone, kFailed, kUnfinished };
enum class CellState : std::uint8_t { kComplete, kPartial, kFailed };

struct RequestRow {
  std::int64_t variant = 0;
  std::int64_t round = 0;
  std::int64_t arm = 0;
  std::int64_t attempt = 0;  // from 1; of late logs only
  std::int64_t index = 0;
  std::int64_t session = 0;
  std::int64_t warm_up = 0;
  std::int64_t state = 0;
  std::int64_t intended_ns = 0;
  std::int64_t send_ns = 0;
  std::int64_t admitted_ns = 0;
  std::int64_t load_done_ns = 0;
  std::int64_t first_token_ns = 0;
  std::int64_t end_ns = 0;
  std::int64_t input_tokens = 0;
  std::int64_t output_tokens = 0;
  std::int64_t hbm_blocks = 0;
  std::int64_t dram_blocks = 0;
  std::int64_t flash_blocks = 0;
  std::int64_t recomputed_blocks = 0;
  std::int64_t dram_bytes = 0;
  std::int64_t flash_bytes = 0;
  std::int64_t preemptions = 0;
  std::int64_t wrong_blocks = 0;
  std::int64_t queue_ns = 0;
  std::int64_t lookup_ns = 0;
  std::int64_t read_ns = 0;
  std::int64_t recompute_ns = 0;
  std::int64_t other_ns = 0;

  [[nodiscard]] bool done() const { return state == static_cast<int>(RequestState::kDone); }
  [[nodiscard]] bool has_first_token() const { return first_token_ns > 0; }
  [[nodiscard]] std::int64_t ttft_ns() const { return first_token_ns - intended_ns; }
  [[nodiscard]] std::int64_t lag_ns() const { return send_ns - intended_ns; }
};

struct CellRow {
  std::int64_t variant = 0;
  std::int64_t round = 0;
  std::int64_t arm = 0;
  std::int64_t attempt = 0;  // as above
  std::int64_t position = 0;
  std::int64_t state = 0;
  std::int64_t start_ns = 0;
  std::int64_t span_ns = 0;
  std::int64_t requests = 0;
  std::int64_t steps = 0;
  std::int64_t step_lag_ns_p99 = 0;
  std::int64_t step_lag_ns_total = 0;
  std::int64_t emulator_cpu_ns = 0;
  std::int64_t process_cpu_ns = 0;
  std::int64_t prefill_tokens = 0;
  std::int64_t decode_tokens = 0;
  std::int64_t filled_bytes = 0;
  std::int64_t checked_bytes = 0;
  std::int64_t prepared_blocks = 0;
  std::int64_t saved_blocks = 0;
  std::int64_t save_dropped_blocks = 0;
  std::int64_t save_refused_blocks = 0;
  std::int64_t admission_refused_blocks = 0;
  std::int64_t load_timeouts = 0;
  std::int64_t wrong_blocks = 0;
  std::int64_t corrupt_blocks = 0;
  std::int64_t device_errors = 0;
  std::int64_t hbm_evicted_blocks = 0;
  std::int64_t preemptions = 0;
  std::int64_t device_read_bytes = 0;
  std::int64_t device_written_bytes = 0;
  std::int64_t disk_read_bytes = 0;
  std::int64_t disk_written_bytes = 0;
  std::int64_t ops_dropped = 0;

  [[nodiscard]] bool complete() const { return state == static_cast<int>(CellState::kComplete); }
};

struct OpRow {
  std::int64_t variant = 0;
  std::int64_t round = 0;
  std::int64_t arm = 0;
  std::int64_t op_id = 0;
  std::int64_t direction = 0;
  std::int64_t tier = 0;
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::int64_t bytes = 0;
  std::int64_t block_count = 0;
  std::int64_t failed_blocks = 0;
};

// Bytes that a storage device moved in one slice of a cell's time.
struct TrafficRow {
  std::int64_t variant = 0;
  std::int64_t round = 0;
  std::int64_t arm = 0;
  std::int64_t tier = 0;
  std::int64_t slice_start_ns = 0;
  std::int64_t slice_ns = 0;
  std::int64_t read_bytes = 0;
  std::int64_t written_bytes = 0;
};

[[nodiscard]] std::span<const Column<RequestRow>> request_columns();
[[nodiscard]] std::span<const Column<CellRow>> cell_columns();
// Of late attempts: `attempt`, then the columns above.
[[nodiscard]] std::span<const Column<RequestRow>> late_request_columns();
[[nodiscard]] std::span<const Column<CellRow>> late_cell_columns();
[[nodiscard]] std::span<const Column<OpRow>> op_columns();
[[nodiscard]] std::span<const Column<TrafficRow>> traffic_columns();

}  // namespace forebay::report
