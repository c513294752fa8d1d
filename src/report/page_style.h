// The style sheet of report.html. Colours of series are Okabe and Ito's, which people with any of
// the common colour deficiencies can tell apart, darkened or lightened to hold contrast on each
// ground.
#pragma once

#include <string_view>

namespace forebay::report {

inline constexpr std::string_view kPageStyle = R"css(
:root {
  --ground: #ffffff; --panel: #f6f7f9; --ink: #16191d; --soft: #5b6470; --line: #d9dde3;
  --accent: #0b62b0; --good: #0a7a52; --bad: #b3261e; --warn: #8a5a00;
  --arm0: #6b7280; --arm1: #c77700; --arm2: #0a8f6a; --arm3: #0072b2;
  --arm4: #b04a8a; --arm5: #d55e00; --arm6: #2f8fc6; --arm7: #7a7000;
  --queue: #9aa3af; --lookup: #b04a8a; --read: #3d9bd6; --recompute: #e08a1e; --other: #4b5563;
  --hbm: #16836a; --dram: #5bb899; --flash: #3d9bd6; --written: #d55e00;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #14171b; --panel: #1d2126; --ink: #eceff3; --soft: #a3acb8; --line: #353b44;
    --accent: #6db3f2; --good: #4cc79a; --bad: #ff8a80; --warn: #f0b44c;
    --arm0: #a7afbb; --arm1: #f0a63c; --arm2: #3fc79d; --arm3: #63b3ed;
    --arm4: #e08fc0; --arm5: #ff8a4c; --arm6: #8ccdf5; --arm7: #cfc34a;
    --queue: #6b7480; --lookup: #d987b8; --read: #4ea5e0; --recompute: #e39a3b; --other: #8a94a3;
    --hbm: #2fa384; --dram: #77cfae; --flash: #4ea5e0; --written: #ff8a4c;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0; background: var(--ground); color: var(--ink);
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Liberation Sans", sans-serif;
}
main { max-width: 1060px; margin: 0 auto; padding: 48px 32px 80px; }
header p { margin: 4px 0; color: var(--soft); }
.kicker { font-size: 13px; letter-spacing: .08em; text-transform: uppercase; color: var(--soft); }
h1 { font-size: 34px; line-height: 1.15; margin: 4px 0 10px; letter-spacing: -.01em; }
header + p.about { margin-top: 14px; }
h2 { font-size: 20px; margin: 52px 0 4px; letter-spacing: -.005em; }
h2 + p { margin-top: 0; }
p.about { color: var(--soft); max-width: 76ch; margin: 0 0 14px; font-size: 15px; }
.badge {
  display: inline-block; padding: 2px 10px; border-radius: 999px; font-size: 13px; font-weight: 600;
  border: 1px solid currentColor; margin: 8px 8px 0 0;
}
.badge.good { color: var(--good); } .badge.bad { color: var(--bad); }
.badge.warn { color: var(--warn); } .badge.plain { color: var(--soft); }
.alarm { border-left: 4px solid var(--bad); padding: 8px 16px; margin: 20px 0;
  background: var(--panel); }
.alarm ul { margin: 6px 0; padding-left: 20px; }
.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(250px, 1fr)); gap: 16px;
  margin: 28px 0 8px; }
.card { background: var(--panel); border-radius: 12px; padding: 18px 20px; }
.card .figure { font-size: 40px; font-weight: 650; line-height: 1.1; letter-spacing: -.02em;
  font-variant-numeric: tabular-nums; }
.card .figure.good { color: var(--good); } .card .figure.bad { color: var(--bad); }
.card .figure.open { color: var(--soft); }
.card .figure.words { font-size: 26px; line-height: 44px; }
.card .what { font-weight: 600; margin-top: 4px; }
.card .how { color: var(--soft); font-size: 14px; margin-top: 2px; }
.scroll { overflow-x: auto; margin: 10px 0 14px; }
table { border-collapse: collapse; width: 100%; font-size: 15px;
  font-variant-numeric: tabular-nums; }
th, td { text-align: right; padding: 8px 10px; border-bottom: 1px solid var(--line);
  white-space: nowrap; }
th { font-weight: 600; color: var(--soft); font-size: 13px; vertical-align: bottom;
  white-space: normal; line-height: 1.3; }
td[colspan] { text-align: left; white-space: normal; }
th:first-child, td:first-child { text-align: left; }
td:first-child { font-weight: 600; }
tr.candidate td { background: color-mix(in srgb, var(--accent) 9%, transparent); }
tr.published td { color: var(--soft); font-style: italic; }
td.na { color: var(--soft); }
td.good { color: var(--good); font-weight: 600; } td.bad { color: var(--bad); font-weight: 600; }
table.words td, table.words th { text-align: left; white-space: normal; vertical-align: top; }
table.words td:first-child { white-space: nowrap; }
.swatch { display: inline-block; width: 10px; height: 10px; border-radius: 2px;
  margin-right: 8px; }
svg { width: 100%; height: auto; display: block; font-size: 13px; overflow: visible; }
svg text { fill: var(--ink); }
svg .tick { fill: var(--soft); font-size: 12px; }
svg .arm { font-weight: 600; }
svg .inside { fill: #ffffff; font-size: 12px; font-weight: 600; paint-order: stroke;
  stroke: rgb(0 0 0 / .35); stroke-width: 2px; }
svg .grid { stroke: var(--line); stroke-width: 1; }
svg .curve { fill: none; stroke-width: 2.2; stroke-linejoin: round; }
svg .strong { stroke-width: 3.2; }
svg .area { opacity: .8; }
h3 { font-size: 15px; margin: 20px 0 2px; }
ul { padding-left: 20px; } li { margin: 3px 0; }
code { font-family: ui-monospace, "SF Mono", Menlo, Consolas, monospace; font-size: .92em;
  background: var(--panel); padding: 1px 5px; border-radius: 4px; }
footer { margin-top: 56px; color: var(--soft); font-size: 14px;
  border-top: 1px solid var(--line); padding-top: 16px; }
@media print { main { padding: 0; } h2 { break-after: avoid; } svg, table { break-inside: avoid;
  } }
)css";

}  // namespace forebay::report
