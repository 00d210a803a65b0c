#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "service/study/study_data.hpp"
#include "service/study/study_report.hpp"
#include "service/study/study_task.hpp"

namespace service {

/// Runs tasks in order; nothing when stopped.
using TaskRunner =
    std::function<std::optional<std::vector<StudyRun>>(const std::vector<StudyTask>&)>;

// Each kind of study makes its tasks, has them run, and turns the runs into tables and figures.
// They return nothing when they were stopped.

/// Every model on every recording of every set, and cross-validation: the state estimation of each
/// recording with the parameters of every other [Mar, Tables 2 and 3].
std::optional<StudyReport> study_pendulum(const Study& study, const std::vector<LoadedSet>& sets,
                                          const TaskRunner& run);

/// Parameters from each scenario with cross-validation [Mar, Table 4], sweeps of κ and ε on one of
/// them [Mar, Fig. 4], histories and simulations for some κ [Mar, Fig. 5].
std::optional<StudyReport> study_furuta(const Study& study, const std::vector<LoadedSet>& sets,
                                        const TaskRunner& run);

/// Parameters and errors against h, ε and κ on a simulated recording [Mar, Figs. 6 and 7].
std::optional<StudyReport> study_synthetic(const Study& study, const std::vector<LoadedSet>& sets,
                                           const TaskRunner& run);

/// From how many starts the estimate reaches the same optimum, over a grid of h, ε and κ.
std::optional<StudyReport> study_robustness(const Study& study, const std::vector<LoadedSet>& sets,
                                            const TaskRunner& run);

/// States, accelerations and loads of a chain and of a robot from redundant sensors without
/// encoders [Nori, section VII], simulated. Its runs are short and not kept.
std::optional<StudyReport> study_redundant(const Study& study, const std::vector<LoadedSet>& sets,
                                           const TaskRunner& run);

/// Torques of the motors of a leg with a four-bar linkage, by the nominal model, by one with a
/// constant ratio in its place, and by one with the linkage [MTM, Figs. 13 to 15].
std::optional<StudyReport> study_leg(const Study& study, const std::vector<LoadedSet>& sets,
                                     const TaskRunner& run);

/// Parameters of arms drawn at random, beside those of regressions [MTM, Tables I and II],
/// simulated.
std::optional<StudyReport> study_arm(const Study& study, const std::vector<LoadedSet>& sets,
                                     const TaskRunner& run);

/// The study of the kind the file names.
std::optional<StudyReport> run_study(const Study& study, const std::vector<LoadedSet>& sets,
                                     const TaskRunner& run);

}  // namespace service
