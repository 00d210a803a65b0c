#pragma once

#include <Eigen/Core>
#include <stdexcept>
#include <string>
#include <vector>

#include "estimator/model/mechanism.hpp"
#include "estimator/simulation/coordinate_choice.hpp"
#include "estimator/simulation/lane_rows.hpp"
#include "estimator/symbolic/lane_program.hpp"

namespace estimator {

/// A configuration near a change point, at which the joints can continue along two branches for any
/// choice of independent joints.
class ChangePoint : public std::invalid_argument {
 public:
  /// @param passing  subject and verb: "the recordings pass"
  /// @param motion, configuration  index of the nearest one
  ChangePoint(const std::string& passing, std::size_t motion, Eigen::Index configuration);

  std::size_t motion;
  Eigen::Index configuration;
};

/// Opening of a loop: the joint that would close it, and the distance between its two sides.
struct LoopGap {
  std::string joint;
  double distance = 0.0;  ///< [m]
  double turn = 0.0;      ///< [rad]
};

/// The equations c(q) = 0 that close the loops of a mechanism, at its parameter values. There are
/// six for every joint outside the spanning tree (point [m], small rotation [rad]), followed by one
/// for every mimic joint. Kinematics only.
class LoopClosure {
 public:
  explicit LoopClosure(const Mechanism& mechanism);

  int joint_count() const { return n_; }
  int row_count() const { return rows_; }
  bool has_loops() const { return rows_ > 0; }

  /// c at joint angles q, and ∂c/∂q.
  Eigen::VectorXd violation(const Eigen::VectorXd& angles);
  Eigen::MatrixXd jacobian(const Eigen::VectorXd& angles);

  /// Minimizes the violation of the loops near `angles`, even if they cannot be closed.
  /// @param wanted  of every joint; NaN: arbitrary
  /// @return whether a finite solution was found
  bool step_toward_closure(Eigen::VectorXd& angles, const Eigen::VectorXd& wanted);

  /// Violation of the loops: the norm of c, or π for a body that is half a turn off.
  double closure_error(const Eigen::VectorXd& angles);

  /// Closes the loops near `angles` by Gauss–Newton, with joints as close as possible to `wanted`.
  ///
  /// @param wanted  of every joint; NaN: arbitrary
  /// @return whether they are closed to kClosed. A body that is half a turn off also satisfies the
  /// equations but does not count as closed.
  bool close(Eigen::VectorXd& angles, const Eigen::VectorXd& wanted);

  /// Joints outside the spanning tree, in the order of their equations.
  std::vector<std::string> closing_joints() const;

  /// The loop with the largest opening; there must be one.
  LoopGap widest_gap(const Eigen::VectorXd& angles);

  /// Rates of all joints that keep the loops closed, as close as possible to those wanted.
  Eigen::VectorXd rates(const Eigen::VectorXd& angles, const Eigen::VectorXd& wanted);

  /// Smallest singular value of the dependent joints' columns of ∂c/∂q. It is zero in a singular
  /// configuration, where the joints can continue along two branches.
  double condition(const Eigen::VectorXd& angles, const std::vector<int>& dependent);

  /// Chooses the independent joints that determine the others best in the worst of the given closed
  /// configurations, and suitable equations. Mimic joints are dependent.
  ///
  /// @param motions  joint angles, one column per configuration, in order of the motion
  /// @throws ChangePoint if every choice passes a change point
  CoordinateChoice choose(const std::vector<Eigen::MatrixXd>& motions);

 private:
  void run(const Eigen::VectorXd& angles);
  void apply_mimic_joints(Eigen::VectorXd& angles, const Eigen::VectorXd& wanted) const;

  Mechanism mechanism_;
  int n_, rows_ = 0;
  LaneProgram program_;
  Rows values_;
};

/// Tolerance of the violation below which loops count as closed [m, rad].
inline constexpr double kClosed = 1e-9;

}  // namespace estimator
