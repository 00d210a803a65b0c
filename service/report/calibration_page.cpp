#include "service/report/calibration_page.hpp"

#include <algorithm>
#include <cmath>

#include "service/report/number_format.hpp"
#include "service/report/page_style.hpp"
#include "service/report/svg_chart.hpp"
#include "service/report/svg_matrix.hpp"

namespace service {
namespace {

using estimator::Calibration;

std::string fact(const std::string& name, const std::string& value) {
  return "<div>" + escape_html(name) + "<b>" + escape_html(value) + "</b></div>\n";
}

std::string number_cell(const std::string& text) {
  return "<td class=\"number\">" + escape_html(text) + "</td>";
}

std::string head(const Calibration& calibration, const CalibrationContext& context) {
  const bool converged = estimator::is_converged(calibration.termination);
  std::string html = "<h1>Calibration of " + escape_html(context.rig) + "</h1>\n";
  html += "<p class=\"quiet\">rigcal " + escape_html(context.version) + "</p>\n";
  html += "<p class=\"" + std::string(converged ? "" : "warn") + "\">" +
          (converged ? "Converged" : "Not converged") + " (" +
          escape_html(std::string(estimator::to_string(calibration.termination))) + ").</p>\n";
  html += "<div class=\"summary\">\n";
  for (const estimator::SimulationError& error : calibration.simulation) {
    html += fact("open-loop RMSE, hinge " + error.hinge, format_number(1e3 * error.rmse) + " mrad");
  }
  html += fact("iterations", std::to_string(calibration.iterations));
  html += fact("cost", format_number(calibration.cost, 5));
  html += fact("time step", format_number(1e3 * calibration.step) + " ms");
  html += fact("state error weight κ", format_number(calibration.state_error_weight));
  html += fact("wall time", format_number(context.wall_time, 3) + " s");
  return html + "</div>\n";
}

std::string parameters(const Calibration& calibration) {
  std::string html =
      "<section><h2>Parameters</h2>\n<div class=\"wide\"><table>\n"
      "<tr><th>parameter</th><th class=\"number\">value</th><th class=\"number\">± sd</th>"
      "<th>unit</th><th class=\"number\">± %</th><th>±2 sd (bar), start (ring)</th>"
      "<th class=\"number\">start</th><th></th></tr>\n";
  for (const estimator::ParameterEstimate& estimate : calibration.parameters) {
    const Measured number = format_measured(estimate.value, estimate.standard_deviation);
    const double percent = 100.0 * estimate.standard_deviation / std::abs(estimate.value);
    html += "<tr><td>" + escape_html(estimate.name) + "</td>" + number_cell(number.value) +
            number_cell(number.standard_deviation) + "<td>" + escape_html(estimate.unit) + "</td>" +
            number_cell(format_number(percent, 2)) + "<td>" +
            svg_interval(estimate.value, estimate.standard_deviation, estimate.initial) + "</td>" +
            number_cell(format_number(estimate.initial)) + "<td class=\"warn\">" +
            (estimate.at_bound ? "at bound" : "") + "</td></tr>\n";
  }
  return html + "</table></div></section>\n";
}

std::string list(const std::string& title, const std::vector<std::string>& items) {
  if (items.empty()) return "";
  std::string html = "<section><h2>" + title + "</h2><ul>\n";
  for (const std::string& item : items) html += "<li>" + escape_html(item) + "</li>\n";
  return html + "</ul></section>\n";
}

std::vector<double> times_of(const estimator::SegmentTrajectory& trajectory) {
  std::vector<double> times(static_cast<std::size_t>(trajectory.measured.rows()));
  for (std::size_t k = 0; k < times.size(); ++k) {
    times[k] = trajectory.start + static_cast<double>(k) * trajectory.step;
  }
  return times;
}

std::vector<double> column_of(const Eigen::MatrixXd& matrix, Eigen::Index column) {
  const auto values = matrix.col(column);
  return {values.begin(), values.end()};
}

std::string hinge_charts(const estimator::SegmentTrajectory& trajectory, Eigen::Index sensor,
                         const std::string& hinge) {
  const std::vector<double> times = times_of(trajectory);
  const std::vector<double> measured = column_of(trajectory.measured, sensor);
  const std::vector<double> simulated = column_of(trajectory.simulated, sensor);
  std::vector<double> residual(measured.size());
  for (std::size_t k = 0; k < residual.size(); ++k) {
    residual[k] = 1e3 * (simulated[k] - measured[k]);
  }
  Chart angle;
  angle.title = "Hinge " + hinge;
  angle.x_label = "time [s]";
  angle.y_label = "angle [rad]";
  angle.series = {{"measured", "measured", times, measured, false},
                  {"simulated open loop", "simulated", times, simulated, false}};
  Chart error;
  error.title = "Hinge " + hinge + ": simulated − measured";
  error.x_label = "time [s]";
  error.y_label = "residual [mrad]";
  error.height = 160;
  error.series = {{"", "residual", times, residual, false}};
  return "<figure>" + svg_chart(angle) + svg_chart(error) + "</figure>\n";
}

std::string trajectories(const Calibration& calibration) {
  std::string html = "<h2>Trajectories</h2>\n";
  for (const estimator::SegmentTrajectory& trajectory : calibration.trajectories) {
    if (trajectory.measured.rows() < 2) continue;
    const double end =
        trajectory.start + static_cast<double>(trajectory.measured.rows() - 1) * trajectory.step;
    html += "<section><h3>" + escape_html(trajectory.recording) + ", " +
            format_number(trajectory.start, 6) + " s to " + format_number(end, 6) + " s</h3>\n";
    for (Eigen::Index sensor = 0; sensor < trajectory.measured.cols(); ++sensor) {
      const auto index = static_cast<std::size_t>(sensor);
      const std::string hinge = index < calibration.simulation.size()
                                    ? calibration.simulation[index].hinge
                                    : std::to_string(sensor + 1);
      html += hinge_charts(trajectory, sensor, hinge);
    }
    for (Eigen::Index motor = 0; motor < trajectory.control.cols(); ++motor) {
      Chart chart;
      chart.title = "Control signal";
      chart.x_label = "time [s]";
      chart.y_label = "control";
      chart.height = 140;
      chart.series = {
          {"", "control", times_of(trajectory), column_of(trajectory.control, motor), false}};
      html += "<figure>" + svg_chart(chart) + "</figure>\n";
    }
    html += "</section>\n";
  }
  return html;
}

std::string convergence(const Calibration& calibration) {
  if (calibration.history.size() < 2) return "";
  ChartSeries cost{"", "simulated", {}, {}, true};
  for (const estimator::IterationRecord& record : calibration.history) {
    cost.x.push_back(record.iteration);
    cost.y.push_back(record.cost);
  }
  Chart chart;
  chart.title = "Cost per iteration";
  chart.x_label = "iteration";
  chart.y_label = "cost";
  chart.log_y = true;
  chart.series = {cost};
  return "<section><h2>Convergence</h2><figure>" + svg_chart(chart) + "</figure></section>\n";
}

std::string correlation(const Calibration& calibration) {
  std::vector<std::string> names;
  for (const estimator::ParameterEstimate& estimate : calibration.parameters) {
    names.push_back(estimate.name);
  }
  if (calibration.correlation.rows() != static_cast<Eigen::Index>(names.size())) return "";
  return "<section><h2>Correlation of the estimates</h2><figure>" +
         svg_correlation(calibration.correlation, names) + "</figure></section>\n";
}

std::string recordings(const CalibrationContext& context) {
  std::string html =
      "<section><h2>Recordings</h2><div class=\"wide\"><table>\n<tr><th>file</th>"
      "<th class=\"number\">rate [Hz]</th><th class=\"number\">segments used</th>"
      "<th class=\"number\">samples used</th><th class=\"number\">gaps</th>"
      "<th class=\"number\">dropped rows</th></tr>\n";
  for (const RecordingUse& use : context.recordings) {
    int samples = 0;
    int used = 0;
    for (const SegmentUse& segment : use.segments) {
      samples += segment.samples;
      used += segment.samples > 0;
    }
    html += "<tr><td>" + escape_html(use.summary.file) + "</td>" +
            number_cell(format_number(1.0 / use.summary.period, 6)) +
            number_cell(std::to_string(used) + " of " + std::to_string(use.segments.size())) +
            number_cell(std::to_string(samples)) +
            number_cell(std::to_string(use.summary.gaps.size())) +
            number_cell(std::to_string(use.summary.dropped_rows)) + "</tr>\n";
  }
  return html + "</table></div></section>\n";
}

}  // namespace

std::string calibration_page(const Calibration& calibration, const CalibrationContext& context) {
  std::vector<std::string> unseen;
  for (const estimator::NullDirection& direction : calibration.null_directions) {
    unseen.push_back(direction.description);
  }
  return "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
         "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>"
         "Calibration of " +
         escape_html(context.rig) + "</title>\n<style>" + page_style() +
         "</style>\n</head>\n<body>\n" + head(calibration, context) + parameters(calibration) +
         list("The data cannot see", unseen) + list("Notes", calibration.notes) +
         trajectories(calibration) + convergence(calibration) + correlation(calibration) +
         recordings(context) + "</body>\n</html>\n";
}

}  // namespace service
