#include "service/report/sections/result_table.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <set>

#include "proto/text/printable.hpp"
#include "service/messages/message_text.hpp"
#include "service/messages/stage_text.hpp"
#include "service/report/sections/finding_list.hpp"
#include "service/result/calibration_outcome.hpp"
#include "service/text/number_format.hpp"

namespace service {
namespace {

constexpr int kWrappedWidthMin = 20;  // of a column of text in a wide table

/// Formats the estimates with their 95 % confidence intervals. All numbers of a row precede the
/// unit that they have in common.
std::string parameter_table(const estimator::Calibration& calibration) {
  std::vector<std::vector<std::string>> rows = {
      {"parameter", "estimate", "± sd", "95 % interval", "initial", "unit", ""}};
  std::vector<estimator::ParameterEstimate> all = calibration.parameters;
  all.insert(all.end(), calibration.dependent.begin(), calibration.dependent.end());
  const std::vector<TableNotation> notations = make_estimate_notations(all);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const TableNotation& notation = notations[i];
    rows.push_back({all[i].name, notation.value(), notation.deviation_text(),
                    format_confidence_interval(all[i], notation),
                    notation.number_text(all[i].initial), notation.unit(),
                    i < calibration.parameters.size() ? "" : "dependent"});
  }
  return format_table(rows, {false, true, true, false, true, false, false});
}

/// Formats the estimates from the data without priors; empty if the rig file has no priors.
std::string prior_free_table(const estimator::Calibration& calibration) {
  std::vector<std::vector<std::string>> rows = {{"data without prior", "estimate", "± sd", "unit"}};
  const std::vector<TableNotation> notations = make_estimate_notations(calibration.parameters);
  for (std::size_t i = 0; i < notations.size(); ++i) {
    const estimator::ParameterEstimate& each = calibration.parameters[i];
    if (std::isnan(each.data_deviation)) continue;
    const TableNotation data = notations[i].with(each.data_value, each.data_deviation);
    const bool is_seen = std::isfinite(each.data_deviation);
    rows.push_back({each.name, is_seen ? data.value() : "not identifiable", data.deviation_text(),
                    data.unit()});
  }
  return rows.size() == 1 ? "" : format_table(rows, {false, true, true, false}) + "\n";
}

/// Returns the verdict on a calibration as a sentence, after the failure of a fit that has not
/// converged; empty if there is neither.
std::string first_line(const estimator::Calibration& calibration) {
  const bool has_fit = calibration.verdict.kind != estimator::VerdictKind::kNoFit;
  std::string line = calibration.converged() || !has_fit
                         ? ""
                         : describe_calibration_ending(calibration) + ".";
  if (!calibration.verdict.reasons.empty()) {
    line += (line.empty() ? "" : " ") + format_sentence(format_verdict(calibration.verdict));
  }
  return line.empty() ? "" : line + "\n\n";
}

std::string simulation_table(const estimator::Calibration& calibration) {
  if (calibration.simulation.empty()) return "";
  std::vector<std::vector<std::string>> rows = {
      {name_simulation(calibration.simulation_horizon), "RMSE", "unit"}};
  for (const estimator::OpenLoopError& error : calibration.simulation) {
    rows.push_back({"joint " + error.joint, format_significant_digits(1e3 * error.rmse, 4),
                    joint_units(error.kind).error});
  }
  return format_table(rows, {false, true, false}) + "\n";
}

/// Formats a table of the differences between inertial sensors and the model.
std::string inertial_table(const estimator::Calibration& calibration) {
  if (calibration.inertial.empty()) return "";
  std::vector<TableQuantity> errors;
  for (const estimator::InertialAxisError& each : calibration.inertial) {
    errors.push_back({each.rmse, 0.0, each.unit});
  }
  const std::vector<TableNotation> notations = make_table_notations(errors);
  std::vector<std::vector<std::string>> rows = {{"inertial sensor", "RMSE", "noise", "unit"}};
  for (std::size_t i = 0; i < errors.size(); ++i) {
    const estimator::InertialAxisError& each = calibration.inertial[i];
    rows.push_back({each.name, notations[i].number_text(each.rmse),
                    notations[i].number_text(each.noise), notations[i].unit()});
  }
  return format_table(rows, {false, true, true, false}) + "\n";
}

std::string list_text(const std::string& title, const std::vector<std::string>& items) {
  std::string text;
  for (const std::string& item : items) text += "  " + item + "\n";
  return text.empty() ? "" : title + ":\n" + text + "\n";
}

/// Describes how the calibration ended and what it estimated.
std::string ending(const estimator::Calibration& calibration, double wall_time) {
  const std::string kind =
      calibration.kind == estimator::EstimateKind::kPhysical
          ? "physical parameters"
          : fmt::format("parameters of a SPOOK simulator with a step of {} ms, kappa {}",
                        format_number(1e3 * calibration.step),
                        format_number(calibration.state_error_weight));
  const std::string text = fmt::format(
      "{} in {} s: {}\n"
      "  {}: {}, cost {}\n",
      describe_calibration_ending(calibration), format_number(wall_time, 3), kind,
      stage_name(calibration.first_stage),
      describe_stage_ending(calibration.termination, calibration.iterations),
      format_number(calibration.cost, 6));
  if (!calibration.refined) return text;
  return fmt::format(
      "{}  simulation fit: {}\n", text,
      describe_stage_ending(calibration.refinement_termination, calibration.refinement_iterations));
}

using TableRows = std::vector<std::vector<std::string>>;

/// Returns the width of a column whose cells are wrapped to `width`. Words are not broken.
int wrapped_column_width(const TableRows& rows, std::size_t column, int width) {
  int widest = 0;
  for (const std::vector<std::string>& row : rows) {
    if (column >= row.size()) continue;
    for (const std::string& line : wrap_text(row[column], width)) {
      widest = std::max(widest, display_width(line));
    }
  }
  return widest;
}

/// Returns the widths of a table's columns. If the table is wider than kTextColumnsMax, columns of
/// text get narrower, the widest one first. No column is narrower than its longest word, because a
/// broken id could not be copied.
std::vector<int> table_column_widths(const TableRows& rows, const std::vector<bool>& right) {
  std::vector<int> widths;
  std::vector<std::size_t> columns_of_text;
  int total = -2;
  for (std::size_t j = 0; j < right.size(); ++j) {
    widths.push_back(wrapped_column_width(rows, j, std::numeric_limits<int>::max()));
    total += widths[j] + 2;
    if (!right[j]) columns_of_text.push_back(j);
  }
  std::ranges::stable_sort(columns_of_text, std::greater{},
                           [&](std::size_t column) { return widths[column]; });
  for (const std::size_t column : columns_of_text) {
    if (total <= kTextColumnsMax) break;
    const int width = std::max({kWrappedWidthMin, widths[column] - (total - kTextColumnsMax),
                                wrapped_column_width(rows, column, kWrappedWidthMin)});
    if (width >= widths[column]) continue;
    total -= widths[column] - width;
    widths[column] = width;
  }
  return widths;
}

/// Returns the lines of a table: its rows, with cells wrapped to the widths of their columns.
TableRows wrap_cells(const TableRows& rows, const std::vector<int>& widths) {
  TableRows lines;
  for (const std::vector<std::string>& row : rows) {
    const std::size_t first = lines.size();
    lines.emplace_back(row.size());
    for (std::size_t j = 0; j < row.size(); ++j) {
      const std::vector<std::string> parts = wrap_text(row[j], widths[j]);
      if (lines.size() < first + parts.size()) {
        lines.resize(first + parts.size(), std::vector<std::string>(row.size()));
      }
      for (std::size_t k = 0; k < parts.size(); ++k) lines[first + k][j] = parts[k];
    }
  }
  return lines;
}

/// Collects the rows of a table, whose common notation is known only at its end.
class QuantityRows {
 public:
  void add(const std::string& name, const TableQuantity& quantity, const std::string& remark = "") {
    names_.push_back(name);
    quantities_.push_back(quantity);
    remarks_.push_back(remark);
  }

  /// Appends the table, unless it is empty.
  void append_to(std::vector<QuantityTable>& tables, const std::string& title,
                 const std::string& remark_title, const std::string& caption) const {
    if (names_.empty()) return;
    QuantityTable table{title, caption, {{title, "value", "± sd", "unit", remark_title}}};
    const std::vector<TableNotation> notations = make_table_notations(quantities_);
    for (std::size_t i = 0; i < names_.size(); ++i) {
      table.rows.push_back({names_[i], notations[i].value(), notations[i].deviation_text(),
                            notations[i].unit(), remarks_[i]});
    }
    tables.push_back(std::move(table));
  }

 private:
  std::vector<std::string> names_, remarks_;
  std::vector<TableQuantity> quantities_;
};

std::string axis_text(const Eigen::Vector3d& axis) {
  std::string text;
  for (const double part : axis) {
    text += (text.empty() ? "(" : ", ") + format_number(std::round(100.0 * part) / 100.0, 2);
  }
  return text + ")";
}

/// Returns the texts of the joint types in `kinds`, joined by "or". Without joints it is the text
/// of revolute joints.
template <typename Text>
std::string units_of_kinds(const std::vector<estimator::JointKind>& kinds, const Text& text) {
  std::string all;
  for (const estimator::JointTraits& each : estimator::kJointKinds) {
    if (std::ranges::count(kinds, each.kind) == 0) continue;
    all += (all.empty() ? "" : " or ") + text(each.units);
  }
  return all.empty() ? text(estimator::kJointKinds[0].units) : all;
}

/// Returns the byte offset of each character of a UTF-8 text, and of the end of the text.
std::vector<std::size_t> character_begins(const std::string& text) {
  std::vector<std::size_t> begins;
  for (std::size_t k = 0; k < text.size(); ++k) {
    if ((static_cast<unsigned char>(text[k]) & 0xC0U) != 0x80U) begins.push_back(k);
  }
  begins.push_back(text.size());
  return begins;
}

std::string cut_in_the_middle(const std::string& name, int characters_max) {
  const std::vector<std::size_t> begins = character_begins(name);
  const auto count = static_cast<int>(begins.size()) - 1;
  if (count <= characters_max) return name;
  const int tail = (characters_max - 1) / 2, head = characters_max - 1 - tail;
  return name.substr(0, begins[static_cast<std::size_t>(head)]) + "…" +
         name.substr(begins[static_cast<std::size_t>(count - tail)]);
}

/// Appends tables of the predictions that assess a model with noisy controls.
void append_predictions(const estimator::Calibration& calibration,
                        std::vector<QuantityTable>& tables) {
  const auto append = [&](const std::string& title, const std::string& last,
                          const std::string& caption, const std::vector<TableQuantity>& errors,
                          const auto& name_row) {
    if (errors.empty()) return;
    std::vector<std::vector<std::string>> rows = {{title, "RMSE", "expected", "unit", last}};
    for (std::size_t i = 0; i < errors.size(); ++i) {
      const auto [name, remark] = name_row(i);
      rows.push_back({name, format_significant_digits(errors[i].value, 4),
                      format_significant_digits(errors[i].standard_deviation, 4), errors[i].unit,
                      remark});
    }
    tables.push_back({title, caption, std::move(rows)});
  };
  std::vector<TableQuantity> torques, motions;
  for (const auto& each : calibration.torque_predictions) {
    torques.push_back({each.error, each.expected, joint_units(each.kind).force});
  }
  for (const auto& each : calibration.motion_predictions) {
    motions.push_back({1e3 * each.rmse, 1e3 * each.expected, joint_units(each.kind).error});
  }
  append("torque prediction", "share of the torque",
         "Recorded torques minus inverse dynamics along the filtered motion, "
         "with the size that noise explains",
         torques, [&](std::size_t i) {
           const estimator::TorquePrediction& each = calibration.torque_predictions[i];
           const double share = each.torque > 0.0 ? each.error / each.torque : 0.0;
           return std::pair("joint " + each.joint,
                            fmt::format("{} %", format_number(100.0 * share, 2)));
         });
  append("motion prediction", "horizon",
         "Errors of predictions from the estimated states, with the size that noise explains",
         motions, [&](std::size_t i) {
           const estimator::MotionPrediction& each = calibration.motion_predictions[i];
           return std::pair("encoder " + each.encoder,
                            fmt::format("{} s", format_number(each.horizon)));
         });
}

}  // namespace

std::string name_simulation(double horizon) {
  return std::isfinite(horizon) ? "prediction over " + format_number(horizon) + " s"
                                : "open-loop simulation";
}

std::string format_table(std::vector<std::vector<std::string>> rows,
                         const std::vector<bool>& right) {
  for (auto& row : rows) {
    for (std::string& cell : row) cell = proto::escape_for_terminal(cell);
  }
  for (std::size_t j = 0; j < right.size(); ++j) {
    std::vector<std::string*> numbers;
    for (std::size_t i = 1; right[j] && i < rows.size(); ++i) {
      if (j < rows[i].size()) numbers.push_back(&rows[i][j]);
    }
    align_decimal_points(numbers, " ", " ");
  }
  const std::vector<int> widths = table_column_widths(rows, right);
  std::string text;
  for (const auto& row : wrap_cells(rows, widths)) {
    std::string line;
    for (std::size_t j = 0; j < row.size(); ++j) {
      const std::string pad(
          static_cast<std::size_t>(std::max(0, widths[j] - display_width(row[j]))), ' ');
      line += (j == 0 ? "" : "  ") + (right[j] ? pad + row[j] : row[j] + pad);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

std::string format_calibration(const estimator::Calibration& calibration, double wall_time) {
  std::vector<std::string> unseen;
  for (const estimator::NullDirection& direction : calibration.null_directions) {
    unseen.push_back(format_message(direction.description));
  }
  std::string explanations;
  for (const std::string& each :
       {explain_wide_intervals(calibration), explain_exact_values(calibration)}) {
    explanations += each.empty() ? "" : each + "\n";
  }
  const std::string findings =
      format_findings(add_warnings_as_findings(calibration.findings, calibration.notes));
  std::string text = first_line(calibration) + parameter_table(calibration) + "\n" +
                     (explanations.empty() ? "" : explanations + "\n") +
                     list_text("Not identifiable from the data", unseen) + findings +
                     (findings.empty() ? "" : "\n") + "Details:\n\n" +
                     simulation_table(calibration) + inertial_table(calibration);
  for (const QuantityTable& table : make_quantity_tables(calibration)) {
    if (table.is_for_unidentifiable && unseen.empty()) continue;
    text += format_table(table.rows, {false, true, true, false, false}) + "\n";
  }
  return text + prior_free_table(calibration) +
         list_text("Notes", notes_without_warnings(calibration.notes)) +
         ending(calibration, wall_time);
}

std::vector<QuantityTable> make_quantity_tables(const estimator::Calibration& calibration) {
  QuantityRows combinations, moments, base;
  for (const estimator::ParameterCombination& each : calibration.combinations) {
    combinations.add(each.description, {each.value, each.standard_deviation, each.unit});
  }
  for (const estimator::PrincipalInertia& inertia : calibration.principal) {
    for (int i = 0; i < 3; ++i) {
      moments.add("body " + inertia.body, {inertia.moments[i], inertia.deviations[i], "kg·m²"},
                  axis_text(inertia.axes.col(i)) +
                      (inertia.at_feasibility_boundary ? ", at the feasibility boundary" : ""));
    }
  }
  for (const estimator::ParameterCombination& each : calibration.base) {
    base.add(each.description, {each.value, each.standard_deviation, each.unit},
             std::isfinite(each.standard_deviation) ? "" : "not identifiable");
  }
  std::vector<QuantityTable> tables;
  append_predictions(calibration, tables);
  combinations.append_to(tables, "well-identified combinations", "",
                         "Combinations that are identified more precisely than their parameters");
  moments.append_to(tables, "principal moments of inertia", "axis",
                    "Moments of inertia about the principal axes, directions in the body's frame");
  base.append_to(tables, "base inertial parameters", "",
                 "I is about the joint that carries a body, c is measured from it; both along the "
                 "body's axes");
  if (!calibration.base.empty()) tables.back().is_for_unidentifiable = true;
  return tables;
}

std::vector<TableNotation> make_estimate_notations(
    const std::vector<estimator::ParameterEstimate>& estimates) {
  std::vector<TableQuantity> quantities;
  for (const estimator::ParameterEstimate& each : estimates) {
    quantities.push_back({each.value, each.standard_deviation, each.unit});
  }
  return make_table_notations(quantities);
}

std::string format_confidence_interval(const estimator::ParameterEstimate& estimate,
                                       const TableNotation& notation) {
  const double value = estimate.value, half = estimate.half_interval;
  if (estimate.at_bound) {
    return std::abs(value - estimate.lower) <= std::abs(value - estimate.upper)
               ? "at lower bound " + notation.number_text(estimate.lower)
               : "at upper bound " + notation.number_text(estimate.upper);
  }
  if (std::isinf(estimate.standard_deviation)) return "not identifiable";
  if (!(estimate.standard_deviation > 0.0)) return "-";
  if (std::isinf(half)) return "no bound found";
  return notation.interval_text(value - half, value + half);
}

std::string error_unit_text(const std::vector<estimator::JointKind>& kinds) {
  return units_of_kinds(
      kinds, [](const estimator::JointUnits& units) { return std::string(units.error); });
}

std::string pooled_error_unit_text(const std::vector<estimator::JointKind>& kinds) {
  return units_of_kinds(kinds, [](const estimator::JointUnits& units) {
    return (units.scale == 1.0 ? "" : format_number(units.scale) + " ") + units.error;
  });
}

std::vector<std::string> shorten_names(const std::vector<std::string>& names, int characters_max) {
  std::vector<std::string> different;  // in order of appearance
  for (const std::string& name : names) {
    if (std::ranges::count(different, name) == 0) different.push_back(name);
  }
  std::vector<std::string> cut;
  for (const std::string& name : different) cut.push_back(cut_in_the_middle(name, characters_max));
  if (std::set(cut.begin(), cut.end()).size() < cut.size()) {
    for (std::size_t k = 0; k < cut.size(); ++k) cut[k] = "recording " + std::to_string(k + 1);
  }
  std::vector<std::string> result;
  for (const std::string& name : names) {
    result.push_back(
        cut[static_cast<std::size_t>(std::ranges::find(different, name) - different.begin())]);
  }
  return result;
}

}  // namespace service
