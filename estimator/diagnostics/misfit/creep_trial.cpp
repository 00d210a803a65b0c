#include "estimator/diagnostics/misfit/creep_trial.hpp"

#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "estimator/diagnostics/misfit/cause_acceptance.hpp"
#include "estimator/model/joint_friction.hpp"

namespace estimator {
namespace {

/// Transition velocities to try [rad/s], times JointUnits::scale for sliding joints [m/s]. Steps of
/// a decade suffice, since the fit hardly depends on them.
constexpr std::array<double, 3> kTransitionSpeeds = {1e-3, 1e-2, 1e-1};

/// Replaces the Coulomb friction of joints that can stick by its smoothed law.
/// @return these joints, with their transition velocities
std::vector<Message> let_creep(Mechanism& mechanism, double speed) {
  std::vector<Message> creeping;
  for (int joint = 0; joint < mechanism.joint_count(); ++joint) {
    if (!can_stick(mechanism, joint)) continue;
    Joint& own = mechanism.joints[static_cast<std::size_t>(joint)];
    own.transition_speed = speed * own.units().scale;
    creeping.push_back(
        {MessageCode::kCreepingJoint,
         {{"joint", own.name}, {"speed", Quantity{own.transition_speed, own.units().rate}}}});
  }
  return creeping;
}

}  // namespace

void try_creep(const MisfitProblem& on, std::vector<Cause>& causes) {
  std::optional<Cause> best;
  for (const double speed : kTransitionSpeeds) {
    Mechanism creeping = on.estimate;
    std::vector<Message> joints = let_creep(creeping, speed);
    if (joints.empty()) return;
    std::optional<Cause> cause = accepted_cause(
        on, fit_if_promising(on, creeping, on.pieces),
        make_finding({MessageCode::kCreep, {{"joints", std::move(joints)}}}), on.pieces);
    if (cause && (!best || cause->cost_per_reading < best->cost_per_reading)) best = cause;
  }
  add(causes, std::move(best));
}

}  // namespace estimator
