#pragma once

#include <Eigen/Core>
#include <span>
#include <vector>

#include "estimator/simulation/interval/interval_motion.hpp"
#include "estimator/simulation/sensing_program.hpp"

namespace estimator {

/// Computes readings of inertial sensors at the sample instants of integrated intervals.
///
/// @param readings  result, one per interval: sample instants × requested axes [rad/s, m/s²]
/// @param sensing  program whose parameters are the motion parameters in order, then those of the
/// sensors
void compute_sensor_readings(const TreeProgram& program, const SensingProgram& sensing,
                             const Mechanism& values, std::span<const MotionInterval> intervals,
                             std::span<Eigen::MatrixXd> readings, int threads);

/// Computes the derivatives of inertial-sensor readings from derivatives of the states, and clears
/// the latter. The columns of an axis are the state, the motion parameters, and the parameters of
/// the sensor (SensingProgram::sensor_parameters).
void differentiate_sensor_readings(const TreeProgram& program, const SensingProgram& sensing,
                                   const Mechanism& values,
                                   std::span<const MotionInterval> intervals,
                                   std::span<IntervalSensitivities::IntervalDerivatives> results);

/// Returns the joint motion at the sample instants. Rows are angles, rates and accelerations.
/// Columns are the instants of all intervals.
Eigen::MatrixXd motion_at_sample_instants(const TreeProgram& program, const Mechanism& values,
                                          std::span<const MotionInterval> intervals);

/// Computes joint motion and controls at the sample instants, with derivatives with respect to the
/// states at these instants.
///
/// @param motion  result: angles, rates, accelerations, controls × instants of all intervals
/// @param slopes  result, one per instant. Rows as in `motion`; columns are coordinates, rates,
/// motion parameters
void linearize_sample_instant_motion(const TreeProgram& program, const Mechanism& values,
                                     std::span<const MotionInterval> intervals,
                                     Eigen::MatrixXd& motion,
                                     std::vector<IntervalSensitivities::RowMajor>& slopes);

/// Computes sensor readings and joint loads for given motions, which need not satisfy the equations
/// of motion.
///
/// @param motion    angles, rates, accelerations, controls × instants
/// @param readings  result: requested axes × instants
/// @param slopes    result, one per instant: axes × SensingProgram::column_count()
void compute_readings_of_motion(const SensingProgram& sensing, const Mechanism& values,
                                const Eigen::MatrixXd& motion, Eigen::MatrixXd& readings,
                                std::vector<IntervalSensitivities::RowMajor>& slopes);

}  // namespace estimator
