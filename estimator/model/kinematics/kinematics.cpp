#include "estimator/model/kinematics/kinematics.hpp"

#include <cmath>

#include "estimator/math/decompositions.hpp"
#include "estimator/model/moments.hpp"

namespace estimator {
namespace {

JointParameterValues unpack_joint(const Mechanism& mechanism, int joint) {
  const auto value = [&](JointParameter quantity) {
    return mechanism.joint_parameter(joint, quantity).value;
  };
  JointParameterValues values;
  values.point_a = joint_point(mechanism, joint, false);
  values.point_b = joint_point(mechanism, joint, true);
  values.viscous = value(JointParameter::kViscous);
  values.quadratic_drag = value(JointParameter::kQuadraticDrag);
  values.coulomb_torque = value(JointParameter::kCoulombTorque);
  values.stribeck_torque = value(JointParameter::kStribeckTorque);
  values.stribeck_rate = value(JointParameter::kStribeckRate);
  values.load_friction = value(JointParameter::kLoadFriction);
  values.load_friction_angular = value(JointParameter::kLoadFrictionAngular);
  values.constant_torque = value(JointParameter::kConstantTorque);
  values.stiffness = value(JointParameter::kStiffness);
  values.rest_angle = value(JointParameter::kRestAngle);
  values.motor_gain = value(JointParameter::kMotorGain);
  values.shaft_inertia = value(JointParameter::kShaftInertia);
  values.back_emf = value(JointParameter::kBackEmf);
  values.input_delay = value(JointParameter::kInputDelay);
  return values;
}

/// Computes the gravity vector and its derivatives.
void unpack_gravity(const Mechanism& mechanism, ModelParameterValues& values) {
  constexpr GravityParameter kQuantities[] = {GravityParameter::kGravity, GravityParameter::kTiltX,
                                              GravityParameter::kTiltZ};
  Dual inputs[3];
  for (int k = 0; k < 3; ++k) {
    inputs[k] = Dual(mechanism.parameter(kQuantities[k]).value, kDualLanes, k);
  }
  const Eigen::Matrix<Dual, 3, 1> gravity = gravity_vector(inputs[0], inputs[1], inputs[2]);
  for (int i = 0; i < 3; ++i) {
    values.gravity[i] = gravity[i].value();
    values.gravity_jacobian.row(i) = gravity[i].derivatives().head<3>();
  }
}

constexpr int kMaxProjections = 20;
constexpr double kViolationTolerance = 1e-12;  // [m | rad]

Eigen::Quaterniond frame_in_world(int body, const Eigen::Matrix3d& frame, const Configuration& q) {
  const Eigen::Quaterniond local(frame);
  return body == Joint::kGround ? local : q[body].e * local;
}

const Pose& pose_of(int body, const Pose* poses) {
  static const Pose kGroundPose;
  return body == Joint::kGround ? kGroundPose : poses[body];
}

JointGeometry geometry_of(const Mechanism& mechanism, const ModelParameterValues& values,
                          const Pose* poses, int index) {
  const Joint& joint = mechanism.joints[index];
  const Pose &a = pose_of(joint.body_a, poses), &b = pose_of(joint.body_b, poses);
  return make_joint_geometry(joint, values.joints[index], a.r, a.e.toRotationMatrix(), b.r,
                             b.e.toRotationMatrix());
}

/// Returns the angle of a rotation about the x axis, in [−π, π].
double twist_angle(const Eigen::Quaterniond& q) {
  return wrap_angle_difference(2.0 * std::atan2(q.x(), q.w()));
}

}  // namespace

ModelParameterValues unpack_parameters(const Mechanism& mechanism) {
  ModelParameterValues values;
  for (int i = 0; i < mechanism.body_count(); ++i) {
    values.bodies.push_back({mechanism.parameter(i, BodyParameter::kMass).value,
                             inertia_matrix(moments_of_inertia(mechanism, i))});
  }
  for (int j = 0; j < mechanism.joint_count(); ++j) {
    values.joints.push_back(unpack_joint(mechanism, j));
  }
  unpack_gravity(mechanism, values);
  return values;
}

double joint_angle(const Joint& joint, const Configuration& q) {
  return joint_angle(joint, q.data());
}

double joint_angle(const Joint& joint, const Pose* poses) {
  return joint_angle(joint, pose_of(joint.body_a, poses), poses[joint.body_b]);
}

double joint_angle(const Joint& joint, const Pose& a, const Pose& b) {
  const Eigen::Quaterniond relative = Eigen::Quaterniond(joint.frame_a).conjugate() *
                                      a.e.conjugate() * b.e * Eigen::Quaterniond(joint.frame_b);
  return twist_angle(relative);
}

JointAngleJacobian joint_angle_jacobian(const Joint& joint, const Pose* poses) {
  const Pose &a = pose_of(joint.body_a, poses), &b = poses[joint.body_b];
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
    angles[j] = joint_angle(mechanism.joints[j], q);
  }
  return angles;
}

Eigen::VectorXd constraint_violation(const Mechanism& mechanism, const ModelParameterValues& values,
                                     const Configuration& q) {
  Eigen::VectorXd g(5 * mechanism.joint_count());
  for (int j = 0; j < mechanism.joint_count(); ++j) {
    g.segment<5>(5 * j) = geometry_of(mechanism, values, q.data(), j).g;
  }
  return g;
}

Eigen::MatrixXd constraint_jacobian(const Mechanism& mechanism, const ModelParameterValues& values,
                                    const Configuration& q) {
  Eigen::MatrixXd G =
      Eigen::MatrixXd::Zero(5 * mechanism.joint_count(), 6 * mechanism.body_count());
  for (int j = 0; j < mechanism.joint_count(); ++j) {
    const Joint& joint = mechanism.joints[j];
    const JointGeometry geometry = geometry_of(mechanism, values, q.data(), j);
    if (joint.body_a != Joint::kGround) {
      G.block<5, 6>(5 * j, 6 * joint.body_a) = constraint_rows(geometry, false);
    }
    G.block<5, 6>(5 * j, 6 * joint.body_b) = constraint_rows(geometry, true);
  }
  return G;
}

Eigen::MatrixXd constraint_rate_jacobian(const Mechanism& mechanism,
                                         const ModelParameterValues& values, const Pose* poses,
                                         const Eigen::VectorXd& velocity) {
  Eigen::MatrixXd turn = Eigen::MatrixXd::Zero(5 * mechanism.joint_count(), velocity.size());
  for (int j = 0; j < mechanism.joint_count(); ++j) {
    const Joint& joint = mechanism.joints[j];
    const bool ground = joint.body_a == Joint::kGround;
    const Eigen::Vector3d omega_a =
        ground ? Eigen::Vector3d::Zero().eval() : velocity.segment<3>(6 * joint.body_a + 3).eval();
    const ConstraintRowDerivatives rows =
        constraint_row_derivatives(geometry_of(mechanism, values, poses, j), omega_a,
                                   velocity.segment<3>(6 * joint.body_b + 3));
    turn.block<5, 3>(5 * j, 6 * joint.body_b + 3) += rows.b;
    if (!ground) turn.block<5, 3>(5 * j, 6 * joint.body_a + 3) += rows.a;
  }
  return turn;
}

void project_to_constraints(const Mechanism& mechanism, const ModelParameterValues& values,
                            Configuration& q) {
  for (int round = 0; round < kMaxProjections; ++round) {
    const Eigen::VectorXd g = constraint_violation(mechanism, values, q);
    if (g.cwiseAbs().maxCoeff() < kViolationTolerance) return;
    const Eigen::MatrixXd G = constraint_jacobian(mechanism, values, q);
    const Eigen::VectorXd delta = -least_squares(G, g);
    for (int i = 0; i < mechanism.body_count(); ++i) {
      auto& pose = q[i];
      pose = apply_pose_increment(pose, delta.segment<6>(6 * i));
    }
  }
}

Configuration assemble_configuration(const Mechanism& mechanism, const ModelParameterValues& values,
                                     const Eigen::VectorXd& angles) {
  Configuration q = place_bodies(mechanism, angles);
  project_to_constraints(mechanism, values, q);
  return q;
}

State assemble_state(const Mechanism& mechanism, const ModelParameterValues& values,
                     const Eigen::VectorXd& angles, const Eigen::VectorXd& rates) {
  State state;
  state.poses = assemble_configuration(mechanism, values, angles);
  const Eigen::MatrixXd G = constraint_jacobian(mechanism, values, state.poses);
  // Solve G v = 0 together with axis·(ω_b − ω_a) = rate on the spanning tree, least norm.
  const std::vector<DirectedJoint> tree = spanning_tree(mechanism);
  const auto tree_size = static_cast<Eigen::Index>(tree.size());
  Eigen::MatrixXd system = Eigen::MatrixXd::Zero(G.rows() + tree_size, G.cols());
  Eigen::VectorXd target = Eigen::VectorXd::Zero(G.rows() + tree_size);
  system.topRows(G.rows()) = G;
  for (Eigen::Index i = 0; i < tree_size; ++i) {
    const Joint& joint = mechanism.joints[tree[i].joint];
    const Eigen::RowVector3d axis =
        (frame_in_world(joint.body_b, joint.frame_b, state.poses) * Eigen::Vector3d::UnitX())
            .transpose();
    system.block<1, 3>(G.rows() + i, 6 * joint.body_b + 3) = axis;
    if (joint.body_a != Joint::kGround) {
      system.block<1, 3>(G.rows() + i, 6 * joint.body_a + 3) = -axis;
    }
    target[G.rows() + i] = rates[tree[i].joint];
  }
  state.velocity = least_squares(system, target);
  return state;
}

}  // namespace estimator
