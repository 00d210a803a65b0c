#include "estimator/design/start_pose.hpp"

#include <algorithm>
#include <cmath>

#include "estimator/design/plan_evaluator.hpp"
#include "estimator/fit/loop_closed_states.hpp"
#include "estimator/simulation/statics/equilibrium.hpp"

namespace estimator {
namespace {

/// Growth rate, relative to the fastest mode (both squared), above which a mode is an upright
/// balance. Slower growth is the slight tilt of an axis that friction holds.
constexpr double kUprightShare = 0.05;

constexpr double kSettling = 30.0;  // [s]
constexpr double kPeriod = 0.004;   // [s]

bool is_upright(const Mechanism& mechanism, const Eigen::VectorXd& joints) {
  Statics statics(mechanism);
  const std::vector<NormalMode> modes = normal_modes(mechanism, statics.at(joints));
  double fastest = 0.0, growing = 0.0;
  for (const NormalMode& mode : modes) {
    fastest = std::max(fastest, std::abs(mode.rate_squared));
    growing = std::max(growing, -mode.rate_squared);
  }
  return growing > kUprightShare * fastest;
}

Eigen::VectorXd closed(const Mechanism& mechanism, const Eigen::VectorXd& joints) {
  Eigen::MatrixXd state = Eigen::MatrixXd::Zero(2 * joints.size(), 1);
  state.topRows(joints.size()) = joints;
  close_loops(mechanism, kPeriod, "the start", state);
  return state.col(0).head(joints.size());
}

}  // namespace

Eigen::VectorXd settle_to_rest(const Mechanism& mechanism, const Eigen::VectorXd& joints) {
  const auto motors = std::ranges::count(mechanism.joints, true,
                                         [](const Joint& joint) { return joint.motorised; });
  if (motors == 0) return joints;
  const Eigen::VectorXd unit =
      Eigen::VectorXd::Ones(static_cast<Eigen::Index>(used_encoders(mechanism).size()));
  const PlanEvaluator bench(
      mechanism, {.period = kPeriod, .rate = 1.0 / kPeriod, .start = joints, .noise = unit}, 1);
  const auto samples = static_cast<Eigen::Index>(kSettling / kPeriod);
  const PlanMotion motion = bench.move(mechanism, Eigen::MatrixXd::Zero(samples, 1));
  return motion.end.allFinite() ? Eigen::VectorXd(motion.end.col(0)) : joints;
}

Eigen::VectorXd resting_start(const Mechanism& mechanism, const Eigen::VectorXd& placed) {
  Eigen::VectorXd start(mechanism.joint_count());
  for (Eigen::Index j = 0; j < start.size(); ++j) {
    const double stated = mechanism.joints[static_cast<std::size_t>(j)].assembly_guess;
    start[j] = std::isfinite(placed[j]) ? placed[j] : std::isfinite(stated) ? stated : 0.0;
  }
  start = closed(mechanism, start);
  if (placed.array().isFinite().all()) return start;
  if (is_upright(mechanism, start)) {
    if (const auto rest = find_stable_equilibrium(mechanism)) start = rest->coordinates;
  }
  start = settle_to_rest(mechanism, start);
  return placed.array().isFinite().select(placed, start);
}

}  // namespace estimator
