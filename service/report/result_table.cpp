#include "service/report/result_table.hpp"

#include <algorithm>
#include <cmath>

#include "proto/text/printable.hpp"
#include "service/report/finding_list.hpp"
#include "service/result/calibration_outcome.hpp"
#include "service/text/number_format.hpp"
#include "service/messages/message_text.hpp"

namespace service {
namespace {

std::string remark(const estimator::ParameterEstimate& estimate) {
  if (!estimate.at_bound) {
    if (std::isinf(estimate.standard_deviation)) return "not identifiable";
    if (!(estimate.standard_deviation > estimate.noise_deviation)) return "";
    return "from noise only " + notation_of(estimate).deviation(estimate.noise_deviation);
  }
  const bool lower =
      std::abs(estimate.value - estimate.lower) <= std::abs(estimate.value - estimate.upper);
  return lower ? "at lower bound " + notation_of(estimate).number(estimate.lower)
               : "at upper bound " + notation_of(estimate).number(estimate.upper);
}

/// Returns the table cells for the estimate of a parameter from the data without priors.
std::vector<std::string> data_cells(const estimator::ParameterEstimate& estimate) {
  if (std::isnan(estimate.data_deviation)) return {"", ""};
  if (std::isinf(estimate.data_deviation)) return {"-", "not identifiable"};
  const Measured number = format_measured(estimate.data_value, estimate.data_deviation);
  return {number.value, number.standard_deviation};
}

std::string parameter_table(const estimator::Calibration& calibration) {
  std::vector<std::vector<std::string>> rows = {
      {"parameter", "value", "± sd", "unit", "initial", ""}};
  std::vector<bool> right = {false, true, true, false, true, false};
  const bool with_priors = std::ranges::any_of(
      calibration.parameters, [](const auto& each) { return !std::isnan(each.data_deviation); });
  if (with_priors) {
    rows[0].insert(rows[0].end() - 1, {"data without prior", "± sd"});
    right.insert(right.end() - 1, {true, true});
  }
  const auto add = [&](const estimator::ParameterEstimate& estimate, const std::string& said) {
    const Measured number = format_measured(estimate.value, estimate.standard_deviation);
    rows.push_back({estimate.name, number.value, number.standard_deviation, estimate.unit,
                    notation_of(estimate).number(estimate.initial), said});
    if (!with_priors) return;
    const std::vector<std::string> data = data_cells(estimate);
    rows.back().insert(rows.back().end() - 1, data.begin(), data.end());
  };
  for (const auto& estimate : calibration.parameters) add(estimate, remark(estimate));
  for (const auto& estimate : calibration.tied) add(estimate, "dependent");
  return format_table(rows, right);
}

/// Formats the principal moments of inertia of bodies whose inertia is entirely free or at its
/// feasibility boundary.
std::string principal_table(const estimator::Calibration& calibration) {
  std::vector<std::vector<std::string>> rows = {
      {"principal moments", "value", "± sd", "unit", "axis", ""}};
  for (const estimator::PrincipalInertia& inertia : calibration.principal) {
    for (int i = 0; i < 3; ++i) {
      const Measured number = format_measured(inertia.moments[i], inertia.deviations[i]);
      std::string axis;
      for (const double part : inertia.axes.col(i)) {
        axis += (axis.empty() ? "" : ", ") + format_number(std::round(100.0 * part) / 100.0, 2);
      }
      rows.push_back({"body " + inertia.body, number.value, number.standard_deviation, "kg·m²",
                      "(" + axis + ")",
                      inertia.at_feasibility_boundary ? "at the feasibility boundary" : ""});
    }
  }
  if (rows.size() == 1) return "";
  return format_table(rows, {false, true, true, false, false, false}) + "\n";
}

/// Formats the base parameters, if only combinations of inertial parameters are identifiable.
std::string base_table(const estimator::Calibration& calibration) {
  if (calibration.base.empty() || calibration.null_directions.empty()) return "";
  std::vector<std::vector<std::string>> rows = {
      {"base inertial parameters", "value", "± sd", "unit"}};
  for (const estimator::Combination& base : calibration.base) {
    const bool seen = std::isfinite(base.standard_deviation);
    const Measured number = format_measured(base.value, base.standard_deviation);
    rows.push_back({base.description, number.value,
                    seen ? number.standard_deviation : "not identifiable", base.unit});
  }
  return format_table(rows, {false, true, true, false}) + "\n";
}

std::string combination_table(const estimator::Calibration& calibration) {
  if (calibration.combinations.empty()) return "";
  std::vector<std::vector<std::string>> rows = {
      {"well-identified combinations", "value", "± sd", "unit"}};
  for (const estimator::Combination& combination : calibration.combinations) {
    const Measured number = format_measured(combination.value, combination.standard_deviation);
    rows.push_back(
        {combination.description, number.value, number.standard_deviation, combination.unit});
  }
  return format_table(rows, {false, true, true, false}) + "\n";
}

/// Returns the verdict on a calibration as a sentence; empty if there is no verdict.
std::string first_line(const estimator::Calibration& calibration) {
  if (calibration.verdict.reasons.empty()) return "";
  return as_sentence(text_of(calibration.verdict)) + "\n\n";
}

std::string simulation_table(const estimator::Calibration& calibration) {
  const bool slides = std::ranges::any_of(
      calibration.simulation, [](const auto& error) { return !joint_traits(error.kind).turns; });
  std::vector<std::vector<std::string>> rows = {
      {"open-loop simulation", slides ? "RMSE" : "RMSE [mrad]", ""}};
  for (const estimator::SimulationError& error : calibration.simulation) {
    rows.push_back({"joint " + error.joint, format_number(1e3 * error.rmse),
                    slides ? joint_units(error.kind).error : ""});
  }
  return format_table(rows, {false, true, false});
}

/// Formats a table of the differences between inertial sensors and the model.
std::string inertial_table(const estimator::Calibration& calibration) {
  if (calibration.inertial.empty()) return "";
  std::vector<std::vector<std::string>> rows = {{"inertial sensors", "RMSE", "noise", "unit"}};
  for (const estimator::InertialError& error : calibration.inertial) {
    rows.push_back({error.name, format_number(error.rmse), format_number(error.noise), error.unit});
  }
  return std::string("\n").append(format_table(rows, {false, true, true, false}));
}

}  // namespace

std::string format_table(std::vector<std::vector<std::string>> rows,
                         const std::vector<bool>& right) {
  for (auto& row : rows) {
    for (std::string& cell : row) cell = proto::escape_for_terminal(cell);
  }
  std::vector<int> widths(right.size(), 0);
  for (const auto& row : rows) {
    for (std::size_t j = 0; j < row.size(); ++j) {
      widths[j] = std::max(widths[j], display_width(row[j]));
    }
  }
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t j = 0; j < row.size(); ++j) {
      const std::string pad(static_cast<std::size_t>(widths[j] - display_width(row[j])), ' ');
      line += (j == 0 ? "" : "  ") + (right[j] ? pad + row[j] : row[j] + pad);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

std::string format_calibration(const estimator::Calibration& calibration, double wall_time) {
  const std::string intervals = describe_intervals(calibration);
  std::string text = first_line(calibration) + parameter_table(calibration) +
                     (intervals.empty() ? "" : "\n" + intervals + "\n") + "\n" +
                     principal_table(calibration) + combination_table(calibration) +
                     base_table(calibration) + simulation_table(calibration) +
                     inertial_table(calibration);
  if (!calibration.null_directions.empty()) {
    text += "\nNot identifiable from the data:\n";
    for (const estimator::NullDirection& direction : calibration.null_directions) {
      text += "  " + text_of(direction.description) + "\n";
    }
  }
  if (!calibration.findings.empty())
    text.append("\n").append(format_findings(calibration.findings));
  if (!calibration.notes.empty()) {
    text += "\nNotes:\n";
    for (const std::string& note : note_texts(calibration.notes)) text += "  " + note + "\n";
  }
  const bool physical = calibration.kind == estimator::EstimateKind::kPhysical;
  text +=
      std::string("\n") + describe_ending(calibration) + " in " + format_number(wall_time, 3) +
      " s: " +
      (physical ? "physical parameters"
                : "parameters of a SPOOK simulator with a step of " +
                      format_number(1e3 * calibration.step) + " ms, kappa " +
                      format_number(calibration.state_error_weight)) +
      "\n  joint estimation: " + describe_stage(calibration.termination, calibration.iterations) +
      ", cost " + format_number(calibration.cost, 6) + "\n";
  if (calibration.refined) {
    text += "  simulation fit: " +
            describe_stage(calibration.refinement_termination, calibration.refinement_iterations) +
            "\n";
  }
  return text;
}

}  // namespace service
