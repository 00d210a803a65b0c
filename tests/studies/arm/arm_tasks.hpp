#pragma once

#include <cstdint>

#include "tests/studies/arm/arm.hpp"
#include "tests/studies/runs/study_task.hpp"

// Tasks of an arm study. A task holds only settings; it repeats the random draw when it runs.

namespace service {

/// Returns a task that draws a random arm, simulates it, adds noise and calibrates.
StudyTask arm_fit_task(const StudyArm& arm, double noise, std::uint64_t index);

/// Returns a task that calibrates again, starting from the result `fit`, with the friction of every
/// joint dependent on the first joint's friction in the true ratio.
StudyTask arm_tied_task(const StudyArm& arm, double noise, std::uint64_t index,
                        const StudyRun& fit);

/// Returns a task that runs the regressions on a random arm's recording. Its results are the
/// regressions' values.
StudyTask arm_regression_task(const StudyArm& arm, double noise, std::uint64_t index);

/// Returns a task that calibrates the first random arm, over `duration` [s], with noise of 10 mrad
/// and 10 mN·m.
StudyTask arm_time_task(const StudyArm& arm, double duration);

/// Returns a task that estimates from one of several initial values, without and with energy
/// observations.
StudyTask arm_energy_task(const StudyArm& arm, std::uint64_t start);

}  // namespace service
