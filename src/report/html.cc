#include "report/html.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "report/charts.h"
#include "report/format.h"
#include "report/latency_chart.h"
#include "report/page_style.h"
#include "report/svg.h"

namespace forebay::report {
namespace {

std::string badge(std::string_view kind, std::string_view text) {
  return fmt::format("<span class=\"badge {}\">{}</span>", kind, escape_html(text));
}

std::string section(std::string_view title, std::string_view about, const std::string& body) {
  if (body.empty()) return "";
  return fmt::format("<h2>{}</h2>\n<p class=\"about\">{}</p>\n{}", escape_html(title),
                     escape_html(about), body);
}

std::string cell(std::string_view text, std::string_view css_class = "") {
  const std::string_view shown_class =
      css_class.empty() && text == kNotAvailable ? "na" : css_class;
  return shown_class.empty()
             ? fmt::format("<td>{}</td>", escape_html(text))
             : fmt::format("<td class=\"{}\">{}</td>", shown_class, escape_html(text));
}

std::string head_row(std::initializer_list<std::string> titles) {
  std::string row = "<tr>";
  for (const std::string& title : titles) row += fmt::format("<th>{}</th>", escape_html(title));
  return row + "</tr>\n";
}

// Escaped, with what stands between backticks as code.
std::string with_code(std::string_view text) {
  std::string out;
  bool code = false;
  for (const char c : escape_html(text)) {
    if (c != '`') {
      out += c;
      continue;
    }
    out += code ? "</code>" : "<code>";
    code = !code;
  }
  return code ? out + "</code>" : out;
}

std::string header(const RunFacts& facts, const Summary& summary) {
  std::string out =
      fmt::format("<header><div class=\"kicker\">Forebay joint test</div><h1>{}</h1>\n<p>{}</p>\n",
                  escape_html(facts.name), escape_html(facts.workload));
  out += fmt::format("<p>{}, {} of {} rounds, {}, seed {}, forebay {}</p>\n",
                     escape_html(facts.started_utc), summary.rounds_complete, facts.rounds_wanted,
                     facts.virtual_time ? "virtual time" : "true time", facts.seed,
                     escape_html(facts.forebay_version));
  out += summary.valid ? badge("good", "valid") : badge("bad", "invalid");
  if (!summary.partial.empty()) out += badge("warn", "partial: " + summary.partial);
  if (facts.scale != 1) out += badge("plain", fmt::format("scale 1:{:g}", facts.scale));
  if (facts.virtual_time) out += badge("plain", "simulated disk and clock");
  out += "</header>\n";
  if (const std::string note = scale_note(facts.scale); !note.empty()) {
    out += fmt::format("<p class=\"about\">{}.</p>\n", escape_html(note));
  }
  if (summary.valid) return out;
  out += "<div class=\"alarm\"><strong>Do not use these figures.</strong><ul>";
  for (const std::string& reason : summary.invalid_reasons) {
    out += fmt::format("<li>{}</li>", escape_html(reason));
  }
  out += "</ul>";
  for (const std::string& line : summary.advice) {
    out += fmt::format("<p>{}.</p>", with_code(line));
  }
  return out + "</div>\n";
}

// The median is what most users feel; without one (too few requests) the mean must do.
const Comparison* headline_of(const Summary& summary, const std::string& baseline) {
  const Comparison* best = nullptr;
  for (const Comparison& comparison : summary.comparisons) {
    if (comparison.baseline != baseline) continue;
    if (comparison.metric == "ttft_ns.p50") return &comparison;
    if (comparison.metric == "ttft_ns.mean") best = &comparison;
  }
  return best;
}

std::string card(const Comparison& comparison, const std::string& against) {
  const std::string why = certainty_text(comparison);
  const std::string metric = metric_title(comparison.metric);
  if (shows_no_difference(comparison)) {
    return fmt::format(
        "<div class=\"card\"><div class=\"figure open words\">no difference shown</div><div "
        "class=\"what\">{} against {}</div><div class=\"how\">{}</div></div>\n",
        metric, escape_html(against), escape_html(why));
  }
  const std::string figure = format_ratio(comparison.ratio.ratio);
  const std::size_t space = figure.find(' ');
  const bool equal = space == std::string::npos;
  const char* mood = !is_clear(comparison) ? "open" : is_better(comparison) ? "good" : "bad";
  return fmt::format(
      "<div class=\"card\"><div class=\"figure {}\">{}</div><div class=\"what\">{} {} {}</div>"
      "<div class=\"how\">{}</div></div>\n",
      mood, escape_html(figure.substr(0, space)),
      escape_html(equal ? "" : figure.substr(space + 1)), metric,
      escape_html((equal ? "as " : "than ") + against), escape_html(why));
}

std::string cards(const RunFacts& facts, const Summary& summary) {
  std::string out;
  for (const ArmFacts& arm : facts.arms) {
    const Comparison* comparison = headline_of(summary, arm.name);
    if (comparison != nullptr) out += card(*comparison, arm.name);
  }
  return out.empty() ? "" : "<div class=\"cards\">" + out + "</div>\n";
}

std::string arm_row(const RunFacts& facts, const ArmSummary& arm, std::size_t index,
                    const TableUnits& units) {
  const bool candidate = arm.name == facts.candidate;
  std::string row =
      fmt::format("<tr{}><td><span class=\"swatch\" style=\"background:var({})\"></span>{}</td>",
                  candidate ? " class=\"candidate\"" : "", arm_color(index), escape_html(arm.name));
  if (!arm.ran()) {
    return row + fmt::format("<td colspan=\"10\" class=\"na\">{}</td></tr>\n",
                             arm.skipped.empty() ? std::string(kNotRun)
                                                 : "skipped: " + escape_html(arm.skipped));
  }
  const double total = static_cast<double>(arm.blocks.total());
  for (const auto& time : {arm.ttft_ns.mean, arm.ttft_ns.p50, arm.ttft_ns.p90, arm.ttft_ns.p99}) {
    row += cell(format_in(time, units.time));
  }
  row += cell(format_in(arm.ns_per_output_token.p50, units.token_time)) +
         cell(format_count(arm.output_tokens_per_second));
  row += cell(format_share(total - static_cast<double>(arm.blocks.recomputed), total));
  row += cell(format_in(case_rate(arm.load_bytes_per_second, facts.scale), units.rate, kNone));
  row += cell(arm.kind == "recompute"
                  ? std::string(kNone)
                  : format_whole(arm.save_dropped_blocks + arm.save_refused_blocks));
  row += cell(format_whole(arm.request_count));
  return row + "</tr>\n";
}

std::string published_row(const PublishedRow& row, const TableUnits& units) {
  const auto ttft = row.ttft_s ? std::optional(*row.ttft_s * 1e9) : std::nullopt;
  std::string out = fmt::format("<tr class=\"published\"><td>{}</td>", escape_html(row.name));
  out += cell(format_published(ttft, units.time));
  out += cell("") + cell("") + cell("") + cell("");
  out += cell(format_published(row.output_tokens_per_second, {}));
  out += cell("") + cell(format_published(row.load_bytes_per_second, units.rate)) + cell("") +
         cell("");
  return out + "</tr>\n";
}

std::string paragraphs(const std::vector<std::string>& lines) {
  std::string out;
  for (const std::string& line : lines) {
    out += fmt::format("<p class=\"about\">{}.</p>\n", escape_html(line));
  }
  return out;
}

std::string arms_table(const RunFacts& facts, const Summary& summary) {
  const TableUnits units = units_of(facts, summary);
  const auto with = [](const char* title, const Unit& unit) {
    return fmt::format("{}\u00a0{}", title, unit.name);
  };
  std::string out = "<div class=\"scroll\"><table>\n";
  out += head_row({"arm", with("TTFT mean", units.time), with("p50", units.time),
                   with("p90", units.time), with("p99", units.time),
                   with("per token p50", units.token_time), "output tok/s", "hit ratio",
                   with("load", units.rate), "blocks not saved", "requests"});
  for (std::size_t a = 0; a < summary.arms.size(); ++a) {
    out += arm_row(facts, summary.arms[a], a, units);
  }
  for (const PublishedRow& row : facts.published) out += published_row(row, units);
  out += "</table></div>\n";
  for (const PublishedRow& row : facts.published) {
    out += fmt::format("<p class=\"about\"><em>{}</em>: published, not measured here. {}</p>\n",
                       escape_html(row.name), escape_html(row.source));
  }
  return out + paragraphs(facts.disks) + paragraphs(footnotes(facts, summary));
}

std::string comparison_table(const Summary& summary) {
  if (summary.comparisons.empty()) return "";
  std::string out = "<div class=\"scroll\"><table>\n";
  out += head_row({"against", "metric", "ratio", "interval", "confidence", "rounds", ""});
  for (const Comparison& comparison : summary.comparisons) {
    const auto& [pair_count, ratio, interval] = comparison.ratio;
    const bool clear = is_clear(comparison);
    const bool better = is_better(comparison);
    out += "<tr>" + cell(comparison.baseline) + cell(metric_title(comparison.metric)) +
           cell(fmt::format("{:.3f}", ratio)) +
           cell(interval ? fmt::format("{:.3f} to {:.3f}", interval->low, interval->high)
                : comparison.identical ? std::string("identical rounds")
                                       : std::string(kNotAvailable)) +
           cell(interval ? fmt::format("{:.1f} %", 100 * interval->confidence)
                         : std::string(kNotAvailable)) +
           cell(fmt::format("{}", pair_count)) +
           cell(shows_no_difference(comparison) ? "no difference shown" : format_ratio(ratio),
                !clear   ? ""
                : better ? "good"
                         : "bad") +
           "</tr>\n";
  }
  out += "</table></div>\n";
  const std::string note = pairing_note(summary);
  return note.empty() ? out : out + paragraphs({note});
}

std::string traffic(const RunLog& log) {
  std::string out;
  const double rate_max = traffic_rate_max(log);
  for (std::size_t a = 0; a < log.facts.arms.size(); ++a) {
    const std::string chart = traffic_chart(log, a, rate_max);
    if (chart.empty()) continue;
    out += fmt::format("<h3>{}</h3>\n{}", escape_html(log.facts.arms[a].name), chart);
  }
  return out;
}

std::string variants_table(const RunFacts& facts, const Summary& summary) {
  if (summary.variants.empty()) return "";
  const Unit time = units_of(facts, summary).time;
  std::string out = "<div class=\"scroll\"><table>\n<tr><th>input</th>";
  for (const ArmSummary& arm : summary.arms) {
    if (!arm.skipped.empty()) continue;
    out += fmt::format("<th>{0} TTFT mean&nbsp;{1}</th><th>{0} output&nbsp;tok/s</th>",
                       escape_html(arm.name), time.name);
  }
  out += "</tr>\n";
  for (const VariantSummary& variant : summary.variants) {
    out += "<tr>" + cell(fmt::format("{} = {}", variant.key, variant.value));
    for (const ArmSummary& arm : summary.arms) {
      if (!arm.skipped.empty()) continue;
      const VariantSummary::Arm* found = variant.arm(arm.name);
      out += found == nullptr ? cell(kNotRun, "na") + cell(kNone)
                              : cell(format_in(found->ttft_ns_mean, time)) +
                                    cell(format_count(found->output_tokens_per_second));
    }
    out += "</tr>\n";
  }
  return out + "</table></div>\n";
}

// Every class of every arm: how many, how long, how much.
std::string operations_table(const Summary& summary) {
  std::vector<double> times;
  for (const ArmSummary& arm : summary.arms) {
    for (const OperationSummary& operation : arm.operations) {
      const Distribution& d = operation.latency_ns;
      for (const auto& time : {d.mean, d.p50, d.p99, d.max}) times.push_back(time.value_or(0));
    }
  }
  const Unit unit = time_unit(times);
  const auto with = [&unit](const char* title) {
    return fmt::format("{}\u00a0{}", title, unit.name);
  };
  std::string rows;
  for (const ArmSummary& arm : summary.arms) {
    for (const OperationSummary& operation : arm.operations) {
      const Distribution& d = operation.latency_ns;
      rows += "<tr>" + cell(arm.name) + cell(operation.name) + cell(format_whole(d.count));
      for (const auto& time : {d.mean, d.p50, d.p90, d.p99, d.max}) {
        rows += cell(format_in(time, unit));
      }
      rows +=
          cell(operation.bytes > 0 ? format_count(static_cast<double>(operation.bytes) / (1 << 20))
                                   : std::string(kNone)) +
          cell(format_whole(operation.failed_blocks)) + "</tr>\n";
    }
  }
  if (rows.empty()) return "";
  return "<div class=\"scroll\"><table>\n" +
         head_row({"arm", "operation", "count", with("mean"), with("p50"), with("p90"), with("p99"),
                   with("max"), "MiB moved", "blocks not moved"}) +
         rows + "</table></div>\n";
}

std::string operations(const RunLog& log, const Summary& summary) {
  std::string out;
  for (const LatencyChart& chart : latency_charts(log, summary)) {
    out += fmt::format("<h3>{}</h3>\n{}", chart.name, chart.svg);
  }
  return out + operations_table(summary);
}

std::string assumptions_table(const RunFacts& facts) {
  std::string out = "<table class=\"words\">\n" + head_row({"input", "value", "from"});
  for (const Assumption& item : facts.assumptions) {
    out += "<tr>" + cell(item.name) + cell(item.value) + cell(item.source) + "</tr>\n";
  }
  for (const ArmFacts& arm : facts.arms) {
    if (arm.detail.empty()) continue;
    out += "<tr>" + cell("arm " + arm.name) + cell(arm.detail) + cell("as it ran") + "</tr>\n";
  }
  return out + "</table>\n";
}

std::string notes_list(const RunFacts& facts, const Summary& summary) {
  std::string out = "<ul>\n";
  for (const std::string& note : facts.notes) {
    out += fmt::format("<li>{}</li>\n", escape_html(note));
  }
  double lag = 0;
  double step_lag = 0;
  for (const ArmSummary& arm : summary.arms) {
    lag = std::max(lag, arm.lag_ns_p99);
    step_lag = std::max(step_lag, arm.step_lag_share);
  }
  out += fmt::format("<li>client lag p99, worst cell: {} (invalid above {:g} ms)</li>\n",
                     format_ns(lag), facts.thresholds.lag_ms_max);
  out += fmt::format(
      "<li>steps of the emulated engine were late by {:.2f} % of the time in the worst cell "
      "(invalid above {:g} %)</li>\n",
      100 * step_lag, 100 * facts.thresholds.step_lag_share_max);
  std::uint64_t wrong = 0;
  for (const ArmSummary& arm : summary.arms) wrong += arm.wrong_blocks;
  std::uint64_t dropped = 0;
  for (const ArmSummary& arm : summary.arms) dropped += arm.ops_dropped;
  out += fmt::format("<li>operations that fell out of the bounded log ops.csv: {}</li>\n",
                     format_whole(dropped));
  out += fmt::format("<li>blocks that held wrong bytes, every byte loaded was compared: {}</li>\n",
                     wrong);
  return out + "</ul>\n";
}

std::string environment_table(std::string_view environment_json) {
  const auto json = nlohmann::ordered_json::parse(environment_json, nullptr, false);
  if (!json.is_object()) return "";
  std::string out = "<table class=\"words\">\n";
  for (const char* part : {"machine", "storage"}) {
    if (!json.contains(part)) continue;
    for (const auto& [key, value] : json.at(part).items()) {
      if (value.is_object() || (value.is_string() && value.get<std::string>().empty())) continue;
      const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
      out += "<tr>" + cell(key) + cell(text) + "</tr>\n";
    }
  }
  return out + "</table>\n";
}

}  // namespace

std::string html_report(const RunLog& log, const Summary& summary,
                        std::string_view environment_json) {
  const RunFacts& facts = log.facts;
  std::string out = fmt::format(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">"
      "<title>{} - Forebay</title><style>{}</style></head><body><main>\n",
      escape_html(facts.name), kPageStyle);
  // Nobody should carry a headline away from a run that is void.
  out += header(facts, summary) + (summary.valid ? cards(facts, summary) : "");
  out += section("Results",
                 "Latency counts from the intended start of each request. A percentile below its "
                 "sample floor reads n/a. The hit ratio counts KV blocks of the prompts.",
                 arms_table(facts, summary));
  out += section("Time to first token", "The share of requests that had their first token by then.",
                 ttft_chart(log, summary));
  out += section("Where the time went", "The mean time to first token of each arm, in its parts.",
                 where_chart(summary, units_of(facts, summary).time));
  out += section("Where the KV came from", "Blocks of the prompts, by source.",
                 sources_chart(summary));
  out += section("What the device moved",
                 facts.scale == 1
                     ? std::string("Bytes a second through the storage device, in the first round "
                                   "of each arm.")
                     : fmt::format("Bytes a second that really went through the storage device (1/"
                                   "{:g} of the case's), in the first round of each arm.",
                                   facts.scale),
                 traffic(log));
  out +=
      section("How long storage operations took",
              std::string("Calls of the engine to its cache, many blocks each, warm-up included; a "
                          "load from two tiers stands in both.") +
                  (facts.virtual_time ? " The simulated clock stands still for what memory does, "
                                        "so lookups and DRAM show no time."
                                      : ""),
              operations(log, summary));
  out += section("How late the client sent",
                 "Latency counts from the intended start, so it holds this; a run whose client "
                 "lags is void.",
                 lag_chart(log));
  out += section("Every round",
                 "The mean time to first token of each round: how far apart the dots of an arm lie "
                 "is the noise that the intervals speak of.",
                 rounds_chart(summary));
  out += section(fmt::format("{} against the others", facts.candidate),
                 "Ratios of paired rounds: the candidate over the other arm, Hodges-Lehmann "
                 "estimate and exact interval. Coloured where the interval leaves no doubt.",
                 comparison_table(summary));
  out += section("How the outcome moves",
                 "The same test with one input changed, re-run in virtual time.",
                 variants_table(facts, summary));
  out += section("Validity and notes", "", notes_list(facts, summary));
  out += section("What was assumed", "Inputs of the result that were not measured here.",
                 assumptions_table(facts));
  out += section("Measured on", "As the kernel describes itself.",
                 environment_table(environment_json));
  out +=
      "<footer>Recompute every figure from the raw logs beside this page: "
      "<code>forebay report show DIR</code></footer>\n</main></body></html>\n";
  return out;
}

}  // namespace forebay::report
