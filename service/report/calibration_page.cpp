#include "service/report/calibration_page.hpp"

#include <algorithm>
#include <cmath>

#include "service/convert/calibration_outcome.hpp"
#include "service/report/number_format.hpp"
#include "service/report/page_parts.hpp"
#include "service/report/svg_chart.hpp"
#include "service/report/svg_matrix.hpp"

namespace service {
namespace {

using estimator::Calibration;

std::string describe_outcome(const Calibration& calibration) {
  std::string text = has_converged(calibration) ? "Converged." : "Not converged.";
  text += " Joint estimation: " + describe_stage(calibration.termination, calibration.iterations);
  if (calibration.refined) {
    text += "; simulation fit: " +
            describe_stage(calibration.refinement_termination, calibration.refinement_iterations);
  }
  return text + ".";
}

std::string head(const Calibration& calibration, const CalibrationContext& context) {
  std::string html = heading("Calibration of " + context.rig, context.version,
                             has_converged(calibration), describe_outcome(calibration));
  html += "<div class=\"summary\">\n";
  for (const estimator::SimulationError& error : calibration.simulation) {
    html += fact("open-loop RMSE, hinge " + error.hinge, format_number(1e3 * error.rmse) + " mrad");
  }
  html +=
      fact("estimated states RMSE", format_number(1e3 * calibration.observation_rmse) + " mrad");
  html += fact("time step", format_number(1e3 * calibration.step) + " ms");
  html += fact("state error weight κ", format_number(calibration.state_error_weight));
  html += fact("wall time", format_number(context.wall_time, 3) + " s");
  return html + "</div>\n";
}

std::string remark(const estimator::ParameterEstimate& estimate) {
  if (estimate.at_bound) return "at bound";
  return std::isinf(estimate.standard_deviation) ? "not seen" : "";
}

std::string parameters(const Calibration& calibration) {
  std::string html =
      "<section><h2>Parameters</h2>\n<div class=\"wide\"><table>\n"
      "<tr><th>parameter</th><th class=\"number\">value</th><th class=\"number\">± sd</th>"
      "<th>unit</th><th class=\"number\">± %</th><th>±2 sd (bar), start (ring)</th>"
      "<th class=\"number\">start</th><th></th></tr>\n";
  for (const estimator::ParameterEstimate& estimate : calibration.parameters) {
    const Measured number = format_measured(estimate.value, estimate.standard_deviation);
    const std::string percent =
        estimate.value == 0.0
            ? "-"
            : format_number(100.0 * estimate.standard_deviation / std::abs(estimate.value), 2);
    html += "<tr><td>" + escape_html(estimate.name) + "</td>" + number_cell(number.value) +
            number_cell(number.standard_deviation) + "<td>" + escape_html(estimate.unit) + "</td>" +
            number_cell(percent) + "<td>" +
            svg_interval(estimate.value, estimate.standard_deviation, estimate.initial) + "</td>" +
            number_cell(format_quantity(estimate.initial)) + "<td class=\"warn\">" +
            remark(estimate) + "</td></tr>\n";
  }
  return html + "</table></div></section>\n";
}

std::string cost_chart(const std::string& title, const std::string& unit,
                       const std::vector<estimator::IterationRecord>& history) {
  if (history.size() < 2) return "";
  ChartSeries cost{"", "simulated", {}, {}, true};
  for (const estimator::IterationRecord& record : history) {
    cost.x.push_back(record.iteration);
    cost.y.push_back(record.cost);
  }
  Chart chart;
  chart.title = title;
  chart.x_label = "iteration";
  chart.y_label = unit;
  chart.log_y = true;
  chart.whole_x = true;
  chart.series = {cost};
  return "<figure>" + svg_chart(chart) + "</figure>\n";
}

std::string convergence(const Calibration& calibration) {
  const std::string charts =
      cost_chart("Joint estimation: cost per iteration", "cost", calibration.history) +
      cost_chart("Simulation fit: squared error per iteration", "cost [rad²]",
                 calibration.refinement_history);
  return charts.empty() ? "" : "<section><h2>Convergence</h2>" + charts + "</section>\n";
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

}  // namespace

std::string calibration_page(const Calibration& calibration, const CalibrationContext& context) {
  std::vector<std::string> unseen;
  for (const estimator::NullDirection& direction : calibration.null_directions) {
    unseen.push_back(direction.description);
  }
  std::vector<std::string> hinges;
  for (const estimator::SimulationError& error : calibration.simulation) {
    hinges.push_back(error.hinge);
  }
  return html_page("Calibration of " + context.rig,
                   head(calibration, context) + parameters(calibration) +
                       list_section("The data cannot see", unseen) +
                       list_section("Notes", calibration.notes) + "<h2>Trajectories</h2>\n" +
                       trajectory_sections(calibration.trajectories, hinges, context.controls) +
                       convergence(calibration) + correlation(calibration) +
                       recordings_section(context));
}

}  // namespace service
