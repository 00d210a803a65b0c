#pragma once

#include <Eigen/Core>
#include <string>
#include <vector>

#include "estimator/model/placement.hpp"
#include "estimator/simulation/loops/loop_closure.hpp"
#include "service/rig/rig_file.hpp"

namespace service {

/// Computes the poses of a rig's bodies from joint positions as they arrive, for an animation.
/// The positions of joints that are not measured follow from the loop closure, starting from their
/// last positions.
class LiveMechanism {
 public:
  /// @throws std::exception if the mechanism cannot be assembled
  explicit LiveMechanism(Rig rig);

  const Rig& rig() const { return rig_; }
  /// Returns the joint coordinates at which bodies are drawn: the latest coordinates or, before any
  /// coordinates have arrived, the rest position.
  const Eigen::VectorXd& coordinates() const { return coordinates_; }

  /// Moves the measured joints, and returns the poses of all bodies.
  /// @param names      names of measured joints, as in a recording; others are ignored
  /// @param positions  [rad or m], in the order of `names`; NaN: unchanged
  estimator::Configuration move(const std::vector<std::string>& names,
                                const std::vector<double>& positions);

 private:
  Rig rig_;
  estimator::LoopClosure closure_;
  Eigen::VectorXd coordinates_;
};

}  // namespace service
