#pragma once

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "tests/studies/study_kinds.hpp"

namespace service {

inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// Fits of a model with an estimation method to each recording of a set.
struct ModelFits {
  const LoadedSet* set = nullptr;
  std::string model;
  std::string method;
  std::vector<StudyRun> fits;  ///< one per recording
  /// Element [i][j] estimates the states of recording j with the parameters of recording i. It is
  /// the fit of i if j = i, and in all elements of row i if this fit failed.
  std::vector<std::vector<StudyRun>> cross;

  /// Returns the mean squared error over all other recordings with the parameters of recording i;
  /// NaN if the set has a single recording.
  double cross_validation(std::size_t i) const;
};

/// Fits each model with each method to each recording of each set, and estimates the states of each
/// recording with the parameters from every other recording. Returns nullopt if stopped.
std::optional<std::vector<ModelFits>> fit_models(const Study& study,
                                                 const std::vector<LoadedSet>& sets,
                                                 const TaskRunner& run);

/// Returns a table with a column per recording, and their means: costs, cross-validation errors,
/// and each parameter with its standard deviation [Mar, Tables 2 and 4].
StudyTable parameter_table(const ModelFits& fits);

/// Returns a table of mean squared errors: of each recording (columns) with the parameters from
/// each recording (rows).
StudyTable cross_validation_table(const ModelFits& fits);

/// Returns a table of mean cost, cross-validation error and open-loop errors of several models
/// [Mar, Table 3].
StudyTable model_table(const std::vector<const ModelFits*>& models);

/// Plots estimates of a parameter over the recordings of a set, with a series per model, bars of
/// two standard deviations, and the true value if it is known.
Chart estimate_panel(const std::vector<const ModelFits*>& models, const RunParameter& parameter);

/// Returns all runs of the fits, in order.
std::vector<StudyRun> runs_of(const std::vector<ModelFits>& fits);

/// Returns the title "set, model, method" of fits, without the parts that all fits of a study
/// share.
std::string title_of(const ModelFits& fits);

/// Converts a text to a part of a file name: letters and digits remain, other characters become
/// dashes.
std::string file_word(const std::string& text);

}  // namespace service
