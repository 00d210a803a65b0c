#pragma once

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "tests/studies/study_kinds.hpp"

namespace service {

inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// Fits of one model and method to every recording of a set.
struct ModelFits {
  const LoadedSet* set = nullptr;
  std::string model;
  std::string method;
  std::vector<StudyRun> fits;                ///< one per recording
  std::vector<std::vector<StudyRun>> cross;  ///< [i][j]: states of recording j, parameters of i;
                                             ///< [i][i] is the fit, as are rows of a failed fit

  /// Mean squared error over the other recordings with recording i's parameters; NaN for a set of
  /// one.
  double cross_validation(std::size_t i) const;
};

/// Fits every model with every method to every recording of every set, then estimates the states of
/// each recording with the parameters from every other. Empty if stopped.
std::optional<std::vector<ModelFits>> fit_models(const Study& study,
                                                 const std::vector<LoadedSet>& sets,
                                                 const TaskRunner& run);

/// Costs, cross-validation and every parameter with its standard deviation, a column per recording,
/// and their means [Mar, Tables 2 and 4].
StudyTable parameter_table(const ModelFits& fits);

/// The mean squared error of each recording (columns) with each recording's parameters (rows).
StudyTable cross_validation_table(const ModelFits& fits);

/// Mean cost, cross-validation and open-loop errors of several models [Mar, Table 3].
StudyTable model_table(const std::vector<const ModelFits*>& models);

/// Plots one parameter over the recordings of a set, a series per model, with bars of two standard
/// deviations and the true value if known.
Chart estimate_panel(const std::vector<const ModelFits*>& models, const RunParameter& parameter);

/// All runs of the fits, in order.
std::vector<StudyRun> runs_of(const std::vector<ModelFits>& fits);

/// "set, model, method" without the parts common to all.
std::string title_of(const ModelFits& fits);

/// Converts a text for file names: letters and digits are kept, other characters become a dash.
std::string file_word(const std::string& text);

}  // namespace service
