#include "workload/generator.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <optional>
#include <queue>
#include <utility>
#include <vector>

#include "core/bytes.h"
#include "core/rng.h"
#include "workload/arrival_process.h"
#include "workload/draws.h"
#include "workload/row_reader.h"

#pragma STDC FP_CONTRACT OFF

namespace forebay::workload {
namespace {

constexpr std::uint32_t kTurnsMax = 10'000;
// In the order of ArrivalKind.
constexpr std::array<std::string_view, 3> kArrivalNames{"poisson", "gamma", "on-off"};

std::uint32_t draw_length(Rng& rng, const LengthModel& model) {
  const double length = model.median * draw_lognormal(rng, model.sigma);
  return static_cast<std::uint32_t>(
      std::llround(std::clamp(length, 1.0, static_cast<double>(model.max))));
}

std::int64_t draw_wait_ns(Rng& rng, double median_s, double sigma) {
  const double wait_ns = median_s * 1e9 * draw_lognormal(rng, sigma);
  return std::llround(std::min(wait_ns, static_cast<double>(kTimeNsMax)));
}

// A conversation with the turns that it still has.
struct Session {
  std::uint64_t id = 0;
  std::uint64_t prompt = 0;         // names the system prompt's blocks
  std::uint32_t prompt_blocks = 0;  // whole blocks inside it
  std::uint32_t turn = 0;
  std::uint32_t turns_left = 0;      // after this one
  std::uint32_t context_tokens = 0;  // prompt of this turn
  std::uint32_t output_tokens = 0;   // of this turn
  std::int64_t arrival_ns = 0;
  std::int64_t think_ns = 0;
  std::int64_t parent = -1;
  Rng rng{0};

  // The heap gives the earliest; ids break ties, in the order of beginning.
  friend bool operator>(const Session& a, const Session& b) {
    return a.arrival_ns != b.arrival_ns ? a.arrival_ns > b.arrival_ns : a.id > b.id;
  }
};

class Generator final : public TraceReader {
 public:
  explicit Generator(const GeneratorOptions& options)
      : options_(options),
        root_(options.seed),
        arrivals_(options, root_.fork("arrivals")),
        prompts_(std::max<std::uint32_t>(1, options.system_prompt_count),
                 options.system_prompt_zipf) {}

  Result<bool> next(Request& request) override;
  std::string_view format() const override { return "synthetic"; }
  std::uint64_t skipped_count() const override { return 0; }
  std::vector<std::string> notes() const override {
    std::vector<std::string> notes{fmt::format("synthesised with seed {}", options_.seed)};
    if (cut_short_) notes.emplace_back("some sessions have one turn: too many were live at once");
    return notes;
  }

 private:
  [[nodiscard]] Session begin_session();
  // The next turn of `session`, or false when it has none.
  [[nodiscard]] bool advance(Session& session);
  [[nodiscard]] bool draw_turn(Session& session);
  void fill(const Session& session, Request& request) const;

  GeneratorOptions options_;
  Rng root_;
  ArrivalProcess arrivals_;
  Zipf prompts_;
  std::priority_queue<Session, std::vector<Session>, std::greater<>> live_;
  std::optional<Session> coming_;  // the next session to begin
  std::uint64_t session_count_ = 0;
  std::uint64_t request_count_ = 0;
  bool cut_short_ = false;
};

// What this turn adds to the context; false when it no longer fits.
bool Generator::draw_turn(Session& session) {
  const std::uint64_t context = std::uint64_t{session.context_tokens} + session.output_tokens +
                                draw_length(session.rng, options_.new_tokens);
  const std::uint32_t output = draw_length(session.rng, options_.output_tokens);
  if (context + output > options_.context_tokens_max && session.turn > 0) return false;
  session.context_tokens =
      static_cast<std::uint32_t>(std::min<std::uint64_t>(context, options_.context_tokens_max));
  session.output_tokens = output;
  return true;
}

Session Generator::begin_session() {
  Session session;
  session.rng = root_.fork(fmt::format("session {}", session_count_));
  session.id = ++session_count_;
  session.arrival_ns = arrivals_.next_ns();
  if (options_.system_prompt_count > 0) {
    session.prompt = mix64(options_.seed ^ mix64(1 + prompts_.draw(session.rng)));
    session.prompt_blocks = options_.system_prompt_tokens / options_.block_tokens;
    session.context_tokens = options_.system_prompt_tokens;
  }
  // Geometric with mean turns_mean: one more turn with probability 1 - 1/mean.
  const double more = 1 - 1 / options_.turns_mean;
  while (session.turns_left < kTurnsMax && session.rng.chance(more)) ++session.turns_left;
  static_cast<void>(draw_turn(session));  // the first always fits
  return session;
}

bool Generator::advance(Session& session) {
  if (session.turns_left == 0) return false;
  --session.turns_left;
  ++session.turn;
  if (!draw_turn(session)) return false;
  const bool tool = session.rng.chance(options_.tool_ratio);
  session.think_ns = draw_wait_ns(
      session.rng, tool ? options_.tool_s_median : options_.think_s_median, options_.wait_sigma);
  session.arrival_ns = std::min(kTimeNsMax, session.arrival_ns + session.think_ns);
  session.parent = static_cast<std::int64_t>(request_count_);
  return true;
}

// Block b of a context is the system prompt's, or the session's; a partial last block is of this
// turn alone, because the next turn has another, longer one in its place.
void Generator::fill(const Session& session, Request& request) const {
  clear_request(request);
  request.arrival_ns = session.arrival_ns;
  request.index = request_count_;
  request.session = session.id;
  request.turn = session.turn;
  request.parent = session.parent;
  request.think_ns = session.think_ns;
  request.input_tokens = session.context_tokens;
  request.output_tokens = session.output_tokens;
  request.block_tokens = options_.block_tokens;
  const std::uint64_t own = mix64(mix64(options_.seed) + session.id);
  const std::uint64_t full = session.context_tokens / options_.block_tokens;
  for (std::uint64_t b = 0; b < full; ++b) {
    request.block_ids.push_back(mix64((b < session.prompt_blocks ? session.prompt : own) ^ b));
  }
  if (full * options_.block_tokens < session.context_tokens) {
    request.block_ids.push_back(mix64(mix64(own ^ full) + session.turn + 1));
  }
}

Result<bool> Generator::next(Request& request) {
  if (request_count_ == options_.request_count) return false;
  if (!coming_) coming_ = begin_session();
  Session session;
  if (live_.empty() || !(*coming_ > live_.top())) {
    session = *std::exchange(coming_, std::nullopt);
    if (session.turns_left > 0 && live_.size() >= kLiveSessionsMax) {
      session.turns_left = 0;
      cut_short_ = true;
    }
  } else {
    session = live_.top();
    live_.pop();
  }
  fill(session, request);
  if (advance(session)) live_.push(std::move(session));
  ++request_count_;
  return true;
}

// Collects what is out of range.
class Checks {
 public:
  explicit Checks(Diagnostics& diagnostics) : diagnostics_(diagnostics) {}
  void range(std::string_view place, double value, double min, double max) {
    if (value >= min && value <= max) return;
    diagnostics_.add(std::string(place), fmt::format("{} is not from {} to {}", value, min, max));
  }
  void length(std::string_view place, const LengthModel& model) {
    range(fmt::format("{}_median", place), model.median, 1, kTokensMax);
    range(fmt::format("{}_sigma", place), model.sigma, 0, 10);
    range(fmt::format("{}_max", place), model.max, 1, kTokensMax);
  }

 private:
  Diagnostics& diagnostics_;
};

}  // namespace

void check_options(const GeneratorOptions& options, Diagnostics& diagnostics) {
  constexpr double kDayS = 86'400;
  Checks checks(diagnostics);
  checks.range("request_count", static_cast<double>(options.request_count), 1,
               static_cast<double>(kRequestsMax));
  checks.range("sessions_per_s", options.sessions_per_s, 0.001, 1e6);
  checks.range("gap_cv", options.gap_cv, 0.01, 30);
  checks.range("on_s_mean", options.on_s_mean, 1e-3, 365 * kDayS);
  checks.range("off_s_mean", options.off_s_mean, 0, 365 * kDayS);
  checks.range("turns_mean", options.turns_mean, 1, 1000);
  checks.range("tool_ratio", options.tool_ratio, 0, 1);
  checks.range("think_s_median", options.think_s_median, 0, kDayS);
  checks.range("tool_s_median", options.tool_s_median, 0, kDayS);
  checks.range("wait_sigma", options.wait_sigma, 0, 10);
  checks.range("system_prompt_count", options.system_prompt_count, 0, 1'000'000);
  checks.range("system_prompt_tokens", options.system_prompt_tokens, 1, kTokensMax / 2);
  checks.range("system_prompt_zipf", options.system_prompt_zipf, 0, 10);
  checks.length("new_tokens", options.new_tokens);
  checks.length("output_tokens", options.output_tokens);
  checks.range("context_tokens_max", options.context_tokens_max, 1, kTokensMax);
  checks.range("block_tokens", options.block_tokens, kBlockTokensMin, kTokensMax);
}

std::span<const std::string_view> arrival_kind_names() { return kArrivalNames; }

std::optional<ArrivalKind> find_arrival_kind(std::string_view name) {
  const auto found = std::ranges::find(kArrivalNames, name);
  if (found == kArrivalNames.end()) return std::nullopt;
  return static_cast<ArrivalKind>(found - kArrivalNames.begin());
}

std::unique_ptr<TraceReader> generate(const GeneratorOptions& options) {
  return std::make_unique<Generator>(options);
}

}  // namespace forebay::workload
