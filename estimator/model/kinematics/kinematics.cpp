#include "estimator/model/kinematics/kinematics.hpp"

#include <cmath>

#include "estimator/math/decompositions.hpp"
#include "estimator/math/so3.hpp"
#include "estimator/model/kinematics/joint_geometry.hpp"
#include "estimator/model/spanning_tree.hpp"

namespace estimator {
namespace {

constexpr int kMaxProjections = 20;
constexpr double kViolationTolerance = 1e-12;  // [m | rad]

Eigen::Quaterniond frame_in_world(int body, const Eigen::Matrix3d& frame, const Configuration& q) {
  const Eigen::Quaterniond local(frame);
  return body == Joint::kGround ? local : q[static_cast<std::size_t>(body)].e * local;
}

const Pose& pose_of(int body, const Configuration& q) {
  static const Pose kGroundPose;
  return body == Joint::kGround ? kGroundPose : q[static_cast<std::size_t>(body)];
}

/// Returns the angle of a rotation about the x axis, in [−π, π].
double twist_angle(const Eigen::Quaterniond& q) {
  return wrapped_difference(2.0 * std::atan2(q.x(), q.w()));
}

void place_body(const Joint& joint, const JointValues& values, double angle, bool forward,
                Configuration& q) {
  const Eigen::Quaterniond turn = exp_so3({angle, 0.0, 0.0});
  if (forward) {
    Pose& b = q[static_cast<std::size_t>(joint.body_b)];
    const Pose& a = pose_of(joint.body_a, q);
    b.e = (frame_in_world(joint.body_a, joint.frame_a, q) * turn *
           Eigen::Quaterniond(joint.frame_b).conjugate())
              .normalized();
    b.r = a.r + a.e * values.point_a - b.e * values.point_b;
  } else {
    Pose& a = q[static_cast<std::size_t>(joint.body_a)];
    const Pose& b = pose_of(joint.body_b, q);
    a.e = (frame_in_world(joint.body_b, joint.frame_b, q) * turn.conjugate() *
           Eigen::Quaterniond(joint.frame_a).conjugate())
              .normalized();
    a.r = b.r + b.e * values.point_b - a.e * values.point_a;
  }
}

}  // namespace

double joint_angle(const Joint& joint, const Configuration& q) {
  return joint_angle(joint, q.data());
}

double joint_angle(const Joint& joint, const Pose* poses) {
  return joint_angle(joint, joint.body_a == Joint::kGround ? Pose{} : poses[joint.body_a],
                     poses[joint.body_b]);
}

JointAngleJacobian joint_angle_jacobian(const Joint& joint, const Pose* poses) {
  return joint_angle_jacobian(joint, joint.body_a == Joint::kGround ? Pose{} : poses[joint.body_a],
                              poses[joint.body_b]);
}

double joint_angle(const Joint& joint, const Pose& a, const Pose& b) {
  const Eigen::Quaterniond relative = Eigen::Quaterniond(joint.frame_a).conjugate() *
                                      a.e.conjugate() * b.e * Eigen::Quaterniond(joint.frame_b);
  return twist_angle(relative);
}

JointAngleJacobian joint_angle_jacobian(const Joint& joint, const Pose& a, const Pose& b) {
  const Eigen::Quaterniond Q_a = a.e * Eigen::Quaterniond(joint.frame_a);
  const Eigen::Quaterniond relative = Q_a.conjugate() * b.e * Eigen::Quaterniond(joint.frame_b);
  // d(relative) = ½ (0, β) ⋆ relative with β = R_aᵀ (δψ_b − δψ_a); θ = 2 atan2(x, s).
  const double s = relative.w(), x = relative.x(), y = relative.y(), z = relative.z();
  const Eigen::RowVector3d ds(-x, -y, -z);
  const Eigen::RowVector3d dx(s, z, -y);
  const Eigen::RowVector3d along_beta = (s * dx - x * ds) / (x * x + s * s);
  JointAngleJacobian jacobian;
  jacobian.angle = twist_angle(relative);
  jacobian.b = along_beta * Q_a.conjugate().toRotationMatrix();
  jacobian.a =
      joint.body_a == Joint::kGround ? Eigen::RowVector3d::Zero().eval() : (-jacobian.b).eval();
  return jacobian;
}

Eigen::VectorXd joint_angles(const Mechanism& mechanism, const Configuration& q) {
  Eigen::VectorXd angles(mechanism.joint_count());
  for (int j = 0; j < mechanism.joint_count(); ++j) {
    angles[j] = joint_angle(mechanism.joints[static_cast<std::size_t>(j)], q);
  }
  return angles;
}

Eigen::VectorXd constraint_violation(const Mechanism& mechanism, const ModelValues& values,
                                     const Configuration& q) {
  Eigen::VectorXd g(5 * mechanism.joint_count());
  for (int j = 0; j < mechanism.joint_count(); ++j) {
    const Joint& joint = mechanism.joints[static_cast<std::size_t>(j)];
    const Pose& a = pose_of(joint.body_a, q);
    const Pose& b = pose_of(joint.body_b, q);
    g.segment<5>(5 * j) =
        make_joint_geometry(joint, values.joints[static_cast<std::size_t>(j)], a.r,
                            a.e.toRotationMatrix(), b.r, b.e.toRotationMatrix())
            .g;
  }
  return g;
}

Eigen::MatrixXd constraint_jacobian(const Mechanism& mechanism, const ModelValues& values,
                                    const Configuration& q) {
  Eigen::MatrixXd G =
      Eigen::MatrixXd::Zero(5 * mechanism.joint_count(), 6 * mechanism.body_count());
  for (int j = 0; j < mechanism.joint_count(); ++j) {
    const Joint& joint = mechanism.joints[static_cast<std::size_t>(j)];
    const Pose& a = pose_of(joint.body_a, q);
    const Pose& b = pose_of(joint.body_b, q);
    const JointGeometry geometry =
        make_joint_geometry(joint, values.joints[static_cast<std::size_t>(j)], a.r,
                            a.e.toRotationMatrix(), b.r, b.e.toRotationMatrix());
    if (joint.body_a != Joint::kGround)
      G.block<5, 6>(5 * j, 6 * joint.body_a) = joint_rows_a(geometry);
    G.block<5, 6>(5 * j, 6 * joint.body_b) = joint_rows_b(geometry);
  }
  return G;
}

void project_to_constraints(const Mechanism& mechanism, const ModelValues& values,
                            Configuration& q) {
  for (int round = 0; round < kMaxProjections; ++round) {
    const Eigen::VectorXd g = constraint_violation(mechanism, values, q);
    if (g.cwiseAbs().maxCoeff() < kViolationTolerance) return;
    const Eigen::MatrixXd G = constraint_jacobian(mechanism, values, q);
    const Eigen::VectorXd delta = -least_squares(G, g);
    for (int i = 0; i < mechanism.body_count(); ++i) {
      auto& pose = q[static_cast<std::size_t>(i)];
      pose = retract(pose, delta.segment<6>(6 * i));
    }
  }
}

Configuration assemble(const Mechanism& mechanism, const ModelValues& values,
                       const Eigen::VectorXd& angles) {
  Configuration q(mechanism.bodies.size());
  for (const TreeEdge& edge : spanning_tree(mechanism)) {
    const auto j = static_cast<std::size_t>(edge.joint);
    place_body(mechanism.joints[j], values.joints[j], angles[edge.joint], edge.forward, q);
  }
  project_to_constraints(mechanism, values, q);
  return q;
}

State assemble_state(const Mechanism& mechanism, const ModelValues& values,
                     const Eigen::VectorXd& angles, const Eigen::VectorXd& rates) {
  State state;
  state.poses = assemble(mechanism, values, angles);
  const Eigen::MatrixXd G = constraint_jacobian(mechanism, values, state.poses);
  // Solve G v = 0 together with axis·(ω_b − ω_a) = rate on the spanning tree, least norm.
  const std::vector<TreeEdge> tree = spanning_tree(mechanism);
  const auto tree_size = static_cast<Eigen::Index>(tree.size());
  Eigen::MatrixXd system = Eigen::MatrixXd::Zero(G.rows() + tree_size, G.cols());
  Eigen::VectorXd target = Eigen::VectorXd::Zero(G.rows() + tree_size);
  system.topRows(G.rows()) = G;
  for (Eigen::Index i = 0; i < tree_size; ++i) {
    const Joint& joint =
        mechanism.joints[static_cast<std::size_t>(tree[static_cast<std::size_t>(i)].joint)];
    const Eigen::RowVector3d axis =
        (frame_in_world(joint.body_b, joint.frame_b, state.poses) * Eigen::Vector3d::UnitX())
            .transpose();
    system.block<1, 3>(G.rows() + i, 6 * joint.body_b + 3) = axis;
    if (joint.body_a != Joint::kGround) {
      system.block<1, 3>(G.rows() + i, 6 * joint.body_a + 3) = -axis;
    }
    target[G.rows() + i] = rates[tree[static_cast<std::size_t>(i)].joint];
  }
  state.velocity = least_squares(system, target);
  return state;
}

}  // namespace estimator
