#pragma once

#include <Eigen/Core>
#include <span>
#include <vector>

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

/// Derivatives of these readings, from those of the states at the looks, which are used up: of each
/// axis along the state, what moves the mechanism, and SensingProgram::constants of that axis.
void linearize_sensing(const TreeProgram& program, const SensingProgram& sensing,
                       const Mechanism& values, std::span<const MotionInterval> intervals,
                       std::span<IntervalSlopes::Result> results);

/// Motion of the joints at the looks: angles, rates, accelerations × looks of all intervals.
Eigen::MatrixXd motion_at_looks(const TreeProgram& program, const Mechanism& values,
                                std::span<const MotionInterval> intervals);

/// Motion of the joints and controls at the looks, and its derivatives along the state there.
///
/// @param motion  result: angles, rates, accelerations, controls × looks of all intervals
/// @param slopes  result, one a look: the same × coordinates over their rates, moving parameters
void linearize_motion(const TreeProgram& program, const Mechanism& values,
                      std::span<const MotionInterval> intervals, Eigen::MatrixXd& motion,
                      std::vector<IntervalSlopes::RowMajor>& slopes);

/// What is read, or carried, in motions that need not be those of the equations of motion.
///
/// @param motion    angles, rates, accelerations, controls × instants
/// @param readings  result: axes wanted × instants
/// @param slopes    result, one an instant: axes × SensingProgram::column_count()
void sense_motion(const SensingProgram& sensing, const Mechanism& values,
                  const Eigen::MatrixXd& motion, Eigen::MatrixXd& readings,
                  std::vector<IntervalSlopes::RowMajor>& slopes);

}  // namespace estimator
