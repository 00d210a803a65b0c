#include "estimator/simulation/loops/assemblies.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

namespace estimator {
namespace {

constexpr int kAssemblyStarts = 64;
constexpr double kSameAngle = 1e-3;    // [rad or m]
constexpr double kIndifferent = 0.02;  // misfits with a smaller difference count as equal

double joint_difference(const Mechanism& mechanism, Eigen::Index joint, double of_coordinates) {
  return mechanism.joints[static_cast<std::size_t>(joint)].difference(of_coordinates);
}

/// Returns whether full turns of a joint have an effect, since it mimics another joint or is
/// mimicked.
bool is_coupled(const Mechanism& mechanism, int joint) {
  return std::ranges::any_of(mechanism.mimic_joints, [&](const MimicJoint& each) {
    return each.joint == joint || each.follows == joint;
  });
}

bool is_same(const Mechanism& mechanism, const Eigen::VectorXd& a, const Eigen::VectorXd& b) {
  for (Eigen::Index j = 0; j < a.size(); ++j) {
    if (!(std::abs(joint_difference(mechanism, j, a[j] - b[j])) < kSameAngle)) return false;
  }
  return true;
}

}  // namespace

std::vector<Assembly> find_assemblies(const Mechanism& mechanism, LoopClosure& closure,
                                      const Eigen::VectorXd& wanted, Eigen::VectorXd& nearest) {
  double least = std::numeric_limits<double>::infinity();
  std::vector<Assembly> found;
  std::mt19937 random(1);
  for (int start = 0; start < kAssemblyStarts; ++start) {
    Eigen::VectorXd angles = wanted;
    for (double& angle : angles) {
      const double turn = 2.0 * M_PI * (static_cast<double>(random()) / std::mt19937::max() - 0.5);
      if (std::isnan(angle)) angle = start == 0 ? 0.0 : turn;
    }
    const Eigen::VectorXd began = angles;
    if (!closure.close(angles, wanted)) {
      Eigen::VectorXd near = began;
      const double open =
          closure.step_toward_closure(near, wanted) ? closure.closure_error(near) : least;
      if (open < least) nearest = near;
      least = std::min(least, open);
      continue;
    }
    const auto is_known = [&](const Assembly& each) {
      return is_same(mechanism, each.angles, angles);
    };
    if (std::ranges::any_of(found, is_known)) continue;
    double squares = 0.0, count = 0.0;
    for (Eigen::Index j = 0; j < angles.size(); ++j) {
      if (std::isnan(wanted[j])) continue;
      squares += std::pow(angles[j] - wanted[j], 2);
      count += 1.0;
    }
    for (Eigen::Index j = 0; j < angles.size(); ++j) {
      if (!std::isnan(wanted[j]) || is_coupled(mechanism, static_cast<int>(j))) continue;
      angles[j] = joint_difference(mechanism, j, angles[j]);
    }
    found.push_back({angles, std::sqrt(squares / std::max(count, 1.0))});
  }
  double best = std::numeric_limits<double>::infinity();
  for (const Assembly& each : found) best = std::min(best, each.deviation);
  std::erase_if(found, [&](const Assembly& each) { return each.deviation > best + kIndifferent; });
  return found;
}

}  // namespace estimator
