#pragma once

#include <Eigen/Core>
#include <Eigen/Geometry>
#include <vector>

#include "estimator/math/so3.hpp"
#include "estimator/model/placement.hpp"

namespace test_support {

/// Load that a joint transmits to its body b, about its point there, in that body's frame.
struct NewtonLoad {
  Eigen::Vector3d moment, force;  // [N·m], [N]
};

/// Returns the loads of all joints of a mechanism without loops, from Newton's and Euler's laws for
/// all bodies beyond each joint. Uses differences of the bodies' poses, as a reference without
/// recursion, velocities or accelerations.
inline std::vector<NewtonLoad> newton_loads(const estimator::Mechanism& mechanism,
                                            const Eigen::VectorXd& angle,
                                            const Eigen::VectorXd& rate,
                                            const Eigen::VectorXd& acceleration) {
  constexpr double kStep = 2e-4;  // [s]; truncation 1e-6, round-off 1e-8
  estimator::Configuration at[5];
  for (int i = 0; i < 5; ++i) {
    const double t = 0.5 * (i - 2) * kStep;
    at[i] = estimator::place_bodies(mechanism,
                                    Eigen::VectorXd(angle + t * rate + 0.5 * t * t * acceleration));
  }
  const int bodies = mechanism.body_count();
  std::vector<Eigen::Vector3d> forces, torques;
  for (int b = 0; b < bodies; ++b) {
    using estimator::BodyParameter;
    const auto value = [&](BodyParameter quantity) {
      return mechanism.parameter(b, quantity).value;
    };
    Eigen::Matrix3d J;
    J << value(BodyParameter::kJxx), value(BodyParameter::kJxy), value(BodyParameter::kJxz),
        value(BodyParameter::kJxy), value(BodyParameter::kJyy), value(BodyParameter::kJyz),
        value(BodyParameter::kJxz), value(BodyParameter::kJyz), value(BodyParameter::kJzz);
    const auto pose = [&](int i) { return at[i][static_cast<std::size_t>(b)]; };
    const Eigen::Vector3d a = (pose(4).r - 2.0 * pose(2).r + pose(0).r) / (kStep * kStep);
    const auto momentum = [&](int from) {  // between two instants a step apart
      const Eigen::Vector3d omega =
          estimator::log_so3(pose(from + 2).e * pose(from).e.conjugate()) / kStep;
      const Eigen::Matrix3d R = pose(from + 1).e.toRotationMatrix();
      return Eigen::Vector3d(R * J * R.transpose() * omega);
    };
    forces.push_back(value(BodyParameter::kMass) * (a - estimator::gravity_vector(mechanism)));
    torques.push_back((momentum(2) - momentum(0)) / kStep);
  }
  std::vector<NewtonLoad> loads;
  for (int j = 0; j < mechanism.joint_count(); ++j) {
    // Bodies that are connected to the ground without this joint.
    std::vector<bool> held(static_cast<std::size_t>(bodies) + 1, false);
    held[0] = true;  // the ground, before the bodies
    for (int round = 0; round <= bodies; ++round) {
      for (int i = 0; i < mechanism.joint_count(); ++i) {
        const estimator::Joint& joint = mechanism.joints[static_cast<std::size_t>(i)];
        if (i == j) continue;
        const auto a = static_cast<std::size_t>(joint.body_a + 1);
        const auto b = static_cast<std::size_t>(joint.body_b + 1);
        held[a] = held[b] = held[a] || held[b];
      }
    }
    const int own = mechanism.joints[static_cast<std::size_t>(j)].body_b;
    const auto& pose = at[2][static_cast<std::size_t>(own)];
    const Eigen::Vector3d point = pose.r + pose.e * estimator::joint_point(mechanism, j, true);
    NewtonLoad load{Eigen::Vector3d::Zero(), Eigen::Vector3d::Zero()};
    for (std::size_t b = 0; b < static_cast<std::size_t>(bodies); ++b) {
      if (held[b + 1]) continue;
      load.force += forces[b];
      load.moment += torques[b] + (at[2][b].r - point).cross(forces[b]);
    }
    // The bodies beyond the joint may include its body a.
    const double sign = held[static_cast<std::size_t>(own) + 1] ? -1.0 : 1.0;
    load.force = sign * (pose.e.conjugate() * load.force);
    load.moment = sign * (pose.e.conjugate() * load.moment);
    loads.push_back(load);
  }
  return loads;
}

}  // namespace test_support
