#pragma once

#include <Eigen/Core>
#include <span>

#include "estimator/tree/interval_motion.hpp"
#include "estimator/tree/sensing_program.hpp"

namespace estimator {

/// What inertial sensors read at the looks of intervals that IntervalMotion has integrated.
///
/// @param readings  of each interval, result: looks × axes wanted [rad/s, m/s²]
/// @param sensing  whose parameters are those that move the mechanism, in their order, and behind
///                 these those of the sensors
void sense(const TreeProgram& program, const SensingProgram& sensing, const Mechanism& values,
           std::span<const MotionInterval> intervals, std::span<Eigen::MatrixXd> readings,
           int threads);

/// Derivatives of these readings, from those of the states at the looks, which are used up.
void linearize_sensing(const TreeProgram& program, const SensingProgram& sensing,
                       const Mechanism& values, std::span<const MotionInterval> intervals,
                       std::span<IntervalSlopes::Result> results);

}  // namespace estimator
