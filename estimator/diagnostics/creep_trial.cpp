#include "estimator/diagnostics/creep_trial.hpp"

#include <array>
#include <optional>
#include <string>
#include <utility>

#include "estimator/diagnostics/cause_acceptance.hpp"
#include "estimator/fit/number_text.hpp"
#include "estimator/model/joint_friction.hpp"

namespace estimator {
namespace {

/// Transition velocities to try [rad/s], times JointUnits::scale for sliding joints [m/s]. Steps of
/// a decade suffice, since the fit hardly depends on them.
constexpr std::array<double, 3> kTransitionSpeeds = {1e-3, 1e-2, 1e-1};

/// Replaces the Coulomb friction of joints that can stick by its smoothed law.
/// @return names of these joints
std::string let_creep(Mechanism& mechanism, double speed) {
  std::string names;
  for (int joint = 0; joint < mechanism.joint_count(); ++joint) {
    if (!can_stick(mechanism, joint)) continue;
    Joint& own = mechanism.joints[static_cast<std::size_t>(joint)];
    own.transition_speed = speed * own.units().scale;
    names += (names.empty() ? "" : ", ") + quoted(own.name) + " at about " +
             number_text(own.transition_speed) + " " + own.units().rate;
  }
  return names;
}

}  // namespace

void try_creep(const MisfitProblem& on, std::vector<Cause>& causes) {
  std::optional<Cause> best;
  for (const double speed : kTransitionSpeeds) {
    Mechanism creeping = on.estimate;
    const std::string joints = let_creep(creeping, speed);
    if (joints.empty()) return;
    std::optional<Cause> cause = accepted_cause(
        on, fit_if_promising(on, creeping, on.pieces),
        {.kind = "creep",
         .severity = Severity::kWarning,
         .what = "with dry friction, joints creep instead of sticking: " + joints,
         .advice = "set `friction { transition_speed: ... }` of these joints; friction creeps in "
                   "simulators and in greased bearings"},
        on.pieces);
    if (cause && (!best || cause->cost_per_reading < best->cost_per_reading)) best = cause;
  }
  add(causes, std::move(best));
}

}  // namespace estimator
