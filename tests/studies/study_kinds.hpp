#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "tests/studies/runs/study_report.hpp"
#include "tests/studies/runs/study_task.hpp"
#include "tests/studies/study_data.hpp"

namespace service {

/// Function that runs tasks and returns their results in the same order; nullopt if stopped.
using TaskRunner =
    std::function<std::optional<std::vector<StudyRun>>(const std::vector<StudyTask>&)>;

// Each kind of study makes its tasks, has them run, and turns the runs into tables and figures. The
// functions return nothing if stopped.

/// Runs the pendulum study: fits each model to each recording of each set, and cross-validates by
/// estimating the states of each recording with the parameters of every other [Mar, Tables 2 and
/// 3].
std::optional<StudyReport> study_pendulum(const Study& study, const std::vector<LoadedSet>& sets,
                                          const TaskRunner& run);

/// Runs the Furuta study: parameters from each scenario with cross-validation [Mar, Table 4],
/// variations of κ and ε on one scenario [Mar, Fig. 4], histories and simulations for some κ [Mar,
/// Fig. 5].
std::optional<StudyReport> study_furuta(const Study& study, const std::vector<LoadedSet>& sets,
                                        const TaskRunner& run);

/// Runs the synthetic study: parameters and errors as functions of time step h, compliance ε and
/// weight κ on a simulated recording [Mar, Figs. 6, 7].
std::optional<StudyReport> study_synthetic(const Study& study, const std::vector<LoadedSet>& sets,
                                           const TaskRunner& run);

/// Runs the robustness study: the share of initial values that lead to the same optimum, over a
/// grid of time step h, compliance ε and weight κ.
std::optional<StudyReport> study_robustness(const Study& study, const std::vector<LoadedSet>& sets,
                                            const TaskRunner& run);

/// Runs the redundant-sensor study: states, accelerations and loads of a simulated chain and robot
/// from redundant sensors without encoders [Nori, section VII]. Its runs are short and not stored.
std::optional<StudyReport> study_redundant(const Study& study, const std::vector<LoadedSet>& sets,
                                           const TaskRunner& run);

/// Runs the leg study: motor torques of a leg with a four-bar linkage from the nominal model, a
/// model with a constant ratio, and a model with the linkage [MTM, Figs. 13 to 15].
std::optional<StudyReport> study_leg(const Study& study, const std::vector<LoadedSet>& sets,
                                     const TaskRunner& run);

/// Runs the arm study: calibrations and regressions of randomly drawn, simulated arms [MTM, Tables
/// I and II].
std::optional<StudyReport> study_arm(const Study& study, const std::vector<LoadedSet>& sets,
                                     const TaskRunner& run);

/// Runs a study of the kind that its file gives.
std::optional<StudyReport> run_study(const Study& study, const std::vector<LoadedSet>& sets,
                                     const TaskRunner& run);

}  // namespace service
