#include "service/rig/drawing/live_mechanism.hpp"

#include <cmath>
#include <limits>
#include <utility>

#include "estimator/simulation/statics/equilibrium.hpp"

namespace service {

LiveMechanism::LiveMechanism(Rig rig) : rig_(std::move(rig)), closure_(rig_.mechanism) {
  const auto rest = estimator::find_stable_equilibrium(rig_.mechanism);
  coordinates_ = rest ? estimator::find_equilibrium_within_stops(rig_.mechanism, *rest)
                      : Eigen::VectorXd(Eigen::VectorXd::Zero(rig_.mechanism.joint_count()));
}

estimator::Configuration LiveMechanism::move(const std::vector<std::string>& names,
                                             const std::vector<double>& positions) {
  const estimator::Mechanism& mechanism = rig_.mechanism;
  Eigen::VectorXd wanted =
      Eigen::VectorXd::Constant(coordinates_.size(), std::numeric_limits<double>::quiet_NaN());
  for (std::size_t k = 0; k < std::min(names.size(), positions.size()); ++k) {
    for (int j = 0; j < mechanism.joint_count(); ++j) {
      if (mechanism.joints[static_cast<std::size_t>(j)].name != names[k]) continue;
      if (!std::isfinite(positions[k])) continue;
      wanted[j] = coordinates_[j] = positions[k];
    }
  }
  if (closure_.has_loops()) {
    Eigen::VectorXd closed = coordinates_;
    if (closure_.close(closed, wanted)) coordinates_ = closed;
  }
  return estimator::place_bodies(mechanism, coordinates_);
}

}  // namespace service
