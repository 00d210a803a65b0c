#include "tests/support/mechanisms/rollout.hpp"

#include <cassert>
#include <cmath>
#include <limits>
#include <numbers>

#include "estimator/model/kinematics/kinematics.hpp"
#include "estimator/spook/spook_stepper.hpp"

namespace estimator {
namespace {

// Rows 1 … of the rollout, unwrapped from row 0 on.
void continue_rollout(const Mechanism& mechanism, State state, const Eigen::MatrixXd& controls,
                      double step, GyroscopicForm gyroscopic, Eigen::MatrixXd& angles) {
  SpookStepper stepper(mechanism, step, gyroscopic);
  Eigen::VectorXd control(controls.cols());
  for (Eigen::Index k = 0; k < controls.rows(); ++k) {
    control = controls.row(k).transpose();
    if (stepper.step(state, control) != StepOutcome::kOk) {
      angles.bottomRows(controls.rows() - k).setConstant(std::numeric_limits<double>::quiet_NaN());
      return;
    }
    for (Eigen::Index j = 0; j < angles.cols(); ++j) {
      const Joint& joint = mechanism.joints[static_cast<std::size_t>(j)];
      const double moved =
          std::remainder(joint_angle(joint, state.poses) - angles(k, j), 2.0 * std::numbers::pi);
      angles(k + 1, j) = angles(k, j) + moved;
    }
  }
}

}  // namespace

Eigen::MatrixXd rollout(const Mechanism& mechanism, const Eigen::VectorXd& initial_angles,
                        const Eigen::VectorXd& initial_rates, const Eigen::MatrixXd& controls,
                        double step, GyroscopicForm gyroscopic) {
  assert(initial_angles.size() == mechanism.joint_count());
  assert(initial_rates.size() == mechanism.joint_count());
  Eigen::MatrixXd angles(controls.rows() + 1, mechanism.joint_count());
  const State initial =
      assemble_state(mechanism, unpack_parameters(mechanism), initial_angles, initial_rates);
  // Joints that close a loop take their angle from the assembly, the others keep their turns.
  for (Eigen::Index j = 0; j < angles.cols(); ++j) {
    const double assembled =
        joint_angle(mechanism.joints[static_cast<std::size_t>(j)], initial.poses);
    angles(0, j) =
        initial_angles[j] + std::remainder(assembled - initial_angles[j], 2.0 * std::numbers::pi);
  }
  continue_rollout(mechanism, initial, controls, step, gyroscopic, angles);
  return angles;
}

Eigen::MatrixXd rollout(const Mechanism& mechanism, const State& initial,
                        const Eigen::MatrixXd& controls, double step, GyroscopicForm gyroscopic) {
  Eigen::MatrixXd angles(controls.rows() + 1, mechanism.joint_count());
  angles.row(0) = joint_angles(mechanism, initial.poses).transpose();
  continue_rollout(mechanism, initial, controls, step, gyroscopic, angles);
  return angles;
}

}  // namespace estimator
