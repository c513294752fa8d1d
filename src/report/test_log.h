// Tests only: a small log of two arms, made row by row.
#pragma once

#include <cstdint>
#include <utility>

#include "report/folder.h"

namespace forebay::report {

inline constexpr std::int64_t kMs = 1'000'000;

class TestLog {
 public:
  TestLog() {
    log.facts.name = "test";
    log.facts.candidate = "forebay";
    log.facts.rounds_wanted = 1;
    log.facts.workload_varies = true;
    log.facts.arms = {{"recompute", "recompute", "", ""}, {"forebay", "forebay", "", ""}};
  }

  CellRow& cell(std::int64_t arm, std::int64_t round) {
    CellRow row;
    row.arm = arm;
    row.round = round;
    row.span_ns = 1000 * kMs;
    return log.cells.emplace_back(row);
  }
  // Intended at `at_ms`, first token `ttft_ms` later, done 10 ms after that with 5 tokens.
  RequestRow& request(std::int64_t arm, std::int64_t round, std::int64_t at_ms,
                      std::int64_t ttft_ms) {
    RequestRow row;
    row.arm = arm;
    row.round = round;
    row.index = next_index_++;
    row.intended_ns = at_ms * kMs;
    row.send_ns = row.intended_ns;
    row.first_token_ns = row.intended_ns + ttft_ms * kMs;
    row.end_ns = row.first_token_ns + 10 * kMs;
    row.input_tokens = 100;
    row.output_tokens = 5;
    row.recompute_ns = ttft_ms * kMs;
    row.recomputed_blocks = 4;
    return log.requests.emplace_back(row);
  }

  RunLog log;

 private:
  std::int64_t next_index_ = 0;
};

}  // namespace forebay::report
