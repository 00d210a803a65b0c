#pragma once

#include <Eigen/Core>

#include "estimator/model/mechanism.hpp"
#include "estimator/signal/time_series.hpp"
#include "tests/support/reference_simulators.hpp"

namespace test_support {

/// Returns the rig as a mechanism with motor and the true parameter values; no parameter is free.
estimator::Mechanism mechanism_of(const ReferenceFuruta& rig);

/// Returns a Furuta pendulum with a strong motor and viscous friction at both joints.
ReferenceFuruta viscous_furuta();

/// Returns a motor command [V] that keeps arm and pendulum swinging, a sum of three sines.
Eigen::VectorXd three_sines(int count, double period);

/// Returns a rig such as viscous_furuta() as a mechanism with free inertias, friction and motor
/// gain, whose initial values are as in free_parameters.
estimator::Mechanism free_furuta(const ReferenceFuruta& rig, double inertia_factor);

/// Frees the named parameters. The initial value of an inertia is `inertia_factor` times its value,
/// that of any other parameter half its value.
void free_parameters(estimator::Mechanism& mechanism, const std::vector<std::string>& names,
                     double inertia_factor);

/// Simulates `rig` in minimal coordinates and returns the readings of encoders with Gaussian noise
/// [rad].
estimator::Recording record(const ReferenceFuruta& rig, const Eigen::Vector4d& start,
                            const Eigen::VectorXd& control, double period, double noise,
                            unsigned seed);

}  // namespace test_support
