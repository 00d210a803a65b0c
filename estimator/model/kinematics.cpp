#include "estimator/model/kinematics.hpp"

#include <cmath>

#include "estimator/math/decompositions.hpp"
#include "estimator/math/so3.hpp"
#include "estimator/model/hinge_geometry.hpp"
#include "estimator/model/spanning_tree.hpp"

namespace estimator {
namespace {

constexpr int kMaxProjections = 20;
constexpr double kViolationTolerance = 1e-12;  // [m | rad]

Eigen::Quaterniond frame_in_world(int body, const Eigen::Matrix3d& frame, const Configuration& q) {
  const Eigen::Quaterniond local(frame);
  return body == Hinge::kGround ? local : q[static_cast<std::size_t>(body)].e * local;
}

const Pose& pose_of(int body, const Configuration& q) {
  static const Pose kGroundPose;
  return body == Hinge::kGround ? kGroundPose : q[static_cast<std::size_t>(body)];
}

/// Rotation angle about x, in [−π, π].
double twist_angle(const Eigen::Quaterniond& q) {
  return turn_difference(2.0 * std::atan2(q.x(), q.w()));
}

void place_body(const Hinge& hinge, const HingeValues& values, double angle, bool forward,
                Configuration& q) {
  const Eigen::Quaterniond turn = exp_so3({angle, 0.0, 0.0});
  if (forward) {
    Pose& b = q[static_cast<std::size_t>(hinge.body_b)];
    const Pose& a = pose_of(hinge.body_a, q);
    b.e = (frame_in_world(hinge.body_a, hinge.frame_a, q) * turn *
           Eigen::Quaterniond(hinge.frame_b).conjugate())
              .normalized();
    b.r = a.r + a.e * values.point_a - b.e * values.point_b;
  } else {
    Pose& a = q[static_cast<std::size_t>(hinge.body_a)];
    const Pose& b = pose_of(hinge.body_b, q);
    a.e = (frame_in_world(hinge.body_b, hinge.frame_b, q) * turn.conjugate() *
           Eigen::Quaterniond(hinge.frame_a).conjugate())
              .normalized();
    a.r = b.r + b.e * values.point_b - a.e * values.point_a;
  }
}

}  // namespace

double hinge_angle(const Hinge& hinge, const Configuration& q) {
  return hinge_angle(hinge, q.data());
}

double hinge_angle(const Hinge& hinge, const Pose* poses) {
  return hinge_angle(hinge, hinge.body_a == Hinge::kGround ? Pose{} : poses[hinge.body_a],
                     poses[hinge.body_b]);
}

HingeAngleJacobian hinge_angle_jacobian(const Hinge& hinge, const Pose* poses) {
  return hinge_angle_jacobian(hinge, hinge.body_a == Hinge::kGround ? Pose{} : poses[hinge.body_a],
                              poses[hinge.body_b]);
}

double hinge_angle(const Hinge& hinge, const Pose& a, const Pose& b) {
  const Eigen::Quaterniond relative = Eigen::Quaterniond(hinge.frame_a).conjugate() *
                                      a.e.conjugate() * b.e * Eigen::Quaterniond(hinge.frame_b);
  return twist_angle(relative);
}

HingeAngleJacobian hinge_angle_jacobian(const Hinge& hinge, const Pose& a, const Pose& b) {
  const Eigen::Quaterniond Q_a = a.e * Eigen::Quaterniond(hinge.frame_a);
  const Eigen::Quaterniond relative = Q_a.conjugate() * b.e * Eigen::Quaterniond(hinge.frame_b);
  // d(relative) = ½ (0, β) ⋆ relative with β = R_aᵀ (δψ_b − δψ_a); θ = 2 atan2(x, s).
  const double s = relative.w(), x = relative.x(), y = relative.y(), z = relative.z();
  const Eigen::RowVector3d ds(-x, -y, -z);
  const Eigen::RowVector3d dx(s, z, -y);
  const Eigen::RowVector3d along_beta = (s * dx - x * ds) / (x * x + s * s);
  HingeAngleJacobian jacobian;
  jacobian.angle = twist_angle(relative);
  jacobian.b = along_beta * Q_a.conjugate().toRotationMatrix();
  jacobian.a =
      hinge.body_a == Hinge::kGround ? Eigen::RowVector3d::Zero().eval() : (-jacobian.b).eval();
  return jacobian;
}

Eigen::VectorXd hinge_angles(const Mechanism& mechanism, const Configuration& q) {
  Eigen::VectorXd angles(mechanism.hinge_count());
  for (int j = 0; j < mechanism.hinge_count(); ++j) {
    angles[j] = hinge_angle(mechanism.hinges[static_cast<std::size_t>(j)], q);
  }
  return angles;
}

Eigen::VectorXd constraint_violation(const Mechanism& mechanism, const ModelValues& values,
                                     const Configuration& q) {
  Eigen::VectorXd g(5 * mechanism.hinge_count());
  for (int j = 0; j < mechanism.hinge_count(); ++j) {
    const Hinge& hinge = mechanism.hinges[static_cast<std::size_t>(j)];
    const Pose& a = pose_of(hinge.body_a, q);
    const Pose& b = pose_of(hinge.body_b, q);
    g.segment<5>(5 * j) =
        make_hinge_geometry(hinge, values.hinges[static_cast<std::size_t>(j)], a.r,
                            a.e.toRotationMatrix(), b.r, b.e.toRotationMatrix())
            .g;
  }
  return g;
}

Eigen::MatrixXd constraint_jacobian(const Mechanism& mechanism, const ModelValues& values,
                                    const Configuration& q) {
  Eigen::MatrixXd G =
      Eigen::MatrixXd::Zero(5 * mechanism.hinge_count(), 6 * mechanism.body_count());
  for (int j = 0; j < mechanism.hinge_count(); ++j) {
    const Hinge& hinge = mechanism.hinges[static_cast<std::size_t>(j)];
    const Pose& a = pose_of(hinge.body_a, q);
    const Pose& b = pose_of(hinge.body_b, q);
    const HingeGeometry geometry =
        make_hinge_geometry(hinge, values.hinges[static_cast<std::size_t>(j)], a.r,
                            a.e.toRotationMatrix(), b.r, b.e.toRotationMatrix());
    if (hinge.body_a != Hinge::kGround)
      G.block<5, 6>(5 * j, 6 * hinge.body_a) = hinge_rows_a(geometry);
    G.block<5, 6>(5 * j, 6 * hinge.body_b) = hinge_rows_b(geometry);
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
    const auto j = static_cast<std::size_t>(edge.hinge);
    place_body(mechanism.hinges[j], values.hinges[j], angles[edge.hinge], edge.forward, q);
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
    const Hinge& hinge =
        mechanism.hinges[static_cast<std::size_t>(tree[static_cast<std::size_t>(i)].hinge)];
    const Eigen::RowVector3d axis =
        (frame_in_world(hinge.body_b, hinge.frame_b, state.poses) * Eigen::Vector3d::UnitX())
            .transpose();
    system.block<1, 3>(G.rows() + i, 6 * hinge.body_b + 3) = axis;
    if (hinge.body_a != Hinge::kGround) {
      system.block<1, 3>(G.rows() + i, 6 * hinge.body_a + 3) = -axis;
    }
    target[G.rows() + i] = rates[tree[static_cast<std::size_t>(i)].hinge];
  }
  state.velocity = least_squares(system, target);
  return state;
}

}  // namespace estimator
