#pragma once

#include <ceres/ceres.h>

#include <Eigen/Core>
#include <utility>

#include "estimator/model/kinematics/joint_geometry.hpp"
#include "estimator/model/kinematics/kinematics.hpp"
#include "estimator/spook/step_residual.hpp"
#include "tests/estimator/calibrate/ceres_poses.hpp"

namespace test_support {

/// Cost of both impulse residuals from one full state to the next, weighted by √κ: for the velocity
/// of the next state, and for the velocity that leads to its configuration.
class FullImpulseCost : public ceres::CostFunction {
 public:
  FullImpulseCost(const estimator::StepResidual& residual, double control, double step,
                  double weight, int parameter_count)
      : residual_(residual), control_(control), step_(step), weight_(weight) {
    set_num_residuals(2 * kTangent);
    *mutable_parameter_block_sizes() = {kFullAmbient, kFullAmbient, parameter_count};
  }

  bool Evaluate(const double* const* x, double* r, double** jacobians) const override {
    const Poses here = read(x[0]), next = read(x[1]);
    Velocity w;  // leads to the next configuration
    for (std::size_t i = 0; i < kBodies; ++i) {
      w.segment<6>(static_cast<Eigen::Index>(6 * i)) = difference(next[i], here[i]) / step_;
    }
    const double no_slope = 0.0;
    estimator::StepInput input{here.data(), x[0] + kAmbient, x[1] + kAmbient, &control_, &no_slope};
    Eigen::Map<Eigen::Matrix<double, 2 * kTangent, 1>> residual(r);
    if (jacobians == nullptr) {
      residual_.evaluate(input, r);
      input.next_velocity = w.data();
      residual_.evaluate(input, r + kTangent);
      residual *= weight_;
      return residual.allFinite();  // false rejects the step
    }
    for (const int block : {0, 1}) {
      if (jacobians[block] != nullptr) node_jacobian(jacobians[block]).setZero();
    }
    static thread_local estimator::StepDerivatives d;
    residual_.linearize(input, d);
    take(0, d, residual, jacobians);
    if (jacobians[1] != nullptr) {
      node_jacobian(jacobians[1]).topRightCorner<kTangent, kTangent>() =
          weight_ * d.along_next_velocity;
    }
    input.next_velocity = w.data();
    residual_.linearize(input, d);
    take(kTangent, d, residual, jacobians);
    for (int i = 0; i < kBodies; ++i) {
      for (const int block : {0, 1}) {
        if (jacobians[block] == nullptr) continue;
        node_jacobian(jacobians[block]).block<kTangent, 6>(kTangent, 7 * i) +=
            weight_ * through_velocity(d.along_next_velocity, w, i, step_, block == 0 ? -1.0 : 1.0);
      }
    }
    return true;
  }

 private:
  using NodeJacobian =
      Eigen::Map<Eigen::Matrix<double, 2 * kTangent, kFullAmbient, Eigen::RowMajor>>;
  static NodeJacobian node_jacobian(double* data) { return NodeJacobian(data); }

  // Residual and all derivatives but those along the next velocity, in rows from `row` on.
  void take(int row, const estimator::StepDerivatives& d,
            Eigen::Map<Eigen::Matrix<double, 2 * kTangent, 1>>& residual,
            double** jacobians) const {
    residual.segment<kTangent>(row) = weight_ * d.residual;
    if (jacobians[0] != nullptr) {
      NodeJacobian J = node_jacobian(jacobians[0]);
      for (int i = 0; i < kBodies; ++i) {
        J.block<kTangent, 6>(row, 7 * i) = weight_ * d.along_configuration.middleCols<6>(6 * i);
      }
      J.block<kTangent, kTangent>(row, kAmbient) = weight_ * d.along_velocity;
    }
    if (jacobians[2] != nullptr) {
      RowMajorMap(jacobians[2], 2 * kTangent, d.along_parameters.cols()).middleRows<kTangent>(row) =
          weight_ * d.along_parameters;
    }
  }

  const estimator::StepResidual& residual_;
  double control_;
  double step_;
  double weight_;
};

/// Cost of the weighted constraint violation rates G v of a full state, with constraint Jacobian G
/// and velocity v.
class ViolationRateCost : public ceres::CostFunction {
 public:
  ViolationRateCost(const estimator::Mechanism& mechanism, Eigen::VectorXd weights)
      : mechanism_(mechanism), values_(unpack(mechanism)), weights_(std::move(weights)) {
    set_num_residuals(static_cast<int>(weights_.size()));
    *mutable_parameter_block_sizes() = {kFullAmbient};
  }

  bool Evaluate(const double* const* x, double* r, double** jacobians) const override {
    const Poses poses = read(x[0]);
    const Eigen::Map<const Velocity> v(x[0] + kAmbient);
    const Eigen::MatrixXd G =
        constraint_jacobian(mechanism_, values_, {poses.begin(), poses.end()});
    Eigen::Map<Eigen::VectorXd>(r, weights_.size()) = weights_.cwiseProduct(G * v);
    if (jacobians == nullptr || jacobians[0] == nullptr) return true;
    RowMajorMap out(jacobians[0], weights_.size(), kFullAmbient);
    out.setZero();
    out.rightCols<kTangent>() = G;
    for (int j = 0; j < mechanism_.joint_count(); ++j) add_turns(j, poses, v, out);
    out = (weights_.asDiagonal() * out).eval();
    return true;
  }

 private:
  // Adds d(G v) along the bodies' rotations at fixed v.
  void add_turns(int j, const Poses& poses, const Velocity& v, RowMajorMap& out) const {
    const auto at = static_cast<std::size_t>(j);
    const estimator::Joint& joint = mechanism_.joints[at];
    const bool ground = joint.body_a == estimator::Joint::kGround;
    const estimator::Pose a =
        ground ? estimator::Pose{} : poses[static_cast<std::size_t>(joint.body_a)];
    const estimator::Pose& b = poses[static_cast<std::size_t>(joint.body_b)];
    const estimator::JointGeometry geometry = make_joint_geometry(
        joint, values_.joints[at], a.r, a.e.toRotationMatrix(), b.r, b.e.toRotationMatrix());
    Eigen::Vector3d omega_a = Eigen::Vector3d::Zero();
    if (!ground) omega_a = v.segment<3>(6 * joint.body_a + 3);
    const estimator::JointRowRotation turn =
        joint_row_rotation(geometry, omega_a, v.segment<3>(6 * joint.body_b + 3));
    out.block<5, 3>(5 * j, 7 * joint.body_b + 3) = turn.b;
    if (!ground) out.block<5, 3>(5 * j, 7 * joint.body_a + 3) = turn.a;
  }

  const estimator::Mechanism& mechanism_;
  const estimator::ModelValues values_;
  const Eigen::VectorXd weights_;
};

}  // namespace test_support
