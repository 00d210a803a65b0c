#include "service/report/examination_page.hpp"

#include <algorithm>
#include <cmath>

#include "service/messages/message_text.hpp"
#include "service/report/charts/chart_figure.hpp"
#include "service/report/charts/page_parts.hpp"
#include "service/report/sections/finding_list.hpp"
#include "service/report/sections/recording_sections.hpp"
#include "service/text/number_format.hpp"

namespace service {
namespace {

using estimator::Finding;
using estimator::Recording;
using estimator::Segment;

std::string outcome_of(const std::vector<Finding>& findings) {
  const auto count = [&](estimator::Severity severity) {
    return std::ranges::count(findings, severity, &Finding::severity);
  };
  const auto faults = count(estimator::Severity::kFault);
  const auto warnings = count(estimator::Severity::kWarning);
  if (faults + warnings == 0) return "No problems found.";
  return std::to_string(faults) + (faults == 1 ? " fault, " : " faults, ") +
         std::to_string(warnings) + (warnings == 1 ? " warning." : " warnings.");
}

std::string excitation_section(const estimator::PredictedPrecision& excitation) {
  if (excitation.parameters.empty()) return "";
  using enum CellAlign;
  const HtmlTable table(
      "Predicted standard deviations of a calibration, from the noise of the readings",
      {kLeft, kRight, kRight, kLeft, kRight}, identifiability_table_rows(excitation), "narrow");
  std::vector<std::string> unseen;
  for (const estimator::NullDirection& direction : excitation.null_directions) {
    unseen.push_back(format_message(direction.description));
  }
  return "<section><h2>What these recordings can identify</h2>\n" + table.html() + "</section>\n" +
         render_list_section("Not identifiable", unseen);
}

Chart reading_chart(const std::vector<double>& times, const Segment& segment, Eigen::Index index,
                    const estimator::Encoder& sensor) {
  const std::string unit = std::string(" [") + sensor.units().coordinate + "]";
  const auto column = segment.angles.col(index);
  return make_time_chart(
      "Encoder " + sensor.name, sensor.units().quantity + unit,
      {make_line_series("measured", "series-1", times, {column.begin(), column.end()},
                        "measured " + sensor.name + unit)});
}

Chart command_chart(const std::vector<double>& times, const Segment& segment, Eigen::Index motor,
                    const CalibrationMetadata& context) {
  const auto index = static_cast<std::size_t>(motor);
  const auto column = segment.controls.col(motor);
  const std::string title =
      "Control of " + (index < context.controls.size() ? context.controls[index]
                                                       : "motor " + std::to_string(motor + 1));
  return make_time_chart(
      title, "control",
      {make_line_series("", "control", times, {column.begin(), column.end()}, title)}, 150);
}

std::string segment_section(const std::string& recording, const Segment& segment,
                            const std::vector<estimator::Encoder>& sensors,
                            const std::vector<Finding>& findings,
                            const CalibrationMetadata& context, std::size_t rows_max) {
  std::vector<double> times;
  for (int k = 0; k < segment.sample_count(); ++k) times.push_back(segment.start + segment.time(k));
  ChartFigure figure;
  figure.rows_max = rows_max;
  figure.name =
      recording.substr(recording.rfind('/') + 1) + "-" + format_number(segment.start, 6) + "s";
  for (Eigen::Index i = 0; i < segment.angles.cols(); ++i) {
    const estimator::Encoder& sensor = sensors[static_cast<std::size_t>(i)];
    Chart chart = reading_chart(times, segment, i, sensor);
    chart.marks = make_finding_highlights(findings, recording, sensor.name, times);
    std::vector<double> faulty =
        find_faulty_samples(times, context.held, recording, i, chart.series[0].y);
    if (!faulty.empty()) {
      chart.series.push_back(
          make_rejected_sample_series(times, std::move(faulty), sensor.name,
                                      std::string("[") + sensor.units().coordinate + "]"));
    }
    figure.charts.push_back(std::move(chart));
  }
  for (Eigen::Index motor = 0; motor < segment.controls.cols(); ++motor) {
    figure.charts.push_back(command_chart(times, segment, motor, context));
  }
  const std::string title = recording + ", " + format_number(times.front(), 6) + " s to " +
                            format_number(times.back(), 6) + " s";
  figure.caption =
      title + ": encoder readings" + (segment.controls.cols() > 0 ? ", and the control." : ".");
  return "<section class=\"segment\"><h3>" + escape_html(title) + "</h3>\n" +
         render_chart_figure(figure) + "</section>\n";
}

std::string reading_sections(const estimator::Mechanism& mechanism,
                             const std::vector<Recording>& recordings,
                             const std::vector<Finding>& findings,
                             const CalibrationMetadata& context) {
  constexpr int kShownMax = 24;
  const std::vector<estimator::Encoder> sensors = estimator::used_encoders(mechanism);
  double numbers = 0.0;
  for (const Recording& recording : recordings) {
    for (const Segment& segment : recording.segments) {
      numbers += static_cast<double>(segment.angles.size() + segment.controls.size());
    }
  }
  const double share = std::min(1.0, static_cast<double>(kPageNumbersMax) / std::max(numbers, 1.0));
  std::string html = "<h2 class=\"part\">Readings</h2>\n";
  int shown = 0, left = 0;
  for (const Recording& recording : recordings) {
    for (const Segment& segment : recording.segments) {
      if (segment.sample_count() < 2) continue;
      if (shown == kShownMax) {
        ++left;
        continue;
      }
      ++shown;
      const auto rows_max = static_cast<std::size_t>(std::ceil(share * segment.sample_count()));
      html += segment_section(recording.name, segment, sensors, findings, context, rows_max);
    }
  }
  if (left > 0) html += "<p>" + std::to_string(left) + " more segments are not plotted.</p>\n";
  return html;
}

}  // namespace

std::string render_examination_page(const estimator::Mechanism& mechanism,
                                    const std::vector<Recording>& recordings,
                                    const std::vector<Finding>& findings,
                                    const estimator::PredictedPrecision& excitation,
                                    const CalibrationMetadata& context) {
  const std::string title = "Recordings of " + context.rig;
  const bool good = std::ranges::all_of(findings, [](const Finding& finding) {
    return finding.severity == estimator::Severity::kNote;
  });
  return render_html_page(
      title, render_report_heading(title, context, good, outcome_of(findings)) +
                 render_finding_section(findings) + excitation_section(excitation) +
                 reading_sections(mechanism, recordings, findings, context) +
                 render_folded_section("Data and files", render_data_section(context) +
                                                             render_input_section(context)));
}

}  // namespace service
