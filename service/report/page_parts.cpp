#include "service/report/page_parts.hpp"

#include <cmath>

#include "service/report/page_style.hpp"
#include "service/report/svg_chart.hpp"
#include "service/text/number_format.hpp"

namespace service {
namespace {

constexpr std::size_t kShownSegmentsMax = 24;

std::vector<double> times_of(const estimator::SegmentTrajectory& trajectory) {
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

/// Findings of a recording, about one sensor or about all, that have a place in time.
std::vector<ChartMark> marks_of(const std::vector<estimator::Finding>& findings,
                                const std::string& recording, const std::string& sensor) {
  std::vector<ChartMark> marks;
  for (const estimator::Finding& finding : findings) {
    const bool concerns = (finding.recording.empty() || finding.recording == recording) &&
                          (finding.channel.empty() || finding.channel == sensor);
    if (concerns && std::isfinite(finding.from)) marks.push_back({finding.from, finding.to});
  }
  return marks;
}

std::string hinge_charts(const estimator::SegmentTrajectory& trajectory, Eigen::Index sensor,
                         const std::string& hinge, estimator::JointKind kind,
                         std::vector<ChartMark> marks) {
  const estimator::JointUnits units = estimator::joint_units(kind);
  const std::vector<double> times = times_of(trajectory);
  const std::vector<double> measured = column_of(trajectory.measured, sensor);
  const std::vector<double> simulated = column_of(trajectory.simulated, sensor);
  std::vector<double> residual(measured.size());
  double squares = 0.0;
  double count = 0.0;
  for (std::size_t k = 0; k < residual.size(); ++k) {
    residual[k] = 1e3 * (simulated[k] - measured[k]);
    if (!std::isfinite(residual[k])) continue;
    squares += residual[k] * residual[k];
    count += 1.0;
  }
  Chart angle;
  angle.title = "Hinge " + hinge;
  angle.x_label = "time [s]";
  angle.y_label = std::string(units.quantity) + " [" + units.coordinate + "]";
  angle.series = {{"measured", "measured", times, measured, false},
                  {"simulated open loop", "simulated", times, simulated, false}};
  Chart error;
  error.title = "Hinge " + hinge + ": simulated − measured";
  if (count > 0.0) {
    error.title += ", RMSE " + format_number(std::sqrt(squares / count), 3) + " " + units.error;
  }
  error.x_label = "time [s]";
  error.y_label = std::string("residual [") + units.error + "]";
  error.height = 160;
  angle.marks = marks;
  error.marks = std::move(marks);
  error.series = {{"", "residual", times, residual, false}};
  return "<figure>" + svg_chart(angle) + svg_chart(error) + "</figure>\n";
}

std::string control_chart(const estimator::SegmentTrajectory& trajectory, Eigen::Index motor,
                          const std::string& label) {
  const std::string of = label.empty() ? "" : " of " + label;
  if ((trajectory.control.col(motor).array() == 0.0).all()) {
    return "<p class=\"quiet\">Control" + escape_html(of) + ": zero throughout.</p>\n";
  }
  // "hinge 1 [V]": the unit belongs to the axis.
  const std::size_t unit = label.rfind(" [");
  Chart chart;
  chart.title = "Control" + of.substr(0, unit == std::string::npos ? of.size() : 4 + unit);
  chart.x_label = "time [s]";
  chart.y_label = "control" + (unit == std::string::npos ? "" : label.substr(unit));
  chart.height = 150;
  chart.series = {
      {"", "control", times_of(trajectory), column_of(trajectory.control, motor), false}};
  return "<figure>" + svg_chart(chart) + "</figure>\n";
}

}  // namespace

std::string html_page(const std::string& title, const std::string& body) {
  return "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
         "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>" +
         escape_html(title) + "</title>\n<style>" + page_style() + "</style>\n</head>\n<body>\n" +
         body + "</body>\n</html>\n";
}

std::string heading(const std::string& title, const std::string& version, bool good,
                    const std::string& outcome) {
  return "<h1>" + escape_html(title) + "</h1>\n<p class=\"quiet\">rigcal " + escape_html(version) +
         "</p>\n<p" + (good ? ">" : " class=\"warn\">") + escape_html(outcome) + "</p>\n";
}

std::string fact(const std::string& name, const std::string& value) {
  return "<div>" + escape_html(name) + "<b>" + escape_html(value) + "</b></div>\n";
}

std::string number_cell(const std::string& text) {
  return "<td class=\"number\">" + escape_html(text) + "</td>";
}

std::string list_section(const std::string& title, const std::vector<std::string>& items) {
  if (items.empty()) return "";
  std::string html = "<section><h2>" + title + "</h2><ul>\n";
  for (const std::string& item : items) html += "<li>" + escape_html(item) + "</li>\n";
  return html + "</ul></section>\n";
}

std::string trajectory_sections(const std::vector<estimator::SegmentTrajectory>& trajectories,
                                const std::vector<std::string>& hinges,
                                const std::vector<std::string>& controls,
                                const std::vector<estimator::JointKind>& kinds,
                                const std::vector<estimator::Finding>& findings) {
  std::string html;
  std::size_t shown = 0;
  for (const estimator::SegmentTrajectory& trajectory : trajectories) {
    if (trajectory.measured.rows() < 2) continue;
    if (++shown > kShownSegmentsMax) {
      return html + "<p>The other segments, " +
             std::to_string(trajectories.size() - kShownSegmentsMax) +
             " of them, are in the result but not drawn.</p>\n";
    }
    const double end = trajectory.time(trajectory.measured.rows() - 1);
    html += "<section><h3>" + escape_html(trajectory.recording) + ", " +
            format_number(trajectory.start, 6) + " s to " + format_number(end, 6) + " s</h3>\n";
    for (Eigen::Index sensor = 0; sensor < trajectory.measured.cols(); ++sensor) {
      const auto index = static_cast<std::size_t>(sensor);
      html += hinge_charts(trajectory, sensor, hinges[index],
                           index < kinds.size() ? kinds[index] : estimator::JointKind::kRevolute,
                           marks_of(findings, trajectory.recording, hinges[index]));
    }
    for (Eigen::Index motor = 0; motor < trajectory.control.cols(); ++motor) {
      const auto index = static_cast<std::size_t>(motor);
      html += control_chart(trajectory, motor, index < controls.size() ? controls[index] : "");
    }
    html += "</section>\n";
  }
  return html;
}

std::string recording_title(const RecordingUse& use) {
  const std::string& scenario = use.summary.scenario;
  const bool told = scenario.empty() || use.summary.file.find(scenario) != std::string::npos;
  return told ? use.summary.file : use.summary.file + " (" + scenario + ")";
}

}  // namespace service
