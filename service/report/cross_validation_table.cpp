#include "service/report/cross_validation_table.hpp"

#include <algorithm>

#include "service/import/recording_pieces.hpp"
#include "service/report/error_units.hpp"
#include "service/report/result_table.hpp"
#include "service/result/calibration_outcome.hpp"
#include "service/result/cross_validation_message.hpp"
#include "service/text/number_format.hpp"
#include "service/messages/message_text.hpp"

namespace service {
namespace {

using TableRows = std::vector<std::vector<std::string>>;

std::string thousandths(double value) { return format_number(1e3 * value); }

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

/// Returns the warnings of all calibrations of a cross-validation without duplicates.
std::string warnings(const estimator::CrossValidation& validation) {
  std::vector<estimator::Message> seen;
  std::string text;
  for (std::size_t i = 0; i < validation.folds.size(); ++i) {
    for (const estimator::Message& note : validation.folds[i].calibration.notes) {
      if (severity_of(note) != estimator::Severity::kWarning) continue;
      if (std::ranges::find(seen, note) != seen.end()) continue;
      seen.push_back(note);
      text += "  fold " + std::to_string(i + 1) + ": " + note_text(note) + "\n";
    }
  }
  return text.empty() ? "" : "\nNotes:\n" + text;
}

std::string parameter_table(const estimator::CrossValidation& validation) {
  TableRows rows = {{"parameter", "mean", "± between folds", "± reported", "unit"}};
  for (const estimator::ParameterSpread& spread : validation.parameters) {
    const Measured number = format_measured(spread.mean, spread.standard_deviation);
    rows.push_back({spread.name, number.value, number.standard_deviation,
                    Notation(spread.mean, spread.standard_deviation)
                        .deviation(spread.reported_standard_deviation),
                    spread.unit});
  }
  return format_table(rows, {false, true, true, true, false});
}

}  // namespace

std::string format_cross_validation(const estimator::CrossValidation& validation,
                                    double wall_time) {
  return "Each piece with the parameters estimated from the others; RMSE in " +
         error_units(validation.kinds) + ":\n\n" + piece_table(validation) +
         "\nParameters over the folds:\n\n" + parameter_table(validation) + warnings(validation) +
         "\n" + (has_converged(validation) ? "Converged" : "NOT CONVERGED") + ": " +
         std::to_string(validation.folds.size()) + " calibrations in " +
         format_number(wall_time, 3) + " s\n";
}

}  // namespace service
