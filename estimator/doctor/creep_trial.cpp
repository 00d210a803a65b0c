#include "estimator/doctor/creep_trial.hpp"

#include <array>
#include <optional>
#include <string>
#include <utility>

#include "estimator/doctor/misfit_judgement.hpp"
#include "estimator/fit/number_text.hpp"
#include "estimator/model/joint_friction.hpp"

namespace estimator {
namespace {

/// Transition velocities to try [rad/s], times JointUnits::scale for sliding joints [m/s]: a decade
/// apart, since the fit hardly depends on them.
constexpr std::array<double, 3> kCreepSpeeds = {1e-3, 1e-2, 1e-1};

/// Smooths the Coulomb friction of joints that can stick.
/// @return their names
std::string let_creep(Mechanism& mechanism, double speed) {
  std::string names;
  for (int hinge = 0; hinge < mechanism.hinge_count(); ++hinge) {
    if (!can_stick(mechanism, hinge)) continue;
    Hinge& own = mechanism.hinges[static_cast<std::size_t>(hinge)];
    own.creep_speed = speed * own.units().scale;
    names += (names.empty() ? "" : ", ") + quoted(own.name) + " at about " +
             number_text(own.creep_speed) + " " + own.units().rate;
  }
  return names;
}

}  // namespace

void try_creep(const MisfitCase& on, std::vector<Cause>& causes) {
  std::optional<Cause> best;
  for (const double speed : kCreepSpeeds) {
    Mechanism creeping = on.estimate;
    const std::string joints = let_creep(creeping, speed);
    if (joints.empty()) return;
    std::optional<Cause> cause =
        judged(on, hopeful_fit(on, creeping, on.pieces),
               {.kind = "creep",
                .severity = Severity::kWarning,
                .what = "with dry friction, joints creep instead of sticking: " + joints,
                .advice = "set `friction { creep_speed: ... }` of these joints; friction creeps in "
                          "simulators and in greased bearings"},
               on.pieces);
    if (cause && (!best || cause->cost_per_reading < best->cost_per_reading)) best = cause;
  }
  add(causes, std::move(best));
}

}  // namespace estimator
