#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "estimator/fit/fit_options.hpp"
#include "estimator/fit/physical/equation_error.hpp"
#include "estimator/fit/physical/modulated_motion.hpp"
#include "estimator/fit/physical/shooting_fit.hpp"
#include "estimator/fit/physical/shooting_input.hpp"
#include "estimator/model/mechanism.hpp"
#include "estimator/signal/time_series.hpp"

namespace estimator {

/// A linear regression of inverse dynamics: the minimum of the equation error.
struct InverseDynamicsRegression {
  /// Mechanism with set-valued friction. Of the sensor parameters, only encoder offsets are free.
  Mechanism start;
  std::unique_ptr<ModulatedMotion> motion;
  std::unique_ptr<EquationErrorProblem> problem;  ///< problem at its minimum
  LmSummary summary;                              ///< summary of the last solve
  /// Bodies whose given inertias are weak priors. Without these priors, the minimum of the equation
  /// error is often at the boundary of physically consistent inertias.
  std::vector<int> held;
};

/// Minimizes the equation error (EquationErrorProblem).
///
/// Returns nullopt if encoders do not observe every joint, if the mechanism has closed loops, or if
/// the recordings contain too little motion.
/// @param input  only its segments, states and noise levels are used
std::optional<InverseDynamicsRegression> regress_inverse_dynamics(
    const Mechanism& mechanism, const ShootingInput& input, const CalibrationOptions& options);

/// Returns the mechanism with initial parameter values that minimize the equation error
/// (EquationErrorProblem). Values that the motion determines do not depend on the given values. All
/// other parameters stay near their given values: delays, end stops, other sensors, and weakly
/// identifiable parameters. Inertias stay physically consistent, and near their given values in the
/// metric of InertiaPrior.
///
/// Returns nullopt in the same cases as `regress_inverse_dynamics`.
std::optional<Mechanism> estimate_by_inverse_dynamics(const Mechanism& mechanism,
                                                      const ShootingInput& input,
                                                      const CalibrationOptions& options);

/// Adds changes of the encoder offsets, from one mechanism to the other, to the initial states.
void add_offset_changes_to_states(const Mechanism& from, const Mechanism& to, ShootingInput& input);

/// Returns a fit whose motion can be simulated from node to node at its initial parameter values.
/// The initial values are the given values, or values from inverse dynamics if these predict the
/// recordings much better.
///
/// @param[in,out] start  given values, replaced by the initial values of the fit. End stops far
///                       from all recorded motion are removed (remove_distant_stops)
/// @throws std::invalid_argument with the error and its remedy
std::unique_ptr<ShootingFit> begin_shooting_fit(const std::vector<Recording>& recordings,
                                                const CalibrationOptions& options,
                                                const CalibrationMonitor& monitor, FitStages stages,
                                                Mechanism& start);

}  // namespace estimator
