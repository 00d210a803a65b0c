#pragma once

#include <Eigen/Core>
#include <string>
#include <vector>

#include "estimator/signal/time_series.hpp"
#include "tests/support/parameters.hpp"
#include "tests/support/reference_simulators.hpp"

namespace test_support {

/// Frees the named parameters, which keep their values.
void set_free(estimator::Mechanism& mechanism, const std::vector<std::string>& names);

/// Returns the mechanism with the named parameters free, initially at `factor` times their values.
estimator::Mechanism freed(estimator::Mechanism mechanism, const std::vector<std::string>& names,
                           double factor = 1.0);

/// Frees the named parameters. The initial value of an inertia is `inertia_factor` times its value,
/// that of any other parameter half its value.
void free_parameters(estimator::Mechanism& mechanism, const std::vector<std::string>& names,
                     double inertia_factor);

/// Adds a free parameter [rad] for a shift of an encoder's readings from row `row` on.
void add_slip(estimator::Mechanism& mechanism, estimator::Segment& segment, int sensor, int row,
              double start, const std::string& name = "slip");

/// Describes a joint's end stop.
/// @param side  1 for the lower stop, −1 for the upper
void place_stop(estimator::Mechanism& mechanism, int joint, double side, double position,
                double restitution);

/// Return the rig as a mechanism with the true parameter values; no parameter is free. The Furuta
/// pendulum has a motor.
estimator::Mechanism mechanism_of(const ReferenceFuruta& rig);
estimator::Mechanism pendulum_of(const ReferencePendulum& rig);

/// Returns a Furuta pendulum with a strong motor and viscous friction at both joints.
ReferenceFuruta viscous_furuta();

/// Returns a rig such as viscous_furuta() as a mechanism with free inertias, friction and motor
/// gain, whose initial values are as in free_parameters.
estimator::Mechanism free_furuta(const ReferenceFuruta& rig, double inertia_factor);

/// Returns f(t) at times 0, period, …
template <typename Signal>
Eigen::VectorXd sampled(int count, double period, const Signal& f) {
  return Eigen::VectorXd::NullaryExpr(
      count, [&](Eigen::Index k) { return f(period * static_cast<double>(k)); });
}

/// Return a motor command [V] that keeps arm and pendulum swinging, a sum of sines.
Eigen::VectorXd two_sines(int count, double period);
Eigen::VectorXd three_sines(int count, double period);

/// Returns the angles with Gaussian noise [rad or m].
Eigen::MatrixXd with_noise(Eigen::MatrixXd angles, double deviation, unsigned seed);

/// Returns a segment without controls.
/// @param period  time between samples [s]
estimator::Segment undriven(const Eigen::MatrixXd& angles, double period);

/// Simulates `rig` in minimal coordinates and returns the readings of encoders with Gaussian noise
/// [rad].
estimator::Recording record(const ReferenceFuruta& rig, const Eigen::Vector4d& start,
                            const Eigen::VectorXd& control, double period, double noise,
                            unsigned seed);

/// Returns a recording with white noise of a swing that starts at rest at `angle` [rad], from a
/// simulator that shares no code with the estimator.
/// @param period  time between samples [s]
estimator::Recording swing(const ReferencePendulum& rig, const std::string& name, double angle,
                           int samples, double period, double noise, unsigned seed);

}  // namespace test_support
