#include "service/report/sections/recording_sections.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "proto/notation/axis_ticks.hpp"
#include "service/messages/message_text.hpp"
#include "service/report/charts/chart_figure.hpp"
#include "service/report/charts/page_parts.hpp"
#include "service/text/csv_row.hpp"
#include "service/text/number_format.hpp"

namespace service {
namespace {

using estimator::SegmentTrajectory;

constexpr std::size_t kShownSegmentsMax = 24;
constexpr Eigen::Index kRowsMin = 2;  // minimum to show motion

std::vector<double> times_of(const SegmentTrajectory& trajectory) {
  std::vector<double> times(static_cast<std::size_t>(trajectory.measured.rows()));
  for (std::size_t k = 0; k < times.size(); ++k) {
    times[k] = trajectory.time(static_cast<Eigen::Index>(k));
  }
  return times;
}

std::vector<double> column_of(const Eigen::MatrixXd& matrix, Eigen::Index column) {
  const auto values = matrix.col(column);
  return {values.begin(), values.end()};
}

std::string in_brackets(const std::string& unit) { return " [" + unit + "]"; }

Chart angle_chart(const SegmentTrajectory& trajectory, Eigen::Index sensor,
                  const std::string& joint, const estimator::JointUnits& units) {
  const std::vector<double> times = times_of(trajectory);
  const std::string unit = in_brackets(units.coordinate);
  return make_time_chart(
      "Joint " + joint, units.quantity + unit,
      {make_line_series("measured", "measured", times, column_of(trajectory.measured, sensor),
                        "measured " + joint + unit),
       make_line_series("simulated open loop", "simulated", times,
                        column_of(trajectory.simulated, sensor), "simulated " + joint + unit)});
}

/// Plots the differences of the two series of an angle chart.
/// @param used  the samples that the fit used; NaN elsewhere
Chart error_chart(const Chart& angle, const std::vector<double>& used, const std::string& joint,
                  const estimator::JointUnits& units) {
  std::vector<double> residual;
  double squares = 0.0, count = 0.0;
  for (std::size_t k = 0; k < used.size(); ++k) {
    residual.push_back(1e3 * (angle.series[1].y[k] - angle.series[0].y[k]));
    if (!std::isfinite(residual[k]) || std::isnan(used[k])) continue;
    squares += residual[k] * residual[k];
    count += 1.0;
  }
  const std::string rmse =
      count > 0.0
          ? fmt::format(", RMSE {} {}", format_number(std::sqrt(squares / count), 3), units.error)
          : "";
  const std::string unit = in_brackets(units.error);
  return make_time_chart("Joint " + joint + ": simulated − measured" + rmse, "residual" + unit,
                         {make_line_series("", "residual", angle.series[0].x, std::move(residual),
                                           "residual " + joint + unit)},
                         160);
}

bool is_zero(const SegmentTrajectory& trajectory, Eigen::Index motor) {
  return (trajectory.control.col(motor).array() == 0.0).all();
}

Chart control_chart(const SegmentTrajectory& trajectory, Eigen::Index motor,
                    const std::string& label) {
  const std::string of = label.empty() ? "" : " of " + label;
  // For "joint 1 [V]" the unit belongs to the axis.
  const std::size_t unit = label.rfind(" [");
  return make_time_chart("Control" + of.substr(0, unit == std::string::npos ? of.size() : 4 + unit),
                         "control" + (unit == std::string::npos ? "" : label.substr(unit)),
                         {make_line_series("", "control", times_of(trajectory),
                                           column_of(trajectory.control, motor), "control" + of)},
                         150);
}

/// Returns the number of values in a trajectory. Each row has three per sensor and one per motor.
std::size_t numbers_in(const SegmentTrajectory& trajectory) {
  return static_cast<std::size_t>(trajectory.measured.rows() *
                                  (3 * trajectory.measured.cols() + trajectory.control.cols()));
}

std::string label_of(const TrajectoryLabels& labels, Eigen::Index motor) {
  const auto index = static_cast<std::size_t>(motor);
  return index < labels.controls.size() ? labels.controls[index] : "";
}

/// Returns the recording's name with the time range of the trajectory, unless it is in the name.
std::string title_of(const SegmentTrajectory& trajectory) {
  const std::string range = format_number(trajectory.start, 6) + " s to " +
                            format_number(trajectory.time(trajectory.measured.rows() - 1), 6) +
                            " s";
  if (trajectory.recording.ends_with(" " + range)) return trajectory.recording;
  return trajectory.recording + ", " + range;
}

ChartFigure segment_figure(const SegmentTrajectory& trajectory, const TrajectoryLabels& labels) {
  ChartFigure figure;
  const std::string& path = trajectory.recording;
  figure.caption = fmt::format(
      "{}: encoder readings and open-loop simulation from the estimated initial state; "
      "below each, their difference",
      title_of(trajectory));
  figure.name =
      fmt::format("{}-{}s", path.substr(path.rfind('/') + 1), format_number(trajectory.start, 6));
  for (Eigen::Index sensor = 0; sensor < trajectory.measured.cols(); ++sensor) {
    const auto index = static_cast<std::size_t>(sensor);
    const std::string& joint = labels.joints[index];
    const estimator::JointUnits units = estimator::joint_units(
        index < labels.kinds.size() ? labels.kinds[index] : estimator::JointKind::kRevolute);
    Chart angle = angle_chart(trajectory, sensor, joint, units);
    const std::vector<double> times = angle.series[0].x, used = angle.series[0].y;
    std::vector<double> faulty =
        find_faulty_samples(times, labels.held, path, sensor, angle.series[0].y);
    Chart error = error_chart(angle, used, joint, units);
    if (!faulty.empty()) {
      angle.series.push_back(make_rejected_sample_series(
          times, std::move(faulty), joint, std::string("[") + units.coordinate + "]"));
    }
    angle.marks = error.marks =
        make_finding_highlights(labels.findings, trajectory.recording, joint, times);
    figure.charts.push_back(std::move(angle));
    figure.charts.push_back(std::move(error));
  }
  const std::size_t undriven = figure.charts.size();
  for (Eigen::Index motor = 0; motor < trajectory.control.cols(); ++motor) {
    if (is_zero(trajectory, motor)) continue;
    figure.charts.push_back(control_chart(trajectory, motor, label_of(labels, motor)));
  }
  figure.caption += figure.charts.size() > undriven ? "; last, the control." : ".";
  return figure;
}

std::string zero_controls(const SegmentTrajectory& trajectory, const TrajectoryLabels& labels) {
  std::string html;
  for (Eigen::Index motor = 0; motor < trajectory.control.cols(); ++motor) {
    if (!is_zero(trajectory, motor)) continue;
    const std::string label = label_of(labels, motor);
    html += "<p class=\"quiet\">Control" + (label.empty() ? "" : " of " + escape_html(label)) +
            ": zero throughout.</p>\n";
  }
  return html;
}

constexpr std::size_t kListedGapsMax = 20;
constexpr std::size_t kListedSegmentsMax = 40;
constexpr double kStripWidth = 900.0;    // [px]
constexpr double kStripMargin = 14.0;    // [px]
constexpr std::size_t kTickLength = 10;  // fits between two ticks
constexpr double kGapWidthMin = 2.0;     // [px]; a shorter gap would be invisible

int samples_used(const UsedRecording& use) {
  int samples = 0;
  for (const UsedSegment& segment : use.segments) samples += segment.samples;
  return samples;
}

std::string clock_text(const ImportSummary& summary) {
  if (!summary.clock) return "-";
  const MeasuredText rate =
      format_measured(summary.clock->rate_error_ppm, summary.clock->standard_deviation_ppm);
  return (summary.clock->rate_error_ppm > 0.0 ? "+" : "") + rate.value + " ± " +
         rate.standard_deviation + " ppm";
}

/// Describes the jitter of a CSV file's time stamps, or of arrival times.
std::string jitter_text(const ImportSummary& summary) {
  if (summary.has_several_clocks) return "several clocks";
  if (!summary.arrival) {
    const double percent = 100.0 * summary.jitter_max;
    return percent < 0.01 ? "none" : format_number(percent, 2) + " % of a period";
  }
  return format_number(summary.arrival->jitter_us_p99, 3) + " µs (99 %), " +
         format_number(summary.arrival->jitter_us_max, 4) + " µs";
}

std::string left_out_text(const UsedRecording& use) {
  const ImportSummary& summary = use.summary;
  const int unselected = summary.rows + summary.holes.rows - samples_used(use) -
                         summary.rows_before_release - summary.rows_after_trip -
                         summary.dropped_rows;
  std::string text;
  const auto add = [&](int count, const char* why) {
    if (count <= 0) return;
    text += (text.empty() ? "" : ", ") + std::to_string(count) + " " + why;
  };
  add(summary.rows_before_release, "before a release");
  add(summary.rows_after_trip, "after a safety trip");
  add(unselected, "not selected");
  add(summary.dropped_rows, "in short parts");
  return text.empty() ? "none" : text;
}

std::string gaps_text(const ImportSummary& summary) {
  return summary.missing_samples > 0
             ? fmt::format("{} ({} samples)", summary.gaps.size(), summary.missing_samples)
             : fmt::format("{}", summary.gaps.size());
}

std::string table(const CalibrationMetadata& context) {
  using enum CellAlign;
  HtmlTable table(
      "Before a release: samples while the rig is held by hand. In short parts: "
      "samples between gaps, in parts that are too short to use. "
      "A few missing rows are bridged without readings; at longer gaps the recording is split. "
      "Time stamps are from the unit's clock, corrected for its rate relative to the host's clock; "
      "late arrival does not affect them.",
      {{"recording", kWords},
       {"rate [Hz]", kRight},
       {"samples used", kRight},
       {"left out", kWords},
       {"gaps", kRight},
       {"unit's clock", kRight},
       {"jitter, longest", kRight}});
  for (const UsedRecording& use : context.recordings) {
    const ImportSummary& summary = use.summary;
    table.add({recording_title(use), format_number(1.0 / summary.period, 7),
               std::to_string(samples_used(use)), left_out_text(use), gaps_text(summary),
               clock_text(summary), jitter_text(summary)});
  }
  return table.html();
}

/// Draws segments as bars over time. Used segments are filled, others are hollow, and gaps have
/// another colour.
std::string strip(const UsedRecording& use) {
  const double low = use.segments.front().start;
  const double high = std::max(use.segments.back().end, low + 1e-9);
  const auto to_x = [&](double time) {
    return kStripMargin + (time - low) / (high - low) * (kStripWidth - 2.0 * kStripMargin);
  };
  std::string svg = "<svg viewBox=\"0 0 900 48\" role=\"img\" aria-label=\"Use of " +
                    escape_html(recording_title(use)) + "\">\n";
  for (const UsedSegment& segment : use.segments) {
    svg +=
        svg_rect(to_x(segment.start), 6.0, std::max(to_x(segment.end) - to_x(segment.start), 1.0),
                 14.0, segment.samples > 0 ? "used" : "unused");
  }
  for (const RecordingGap& gap : use.summary.gaps) {
    if (gap.start + gap.duration < low || gap.start > high) continue;
    const double left = to_x(std::max(gap.start, low));
    const double right = to_x(std::min(gap.start + gap.duration, high));
    svg += svg_rect(left, 2.0, std::max(right - left, kGapWidthMin), 22.0, "gap");
  }
  const std::vector<double> ticks = notation::choose_axis_ticks(low, high, 12);
  const std::vector<std::string> texts = notation::format_tick_labels(ticks, kTickLength).texts;
  for (std::size_t k = 0; k < ticks.size(); ++k) {
    svg += svg_text(to_x(ticks[k]), 40.0, "middle", "tick", texts[k]);
  }
  return svg + "</svg>\n";
}

/// Formats the segments and gaps of a recording as a list in order of time.
std::string use_csv(const UsedRecording& use) {
  struct Row {
    double from, to;
    std::string what, samples;
  };
  std::vector<Row> rows;
  for (const UsedSegment& segment : use.segments) {
    rows.push_back({segment.start, segment.end, "segment " + std::to_string(segment.index),
                    std::to_string(segment.samples)});
  }
  for (const RecordingGap& gap : use.summary.gaps) {
    rows.push_back({gap.start, gap.start + gap.duration, "gap", ""});
  }
  std::ranges::stable_sort(rows, {}, &Row::from);
  std::string csv = format_csv_row({"from [s]", "to [s]", "what", "samples used"});
  for (const Row& row : rows) {
    csv += format_csv_row(
        {format_json_number(row.from), format_json_number(row.to), row.what, row.samples});
  }
  return csv;
}

std::string use_figure(const UsedRecording& use) {
  if (use.segments.empty()) return "";
  return render_data_figure("<div class=\"wide strip\" tabindex=\"0\">" + strip(use) + "</div>",
                            use.summary.file.substr(use.summary.file.rfind('/') + 1) + "-use",
                            use_csv(use),
                            fmt::format("Used samples of {} over time [s]: filled = used, "
                                        "hollow = not used, orange = gap.",
                                        escape_html(recording_title(use))));
}

std::string segment_table(const UsedRecording& use) {
  using enum CellAlign;
  HtmlTable table(
      "Segments between gaps",
      {{"segment", kRight}, {"from [s]", kRight}, {"to [s]", kRight}, {"samples used", kRight}},
      "narrow");
  for (std::size_t k = 0; k < std::min(use.segments.size(), kListedSegmentsMax); ++k) {
    const UsedSegment& segment = use.segments[k];
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
    const RecordingGap& gap = summary.gaps[k];
    const std::string duration = gap.duration < 1.0 ? format_number(1e3 * gap.duration) + " ms"
                                                    : format_number(gap.duration) + " s";
    text +=
        fmt::format("{}{} after {} s", k == 0 ? "" : "; ", duration, format_number(gap.start, 6));
  }
  if (summary.gaps.size() > kListedGapsMax) {
    text += fmt::format("; and {} more", summary.gaps.size() - kListedGapsMax);
  }
  return text + ".</p>\n";
}

}  // namespace

std::vector<double> find_faulty_samples(const std::vector<double>& times,
                                        const std::vector<RejectedReading>& held,
                                        const std::string& recording, Eigen::Index sensor,
                                        std::vector<double>& measured) {
  std::vector<double> values;
  if (times.size() < 2) return values;
  const double slack = 0.5 * (times.back() - times.front()) / static_cast<double>(times.size() - 1);
  for (const RejectedReading& reading : held) {
    if (reading.recording != recording || reading.sensor != sensor) continue;
    const auto after = std::ranges::lower_bound(times, reading.time - slack);
    if (after == times.end() || *after > reading.time + slack) continue;
    const auto at = static_cast<std::size_t>(after - times.begin());
    if (reading.is_repetition) {
      measured[at] = reading.value;
      continue;
    }
    if (values.empty()) values.assign(times.size(), std::numeric_limits<double>::quiet_NaN());
    values[at] = reading.value;
  }
  return values;
}

ChartSeries make_rejected_sample_series(const std::vector<double>& times,
                                        std::vector<double> values, const std::string& sensor,
                                        const std::string& unit) {
  ChartSeries series = make_line_series("rejected", "residual", times, std::move(values),
                                        "rejected " + sensor + " " + unit);
  series.markers = true;
  series.shape = MarkerShape::kDiamond;
  series.excluded_from_range = true;
  return series;
}

std::vector<ChartHighlight> make_finding_highlights(const std::vector<estimator::Finding>& findings,
                                                    const std::string& recording,
                                                    const std::string& sensor,
                                                    const std::vector<double>& times) {
  std::vector<ChartHighlight> marks;
  for (const estimator::Finding& finding : findings) {
    const bool concerns = (finding.recording.empty() || finding.recording == recording) &&
                          (finding.channel.empty() || finding.channel == sensor);
    if (!concerns) continue;
    const FindingText described = describe_finding(finding);
    std::string text = described.what;
    if (!described.treatment.empty()) text += " (" + described.treatment + ")";
    for (const estimator::TimeInterval& interval : finding.intervals) {
      if (interval.to < times.front() || interval.from > times.back()) continue;
      marks.push_back(
          {interval.from, interval.to, text, finding.severity == estimator::Severity::kNote});
    }
  }
  return marks;
}

std::string render_trajectory_sections(const std::vector<SegmentTrajectory>& trajectories,
                                       const TrajectoryLabels& labels, std::size_t numbers_max) {
  std::vector<const SegmentTrajectory*> moving;
  for (const SegmentTrajectory& trajectory : trajectories) {
    if (trajectory.measured.rows() >= kRowsMin) moving.push_back(&trajectory);
  }
  const std::size_t shown = std::min(moving.size(), kShownSegmentsMax);
  std::size_t numbers = 0;
  for (std::size_t s = 0; s < shown; ++s) numbers += numbers_in(*moving[s]);
  std::string html;
  for (std::size_t s = 0; s < shown; ++s) {
    const SegmentTrajectory& trajectory = *moving[s];
    const Eigen::Index rows = trajectory.measured.rows();
    ChartFigure figure = segment_figure(trajectory, labels);
    if (numbers > numbers_max) {
      figure.rows_max =
          static_cast<std::size_t>(static_cast<double>(rows) * static_cast<double>(numbers_max) /
                                   static_cast<double>(numbers));
    }
    html += "<section class=\"segment\"><h3>" + escape_html(title_of(trajectory)) + "</h3>\n" +
            render_chart_figure(figure) + zero_controls(trajectory, labels) + "</section>\n";
  }
  if (moving.size() > shown) {
    html += "<p>The other segments, " + std::to_string(moving.size() - shown) +
            " in all, are in the result but not plotted.</p>\n";
  }
  return html;
}

std::string render_data_section(const CalibrationMetadata& context) {
  std::string html = "<section><h2>Data quality</h2>\n" + table(context) + "</section>\n";
  for (const UsedRecording& use : context.recordings) {
    html += "<section><h3>" + escape_html(recording_title(use)) + ": use over time</h3>\n" +
            use_figure(use) + gap_list(use.summary);
    if (use.segments.size() > 1) html += segment_table(use);
    html += "</section>\n";
  }
  return html;
}

}  // namespace service
