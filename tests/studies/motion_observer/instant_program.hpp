#pragma once

#include <Eigen/Core>
#include <vector>

#include "estimator/model/mechanism.hpp"
#include "estimator/simulation/lane_rows.hpp"
#include "estimator/symbolic/lane_program.hpp"

namespace estimator {

/// Kinds of quantity of a mechanism at one instant that can be measured or computed.
enum class InstantQuantity {
  kMotion,        ///< motion of joint `index`: 0 coordinate, 1 rate, 2 acceleration
  kInertial,      ///< axes of inertial sensor `index`, in order
  kLoad,          ///< load of joint `index`, ordered as in JointLoad
  kAcceleration,  ///< of the body of joint `index`: TreeInverseDynamics::body_accelerations
};

struct InstantAxis {
  InstantQuantity quantity;
  int index;
  int component;
};

/// Model that computes quantities of a mechanism at one instant, with exact derivatives, from the
/// joint motion and from external wrenches on the bodies. It uses TreeInverseDynamics, so the
/// equations of motion, D d + b = 0 in [Nori, eq. 3], hold by construction.
///
/// The unknowns are the coordinates [rad], rates [rad/s] and accelerations [rad/s²] of all n
/// joints. Optionally, there are also an external moment about the joint's point [N·m] and an
/// external force [N] for each joint's body, in the body's frame. The mechanism must be an open
/// kinematic tree whose joints are ordered from parent to child. Not thread-safe.
class InstantModel {
 public:
  /// @param axes     quantities to compute
  /// @param outside  true if there are external wrenches
  InstantModel(const Mechanism& mechanism, std::vector<InstantAxis> axes, bool outside);

  int joint_count() const { return joint_count_; }
  /// Returns the number of coordinates, rates and accelerations.
  int motion_count() const { return 3 * joint_count_; }
  int outside_count() const { return unknown_count_ - motion_count(); }
  int unknown_count() const { return unknown_count_; }
  int axis_count() const { return static_cast<int>(axes_.size()); }
  const std::vector<InstantAxis>& axes() const { return axes_; }

  /// Returns whether the quantity of an axis can depend on an unknown.
  bool depends(int axis, int unknown) const { return depends_(axis, unknown); }

  /// Computes the quantities of all axes.
  /// @param unknowns  may omit external wrenches, which are then zero
  /// @param values    result: one value per axis
  void read(const Eigen::Ref<const Eigen::VectorXd>& unknowns, Eigen::VectorXd& values);

  /// Computes the derivatives of all quantities at the last arguments of `read`.
  /// @param slopes  result: axes × unknowns; if it has this size, its structural zeros must be zero
  void linearize(Eigen::MatrixXd& slopes);

 private:
  enum Section : int { kFixed, kReadings, kSensitivities, kSectionCount };
  struct Entry {
    int axis, unknown, row;
  };
  static constexpr int kWidth = 4;  // SIMD lanes of the program; only the first is used

  int joint_count_, unknown_count_;
  std::vector<InstantAxis> axes_;
  SimdProgram program_;
  std::vector<Entry> entries_;
  Eigen::Matrix<bool, Eigen::Dynamic, Eigen::Dynamic> depends_;
  Rows rows_;
};

}  // namespace estimator
