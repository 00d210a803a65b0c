#pragma once

#include <string>
#include <vector>

#include "service/study/study_data.hpp"
#include "service/study/study_figure.hpp"
#include "service/study/study_kinds.hpp"
#include "service/study/study_report.hpp"
#include "service/study/study_task.hpp"

namespace service {

/// What a sweep varies and what came out.
struct SweepRuns {
  SweepAxis axis = SweepAxis::kStep;
  std::string method;
  std::vector<StudyRun> runs;  ///< by increasing value
};

/// "time step h [s]", …
std::string axis_label(SweepAxis axis);

/// A word for file names: "step", "compliance", "state-error-weight".
std::string axis_word(SweepAxis axis);

/// The settings that a sweep leaves alone, for captions: "h = 0.01 s, κ = 100".
std::string fixed_settings(const StudySettings& settings, SweepAxis varied);

/// Names of the parameters of the first run that has any.
std::vector<std::string> parameter_names(const std::vector<SweepRuns>& sweeps);

/// The settings with one of them replaced.
StudySettings with_value(StudySettings settings, SweepAxis axis, double value);

/// The value of that setting in a run.
double value_of(const RunPlace& place, SweepAxis axis);

/// The recording that a study's sweeps use.
const std::shared_ptr<const StudyData>& sweep_data(const Study& study, const LoadedSet& set);

/// Runs every sweep of the study with every method: per sweep, one entry a method. The explicit
/// residual divides by ε: there zero is left out. Nothing when stopped.
std::optional<std::vector<std::vector<SweepRuns>>> run_sweeps(
    const Study& study, const LoadedSet& set, const StudyModel& model,
    const std::shared_ptr<const StudyData>& data, const TaskRunner& run);

/// A panel of one parameter against the axis, one line a method, with bars of two standard
/// deviations and the true value where it is known.
Chart parameter_panel(const std::vector<SweepRuns>& sweeps, const std::string& parameter,
                      const std::vector<TrueValue>& truth);

/// Two panels against the axis: observation error and state error.
std::vector<Chart> error_panels(const std::vector<SweepRuns>& sweeps);

/// One row a value and method: the parameters, errors, iterations and how it ended.
StudyTable sweep_table(const std::vector<SweepRuns>& sweeps,
                       const std::vector<std::string>& parameters,
                       const std::vector<TrueValue>& truth);

}  // namespace service
