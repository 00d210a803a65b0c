#include "service/report/calibration_page.hpp"

#include <limits>

#include "service/convert/calibration_outcome.hpp"
#include "service/report/cross_validation_page.hpp"
#include "service/report/data_section.hpp"
#include "service/report/identifiability_section.hpp"
#include "service/report/number_format.hpp"
#include "service/report/page_parts.hpp"
#include "service/report/parameter_section.hpp"
#include "service/report/svg_chart.hpp"

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
  text += ".";
  if (!has_converged(calibration)) {
    text +=
        " The numbers are where the solver stopped; standard deviations mean something only at "
        "an optimum.";
  }
  return text;
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

/// The stages of a solver one after the other: their numbering starts again where the simulation
/// fit turns from smoothed friction to the rig's own.
std::string cost_chart(const std::string& title, const std::string& unit,
                       const std::vector<estimator::IterationRecord>& history) {
  if (history.size() < 2) return "";
  Chart chart;
  chart.title = title;
  chart.x_label = "iteration";
  chart.y_label = unit;
  chart.log_y = true;
  chart.whole_x = true;
  double before = std::numeric_limits<double>::infinity();
  for (const estimator::IterationRecord& record : history) {
    if (!(record.iteration > before)) {
      const bool first = chart.series.empty();
      chart.series.push_back({"", first ? "simulated" : "residual", {}, {}, true});
    }
    before = record.iteration;
    chart.series.back().x.push_back(record.iteration);
    chart.series.back().y.push_back(record.cost);
  }
  if (chart.series.size() == 2) {
    chart.series[0].label = "with friction smoothed";
    chart.series[1].label = "with the rig's friction";
  }
  return "<figure>" + svg_chart(chart) + "</figure>\n";
}

std::string convergence(const Calibration& calibration) {
  const std::string charts =
      cost_chart("Joint estimation: cost per iteration", "cost", calibration.history) +
      cost_chart("Simulation fit: squared error per iteration", "cost [rad²]",
                 calibration.refinement_history);
  return charts.empty() ? "" : "<section><h2>Convergence</h2>" + charts + "</section>\n";
}

std::string option_row(const std::string& name, const std::string& value) {
  return "<tr><th>" + name + "</th><td>" + escape_html(value) + "</td></tr>\n";
}

std::string options(const Calibration& calibration, const CalibrationContext& context) {
  const estimator::CalibrationOptions& asked = context.options;
  const auto chosen = [](double value, const char* unit, bool by_program) {
    return format_number(value, 6) + unit + (by_program ? " (chosen)" : " (asked for)");
  };
  const auto of_rig = [](double value, const char* unit) {
    return value < 0.0 ? std::string("as in the rig file") : format_number(value, 6) + unit;
  };
  const bool is_explicit = asked.residual_form == estimator::ResidualForm::kExplicit;
  const bool is_full = asked.state_form == estimator::StateForm::kFull;
  return "<section><h2>Options</h2>\n<div class=\"wide\"><table class=\"narrow\">\n" +
         option_row("time step h", chosen(1e3 * calibration.step, " ms", !(asked.step > 0.0))) +
         option_row("state error weight κ",
                    chosen(calibration.state_error_weight, "", !(asked.state_error_weight > 0.0))) +
         option_row("compliance ε", of_rig(asked.compliance, " m/N, rad/(N·m)")) +
         option_row("damping time τ", of_rig(asked.damping_time, " s")) +
         option_row("residual", is_explicit ? "explicit" : "implicit") +
         option_row("unknowns of a step", is_full ? "full states" : "configurations") +
         option_row("low-pass for initial states", format_number(asked.filter_cutoff) + " Hz") +
         option_row("most iterations", std::to_string(asked.max_iterations)) +
         option_row("simulation fit", !asked.refine_simulation ? "not asked for"
                                      : calibration.refined    ? "done"
                                                               : "left out, see the notes") +
         option_row("program", "rigcal " + context.version) + "</table></div></section>\n";
}

}  // namespace

std::string calibration_page(const Calibration& calibration, const CalibrationContext& context,
                             const estimator::CrossValidation* validation) {
  std::vector<std::string> hinges;
  for (const estimator::SimulationError& error : calibration.simulation) {
    hinges.push_back(error.hinge);
  }
  std::string body = head(calibration, context) + parameter_section(calibration) +
                     list_section("Notes", calibration.notes) +
                     identifiability_section(calibration);
  if (validation != nullptr) {
    body +=
        "<h2 class=\"part\">Cross-validation</h2>\n<p>Each recording predicted from all "
        "others.</p>\n" +
        cross_validation_sections(*validation);
  }
  body += "<h2 class=\"part\">Trajectories</h2>\n" +
          trajectory_sections(calibration.trajectories, hinges, context.controls) +
          convergence(calibration) + data_section(context) + options(calibration, context);
  return html_page("Calibration of " + context.rig, body);
}

}  // namespace service
