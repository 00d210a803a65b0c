#include "estimator/diagnostics/misfit/misfit_trials.hpp"

#include <algorithm>

#include "estimator/diagnostics/misfit/creep_trial.hpp"
#include "estimator/diagnostics/misfit/model_error_trials.hpp"
#include "estimator/diagnostics/misfit/signal_error_trials.hpp"

namespace estimator {

Eigen::VectorXd errors_of(const ExcerptFit& fit, Eigen::Index sensors) {
  Eigen::VectorXd rmse(sensors);
  for (Eigen::Index i = 0; i < sensors; ++i) rmse[i] = fit.rmse(static_cast<int>(i));
  return rmse;
}

void MisfitProblem::take(const Cause& cause) {
  estimate = cause.mechanism;
  pieces = cause.pieces;
  cost_per_reading = cause.cost_per_reading;
  rmse = cause.rmse;
}

ExcerptFit MisfitProblem::fit(const Mechanism& mechanism, const std::vector<Recording>& recordings,
                              double cost_max) const {
  if (!(budget.left > 0.0)) {
    budget.exceeded = true;
    return {};
  }
  ExcerptFit fit(mechanism, recordings, noise, monitor, cost_max);
  budget.left -= fit.work();
  return fit;
}

std::vector<Cause> try_causes(const MisfitProblem& on, const std::vector<Recording>& recordings) {
  std::vector<Cause> causes;
  Mechanism held = on.estimate;
  const bool no_room = fix_moments_at_bounds(held) >= 0;
  try_gains(on, causes);
  try_delays(on, causes);
  // A distance that leaves no room for inertia slows or accelerates all motion like a clock error.
  if (no_room) try_lengths(on, causes);
  const bool too_long = std::ranges::any_of(causes, [](const Cause& cause) {
    return cause.finding.message.code == MessageCode::kNoRoomForInertia;
  });
  if (!too_long) try_clock(on, causes);
  try_clipped_commands(on, causes);
  try_friction(on, causes);
  try_creep(on, causes);
  try_air(on, causes);
  try_clipped_angles(on, recordings, causes);
  if (!no_room) try_lengths(on, causes);
  try_signs(on, causes);
  return causes;
}

}  // namespace estimator
