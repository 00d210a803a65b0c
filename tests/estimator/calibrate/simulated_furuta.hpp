#pragma once

#include <Eigen/Core>
#include <string>
#include <vector>

#include "estimator/fit/shadow/trajectory_problem.hpp"
#include "estimator/model/mechanism.hpp"

namespace test_support {

/// Returns a Furuta rig with friction, motor and tilt whose 12 free parameters have their true
/// values: A.J_zz, B.J_yy, B.J_zz, 1.b, 2.b, 2.c, 1.tau_c, 2.tau_c, 1.K, 2.offset, gravity.tilt_x
/// and gravity.tilt_z. Dry friction sticks below 0.05 rad/s, so that the residuals of Newton's
/// method have no kink.
estimator::Mechanism furuta_with_12_parameters();

/// Returns the mechanism of furuta_with_12_parameters() with only the named parameters free.
estimator::Mechanism furuta_with_free(const std::vector<std::string>& free_names);

/// Returns the mechanism of furuta_with_free() without dry friction, and so without kinks.
estimator::Mechanism smooth_furuta(const std::vector<std::string>& free_names);

/// Removes the free parameters' bounds.
void lift_bounds(estimator::Mechanism& mechanism);

/// Multiplies the values of the free parameters alternately by `factor` and 1/`factor`.
void disturb_parameters(estimator::Mechanism& mechanism, double factor);

/// Simulates `mechanism` with SPOOK steps and a multisine on the motor, and returns encoder
/// readings with Gaussian noise. The start configurations are those of the noise-free simulation.
///
/// @param nodes            number of time steps
/// @param noise            of the angles [rad]
/// @param seed             of the noise and of the phases of the multisine
estimator::TrajectoryData simulate_furuta(const estimator::Mechanism& mechanism, int nodes,
                                          double step, double noise, unsigned seed);

}  // namespace test_support
