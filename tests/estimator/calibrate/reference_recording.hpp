#pragma once

#include <Eigen/Core>

#include "estimator/model/mechanism.hpp"
#include "estimator/signal/time_series.hpp"
#include "tests/support/reference_simulators.hpp"

namespace test_support {

/// The rig as a mechanism with motor and the true values; nothing is free.
estimator::Mechanism mechanism_of(const ReferenceFuruta& rig);

/// A Furuta pendulum with a strong motor and viscous friction at both joints.
ReferenceFuruta viscous_furuta();

/// A sum of three sines as the motor's command [V] that keeps arm and pendulum swinging.
Eigen::VectorXd three_sines(int count, double period);

/// That rig, possibly modified, as a mechanism with free inertias, friction and gain that start as
/// in `free_parameters`.
estimator::Mechanism free_furuta(const ReferenceFuruta& rig, double inertia_factor);

/// Frees the named parameters. Inertias start at `inertia_factor` times their value, the others at
/// half of it.
void free_parameters(estimator::Mechanism& mechanism, const std::vector<std::string>& names,
                     double inertia_factor);

/// Minimal-coordinate simulation of `rig`, read by encoders with Gaussian noise [rad].
estimator::Recording record(const ReferenceFuruta& rig, const Eigen::Vector4d& start,
                            const Eigen::VectorXd& control, double period, double noise,
                            unsigned seed);

}  // namespace test_support
