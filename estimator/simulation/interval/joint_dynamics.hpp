#pragma once

#include <Eigen/Core>
#include <map>
#include <memory>
#include <vector>

#include "estimator/model/mechanism.hpp"
#include "estimator/simulation/interval/motion_lanes.hpp"
#include "estimator/simulation/loops/loop_closure.hpp"
#include "estimator/simulation/tree_program.hpp"

namespace estimator {

/// State of a mechanism and its acting controls at one instant. For a prismatic joint read m for
/// rad.
struct OperatingPoint {
  Eigen::VectorXd coordinates;  ///< q, one per joint [rad]
  Eigen::VectorXd rates;        ///< v, one per joint [rad/s]
  Eigen::VectorXd controls;     ///< u, one per motor, after its input delay [unit of the control]
};

/// Linear model of the motion about an operating point. Its state x consists of the coordinates of
/// the independent joints, then of their rates. With the deviations δx and δu from the operating
/// point,
///
///   ẋ = f + A δx + B δu,  or with a sampling period T  x(t + T) = f + A δx + B δu,
///
/// where the control is constant during the sampling period.
struct LinearModel {
  std::vector<int> joints;        ///< independent joints; without loops all joints
  Eigen::MatrixXd A;              ///< derivatives by the state, 2c × 2c
  Eigen::MatrixXd B;              ///< derivatives by the controls, 2c × motors
  Eigen::VectorXd f;              ///< ẋ at the operating point, or the state after the period; 2c
  std::vector<int> frictionless;  ///< joints at rest whose dry friction the model leaves out
};

/// Forward dynamics of a mechanism at single instants, for the design of controllers. All
/// functions close the kinematic loops and evaluate the same equations of motion as the estimation
/// of physical parameters (TreeProgram), with exact derivatives.
class JointDynamics {
 public:
  /// @throws std::invalid_argument for more than kTreeJointsMax joints, or for load-dependent
  ///         friction in a mechanism with loops
  explicit JointDynamics(const Mechanism& mechanism);
  ~JointDynamics();

  const Mechanism& mechanism() const { return mechanism_; }
  int joint_count() const { return mechanism_.joint_count(); }
  /// Returns the joints that have a motor, in the order of the controls.
  const std::vector<int>& motor_joints() const { return motors_; }

  /// Checks that the loops are closed and that no joint is beyond an end stop.
  /// @throws std::invalid_argument otherwise, with the distance
  void check_position(const Eigen::VectorXd& coordinates);

  /// Returns the rates of all joints. In a mechanism with loops, the joints with a nonzero rate
  /// determine the rates of all other joints.
  /// @throws std::invalid_argument if the nonzero rates contradict each other
  Eigen::VectorXd solve_dependent_rates(const Eigen::VectorXd& coordinates,
                                        const Eigen::VectorXd& rates);

  /// Returns the accelerations of all joints [rad/s²]. A joint at rest with Coulomb friction, or at
  /// an end stop, has no acceleration while friction and stop can hold it.
  /// @throws std::invalid_argument if loops are open, a joint is beyond an end stop, or the mass
  ///         matrix is singular; likewise the following functions
  Eigen::VectorXd accelerations(const OperatingPoint& point);

  /// Returns the independent joints near a configuration, which are the state of a linear model.
  const std::vector<int>& independent_joints(const Eigen::VectorXd& coordinates);

  /// Returns the mass matrix for the accelerations of the independent joints, c × c [kg·m²]. It
  /// includes the rotors of motors.
  Eigen::MatrixXd mass_matrix(const Eigen::VectorXd& coordinates);

  /// Returns the derivatives of the motion. Coulomb friction jumps at rest, where a derivative does
  /// not exist: the dry friction of a joint at rest is left out. A moving joint keeps its slip
  /// direction during the sampling period. End stops are ignored.
  /// @param period  sampling period [s]; 0: the derivatives of ẋ
  LinearModel linearize(const OperatingPoint& point, double period = 0.0);

 private:
  struct Equations;

  Equations& equations_at(const Eigen::VectorXd& coordinates);
  void require_closed_loops(const Eigen::VectorXd& coordinates);
  void load(const OperatingPoint& point, Equations& equations) const;

  Mechanism mechanism_;  // the constant torques of driven joints are free, nothing else
  LoopClosure closure_;
  std::vector<int> motors_;
  std::map<std::vector<int>, std::unique_ptr<Equations>> equations_;  // by coordinates and closures
};

}  // namespace estimator
