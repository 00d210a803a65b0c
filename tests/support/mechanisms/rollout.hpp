#pragma once

#include <Eigen/Core>

#include "estimator/model/mechanism.hpp"
#include "estimator/model/placement.hpp"
#include "estimator/spook/residual_form.hpp"

namespace estimator {

/// Returns the joint angles of an open-loop SPOOK simulation, continuous over several turns.
///
/// The simulation ignores the input delay and the encoder offsets. Callers apply the delay when
/// they average the controls over the time steps, and the offsets when they compare with an
/// encoder.
///
/// @param initial_angles one per joint [rad]
/// @param initial_rates  one per joint [rad/s]
/// @param controls       steps × motors: mean control of each motorised joint over each step
/// @param step           h [s], > 0
/// @return (steps + 1) × joints [rad]: row k at time k·h, row 0 the initial angles. If a step
///         fails (see StepOutcome) that row and all later ones are NaN.
Eigen::MatrixXd rollout(const Mechanism& mechanism, const Eigen::VectorXd& initial_angles,
                        const Eigen::VectorXd& initial_rates, const Eigen::MatrixXd& controls,
                        double step, GyroscopicForm gyroscopic = GyroscopicForm::kMean);

/// Simulates from a state in maximal coordinates. Row 0 of the returned matrix has the joint angles
/// of this state in (−π, π].
Eigen::MatrixXd rollout(const Mechanism& mechanism, const State& initial,
                        const Eigen::MatrixXd& controls, double step,
                        GyroscopicForm gyroscopic = GyroscopicForm::kMean);

}  // namespace estimator
