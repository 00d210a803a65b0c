#include "estimator/diagnostics/misfit/misfit_trials.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace estimator {
namespace {

/// Ratio of the cost with a cause to that without, below which the cause is reported.
constexpr double kHelps = 0.6;

}  // namespace

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

bool improves_enough(const MisfitProblem& on, const ExcerptFit& fit) {
  return fit.cost_per_reading() < kHelps * on.cost_per_reading;
}

ExcerptFit fit_if_promising(const MisfitProblem& on, const Mechanism& mechanism,
                            const std::vector<Recording>& pieces) {
  return on.fit(mechanism, pieces, kHelps * on.cost_per_reading);
}

std::optional<Cause> accepted_cause(const MisfitProblem& on, const ExcerptFit& fit, Finding finding,
                                    const std::vector<Recording>& pieces) {
  if (!improves_enough(on, fit)) return std::nullopt;
  return Cause{std::move(finding), fit.cost_per_reading(), errors_of(fit, on.noise.size()),
               fit.mechanism(), pieces};
}

FreedParameterFit fit_with_one_freed(const MisfitProblem& on, int index, double start, double lower,
                                     double upper, double least) {
  Mechanism mechanism = on.estimate;
  Parameter& parameter = mechanism.parameters[static_cast<std::size_t>(index)];
  const double before = parameter.value;
  parameter.free = true;
  parameter.value = start;
  parameter.lower = lower;
  parameter.upper = upper;
  const ExcerptFit fit = fit_if_promising(on, mechanism, on.pieces);
  FreedParameterFit freed;
  if (!improves_enough(on, fit)) return freed;
  freed.size = fit.mechanism().parameters[static_cast<std::size_t>(index)].value - before;
  freed.deviation = fit.deviation(index);
  if (!is_significant(freed.size, freed.deviation) || std::abs(freed.size) < least) return freed;
  freed.cause = accepted_cause(on, fit, {}, on.pieces);
  return freed;
}

void add(std::vector<Cause>& causes, std::optional<Cause> cause) {
  if (cause) causes.push_back(std::move(*cause));
}

}  // namespace estimator
