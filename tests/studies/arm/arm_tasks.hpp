#pragma once

#include <cstdint>

#include "tests/studies/arm/arm.hpp"
#include "tests/studies/runs/study_task.hpp"

// Tasks of an arm study. A task holds only settings; it repeats the random draw when it runs.

namespace service {

/// Draws, simulates, adds noise and calibrates.
StudyTask arm_fit_task(const StudyArm& arm, double noise, std::uint64_t index);

/// Calibrates again, starting from the result of `fit`, with every joint's friction dependent on
/// the first joint's in the true ratio.
StudyTask arm_tied_task(const StudyArm& arm, double noise, std::uint64_t index,
                        const StudyRun& fit);

/// Runs the regressions on the same draw. The run's parameters are their values.
StudyTask arm_regression_task(const StudyArm& arm, double noise, std::uint64_t index);

/// Calibrates the first draw, over `duration`, with 10 mrad and 10 mN·m of noise.
StudyTask arm_time_task(const StudyArm& arm, double duration);

/// Estimates from one of several initial values, without and with energy observations.
StudyTask arm_energy_task(const StudyArm& arm, std::uint64_t start);

}  // namespace service
