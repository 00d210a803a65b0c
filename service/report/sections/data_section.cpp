#include "service/report/sections/recording_sections.hpp"

#include <algorithm>
#include <cmath>

#include "proto/notation/axis_ticks.hpp"
#include "service/report/charts/chart_figure.hpp"
#include "service/report/charts/page_parts.hpp"
#include "service/report/charts/svg_chart.hpp"
#include "service/text/csv_row.hpp"
#include "service/text/number_format.hpp"

namespace service {
namespace {

constexpr std::size_t kListedGapsMax = 20;
constexpr std::size_t kListedSegmentsMax = 40;
constexpr double kStripWidth = 900.0;    // [px]
constexpr double kStripMargin = 14.0;    // [px]
constexpr std::size_t kTickLength = 10;  // fits between two ticks
constexpr double kGapWidthMin = 2.0;     // [px]; a shorter gap would be invisible

int samples_used(const RecordingUse& use) {
  int samples = 0;
  for (const SegmentUse& segment : use.segments) samples += segment.samples;
  return samples;
}

std::string clock_text(const ImportSummary& summary) {
  if (!summary.clock) return "-";
  const Measured rate =
      format_measured(summary.clock->rate_error_ppm, summary.clock->standard_deviation_ppm);
  return (summary.clock->rate_error_ppm > 0.0 ? "+" : "") + rate.value + " ± " +
         rate.standard_deviation + " ppm";
}

/// Describes the jitter of a CSV file's time stamps or of a rigcal-daq recording's arrival times.
std::string jitter_text(const ImportSummary& summary) {
  if (!summary.arrival) {
    const double percent = 100.0 * summary.jitter_max;
    return percent < 0.01 ? "none" : format_number(percent, 2) + " % of a period";
  }
  return format_number(summary.arrival->jitter_us_p99, 3) + " µs (99 %), " +
         format_number(summary.arrival->jitter_us_max, 4) + " µs";
}

std::string left_out_text(const RecordingUse& use) {
  const ImportSummary& summary = use.summary;
  const int unselected = summary.rows + summary.holes.rows - samples_used(use) -
                         summary.rows_before_release - summary.dropped_rows;
  std::string text;
  const auto add = [&](int count, const char* why) {
    if (count <= 0) return;
    text += (text.empty() ? "" : ", ") + std::to_string(count) + " " + why;
  };
  add(summary.rows_before_release, "held by hand");
  add(unselected, "not selected");
  add(summary.dropped_rows, "in scraps");
  return text.empty() ? "none" : text;
}

std::string gaps_text(const ImportSummary& summary) {
  std::string text = std::to_string(summary.gaps.size());
  if (summary.missing_samples > 0) {
    text += " (" + std::to_string(summary.missing_samples) + " samples)";
  }
  return text;
}

std::string table(const CalibrationContext& context) {
  using enum CellAlign;
  HtmlTable table(
      "Held by hand: samples before a release. In scraps: samples between gaps, in parts too short "
      "to use. A few missing rows are bridged without readings; at longer gaps the recording is "
      "split. Times are the unit's, corrected for the rate of its clock relative to the host's; "
      "late arrival does not affect them.",
      {{"recording", kWords},
       {"rate [Hz]", kRight},
       {"samples used", kRight},
       {"left out", kWords},
       {"gaps", kRight},
       {"unit's clock", kRight},
       {"jitter, longest", kRight}});
  for (const RecordingUse& use : context.recordings) {
    const ImportSummary& summary = use.summary;
    table.add({recording_title(use), format_number(1.0 / summary.period, 7),
               std::to_string(samples_used(use)), left_out_text(use), gaps_text(summary),
               clock_text(summary), jitter_text(summary)});
  }
  return table.html();
}

/// Draws segments as bars over time. Used segments are filled, others are hollow, and gaps have
/// another colour.
std::string strip(const RecordingUse& use) {
  const double low = use.segments.front().start;
  const double high = std::max(use.segments.back().end, low + 1e-9);
  const auto to_x = [&](double time) {
    return kStripMargin + (time - low) / (high - low) * (kStripWidth - 2.0 * kStripMargin);
  };
  std::string svg = "<svg viewBox=\"0 0 900 48\" role=\"img\" aria-label=\"Use of " +
                    escape_html(recording_title(use)) + "\">\n";
  for (const SegmentUse& segment : use.segments) {
    svg +=
        svg_rect(to_x(segment.start), 6.0, std::max(to_x(segment.end) - to_x(segment.start), 1.0),
                 14.0, segment.samples > 0 ? "used" : "unused");
  }
  for (const Gap& gap : use.summary.gaps) {
    if (gap.start + gap.duration < low || gap.start > high) continue;
    const double left = to_x(std::max(gap.start, low));
    const double right = to_x(std::min(gap.start + gap.duration, high));
    svg += svg_rect(left, 2.0, std::max(right - left, kGapWidthMin), 22.0, "gap");
  }
  const std::vector<double> ticks = notation::nice_ticks(low, high, 12);
  const std::vector<std::string> texts = notation::tick_labels(ticks, kTickLength).texts;
  for (std::size_t k = 0; k < ticks.size(); ++k) {
    svg += svg_text(to_x(ticks[k]), 40.0, "middle", "tick", texts[k]);
  }
  return svg + "</svg>\n";
}

/// Formats the segments and gaps of a recording as a list in order of time.
std::string use_csv(const RecordingUse& use) {
  struct Row {
    double from, to;
    std::string what, samples;
  };
  std::vector<Row> rows;
  for (const SegmentUse& segment : use.segments) {
    rows.push_back({segment.start, segment.end, "segment " + std::to_string(segment.index),
                    std::to_string(segment.samples)});
  }
  for (const Gap& gap : use.summary.gaps) {
    rows.push_back({gap.start, gap.start + gap.duration, "gap", ""});
  }
  std::ranges::stable_sort(rows, {}, &Row::from);
  std::string csv = csv_row({"from [s]", "to [s]", "what", "samples used"});
  for (const Row& row : rows) {
    csv += csv_row({json_number(row.from), json_number(row.to), row.what, row.samples});
  }
  return csv;
}

std::string use_figure(const RecordingUse& use) {
  if (use.segments.empty()) return "";
  return data_figure("<div class=\"wide strip\" tabindex=\"0\">" + strip(use) + "</div>",
                     use.summary.file.substr(use.summary.file.rfind('/') + 1) + "-use",
                     use_csv(use),
                     "Used samples of " + escape_html(recording_title(use)) +
                         " over time [s]: filled = used, hollow = not used, orange = gap.");
}

std::string segment_table(const RecordingUse& use) {
  using enum CellAlign;
  HtmlTable table(
      "Segments between gaps",
      {{"segment", kRight}, {"from [s]", kRight}, {"to [s]", kRight}, {"samples used", kRight}},
      "narrow");
  for (std::size_t k = 0; k < std::min(use.segments.size(), kListedSegmentsMax); ++k) {
    const SegmentUse& segment = use.segments[k];
    table.add({std::to_string(segment.index), format_number(segment.start, 7),
               format_number(segment.end, 7),
               segment.samples > 0 ? std::to_string(segment.samples) : "none"});
  }
  std::string html = table.html();
  if (use.segments.size() > kListedSegmentsMax) {
    html += "<p class=\"quiet\">and " + std::to_string(use.segments.size() - kListedSegmentsMax) +
            " more segments.</p>\n";
  }
  return html;
}

std::string gap_list(const ImportSummary& summary) {
  if (summary.gaps.empty()) return "";
  std::string text = "<p>Gaps: ";
  for (std::size_t k = 0; k < std::min(summary.gaps.size(), kListedGapsMax); ++k) {
    const Gap& gap = summary.gaps[k];
    const std::string duration = gap.duration < 1.0 ? format_number(1e3 * gap.duration) + " ms"
                                                    : format_number(gap.duration) + " s";
    text += (k == 0 ? "" : "; ") + duration + " after " + format_number(gap.start, 6) + " s";
  }
  if (summary.gaps.size() > kListedGapsMax) {
    text += "; and " + std::to_string(summary.gaps.size() - kListedGapsMax) + " more";
  }
  return text + ".</p>\n";
}

}  // namespace

std::string data_section(const CalibrationContext& context) {
  std::string html = "<section><h2>Data quality</h2>\n" + table(context) + "</section>\n";
  for (const RecordingUse& use : context.recordings) {
    html += "<section><h3>" + escape_html(recording_title(use)) + ": use over time</h3>\n" +
            use_figure(use) + gap_list(use.summary);
    if (use.segments.size() > 1) html += segment_table(use);
    html += "</section>\n";
  }
  return html;
}

}  // namespace service
