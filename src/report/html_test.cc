#include "report/html.h"

#include <gtest/gtest.h>

#include "report/format.h"
#include "report/svg.h"
#include "report/test_log.h"
#include "report/text.h"

namespace forebay::report {
namespace {

TestLog six_rounds() {
  TestLog test;
  test.log.facts.rounds_wanted = 6;
  for (std::int64_t round = 0; round < 6; ++round) {
    for (std::int64_t arm = 0; arm < 2; ++arm) {
      test.cell(arm, round);
      for (int i = 0; i < 12; ++i) test.request(arm, round, 10 * i, arm == 0 ? 40 : 10);
    }
  }
  return test;
}

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

TEST(Format, TimesHaveThreeDigitsAndAUnit) {
  EXPECT_EQ(format_ns(830.0), "830 ns");
  EXPECT_EQ(format_ns(12'345.0), "12.3 us");
  EXPECT_EQ(format_ns(999'600.0), "1.00 ms");
  EXPECT_EQ(format_ns(1.42e9), "1.42 s");
  EXPECT_EQ(format_ns(149.5e9), "150 s");
  EXPECT_EQ(format_ns(std::optional<double>()), "n/a");
}

TEST(Format, TicksOfAnAxisAreShort) {
  EXPECT_EQ(format_tick_ns(2e6), "2 ms");
  EXPECT_EQ(format_tick_ns(500e6), "500 ms");
  EXPECT_EQ(format_tick_ns(1e9), "1 s");
  EXPECT_EQ(format_tick_ns(50e3), "50 us");
}

TEST(Format, RatesCountsAndSharesReadAsOneWouldSayThem) {
  EXPECT_EQ(format_rate(5.23e9), "5.23 GB/s");
  EXPECT_EQ(format_rate(42e6), "42.0 MB/s");
  EXPECT_EQ(format_rate(0.0), "0");
  EXPECT_EQ(format_count(12031), "12,031");
  EXPECT_EQ(format_count(4.1), "4.10");
  EXPECT_EQ(format_share(366, 1000), "36.6 %");
  EXPECT_EQ(format_share(0, 0), "n/a");
}

TEST(Format, ARatioSaysWhichWayAndHowSure) {
  Comparison comparison;
  comparison.ratio = {
      .pair_count = 6, .ratio = 0.25, .interval = gate::Interval{0.2, 0.5, 0.96875}};
  EXPECT_EQ(comparison_text(comparison), "4.00x lower (96.9 % CI 2.00 to 5.00, 6 rounds)");
  EXPECT_TRUE(is_better(comparison));
  EXPECT_TRUE(is_clear(comparison));
  comparison.ratio.interval->high = 1.25;
  EXPECT_EQ(comparison_text(comparison),
            "no difference shown (4.00x lower, 96.9 % CI 0.80 to 5.00, 6 rounds)");
  EXPECT_FALSE(is_clear(comparison));
  comparison.ratio = {.pair_count = 1, .ratio = 2, .interval = std::nullopt};
  EXPECT_EQ(comparison_text(comparison), "2.00x higher (1 round: no interval below 5)");
  EXPECT_FALSE(is_better(comparison));
}

TEST(Format, AColumnHasOneUnitThatItsSmallestFigureFits) {
  EXPECT_STREQ(time_unit(std::vector<double>{77e6, 1.6e9}).name, "ms");
  EXPECT_STREQ(time_unit(std::vector<double>{0.0, 9.3e9, 38e9}).name, "s");
  EXPECT_STREQ(rate_unit(std::vector<double>{0.98e9, 5.23e9}).name, "GB/s");
  const Unit ms{1e6, "ms"};
  EXPECT_EQ(format_in(1.62e9, ms), "1,620");
  EXPECT_EQ(format_in(76.8e6, ms), "76.8");
  EXPECT_EQ(format_in(0.12e6, ms), "0.120");
  EXPECT_EQ(format_in(std::nullopt, ms), "n/a");
  EXPECT_EQ(format_in(std::nullopt, ms, kNone), "-");
}

TEST(TextReport, SaysWhatIsWrongBeforeAnyFigure) {
  TestLog test = six_rounds();
  test.log.facts.partial = "stopped by a signal";
  test.log.requests[0].wrong_blocks = 2;
  const std::string text = text_report(test.log.facts, summarise(test.log));
  EXPECT_LT(text.find("PARTIAL: stopped by a signal"), text.find("TTFT mean"));
  EXPECT_LT(text.find("INVALID"), text.find("TTFT mean"));
  EXPECT_TRUE(contains(text, "recompute, round 1: up to 2 blocks held wrong bytes"));
}

TEST(TextReport, ShowsPublishedRowsAsSuchAndSkippedArmsWithTheirReason) {
  TestLog test = six_rounds();
  test.log.facts.published = {{"vendor", "a claim", 37.97, 4.1, 0.98e9}};
  test.log.facts.arms.push_back({"files", "files", "", "no virtual time"});
  const std::string text = text_report(test.log.facts, summarise(test.log));
  EXPECT_TRUE(contains(text, "vendor: published, not measured here: a claim"));
  EXPECT_TRUE(contains(text, "files: skipped: no virtual time"));
  EXPECT_TRUE(contains(text, "load GB/s"));
  EXPECT_TRUE(contains(text, "37970"));  // in ms, as the others
  EXPECT_TRUE(contains(text, "0.98"));
  EXPECT_EQ(format_published(149.5e9, {1e9, "s"}), "149.5");
}

TEST(TextReport, AnArmThatNeverRanShowsNoFigures) {
  TestLog test = six_rounds();
  test.log.facts.partial = "stopped by a signal";
  test.log.facts.arms.push_back({"late", "dram", "", ""});
  test.log.facts.variants = {{"engine.tp", "4"}};
  const Summary summary = summarise(test.log);
  const std::string text = text_report(test.log.facts, summary);
  const std::size_t row = text.find("\n  late ");
  ASSERT_NE(row, std::string::npos) << text;
  const std::string line = text.substr(row + 1, text.find('\n', row + 1) - row - 1);
  EXPECT_TRUE(line.ends_with(" not run")) << line;
  EXPECT_TRUE(contains(text, "engine.tp = 4"));
  EXPECT_FALSE(contains(text, "0.00")) << text;
  const std::string page = html_report(test.log, summary, "{}");
  EXPECT_TRUE(contains(page, "class=\"na\">not run</td>"));
}

TEST(TextReport, SaysOnceWhyAPercentileIsMissing) {
  const TestLog test = six_rounds();  // 72 requests an arm
  const std::string text = text_report(test.log.facts, summarise(test.log));
  EXPECT_TRUE(contains(text, "p50 needs 11, p90 64, p99 662;"));
  EXPECT_EQ(text.find("too few requests"), text.rfind("too few requests"));
  TestLog repeated = six_rounds();
  repeated.log.facts.workload_varies = false;
  EXPECT_TRUE(contains(text_report(repeated.log.facts, summarise(repeated.log)),
                       "rounds repeat the same requests"));
}

TEST(TextReport, ShowsWhatWasNotSavedAndTheDisksItRanOn) {
  TestLog test = six_rounds();
  for (CellRow& cell : test.log.cells) {
    if (cell.round != 0) continue;
    cell.saved_blocks = 3000;
    cell.save_dropped_blocks = 400;
    cell.save_refused_blocks = 20;
    cell.ops_dropped = cell.arm == 0 ? 0 : 7;
  }
  test.log.facts.disks = {"simulated disk: 3.00 GB/s"};
  const Summary summary = summarise(test.log);
  const std::string page = html_report(test.log, summary, "{}");
  const std::string text = text_report(test.log.facts, summary);
  for (const std::string& shown : {text, page}) {
    EXPECT_TRUE(
        contains(shown, "forebay: 420 of 3,400 computed blocks were not saved: 400 dropped"));
    EXPECT_TRUE(contains(shown, "forebay: 7 operations, the oldest of their cells"));
    EXPECT_FALSE(contains(shown, "recompute: 420"));  // it has nowhere to save
    EXPECT_TRUE(contains(shown, "simulated disk: 3.00 GB/s"));
  }
}

TEST(TextReport, AnIntervalThatContainsOneIsNoWin) {
  TestLog test = six_rounds();
  // Of six rounds three are won by 10 %, three lost by as much.
  for (RequestRow& row : test.log.requests) {
    if (row.arm == 1) row.first_token_ns = row.intended_ns + (row.round % 2 == 0 ? 36 : 44) * kMs;
  }
  const Summary summary = summarise(test.log);
  EXPECT_TRUE(
      contains(text_report(test.log.facts, summary), "TTFT mean        no difference shown ("));
  const std::string page = html_report(test.log, summary, "{}");
  EXPECT_TRUE(contains(page, ">no difference shown</div>"));
  EXPECT_FALSE(contains(page, "figure good"));
  EXPECT_FALSE(contains(page, "td class=\"good\""));
}

TEST(HtmlReport, NeedsNoNetwork) {
  const TestLog test = six_rounds();
  const std::string page = html_report(test.log, summarise(test.log), "{}");
  for (const char* outside : {"http:", "https:", "src=", "@import", "url(", "<script", "<link"}) {
    EXPECT_FALSE(contains(page, outside)) << outside;
  }
  EXPECT_TRUE(contains(page, "4.00x"));
  EXPECT_TRUE(contains(page, "<svg"));
}

// The part of the page below a heading; "" where there is none.
std::string section_of(const std::string& page, const std::string& heading) {
  const std::size_t at = page.find("<h2>" + heading + "</h2>");
  return at == std::string::npos ? "" : page.substr(at, page.find("<h2>", at + 1) - at);
}

TEST(HtmlReport, DrawsEveryFigureUnderItsHeading) {
  TestLog test = six_rounds();
  for (RequestRow& row : test.log.requests) row.send_ns += 20'000;
  test.log.requests[3].dram_blocks = 2;
  for (const std::int64_t slice : {0, 1}) {
    test.log.traffic.push_back({.arm = 1,
                                .tier = 2,
                                .slice_start_ns = slice * 100 * kMs,
                                .slice_ns = 100 * kMs,
                                .read_bytes = (1 + slice) << 20,
                                .written_bytes = 1 << 20});
  }
  const std::string page = html_report(test.log, summarise(test.log), "{}");
  const struct {
    const char* heading;
    const char* mark;  // how the drawing draws
  } kFigures[] = {{"Time to first token", "<polyline"},  {"Where the time went", "<rect"},
                  {"Where the KV came from", "<rect"},   {"What the device moved", "<polyline"},
                  {"How late the client sent", "20 us"}, {"Every round", "<circle"}};
  for (const auto& figure : kFigures) {
    const std::string part = section_of(page, figure.heading);
    EXPECT_TRUE(contains(part, "<svg")) << figure.heading;
    EXPECT_TRUE(contains(part, figure.mark)) << figure.heading << part;
  }
  // Nobody was late: there is nothing to draw, and no heading above nothing.
  const TestLog punctual = six_rounds();
  EXPECT_EQ(section_of(html_report(punctual.log, summarise(punctual.log), "{}"),
                       "How late the client sent"),
            "");
}

TEST(HtmlReport, TextFromOutsideIsEscaped) {
  TestLog test = six_rounds();
  test.log.facts.name = "<script>alert(1)</script>";
  test.log.facts.notes = {"a & b \"quoted\" <b>"};
  test.log.facts.arms[0].name = "x\"><img>";
  const std::string page =
      html_report(test.log, summarise(test.log), R"({"machine": {"cpu": "<i>"}})");
  EXPECT_FALSE(contains(page, "<script"));
  EXPECT_FALSE(contains(page, "<img"));
  EXPECT_FALSE(contains(page, "<i>"));
  EXPECT_TRUE(contains(page, "a &amp; b &quot;quoted&quot; &lt;b&gt;"));
}

TEST(HtmlReport, AnInvalidRunHasNoHeadline) {
  TestLog test = six_rounds();
  EXPECT_TRUE(contains(html_report(test.log, summarise(test.log), "{}"), "class=\"cards\""));
  test.log.requests[0].wrong_blocks = 1;
  const std::string page = html_report(test.log, summarise(test.log), "{}");
  EXPECT_FALSE(contains(page, "class=\"cards\""));
  EXPECT_TRUE(contains(page, "Do not use these figures"));
}

TEST(HtmlReport, DrawsTheLatencyOfEveryClassThatTookTime) {
  TestLog test = six_rounds();
  const auto op = [&](std::int64_t direction, std::int64_t tier, std::int64_t took_ns) {
    test.log.ops.push_back({.arm = 1,
                            .direction = direction,
                            .tier = tier,
                            .end_ns = took_ns,
                            .bytes = 1 << 20,
                            .block_count = 1});
  };
  op(0, 2, 2'000'000);
  op(0, 2, 3'000'000);
  op(0, 1, 0);
  op(1, 1, 50'000);
  test.log.requests[12].lookup_ns = 900;  // the first of arm 1
  const Summary summary = summarise(test.log);
  ASSERT_EQ(summary.arms[1].operations.size(), 4U);
  const OperationSummary& flash = summary.arms[1].operations[2];
  EXPECT_EQ(flash.name, "read flash");
  EXPECT_EQ(flash.bytes, 2U << 20);
  EXPECT_EQ(flash.latency_ns.mean, 2.5e6);
  const std::string page = html_report(test.log, summary, "{}");
  for (const char* name : {"lookup", "read flash", "write"}) {
    EXPECT_TRUE(contains(page, "<h3>" + std::string(name) + "</h3>")) << name;
  }
  // All zeros cannot stand on a logarithmic axis; the table has them.
  EXPECT_FALSE(contains(page, "<h3>read dram</h3>"));
  EXPECT_TRUE(contains(page, "<td>read dram</td><td>1</td>"));
}

TEST(HtmlReport, OfNothingIsStillAPage) {
  RunLog log;
  const std::string page = html_report(log, summarise(log), "not json");
  EXPECT_TRUE(contains(page, "</html>"));
}

TEST(Scale, TicksAreRoundAndInside) {
  const Scale linear = Scale::linear(0, 930, 0, 100);
  EXPECT_EQ(linear.ticks(), (std::vector<double>{0, 200, 400, 600, 800, 1000}));
  EXPECT_DOUBLE_EQ(linear.at(500), 50);
  const Scale log = Scale::logarithmic(3, 150, 0, 100);
  EXPECT_EQ(log.ticks(), (std::vector<double>{2, 5, 10, 20, 50, 100, 200}));
  EXPECT_DOUBLE_EQ(log.at(20), 50);
  EXPECT_DOUBLE_EQ(log.at(0), 0);
  // No range at all still has a length.
  EXPECT_GT(Scale::linear(5, 5, 0, 100).ticks().size(), 1U);
  EXPECT_GT(Scale::logarithmic(5, 5, 0, 100).at(10), 50);
}

}  // namespace
}  // namespace forebay::report
