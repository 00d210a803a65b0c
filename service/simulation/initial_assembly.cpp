#include "service/simulation/initial_assembly.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "estimator/simulation/loops/assemblies.hpp"
#include "estimator/simulation/loops/loop_closure.hpp"
#include "estimator/simulation/statics/equilibrium.hpp"
#include "estimator/simulation/statics/statics.hpp"

namespace service {
namespace {

constexpr double kAnywhere = std::numeric_limits<double>::quiet_NaN();

// Largest deviation of a joint from its given coordinate [rad; times the joint's scale]. Measured
// joints must match exactly; the others may be given with few digits.
constexpr double kReadNear = 1e-3, kPassiveNear = 0.05;

// Joints move to their given coordinates by steps of at most this [rad], so that the loops keep
// their assembly branch.
constexpr double kWayStep = 0.05;
constexpr int kWayStepsMax = 1000;

/// Solver that moves the joints of a mechanism with closed loops to their given coordinates.
class StartAssembly {
 public:
  StartAssembly(const estimator::Mechanism& mechanism, const Eigen::VectorXd& stated)
      : mechanism_(mechanism), stated_(stated), statics_(mechanism) {}

  bool has_loops() const { return statics_.has_loops(); }

  std::optional<Eigen::VectorXd> run() {
    const auto rest = estimator::find_stable_equilibrium(mechanism_);
    Eigen::VectorXd joints = rest ? rest->coordinates : where_described();
    if (stated_.array().isNaN().all()) {
      if (!rest && !statics_.close(joints, described())) return std::nullopt;
      return joints;
    }
    Eigen::VectorXd taken = joints, direct = joints;
    if (go(taken) && settle(taken)) return taken;
    if (statics_.close(direct, stated_) && settle(direct)) return direct;
    return search(joints);
  }

 private:
  const estimator::Joint& joint(Eigen::Index j) const {
    return mechanism_.joints[static_cast<std::size_t>(j)];
  }

  /// Returns the assembly guess of each joint in the rig file (assembly_guess).
  Eigen::VectorXd described() const {
    Eigen::VectorXd at(stated_.size());
    for (Eigen::Index j = 0; j < at.size(); ++j) at[j] = joint(j).assembly_guess;
    return at;
  }
  Eigen::VectorXd where_described() const {
    const Eigen::VectorXd at = described();
    return at.array().isNaN().select(0.0, at);
  }

  bool go(Eigen::VectorXd& joints) {
    const Eigen::VectorXd begin = joints;
    double way = 0.0;
    for (Eigen::Index j = 0; j < joints.size(); ++j) {
      if (std::isnan(stated_[j])) continue;
      way = std::max(way, std::abs(stated_[j] - begin[j]) / joint(j).units().scale);
    }
    const int steps = static_cast<int>(
        std::clamp(std::ceil(way / kWayStep), 1.0, static_cast<double>(kWayStepsMax)));
    for (int k = 1; k <= steps; ++k) {
      const double share = static_cast<double>(k) / steps;
      if (!statics_.close(joints, begin + share * (stated_ - begin))) return false;
    }
    return true;
  }

  /// Returns the assembly with the given joint coordinates that is nearest to the position `rest`.
  std::optional<Eigen::VectorXd> search(const Eigen::VectorXd& rest) {
    std::optional<Eigen::VectorXd> nearest;
    estimator::LoopClosure closure(mechanism_);
    Eigen::VectorXd open;
    for (estimator::Assembly& way : find_assemblies(mechanism_, closure, stated_, open)) {
      if (!settle(way.angles)) continue;
      if (!nearest || apart(way.angles, rest) < apart(*nearest, rest)) nearest = way.angles;
    }
    return nearest;
  }

  double apart(const Eigen::VectorXd& a, const Eigen::VectorXd& b) const {
    double sum = 0.0;
    for (Eigen::Index j = 0; j < a.size(); ++j) {
      sum += std::abs(joint(j).difference(a[j] - b[j])) / joint(j).units().scale;
    }
    return sum;
  }

  /// Moves the measured joints exactly to their given coordinates.
  /// @return false if a joint does not reach its given coordinate
  bool settle(Eigen::VectorXd& joints) {
    Eigen::VectorXd read = stated_;
    for (Eigen::Index j = 0; j < read.size(); ++j) {
      if (!joint(j).measured) read[j] = kAnywhere;
    }
    if (!read.array().isNaN().all() && !statics_.close(joints, read)) return false;
    for (Eigen::Index j = 0; j < joints.size(); ++j) {
      const double near = (joint(j).measured ? kReadNear : kPassiveNear) * joint(j).units().scale;
      if (std::abs(joint(j).difference(joints[j] - stated_[j])) > near) return false;
    }
    return true;
  }

  const estimator::Mechanism& mechanism_;
  const Eigen::VectorXd& stated_;
  estimator::Statics statics_;
};

}  // namespace

std::optional<Eigen::VectorXd> assemble_joints(const estimator::Mechanism& mechanism,
                                               const Eigen::VectorXd& stated) {
  if (mechanism.joint_count() <= estimator::kTreeJointsMax) {
    if (StartAssembly assembly(mechanism, stated); assembly.has_loops()) return assembly.run();
  }
  return Eigen::VectorXd(stated.array().isNaN().select(0.0, stated));
}

}  // namespace service
