#include "service/report/charts/page_style.hpp"

namespace service {
namespace {

/// Style sheet with the colours on paper and in saved pictures.
const std::string kPaper = R"(
  --paper: #ffffff; --ink: #000000; --quiet: #444444; --grid: #dddddd; --frame: #888888;
  --panel: #ffffff; --measured: #8a9099; --simulated: #0072b2; --residual: #d55e00;
  --warn: #b34700; --good: #1a7f37;
  --series-1: #0072b2; --series-2: #d55e00; --series-3: #009e73; --series-4: #aa4499;
  --series-5: #b58900; --series-6: #666666;)";

constexpr const char* kStyle = R"(
:root {
  color-scheme: light dark;
  --paper: #ffffff; --ink: #1a1d21; --quiet: #5a636e; --grid: #e3e6ea; --frame: #9aa3ad;
  --panel: #f6f7f9; --measured: #8a9099; --simulated: #0072b2; --residual: #d55e00;
  --warn: #b34700; --good: #1a7f37;
  --series-1: #0072b2; --series-2: #d55e00; --series-3: #009e73; --series-4: #aa4499;
  --series-5: #b58900; --series-6: #666666;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #14171a; --ink: #e6e9ec; --quiet: #9aa5b1; --grid: #2a2f35; --frame: #5b6570;
    --panel: #1c2024; --measured: #9aa3ad; --simulated: #56b4e9; --residual: #e69f00;
    --warn: #f0a050; --good: #3fb950;
    --series-1: #56b4e9; --series-2: #f08a3c; --series-3: #3ac79b; --series-4: #dd8fc8;
    --series-5: #e6c84a; --series-6: #a8a8a8;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0 auto; padding: 24px; max-width: 1160px; background: var(--paper); color: var(--ink);
  font: 15px/1.45 system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif;
}
h1 { font-size: 24px; margin: 0 0 4px; }
h2 { font-size: 18px; margin: 30px 0 8px; }
h1, h2, h3, li, p { overflow-wrap: anywhere; }
h3 { font-size: 15px; margin: 18px 0 4px; color: var(--quiet); font-weight: 600; }
.inset h2 { font-size: 16px; margin-top: 20px; }
h2.part { border-top: 1px solid var(--grid); padding-top: 18px; }
p, ul { margin: 6px 0; max-width: 76ch; }
.verdict { font-size: 18px; font-weight: 600; border-left: 5px solid var(--good);
  padding: 4px 12px; margin: 12px 0; }
.verdict.warn { border-color: var(--warn); }
details { border-top: 1px solid var(--grid); margin-top: 30px; }
summary { font-size: 18px; font-weight: 700; padding: 14px 0; cursor: pointer; }
.quiet { color: var(--quiet); }
.warn { color: var(--warn); font-weight: 600; }
.summary { display: flex; flex-wrap: wrap; gap: 10px; margin: 16px 0; }
.summary div { background: var(--panel); border: 1px solid var(--grid); border-radius: 6px;
  padding: 8px 14px; }
.summary b { display: block; font-size: 19px; font-variant-numeric: tabular-nums; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { padding: 4px 8px; border-bottom: 1px solid var(--grid); text-align: left;
  white-space: nowrap; }
tbody th { color: var(--ink); font-weight: 400; }
caption { text-align: left; color: var(--quiet); padding: 2px 0 6px; position: sticky; left: 0;
  max-width: min(76ch, calc(100vw - 48px)); }
td.hash { font: 12px ui-monospace, monospace; }
th.words, td.words { white-space: normal; overflow-wrap: anywhere; min-width: 13em; }
th { color: var(--quiet); font-weight: 600; }
td.number, th.number { text-align: right; }
.mark { fill: var(--warn); opacity: 0.25; }
thead th.words { overflow-wrap: normal; white-space: nowrap; }
table.dense { font-size: 12.5px; }
table.dense th, table.dense td { padding: 2px 7px; }
table.matrix, table.narrow { width: auto; }
table.matrix td.held-out { outline: 2px solid var(--ink); outline-offset: -2px; font-weight: 600; }
figure { margin: 6px 0; }
figcaption { font-size: 13px; color: var(--quiet); max-width: 100ch; overflow-wrap: anywhere; }
figcaption button { font: inherit; color: var(--ink); background: var(--panel); cursor: pointer;
  border: 1px solid var(--frame); border-radius: 4px; padding: 1px 8px; }
.chart.live > svg { display: none; }
figure.on-paper { width: 930px; }
.on-paper .chart.live > svg { display: block; }
.on-paper .view { display: none; }
.chart-title { font-size: 13px; font-weight: 600; margin: 8px 0 0; }
.said { min-height: 1.45em; margin: 0; font-size: 13px; color: var(--warn); }
.view:focus-visible { outline: 2px solid var(--simulated); }
.uplot { font-family: inherit; }
.uplot .u-legend { font-size: 12px; text-align: left; margin: 0; color: var(--quiet); }
.uplot .u-legend th, .uplot .u-legend td { border: 0; padding: 0 4px; }
.uplot .u-select { background: var(--simulated); opacity: 0.2; }
svg { width: 100%; height: auto; display: block; }
.bands { max-width: 100%; }
.bands .again { display: none; }
.forest { display: flex; flex-wrap: wrap; max-width: 958px; }
.forest > div { display: flex; width: 20.04%; }
.forest > div:first-child { width: 39.87%; }
.forest > div:not(:first-child) > .labels { display: none; }
.forest .labels { flex: 190; min-width: 0; }
.forest svg { flex: 192; min-width: 0; }
svg.interval { width: 170px; height: 17px; }
svg text { fill: var(--ink); font-family: inherit; }
svg .tick { font-size: 12px; fill: var(--quiet); }
svg .label { font-size: 12px; fill: var(--quiet); }
svg .title { font-size: 13px; font-weight: 600; }
svg .cell { font-size: 11px; }
svg .cell.strong { fill: #000000; }
.grid { stroke: var(--grid); stroke-width: 1; }
.frame { fill: none; stroke: var(--frame); stroke-width: 1; }
.line { fill: none; stroke-width: 1.4; stroke-linejoin: round; }
.line.thick { stroke-width: 3; }
.line.measured { stroke: var(--measured); stroke-width: 3; }
.line.simulated { stroke: var(--simulated); }
.line.residual { stroke: var(--residual); }
.line.control { stroke: var(--ink); }
.dot.simulated { fill: var(--simulated); }
.dot.residual { fill: var(--residual); }
.line.reference { stroke: var(--ink); stroke-width: 1; stroke-dasharray: 2 3; }
.line.series-1 { stroke: var(--series-1); }
.line.series-2 { stroke: var(--series-2); stroke-dasharray: 6 3; }
.line.series-3 { stroke: var(--series-3); stroke-dasharray: 2 2; }
.line.series-4 { stroke: var(--series-4); stroke-dasharray: 8 3 2 3; }
.line.series-5 { stroke: var(--series-5); stroke-dasharray: 10 4; }
.line.series-6 { stroke: var(--series-6); stroke-dasharray: 4 4; }
.line.bar { stroke-width: 1; stroke-dasharray: none; }
.line.points:not(.bar) { stroke: none; }
.dot.series-1 { fill: var(--series-1); }
.dot.series-2 { fill: var(--series-2); }
.dot.series-3 { fill: var(--series-3); }
.dot.series-4 { fill: var(--series-4); }
.dot.series-5 { fill: var(--series-5); }
.dot.series-6 { fill: var(--series-6); }
.line.dashed { stroke-dasharray: 5 5; }
.axis { stroke: var(--grid); stroke-width: 1; }
.bound { stroke: var(--warn); stroke-width: 2; }
.prior { fill: var(--quiet); fill-opacity: 0.25; }
.used { fill: var(--simulated); }
.unused { fill: none; stroke: var(--frame); stroke-width: 1; }
.gap { fill: var(--residual); }
.ring { fill: var(--paper); stroke: var(--quiet); stroke-width: 1.5; }
.positive { fill: #e69f00; }
.negative { fill: #56b4e9; }
@media screen and (max-width: 1005px) {
  .forest { max-width: 574px; }
  .forest > div { width: 33.44%; }
  .forest > div:nth-child(odd) { width: 66.54%; }
  .forest > div:nth-child(odd) > .labels { display: block; }
}
@media screen and (max-width: 601px) {
  figure { overflow-x: auto; }
  .forest { width: 382px; }
  .forest > div:nth-child(n) { width: 100%; }
  .forest > div:nth-child(n) > .labels { display: block; }
}
@media screen and (max-width: 720px) {
  body { padding: 14px; }
  .bands { max-width: none; }
  .strip svg { width: 825px; }
  .wide table:not(.matrix), .wide table:not(.matrix) :is(caption, tbody, tr, th, td) {
    display: block; }
  .wide table:not(.matrix) thead { display: none; }
  .wide table:not(.matrix) tr { border-bottom: 1px solid var(--grid); padding: 4px 0; }
  .wide table:not(.matrix) th, .wide table:not(.matrix) td { border: 0; padding: 1px 0;
    text-align: left; white-space: normal; overflow-wrap: anywhere; }
  .wide table:not(.matrix) tbody th { font-weight: 600; }
  .wide table:not(.matrix) td[data-title] { display: grid; column-gap: 1em;
    grid-template-columns: 9em minmax(0, 1fr); }
  .wide table:not(.matrix) td[data-title]::before { content: attr(data-title);
    color: var(--quiet); }
  .wide table:not(.matrix) td:empty { display: none; }
}
@media print {
  .chart.live > svg { display: block; }
  .view, .hint, figcaption button { display: none; }
  details::details-content { content-visibility: visible; }
  figcaption { font-size: 10px; break-before: avoid; }
  .forest { break-inside: avoid; }
  .bands > div { break-inside: avoid; }
  .bands .again { display: block; }
  @page { margin: 14mm; }
  body { max-width: none; padding: 0; font-size: 11px; }
  h2 { font-size: 14px; }
  h3 { font-size: 12px; }
  h2, h3 { break-after: avoid; break-inside: avoid; }
  th.words, td.words { min-width: 0; }
  .chart, svg, tr, p, li, .summary div { break-inside: avoid; }
  caption, thead { break-inside: avoid; break-after: avoid; }
  tbody tr:nth-child(-n+2), tbody tr:last-child { break-before: avoid; }
  .summary { gap: 6px; }
  .summary div { padding: 4px 8px; }
  .chart:first-child { break-before: avoid; }
  .chart svg { max-height: 60mm; }
  .wide { overflow: visible; }
  th, td { padding: 2px 6px; }
  svg.interval { width: 110px; height: 11px; }
  .summary b { font-size: 14px; }
}
)";

}  // namespace

const std::string& page_style() {
  static const std::string style = std::string(kStyle) +
                                   "@media print { :root { color-scheme: light;" + kPaper +
                                   "} }\n.on-paper {" + kPaper + "}\n";
  return style;
}

}  // namespace service
