#include "service/report/calibration_page.hpp"

#include <algorithm>
#include <limits>

#include "service/messages/message_text.hpp"
#include "service/messages/stage_text.hpp"
#include "service/options/option_texts.hpp"
#include "service/report/charts/chart_figure.hpp"
#include "service/report/charts/page_parts.hpp"
#include "service/report/cross_validation_report.hpp"
#include "service/report/sections/calibration_sections.hpp"
#include "service/report/sections/finding_list.hpp"
#include "service/report/sections/recording_sections.hpp"
#include "service/report/sections/result_table.hpp"
#include "service/result/calibration_outcome.hpp"
#include "service/text/number_format.hpp"

namespace service {
namespace {

using estimator::Calibration;

std::string describe_outcome(const Calibration& calibration) {
  std::string text = calibration.converged() ? describe_calibration_ending(calibration) + "."
                     : calibration.verdict.kind == estimator::VerdictKind::kNoFit
                         ? "No result."
                         : "Not converged.";
  text += " Joint estimation: " +
          describe_stage_ending(calibration.termination, calibration.iterations);
  if (calibration.refined) {
    text += "; simulation fit: " + describe_stage_ending(calibration.refinement_termination,
                                                         calibration.refinement_iterations);
  }
  text += ".";
  if (!calibration.converged()) {
    text +=
        " The values are those at which the solver stopped; "
        "standard deviations are valid only at an optimum.";
  }
  return text;
}

bool is_physical(const Calibration& calibration) {
  return calibration.kind == estimator::EstimateKind::kPhysical;
}

/// Names the input files, so that a printed first page can be understood alone.
std::string name_inputs(const CalibrationMetadata& context) {
  constexpr std::size_t kNamedMax = 4;
  const auto file_name = [](const std::string& path) { return path.substr(path.rfind('/') + 1); };
  std::string text;
  for (std::size_t k = 0; k < std::min(context.recordings.size(), kNamedMax); ++k) {
    text += (k == 0 ? "From " : ", ") + file_name(context.recordings[k].summary.file);
  }
  if (text.empty()) return "";
  if (context.recordings.size() > kNamedMax) {
    text += fmt::format(" and {} more", context.recordings.size() - kNamedMax);
  }
  const std::string& rig = context.request.rig_name;
  if (!rig.empty()) text += ", with the rig file " + file_name(rig);
  return "<p class=\"quiet\">" + escape_html(text) + "</p>\n";
}

std::string head(const Calibration& calibration, const CalibrationMetadata& context) {
  const estimator::Verdict& verdict = calibration.verdict;
  const bool judged = !verdict.reasons.empty();
  std::string html = render_report_heading(
      "Calibration of " + context.rig, context,
      judged ? verdict.kind == estimator::VerdictKind::kAccepted : calibration.converged(),
      judged ? format_sentence(format_verdict(verdict)) : describe_outcome(calibration));
  if (judged && !calibration.converged()) html += render_paragraph(describe_outcome(calibration));
  html += name_inputs(context) + "<div class=\"summary\">\n";
  for (const estimator::OpenLoopError& error : calibration.simulation) {
    html += render_summary_box(
        name_simulation(calibration.simulation_horizon) + ", RMSE, joint " + error.joint,
        format_number(1e3 * error.rmse) + " " + joint_units(error.kind).error);
  }
  html += render_summary_box(
      "estimated states RMSE",
      format_number(1e3 * calibration.observation_rmse) + " " +
          pooled_error_unit_text(estimator::encoder_joint_kinds(calibration.mechanism)));
  return html + "</div>\n";
}

/// Plots the cost over iterations, with a line per solver run and a line style per stage.
Chart cost_chart(const std::vector<estimator::IterationRecord>& history,
                 const std::string& first_stage) {
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  Chart chart;
  chart.x_label = "iteration";
  chart.log_y = true;
  chart.integer_x = true;
  std::vector<double> x;
  for (std::size_t k = 0; k < history.size(); ++k) {
    const bool begins = k > 0 && history[k].solve != history[k - 1].solve;
    // A row without a value separates the lines of two solves.
    if (begins) x.push_back(0.5 * (history[k - 1].iteration + history[k].iteration));
    const std::string name = history[k].kind == estimator::SolveKind::kFirst
                                 ? first_stage
                                 : std::string(describe_solve(history[k].kind));
    auto series = std::ranges::find(chart.series, name, &ChartSeries::label);
    if (series == chart.series.end()) {
      const std::size_t index = chart.series.size();
      series = chart.series.insert(series, {name, series_css_class(index), {}, {}});
      series->markers = true;
      series->shape = series_marker_shape(index);
      series->column = name;
    }
    series->y.resize(x.size(), kNaN);
    series->y.push_back(history[k].cost);
    x.push_back(history[k].iteration);
  }
  for (ChartSeries& series : chart.series) {
    series.x = x;
    series.y.resize(x.size(), kNaN);
  }
  if (chart.series.size() == 1) {
    chart.series.front().label.clear();
    chart.series.front().column.clear();
  }
  return chart;
}

std::string cost_figure(const std::string& name, const std::string& title, const std::string& unit,
                        Chart chart) {
  chart.title = title + ": cost per iteration";
  chart.y_label = unit;
  chart.height = 260;
  std::string caption = title + ": cost after each iteration.";
  if (chart.series.size() > 1) {
    caption = fmt::format(
        "{} Each stage and each round solves a different problem, with other weights or another "
        "start. Costs of different stages cannot be compared.",
        caption);
  }
  return render_chart_figure({.name = name, .caption = caption, .charts = {std::move(chart)}});
}

std::string convergence(const Calibration& calibration) {
  std::string html;
  if (calibration.history.size() > 1) {
    const bool is_regression = calibration.first_stage == estimator::EstimationStage::kRegression;
    html +=
        cost_figure("joint-estimation", is_regression ? "Linear regression" : "Joint estimation",
                    "cost", cost_chart(calibration.history, "from the initial values"));
  }
  if (calibration.refinement_history.size() > 1) {
    html += cost_figure("simulation-fit", "Simulation fit",
                        is_physical(calibration) ? "cost" : "cost [rad²]",
                        cost_chart(calibration.refinement_history, "from the joint estimation"));
  }
  if (html.empty()) return "";
  const bool both = calibration.history.size() > 1 && calibration.refinement_history.size() > 1;
  return "<section><h2>Convergence</h2>\n" +
         std::string(
             both ? "<p>The two fits have different residuals: the first estimates the states from "
                    "the readings, the second simulates them. Their costs cannot be compared.</p>\n"
                  : "") +
         html + "</section>\n";
}

/// Adds the options of the command line with their values, requested or chosen.
void add_method_options(const Calibration& calibration, const estimator::CalibrationOptions& asked,
                        HtmlTable& table) {
  estimator::CalibrationOptions used = asked;
  used.step = calibration.step;
  used.state_error_weight = calibration.state_error_weight;
  for (const estimator::OptionRow& row : estimator::kOptionRows) {
    const bool simulator = row.group == estimator::OptionGroup::kSimulator;
    if (find_option_help(row).empty() || (simulator && is_physical(calibration))) continue;
    const bool given = !has_default_value(row, asked);
    const auto* number = std::get_if<double estimator::CalibrationOptions::*>(&row.member);
    std::string text = row.is_flag()       ? (given ? "yes" : "no")
                       : number == nullptr ? format_option(row, used)
                                           : format_number(used.*(*number), 6);
    if (!row.unit.empty()) text += " " + std::string(row.unit);
    if (!is_in_range(row, used)) text = "automatic";
    table.add({fmt::format("--{}", row.name), given ? text + " (requested)" : text});
  }
}

/// Formats noise levels with units. Consecutive levels with equal units share one unit.
std::string noise_text(const Eigen::VectorXd& levels, double scale,
                       const std::vector<std::string>& units) {
  std::string text;
  for (Eigen::Index i = 0; i < levels.size(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    const bool last = i + 1 == levels.size();
    text += format_number(scale * levels[i], 3);
    if (at < units.size() && (last || units[at] != units[at + 1])) text += " " + units[at];
    if (!last) text += ", ";
  }
  return text;
}

void add_physical_options(const Calibration& calibration, HtmlTable& table) {
  std::vector<std::string> readings, accelerations;
  for (const estimator::Encoder& sensor : estimator::used_encoders(calibration.mechanism)) {
    readings.emplace_back(sensor.units().error);
  }
  for (const estimator::Joint& joint : calibration.mechanism.joints) {
    accelerations.emplace_back(joint.units().noise);
  }
  table.add(
      {"noise of the readings, per sensor", noise_text(calibration.angle_noise, 1e3, readings)});
  table.add({"unexplained acceleration, per joint",
             noise_text(calibration.acceleration_noise, 1.0, accelerations)});
}

std::string options(const Calibration& calibration, const CalibrationMetadata& context) {
  HtmlTable table("Requested and automatic options", {{"option"}, {"value", CellAlign::kWords}},
                  "narrow");
  table.add({"wall time", fmt::format("{} s", format_number(context.wall_time, 3))});
  table.add({"parameters", is_physical(calibration)
                               ? "physical: parameters of the system in continuous time"
                               : "shadow: parameters of a SPOOK simulator at the time step"});
  add_method_options(calibration, context.options, table);
  if (is_physical(calibration)) {
    add_physical_options(calibration, table);
  } else {
    table.add({"started from",
               calibration.started_from_physical ? "physical parameters" : "the initial values"});
  }
  table.add({"simulation fit", !context.options.refine_simulation ? "not requested"
                               : calibration.refined              ? "done"
                                                                  : "not done"});
  return "<section><h2>Options</h2>\n" + render_paragraph(describe_outcome(calibration)) +
         table.html() + "</section>\n";
}

}  // namespace

std::string render_calibration_page(const Calibration& calibration,
                                    const CalibrationMetadata& context,
                                    const estimator::CrossValidation* validation) {
  TrajectoryLabels labels;
  for (const estimator::OpenLoopError& error : calibration.simulation) {
    labels.joints.push_back(error.joint);
    labels.kinds.push_back(error.kind);
  }
  labels.controls = context.controls;
  labels.findings = calibration.findings;
  labels.held = context.held;
  std::string body =
      "<div class=\"first-page\">\n" + head(calibration, context) +
      render_parameter_section(calibration) + render_rig_section(calibration, context) +
      "</div>\n" +
      render_finding_section(add_warnings_as_findings(calibration.findings, calibration.notes)) +
      render_list_section("Notes", notes_without_warnings(calibration.notes)) +
      "<h2 class=\"part\">Trajectories</h2>\n" +
      render_trajectory_sections(calibration.trajectories, labels) +
      "<h2 class=\"part\">Details</h2>\n" + render_identifiability_section(calibration) +
      render_part_comparison(calibration);
  if (validation != nullptr) {
    body +=
        "<h2 class=\"part\">Cross-validation</h2>\n<p>Each recording predicted from all "
        "others.</p>\n<div class=\"inset\">" +
        render_cross_validation_sections(*validation) + "</div>\n";
  }
  body += render_folded_section("Data, options, convergence and files",
                                render_data_section(context) + options(calibration, context) +
                                    convergence(calibration) + render_input_section(context));
  return render_html_page("Calibration of " + context.rig, body);
}

}  // namespace service
