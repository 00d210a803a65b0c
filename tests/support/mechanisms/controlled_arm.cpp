#include "tests/support/mechanisms/controlled_arm.hpp"

#include <cmath>
#include <numbers>
#include <random>
#include <utility>

#include "estimator/model/parameter_dependencies.hpp"
#include "estimator/simulation/interval/joint_dynamics.hpp"
#include "tests/support/mechanisms/example_mechanisms.hpp"

namespace test_support {
namespace {

using estimator::BodyParameter;
using estimator::Joint;
using estimator::JointParameter;
using estimator::Mechanism;

constexpr double kLink = 0.4;        // distance of the joints of a link [m]
constexpr double kSubstep = 5e-4;    // of the simulation [s]
constexpr int kSines = 4;

/// Makes the centre of mass of a body a parameter, on which the points of its joints depend.
void add_centre(Mechanism& arm, int body, const Eigen::Vector3d& centre) {
  for (int axis = 0; axis < 3; ++axis) {
    const int index = static_cast<int>(arm.parameters.size());
    arm.parameters.push_back({.name = arm.bodies[body].name + ".c_" + "xyz"[axis],
                              .unit = "m",
                              .value = centre[axis]});
    const auto depends = [&](int joint, JointParameter point, double from_joint) {
      const int parameter =
          arm.joint_parameter_index(joint, point) + axis;
      arm.dependencies.push_back({parameter, from_joint, {{index, -1.0}}});
    };
    depends(body, JointParameter::kPointBx, 0.0);
    if (body + 1 < arm.body_count()) {
      depends(body + 1, JointParameter::kPointAx, axis == 0 ? kLink : 0.0);
    }
  }
  estimator::apply_dependencies(arm);
}

}  // namespace

Mechanism make_arm(int links) {
  const Eigen::Vector3d x = Eigen::Vector3d::UnitX(), y = Eigen::Vector3d::UnitY(),
                        z = Eigen::Vector3d::UnitZ();
  Mechanism arm;
  arm.name = "arm";
  for (int i = 0; i < links; ++i) {
    arm.bodies.push_back({.name = "L" + std::to_string(i + 1)});
    Joint joint;
    joint.name = std::to_string(i + 1);
    joint.body_a = i - 1;
    joint.body_b = i;
    joint.frame_a = i == 0 ? estimator::make_joint_frame(y, x) : estimator::make_joint_frame(z, x);
    joint.frame_b = i == 0 ? estimator::make_joint_frame(y, x) : estimator::make_joint_frame(z, x);
    joint.motor.present = true;
    arm.joints.push_back(joint);
  }
  make_parameters(arm);
  for (int i = 0; i < links; ++i) {
    const double scale = 1.0 / (1.0 + i);
    arm.parameter(i, BodyParameter::kMass).value = 3.0 * scale;
    const double moments[] = {0.01, 0.05, 0.045, 0.002, -0.003, 0.001};
    for (int k = 0; k < 6; ++k) {
      arm.at(arm.index(i, BodyParameter::kJxx) + k).value = scale * moments[k];
    }
    arm.joint_parameter(i, JointParameter::kMotorGain).value = 1.0;
    arm.joint_parameter(i, JointParameter::kViscous).value = 0.5 * scale;
    arm.joint_parameter(i, JointParameter::kCoulombTorque).value = 0.8 * scale;
    add_centre(arm, i, {0.18, 0.02, -0.015});
  }
  return arm;
}

estimator::Recording record_arm(const Mechanism& arm, const ArmExperiment& experiment) {
  const int n = arm.joint_count();
  estimator::JointDynamics dynamics(arm);
  std::mt19937 random(experiment.seed);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> turn(0.0, 2.0 * std::numbers::pi);
  Eigen::MatrixXd phases(n, kSines);
  for (double& phase : phases.reshaped()) phase = turn(random);
  const auto reference = [&](int joint, double time, int derivative) {
    double sum = 0.0;
    for (int s = 0; s < kSines; ++s) {
      const double rate = 2.0 * std::numbers::pi * experiment.slowest *
                          (1.0 + s + 0.13 * joint);
      const double phase = rate * time + phases(joint, s) + 0.5 * std::numbers::pi * derivative;
      sum += experiment.swing / (1.0 + s) * std::pow(rate, derivative) * std::sin(phase);
    }
    return sum;
  };
  estimator::OperatingPoint point{Eigen::VectorXd(n), Eigen::VectorXd::Zero(n),
                                  Eigen::VectorXd::Zero(n)};
  for (int j = 0; j < n; ++j) point.coordinates[j] = reference(j, 0.0, 0);
  const Eigen::VectorXd inertia = dynamics.mass_matrix(point.coordinates).diagonal();
  const int samples = static_cast<int>(std::lround(experiment.duration / experiment.period));
  const int substeps = static_cast<int>(std::lround(experiment.period / kSubstep));
  estimator::Segment segment;
  segment.period = experiment.period;
  segment.angles.resize(samples, n);
  segment.controls.resize(samples, n);
  const auto derivative = [&](const Eigen::VectorXd& q, const Eigen::VectorXd& v) {
    return dynamics.accelerations({q, v, point.controls});
  };
  for (int k = 0; k < samples; ++k) {
    const double time = k * experiment.period;
    for (int j = 0; j < n; ++j) {
      const double wn = experiment.bandwidth;
      point.controls[j] =
          inertia[j] * (wn * wn * (reference(j, time, 0) - point.coordinates[j]) +
                        2.0 * wn * (reference(j, time, 1) - point.rates[j]));
      const auto& noise = experiment.torque_noise;
      segment.angles(k, j) = point.coordinates[j] + experiment.angle_noise * normal(random);
      segment.controls(k, j) =
          point.controls[j] +
          noise[std::min<std::size_t>(static_cast<std::size_t>(j), noise.size() - 1)] *
              normal(random);
    }
    for (int i = 0; i < substeps; ++i) {  // midpoint rule
      const Eigen::VectorXd a = derivative(point.coordinates, point.rates);
      const Eigen::VectorXd q = point.coordinates + 0.5 * kSubstep * point.rates;
      const Eigen::VectorXd v = point.rates + 0.5 * kSubstep * a;
      point.coordinates += kSubstep * v;
      point.rates += kSubstep * derivative(q, v);
    }
  }
  return {"arm", {segment}};
}

Mechanism free_arm(Mechanism arm, double factor) {
  for (int body = 1; body < arm.body_count(); ++body) {
    for (int i = 0; i < Mechanism::kBodyParameters; ++i) {
      estimator::Parameter& parameter = arm.at(arm.index(body, static_cast<BodyParameter>(i)));
      parameter.free = true;
      parameter.value *= factor;
    }
    const int centre = arm.find_parameter(arm.bodies[body].name + ".c_x");
    for (int axis = 0; axis < 3; ++axis) arm.at(centre + axis).free = true;
  }
  for (int j = 0; j < arm.joint_count(); ++j) {
    for (const JointParameter quantity :
         {JointParameter::kViscous, JointParameter::kCoulombTorque}) {
      estimator::Parameter& parameter = arm.joint_parameter(j, quantity);
      parameter.free = true;
      parameter.value *= 0.01;
    }
  }
  return arm;
}

}  // namespace test_support
