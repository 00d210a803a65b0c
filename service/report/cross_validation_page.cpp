#include "service/report/cross_validation_page.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

#include "service/import/recording_pieces.hpp"
#include "service/report/data_section.hpp"
#include "service/report/page_parts.hpp"
#include "service/report/svg_chart.hpp"
#include "service/result/calibration_outcome.hpp"
#include "service/result/cross_validation_message.hpp"
#include "service/text/number_format.hpp"

namespace service {
namespace {

using estimator::CrossValidation;

std::string head(const CrossValidation& validation, const CalibrationContext& context) {
  const bool converged = has_converged(validation);
  std::string html = heading("Cross-validation of " + context.rig, context.version, converged,
                             converged ? "All folds converged." : "Not all folds converged.");
  html += "<div class=\"summary\">\n";
  const PredictionErrors errors = prediction_errors(validation);
  for (const estimator::SimulationError& error : errors.simulation) {
    html += fact("open loop, held out, hinge " + error.hinge,
                 format_number(1e3 * error.rmse) + " " + joint_units(error.kind).error);
  }
  html += fact("estimated states, held out", format_number(1e3 * errors.observation) + " mrad");
  html += fact("folds", std::to_string(validation.folds.size()));
  html += fact("wall time", format_number(context.wall_time, 3) + " s");
  return html + "</div>\n";
}

std::string pieces(const CrossValidation& validation) {
  std::string html = "<section><h2>Pieces</h2><ol>\n";
  for (const std::string& piece : short_names(validation.pieces)) {
    html += "<li>" + escape_html(piece) + "</li>\n";
  }
  return html + "</ol></section>\n";
}

/// Errors as a table; the shade grows with the logarithm of the error, from the best to the
/// worst or to ten times the best.
std::string matrix(const std::string& title, const Eigen::MatrixXd& errors) {
  double low = std::numeric_limits<double>::infinity();
  double high = 0.0;
  for (const double error : errors.reshaped()) {
    if (!(error > 0.0) || !std::isfinite(error)) continue;
    low = std::min(low, error);
    high = std::max(high, error);
  }
  std::string html = "<h3>" + escape_html(title) + "</h3>\n<div class=\"wide\"><table " +
                     "class=\"matrix\"><tr><th>held out</th>";
  for (Eigen::Index j = 0; j < errors.cols(); ++j) {
    html += "<th class=\"number\">" + std::to_string(j + 1) + "</th>";
  }
  html += "</tr>\n";
  for (Eigen::Index i = 0; i < errors.rows(); ++i) {
    html += "<tr><th>" + std::to_string(i + 1) + "</th>";
    for (Eigen::Index j = 0; j < errors.cols(); ++j) {
      const double error = errors(i, j);
      const double shade = high > low && error > 0.0 && std::isfinite(error)
                               ? 0.6 * std::log(error / low) / std::log(std::max(high / low, 10.0))
                               : 0.0;
      char style[64];
      std::snprintf(style, sizeof style, "background: rgba(230, 159, 0, %.2f)", shade);
      html += "<td class=\"number" + std::string(i == j ? " held-out" : "") + "\" style=\"" +
              style + "\">" + format_number(1e3 * error, 3) + "</td>";
    }
    html += "</tr>\n";
  }
  return html + "</table></div>\n";
}

std::string matrices(const CrossValidation& validation) {
  std::string html =
      "<section><h2>Errors [mrad; of what slides mm]</h2>\n<p class=\"quiet\">Row: the piece held "
      "out of the "
      "calibration. Column: the piece whose error is shown. Framed: predictions of pieces the "
      "calibration has not seen; beside them, fits.</p>\n";
  for (std::size_t j = 0; j < validation.hinges.size(); ++j) {
    html += matrix("Open-loop simulation, hinge " + validation.hinges[j], validation.simulation[j]);
  }
  return html + matrix("Estimated states", validation.observation) + "</section>\n";
}

std::string parameters(const CrossValidation& validation) {
  std::string html =
      "<section><h2>Parameters over the folds</h2>\n<div class=\"wide\"><table>\n<tr>"
      "<th>parameter</th>"
      "<th class=\"number\">mean</th><th class=\"number\">± between folds</th>"
      "<th class=\"number\">± reported</th><th>unit</th>";
  for (std::size_t i = 0; i < validation.folds.size(); ++i) {
    html += "<th class=\"number\">without " + std::to_string(i + 1) + "</th>";
  }
  html += "</tr>\n";
  for (std::size_t p = 0; p < validation.parameters.size(); ++p) {
    const estimator::ParameterSpread& spread = validation.parameters[p];
    const Measured number = format_measured(spread.mean, spread.standard_deviation);
    html +=
        "<tr><td>" + escape_html(spread.name) + "</td>" + number_cell(number.value) +
        number_cell(number.standard_deviation) +
        number_cell(
            format_measured(spread.mean, spread.reported_standard_deviation).standard_deviation) +
        "<td>" + escape_html(spread.unit) + "</td>";
    for (const estimator::Fold& fold : validation.folds) {
      html += number_cell(
          format_measured(fold.calibration.parameters[p].value, spread.standard_deviation).value);
    }
    html += "</tr>\n";
  }
  return html + "</table></div></section>\n";
}

std::string trajectories(const CrossValidation& validation,
                         const std::vector<std::string>& controls) {
  std::string html = "<h2>Pieces held out</h2>\n";
  for (const estimator::Fold& fold : validation.folds) {
    html += trajectory_sections(fold.evaluation.trajectories, validation.hinges, controls,
                                validation.kinds);
  }
  return html;
}

}  // namespace

std::string cross_validation_sections(const CrossValidation& validation) {
  return pieces(validation) + matrices(validation) + parameters(validation);
}

std::string cross_validation_page(const CrossValidation& validation,
                                  const CalibrationContext& context) {
  return html_page("Cross-validation of " + context.rig,
                   head(validation, context) + cross_validation_sections(validation) +
                       trajectories(validation, context.controls) + data_section(context));
}

}  // namespace service
