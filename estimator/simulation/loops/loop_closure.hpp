#pragma once

#include <Eigen/Core>
#include <stdexcept>
#include <string>
#include <vector>

#include "estimator/model/mechanism.hpp"
#include "estimator/simulation/lane_rows.hpp"
#include "estimator/simulation/tree_program.hpp"
#include "estimator/symbolic/lane_program.hpp"

namespace estimator {

/// Error: for every choice of independent joints, the motion comes near a change point. At a change
/// point, the joints can continue along two branches.
class ChangePointError : public std::invalid_argument {
 public:
  /// @param motion_index, configuration_index  index of the configuration nearest a change point
  ChangePointError(const char* what, std::size_t motion_index, Eigen::Index configuration_index)
      : std::invalid_argument(what), motion(motion_index), configuration(configuration_index) {}

  std::size_t motion;
  Eigen::Index configuration;
};

/// The opening of a loop: the joint that should close it, and the distance between its two sides.
struct LoopGap {
  std::string joint;
  double distance = 0.0;  ///< between the points of the joint's two sides [m]
  double turn = 0.0;      ///< angle between the orientations of the joint's two sides [rad]
};

/// The loop-closure equations c(q) = 0 of a mechanism in its joint coordinates q, at its parameter
/// values. Each joint outside the spanning tree has six equations (point [m], small rotation
/// [rad]). Then each mimic joint has one equation.
class LoopClosure {
 public:
  explicit LoopClosure(const Mechanism& mechanism);

  int joint_count() const { return n_; }
  int equation_count() const { return rows_; }
  bool has_loops() const { return rows_ > 0; }

  /// Return the loop-closure violation c at joint angles q, and its Jacobian ∂c/∂q.
  Eigen::VectorXd closure_violation(const Eigen::VectorXd& angles);
  Eigen::MatrixXd closure_jacobian(const Eigen::VectorXd& angles);

  /// Changes `angles` to a nearby minimum of the closure violation, even if the loops cannot be
  /// closed.
  /// @param wanted  desired coordinate of every joint; NaN: arbitrary
  /// @return whether a finite solution was found
  bool minimize_closure_violation(Eigen::VectorXd& angles, const Eigen::VectorXd& wanted);

  /// Returns the norm of the loop-closure violation c, or π if a body is wrong by half a turn.
  double closure_error(const Eigen::VectorXd& angles);

  /// Closes the loops near `angles` by Gauss–Newton, with all joints as close as possible to
  /// `wanted`.
  ///
  /// @param wanted  desired coordinate of every joint; NaN: arbitrary
  /// @return whether all loops are closed to within kClosed. A body that is wrong by half a turn
  /// also satisfies the equations, but its loop counts as open.
  bool close(Eigen::VectorXd& angles, const Eigen::VectorXd& wanted);

  /// Returns the names of the joints outside the spanning tree, in the order of their equations.
  std::vector<std::string> closing_joint_names() const;

  /// Returns the loop with the largest opening; the mechanism must have a loop.
  LoopGap widest_loop_gap(const Eigen::VectorXd& angles);

  /// Returns the joint rates nearest to `wanted` that keep the loops closed.
  Eigen::VectorXd rates(const Eigen::VectorXd& angles, const Eigen::VectorXd& wanted);

  /// Returns the smallest singular value of the dependent joints' columns of ∂c/∂q. It is zero in a
  /// singular configuration, from which the joints can continue along two branches.
  double smallest_singular_value(const Eigen::VectorXd& angles, const std::vector<int>& dependent);

  /// Chooses the independent joints, and as many loop-closure equations as there are dependent
  /// joints. The choice maximizes the smallest singular value over all given closed configurations.
  /// Mimic joints are dependent.
  ///
  /// @param motions  joint angles, one column per configuration, in order of the motion
  /// @throws ChangePointError if every choice passes a change point
  CoordinateChoice choose_coordinates(const std::vector<Eigen::MatrixXd>& motions);

 private:
  void run(const Eigen::VectorXd& angles);
  void apply_mimic_joints(Eigen::VectorXd& angles, const Eigen::VectorXd& wanted) const;

  Mechanism mechanism_;
  int n_, rows_ = 0;
  SimdProgram program_;
  Rows values_;
};

/// Largest violation of the loop-closure equations at which loops count as closed [m, rad].
inline constexpr double kClosed = 1e-9;

/// One assembly mode of a mechanism with loops: joint angles at which all loops are closed.
struct AssemblyMode {
  Eigen::VectorXd angles;
  double deviation;  ///< root mean square deviation from the desired coordinates [rad or m]
};

/// Returns the assembly modes closest to desired joint coordinates. Searches from random starts,
/// and returns all modes whose deviation is close to the smallest.
/// @param wanted   desired coordinate of every joint; NaN: arbitrary
/// @param nearest  output if no mode is found: angles at which the loops are most nearly closed
std::vector<AssemblyMode> find_assembly_modes(const Mechanism& mechanism, LoopClosure& closure,
                                              const Eigen::VectorXd& wanted,
                                              Eigen::VectorXd& nearest);

}  // namespace estimator
