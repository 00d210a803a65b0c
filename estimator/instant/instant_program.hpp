#pragma once

#include <Eigen/Core>
#include <vector>

#include "estimator/model/mechanism.hpp"
#include "estimator/symbolic/lane_program.hpp"
#include "estimator/tree/lane_rows.hpp"

namespace estimator {

/// What can be read, or asked for, of a mechanism at one instant.
enum class InstantQuantity {
  kMotion,        ///< of joint `index`: 0 its coordinate, 1 its rate, 2 its acceleration
  kInertial,      ///< of inertial sensor `index`: its axes in their order
  kLoad,          ///< of joint `index`: JointLoad
  kAcceleration,  ///< of the body b of joint `index`: TreeInverseDynamics::body_accelerations
};

struct InstantAxis {
  InstantQuantity quantity;
  int index;
  int component;
};

/// Quantities of a mechanism at one instant as functions of how its joints move, and of what pushes
/// their bodies from outside, with exact derivatives: recorded from TreeInverseDynamics, so the
/// equations of motion hold by construction, D d + b = 0 of [Nori, eq. 3].
///
/// Unknowns, n joints: coordinates [rad], rates [rad/s], accelerations [rad/s²], n each; then,
/// where asked for, of each joint's body b the moment about the joint's point [N·m] and the force
/// [N] that act on it from outside, in its frame. Only links that nothing closes: a tree, its
/// joints given from parent to child. Not for two threads at a time.
class InstantProgram {
 public:
  /// @param axes     that are wanted
  /// @param outside  whether bodies are pushed from outside; otherwise nothing does
  InstantProgram(const Mechanism& mechanism, std::vector<InstantAxis> axes, bool outside);

  int joint_count() const { return joint_count_; }
  /// Coordinates, rates and accelerations.
  int motion_count() const { return 3 * joint_count_; }
  int outside_count() const { return unknown_count_ - motion_count(); }
  int unknown_count() const { return unknown_count_; }
  int axis_count() const { return static_cast<int>(axes_.size()); }
  const std::vector<InstantAxis>& axes() const { return axes_; }

  /// Whether an axis depends on an unknown at all.
  bool depends(int axis, int unknown) const { return depends_(axis, unknown); }

  /// @param unknowns  those at the end may be left out: nothing pushes
  /// @param values    result: one an axis
  void read(const Eigen::Ref<const Eigen::VectorXd>& unknowns, Eigen::VectorXd& values);

  /// Derivatives where `read` was last.
  /// @param slopes  result: axes × unknowns; of that size, entries that always are zero must be so
  void linearize(Eigen::MatrixXd& slopes);

 private:
  enum Section : int { kFixed, kReadings, kSlopes, kSectionCount };
  struct Entry {
    int axis, unknown, row;
  };
  static constexpr int kWidth = 4;  // lanes of the program, of which the first is used

  int joint_count_, unknown_count_;
  std::vector<InstantAxis> axes_;
  LaneProgram program_;
  std::vector<Entry> entries_;
  Eigen::Matrix<bool, Eigen::Dynamic, Eigen::Dynamic> depends_;
  Rows rows_;
};

}  // namespace estimator
