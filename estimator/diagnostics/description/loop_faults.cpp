#include "estimator/diagnostics/description/loop_faults.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "estimator/dynamics/tree_inverse_dynamics.hpp"
#include "estimator/math/decompositions.hpp"
#include "estimator/model/spanning_tree.hpp"
#include "estimator/simulation/loops/loop_closure.hpp"

namespace estimator {
namespace {

constexpr int kLoopStarts = 16;
constexpr int kClosingStarts = 64;
constexpr double kLooseRank = 1e-7;  // of singular values, relative to the largest
constexpr double kTwistMin = 0.1;    // least rotation reported besides a distance [rad]

/// Returns a message about a loop that stays open, with its distance and rotation if they count.
Message open_loop(const LoopGap& gap) {
  const bool is_apart = gap.distance > kClosed;
  const bool is_twisted = gap.turn > (is_apart ? kTwistMin : kClosed);
  Message fault(MessageCode::kOpenLoop, {{"joint", gap.joint},
                                         {"is_both", is_apart && is_twisted},
                                         {"is_half_turn_off", !is_apart && !is_twisted}});
  if (is_apart) fault.arguments.push_back({"distance", Quantity{1e3 * gap.distance, "mm"}});
  if (is_twisted) fault.arguments.push_back({"twist", Quantity{gap.turn, "rad"}});
  return fault;
}

/// Returns the reason why prescribed motions leave joints no freedom, or contradict one another.
/// @param motions  joint rates that keep the loops closed, joints × degrees of freedom
std::optional<Message> find_prescription_fault(const Mechanism& mechanism,
                                               const Eigen::MatrixXd& motions) {
  std::vector<int> prescribed;
  std::vector<std::string> names;
  for (int j = 0; j < mechanism.joint_count(); ++j) {
    const Joint& joint = mechanism.joints[static_cast<std::size_t>(j)];
    if (!joint.motor.is_prescribed) continue;
    prescribed.push_back(j);
    names.push_back(joint.name);
  }
  if (prescribed.empty()) return {};
  const Eigen::MatrixXd own = motions(prescribed, Eigen::all);
  const Eigen::Index permitted = own.cols() - null_space(own, kLooseRank).cols();
  const bool are_permitted = permitted == std::ssize(prescribed);
  if (are_permitted && permitted < motions.cols()) return {};
  return Message(MessageCode::kPrescribedLoop,
                 {{"joint", names.back()}, {"joints", names}, {"is_determined", are_permitted}});
}

}  // namespace

std::optional<Message> find_reason_loops_cannot_move(const Mechanism& mechanism) {
  if (!has_closed_loops(mechanism) || mechanism.joint_count() > kTreeJointsMax) return {};
  const Eigen::Index n = mechanism.joint_count();
  LoopClosure closure(mechanism);
  if (closure.closing_joint_names().empty()) return {};  // mimic joints only: always consistent
  const Argument joint{"joint", closure.closing_joint_names().back()};
  const Eigen::VectorXd any =
      Eigen::VectorXd::Constant(n, std::numeric_limits<double>::quiet_NaN());
  std::mt19937 random(1);
  Eigen::Index free = -1;
  Eigen::MatrixXd motions;  // joint rates of the closed loops
  Eigen::VectorXd nearest;
  double least = std::numeric_limits<double>::infinity();
  // If some starts close, test the mobility; if none does, try more starts.
  for (int start = 0; start < (free < 0 ? kClosingStarts : kLoopStarts) && free <= 0; ++start) {
    Eigen::VectorXd angles(n);
    for (double& angle : angles) {
      angle = 2.0 * M_PI * (static_cast<double>(random()) / std::mt19937::max() - 0.5);
    }
    const Eigen::VectorXd began = angles;
    if (!closure.close(angles, any)) {
      Eigen::VectorXd near = began;
      const double open =
          closure.minimize_closure_violation(near, any) ? closure.closure_error(near) : least;
      if (!(open < least)) continue;
      least = open;
      nearest = near;
      continue;
    }
    const Eigen::MatrixXd J = closure.closure_jacobian(angles);
    if (J.cwiseAbs().maxCoeff() < kLooseRank) {
      return Message(MessageCode::kFixedLoop, {joint});
    }
    motions = null_space(J, kLooseRank);
    free = std::max(free, motions.cols());
  }
  if (free > 0) return find_prescription_fault(mechanism, motions);
  if (free == 0) return Message(MessageCode::kImmobileLoop, {joint});
  if (nearest.size() == 0) return {};
  return open_loop(closure.widest_loop_gap(nearest));
}

}  // namespace estimator
