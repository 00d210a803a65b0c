#include "service/report/cross_validation_report.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

#include "service/recordings/recording_selection.hpp"
#include "service/report/charts/page_parts.hpp"
#include "service/report/charts/svg_chart.hpp"
#include "service/report/sections/finding_list.hpp"
#include "service/report/sections/recording_sections.hpp"
#include "service/report/sections/result_table.hpp"
#include "service/result/calibration_outcome.hpp"
#include "service/result/validation_message.hpp"
#include "service/text/number_format.hpp"

namespace service {
namespace {

using estimator::CrossValidation;

double simulation_horizon(const CrossValidation& validation) {
  return validation.folds.empty() ? std::numeric_limits<double>::infinity()
                                  : validation.folds.front().evaluation.simulation_horizon;
}

std::string head(const CrossValidation& validation, const CalibrationMetadata& context) {
  const bool converged = have_all_folds_converged(validation);
  std::string html =
      render_report_heading("Cross-validation of " + context.rig, context, converged,
                            converged ? "All folds converged." : "Not all folds converged.");
  html += "<div class=\"summary\">\n";
  const CrossValidationErrors errors = compute_cross_validation_errors(validation);
  for (const estimator::OpenLoopError& error : errors.simulation) {
    html += render_summary_box(
        name_simulation(simulation_horizon(validation)) + ", held out, joint " + error.joint,
        format_number(1e3 * error.rmse) + " " + joint_units(error.kind).error);
  }
  html += render_summary_box(
      "estimated states, held out",
      format_number(1e3 * errors.observation) + " " + pooled_error_unit_text(validation.kinds));
  html += render_summary_box("folds", std::to_string(validation.folds.size()));
  html += render_summary_box("wall time", fmt::format("{} s", format_number(context.wall_time, 3)));
  return html + "</div>\n";
}

std::string parts(const CrossValidation& validation) {
  std::string html = "<section><h2>Parts</h2><ol>\n";
  for (const std::string& part : remove_common_folders(validation.parts)) {
    html += "<li>" + escape_html(part) + "</li>\n";
  }
  return html + "</ol></section>\n";
}

std::vector<std::string> matrix_titles(Eigen::Index columns) {
  std::vector<std::string> titles = {"held out"};
  for (Eigen::Index j = 0; j < columns; ++j) titles.push_back(std::to_string(j + 1));
  return titles;
}

/// Formats an error matrix as a table with shaded cells. The shade depends on the logarithm of the
/// error and ranges from the smallest error to the largest, or to ten times the smallest.
std::string matrix(const std::string& title, const Eigen::MatrixXd& errors) {
  double low = std::numeric_limits<double>::infinity();
  double high = 0.0;
  for (const double error : errors.reshaped()) {
    if (!(error > 0.0) || !std::isfinite(error)) continue;
    low = std::min(low, error);
    high = std::max(high, error);
  }
  HtmlTable table("Row: held-out part; column: part whose error is shown",
                  make_text_and_number_columns(matrix_titles(errors.cols()), 1), "matrix");
  for (Eigen::Index i = 0; i < errors.rows(); ++i) {
    std::vector<HtmlCell> cells = {std::to_string(i + 1)};
    for (Eigen::Index j = 0; j < errors.cols(); ++j) {
      const double error = errors(i, j);
      const double shade = high > low && error > 0.0 && std::isfinite(error)
                               ? 0.6 * std::log(error / low) / std::log(std::max(high / low, 10.0))
                               : 0.0;
      char style[64];
      std::snprintf(style, sizeof style, "background: rgba(230, 159, 0, %.2f)", shade);
      cells.push_back(HtmlCell(format_number(1e3 * error, 3))
                          .set_css_class(i == j ? "held-out" : "")
                          .set_css_style(style));
    }
    table.add(cells);
  }
  return "<h3>" + escape_html(title) + "</h3>\n" + table.html();
}

std::string matrices(const CrossValidation& validation) {
  std::string html =
      "<section><h2>Errors</h2>\n"
      "<p class=\"quiet\">Row: the held-out part. Column: the part whose error is shown. Framed: "
      "predictions of held-out parts; others are fits.</p>\n";
  for (std::size_t j = 0; j < validation.joints.size(); ++j) {
    html += matrix(fmt::format("{}, joint {} [{}]", name_simulation(simulation_horizon(validation)),
                               validation.joints[j], joint_units(validation.kinds[j]).error),
                   validation.simulation[j]);
  }
  const std::string states =
      fmt::format("Estimated states [{}]", pooled_error_unit_text(validation.kinds));
  return html + matrix(states, validation.observation) + "</section>\n";
}

std::string parameters(const CrossValidation& validation) {
  std::vector<std::string> titles = {"parameter [unit]", "mean", "± between folds", "± reported"};
  for (std::size_t i = 0; i < validation.folds.size(); ++i) {
    titles.push_back("without " + std::to_string(i + 1));
  }
  HtmlTable table(
      "Estimates without one part at a time. If a parameter is not identifiable without a part, "
      "only this part contains information on it; its mean is then the mean over the other folds.",
      make_text_and_number_columns(titles, 1));
  if (validation.folds.empty()) return "";
  const estimator::Mechanism& mechanism = validation.folds.front().calibration.mechanism;
  const std::vector<TableNotation> notations = make_spread_notations(validation.parameters);
  for (std::size_t p = 0; p < validation.parameters.size(); ++p) {
    const estimator::ParameterSpread& spread = validation.parameters[p];
    const TableNotation& notation = notations[p];
    const std::string name = render_parameter_name(mechanism, spread.name);
    std::vector<HtmlCell> cells = {
        HtmlCell::from_html(name + " [" + escape_html(notation.unit()) + "]"), notation.value(),
        notation.deviation_text(spread.standard_deviation),
        notation.deviation_text(spread.reported_standard_deviation)};
    for (int f = 0; f < std::ssize(validation.folds); ++f) {
      const auto& fold = validation.folds[static_cast<std::size_t>(f)];
      if (std::ranges::count(spread.unidentified, f) > 0) {
        cells.push_back(HtmlCell("not identifiable").set_css_class("warn"));
      } else {
        cells.emplace_back(notation.rounded_text(fold.calibration.parameters[p].value));
      }
    }
    table.add(cells);
  }
  return "<section><h2>Parameters over the folds</h2>\n" + table.html() + "</section>\n";
}

std::string trajectories(const CrossValidation& validation, const CalibrationMetadata& context) {
  std::string html = "<h2>Held-out parts</h2>\n";
  const TrajectoryLabels labels = {
      validation.joints, validation.kinds, context.controls, {}, context.held};
  const std::size_t share = kPageNumbersMax / std::max<std::size_t>(1, validation.folds.size());
  for (const estimator::CrossValidationFold& fold : validation.folds) {
    html += render_trajectory_sections(fold.evaluation.trajectories, labels, share);
  }
  return html;
}

using TableRows = std::vector<std::vector<std::string>>;

std::string thousandths(double value) { return format_significant_digits(1e3 * value, 4); }

std::string part_table(const estimator::CrossValidation& validation) {
  const bool slides = !std::ranges::all_of(
      validation.kinds, [](estimator::JointKind kind) { return joint_traits(kind).turns; });
  const auto in_unit = [&](const std::string& title, const std::string& unit) {
    return slides ? fmt::format("{} [{}]", title, unit) : title;
  };
  const bool is_open_loop = std::isinf(simulation_horizon(validation));
  const std::string horizon = format_number(simulation_horizon(validation)) + " s ahead ";
  TableRows rows = {
      {"held out", in_unit("states", pooled_error_unit_text(validation.kinds)), "cost"}};
  std::vector<bool> right = {false, true, true};
  for (std::size_t j = 0; j < validation.joints.size(); ++j) {
    rows[0].push_back(
        in_unit(is_open_loop ? "open loop " + validation.joints[j] : horizon + validation.joints[j],
                joint_units(validation.kinds[j]).error));
    right.push_back(true);
  }
  rows[0].push_back("");
  right.push_back(false);
  const std::vector<std::string> names = remove_common_folders(validation.parts);
  for (std::size_t i = 0; i < validation.folds.size(); ++i) {
    const estimator::CrossValidationFold& fold = validation.folds[i];
    std::vector<std::string> row = {names[i], thousandths(fold.evaluation.observation_rmse),
                                    format_number(fold.evaluation.cost)};
    for (const estimator::OpenLoopError& error : fold.evaluation.simulation) {
      row.push_back(thousandths(error.rmse));
    }
    row.push_back(fold.calibration.converged() ? "" : "NOT CONVERGED");
    rows.push_back(row);
  }
  const CrossValidationErrors errors = compute_cross_validation_errors(validation);
  std::vector<std::string> all = {"all", thousandths(errors.observation), ""};
  for (const estimator::OpenLoopError& error : errors.simulation) {
    all.push_back(thousandths(error.rmse));
  }
  all.emplace_back();
  rows.push_back(all);
  return format_table(rows, right);
}

/// Returns the notes of all calibrations of a cross-validation without duplicates.
std::vector<estimator::Message> all_notes(const estimator::CrossValidation& validation) {
  std::vector<estimator::Message> notes;
  for (const estimator::CrossValidationFold& fold : validation.folds) {
    for (const estimator::Message& note : fold.calibration.notes) {
      if (std::ranges::find(notes, note) == notes.end()) notes.push_back(note);
    }
  }
  return notes;
}

std::string parameter_table(const estimator::CrossValidation& validation) {
  TableRows rows = {{"parameter", "mean", "± between folds", "± reported", "unit", ""}};
  const std::vector<std::string> names = remove_common_folders(validation.parts);
  const std::vector<TableNotation> notations = make_spread_notations(validation.parameters);
  for (std::size_t i = 0; i < notations.size(); ++i) {
    const estimator::ParameterSpread& spread = validation.parameters[i];
    const std::string without = join_items(
        spread.unidentified, [&](int fold) { return names[static_cast<std::size_t>(fold)]; });
    rows.push_back(
        {spread.name, notations[i].value(), notations[i].deviation_text(spread.standard_deviation),
         notations[i].deviation_text(spread.reported_standard_deviation), notations[i].unit(),
         without.empty() ? "" : "not identifiable without " + without});
  }
  return format_table(rows, {false, true, true, true, false, false});
}

}  // namespace

std::string render_cross_validation_sections(const CrossValidation& validation) {
  return parts(validation) + matrices(validation) + parameters(validation);
}

std::string render_cross_validation_page(const CrossValidation& validation,
                                         const CalibrationMetadata& context) {
  return render_html_page(
      "Cross-validation of " + context.rig,
      head(validation, context) + render_cross_validation_sections(validation) +
          trajectories(validation, context) +
          render_folded_section("Data and files",
                                render_data_section(context) + render_input_section(context)));
}

std::vector<TableNotation> make_spread_notations(
    const std::vector<estimator::ParameterSpread>& spreads) {
  std::vector<TableQuantity> quantities;
  for (const estimator::ParameterSpread& each : spreads) {
    const bool is_comparable = each.unidentified.empty();
    quantities.push_back(
        {each.mean, is_comparable ? each.standard_deviation : each.reported_standard_deviation,
         each.unit});
  }
  return make_table_notations(quantities);
}

std::string format_cross_validation(const estimator::CrossValidation& validation, double wall_time,
                                    const std::vector<estimator::Finding>& findings) {
  const std::string found =
      format_findings(add_warnings_as_findings(findings, all_notes(validation)));
  return "Each part, predicted with the parameters estimated from all other parts; RMSE in " +
         error_unit_text(validation.kinds) + ":\n\n" + part_table(validation) +
         "\nParameters over the folds:\n\n" + parameter_table(validation) + "\n" + found +
         (found.empty() ? "" : "\n") +
         (have_all_folds_converged(validation) ? "Converged" : "NOT CONVERGED") + ": " +
         std::to_string(validation.folds.size()) + " calibrations in " +
         format_number(wall_time, 3) + " s\n";
}

}  // namespace service
