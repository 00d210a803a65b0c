#pragma once

#include <cstdint>

#include "service/study/arm.hpp"
#include "service/study/study_task.hpp"

// What a study of arms has computed: draws are made anew where they are needed, so that a task is
// no more than its settings.

namespace service {

/// Draws, simulates, reads with noise and calibrates.
StudyTask arm_fit_task(const StudyArm& arm, double noise, std::uint64_t index);

/// The same from where `fit` has come to, with friction of every joint in the proportion to the
/// first's that it has.
StudyTask arm_tied_task(const StudyArm& arm, double noise, std::uint64_t index,
                        const StudyRun& fit);

/// The baselines of the same draw. The run's parameters are the regressions' values.
StudyTask arm_regression_task(const StudyArm& arm, double noise, std::uint64_t index);

/// A calibration of the first draw, shorter or whole, from 10 mrad and 10 mN·m of noise.
StudyTask arm_time_task(const StudyArm& arm, double duration);

/// From one of several starts, without and with observations of energy.
StudyTask arm_energy_task(const StudyArm& arm, std::uint64_t start);

}  // namespace service
