#include "service/report/cross_validation_table.hpp"

#include <algorithm>

#include "service/messages/message_text.hpp"
#include "service/recordings/recording_selection.hpp"
#include "service/report/sections/error_units.hpp"
#include "service/report/sections/finding_list.hpp"
#include "service/report/sections/result_table.hpp"
#include "service/result/calibration_outcome.hpp"
#include "service/result/cross_validation_message.hpp"
#include "service/text/number_format.hpp"

namespace service {
namespace {

using TableRows = std::vector<std::vector<std::string>>;

std::string thousandths(double value) { return format_digits(1e3 * value, 4); }

std::string piece_table(const estimator::CrossValidation& validation) {
  const bool slides = !std::ranges::all_of(
      validation.kinds, [](estimator::JointKind kind) { return joint_traits(kind).turns; });
  const auto in_unit = [&](const std::string& title, const std::string& unit) {
    return slides ? title + " [" + unit + "]" : title;
  };
  TableRows rows = {{"held out", in_unit("states", pooled_error_units(validation.kinds)), "cost"}};
  std::vector<bool> right = {false, true, true};
  for (std::size_t j = 0; j < validation.joints.size(); ++j) {
    rows[0].push_back(
        in_unit("open loop " + validation.joints[j], joint_units(validation.kinds[j]).error));
    right.push_back(true);
  }
  rows[0].push_back("");
  right.push_back(false);
  const std::vector<std::string> names = short_names(validation.pieces);
  for (std::size_t i = 0; i < validation.folds.size(); ++i) {
    const estimator::Fold& fold = validation.folds[i];
    std::vector<std::string> row = {names[i], thousandths(fold.evaluation.observation_rmse),
                                    format_number(fold.evaluation.cost)};
    for (const estimator::SimulationError& error : fold.evaluation.simulation) {
      row.push_back(thousandths(error.rmse));
    }
    row.push_back(fold.calibration.converged() ? "" : "NOT CONVERGED");
    rows.push_back(row);
  }
  const PredictionErrors errors = prediction_errors(validation);
  std::vector<std::string> all = {"all", thousandths(errors.observation), ""};
  for (const estimator::SimulationError& error : errors.simulation) {
    all.push_back(thousandths(error.rmse));
  }
  all.emplace_back();
  rows.push_back(all);
  return format_table(rows, right);
}

/// Returns the notes of all calibrations of a cross-validation without duplicates.
std::vector<estimator::Message> all_notes(const estimator::CrossValidation& validation) {
  std::vector<estimator::Message> notes;
  for (const estimator::Fold& fold : validation.folds) {
    for (const estimator::Message& note : fold.calibration.notes) {
      if (std::ranges::find(notes, note) == notes.end()) notes.push_back(note);
    }
  }
  return notes;
}

std::string parameter_table(const estimator::CrossValidation& validation) {
  TableRows rows = {{"parameter", "mean", "± between folds", "± reported", "unit"}};
  const std::vector<TableNotation> notations = notations_of(validation.parameters);
  for (std::size_t i = 0; i < notations.size(); ++i) {
    const estimator::ParameterSpread& spread = validation.parameters[i];
    rows.push_back({spread.name, notations[i].value(), notations[i].deviation(),
                    notations[i].deviation(spread.reported_standard_deviation),
                    notations[i].unit()});
  }
  return format_table(rows, {false, true, true, true, false});
}

}  // namespace

std::vector<TableNotation> notations_of(const std::vector<estimator::ParameterSpread>& spreads) {
  std::vector<TableQuantity> quantities;
  for (const estimator::ParameterSpread& each : spreads) {
    quantities.push_back({each.mean, each.standard_deviation, each.unit});
  }
  return table_notations(quantities);
}

std::string format_cross_validation(const estimator::CrossValidation& validation, double wall_time,
                                    const std::vector<estimator::Finding>& findings) {
  const std::string found = format_findings(with_warnings(findings, all_notes(validation)));
  return "Each piece with the parameters estimated from the others; RMSE in " +
         error_units(validation.kinds) + ":\n\n" + piece_table(validation) +
         "\nParameters over the folds:\n\n" + parameter_table(validation) + "\n" + found +
         (found.empty() ? "" : "\n") + (has_converged(validation) ? "Converged" : "NOT CONVERGED") +
         ": " + std::to_string(validation.folds.size()) + " calibrations in " +
         format_number(wall_time, 3) + " s\n";
}

}  // namespace service
