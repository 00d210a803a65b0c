#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "tests/studies/runs/study_report.hpp"
#include "tests/studies/runs/study_task.hpp"
#include "tests/studies/study_data.hpp"

namespace service {

/// Runs tasks in order; returns nothing if stopped.
using TaskRunner =
    std::function<std::optional<std::vector<StudyRun>>(const std::vector<StudyTask>&)>;

// Each kind of study makes its tasks, has them run, and turns the runs into tables and figures. The
// functions return nothing if stopped.

/// Fits every model to every recording of every set, and cross-validates: estimates the states of
/// each recording with the parameters of every other [Mar, Tables 2 and 3].
std::optional<StudyReport> study_pendulum(const Study& study, const std::vector<LoadedSet>& sets,
                                          const TaskRunner& run);

/// Parameters from each scenario with cross-validation [Mar, Table 4], variations of κ and ε on one
/// of them [Mar, Fig. 4], histories and simulations for some κ [Mar, Fig. 5].
std::optional<StudyReport> study_furuta(const Study& study, const std::vector<LoadedSet>& sets,
                                        const TaskRunner& run);

/// Parameters and errors as functions of h, ε and κ on a simulated recording [Mar, Figs. 6, 7].
std::optional<StudyReport> study_synthetic(const Study& study, const std::vector<LoadedSet>& sets,
                                           const TaskRunner& run);

/// Share of initial values that lead to the same optimum, over a grid of h, ε and κ.
std::optional<StudyReport> study_robustness(const Study& study, const std::vector<LoadedSet>& sets,
                                            const TaskRunner& run);

/// States, accelerations and loads of a simulated chain and robot from redundant sensors without
/// encoders [Nori, section VII]. Its runs are short and not stored.
std::optional<StudyReport> study_redundant(const Study& study, const std::vector<LoadedSet>& sets,
                                           const TaskRunner& run);

/// Motor torques of a leg with a four-bar linkage, from the nominal model, a model with a constant
/// ratio, and a model with the linkage [MTM, Figs. 13 to 15].
std::optional<StudyReport> study_leg(const Study& study, const std::vector<LoadedSet>& sets,
                                     const TaskRunner& run);

/// Estimates and regressions of randomly drawn, simulated arms [MTM, Tables I and II].
std::optional<StudyReport> study_arm(const Study& study, const std::vector<LoadedSet>& sets,
                                     const TaskRunner& run);

/// Runs the study of the kind given in the file.
std::optional<StudyReport> run_study(const Study& study, const std::vector<LoadedSet>& sets,
                                     const TaskRunner& run);

}  // namespace service
