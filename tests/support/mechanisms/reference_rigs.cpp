#include "tests/support/mechanisms/reference_rigs.hpp"

#include <cmath>
#include <random>
#include <utility>

#include "tests/support/mechanisms/example_mechanisms.hpp"

namespace test_support {

using estimator::JointParameter;
using estimator::Mechanism;
using estimator::Parameter;

void set_free(Mechanism& mechanism, const std::vector<std::string>& names) {
  for (const std::string& name : names) parameter_of(mechanism, name).free = true;
}

Mechanism freed(Mechanism mechanism, const std::vector<std::string>& names, double factor) {
  set_free(mechanism, names);
  for (const std::string& name : names) parameter_of(mechanism, name).value *= factor;
  return mechanism;
}

void free_parameters(Mechanism& mechanism, const std::vector<std::string>& names,
                     double inertia_factor) {
  set_free(mechanism, names);
  for (const std::string& name : names) {
    parameter_of(mechanism, name).value *=
        name.find(".J_") != std::string::npos ? inertia_factor : 0.5;
  }
}

void add_slip(Mechanism& mechanism, estimator::Segment& segment, int sensor, int row, double start,
              const std::string& name) {
  Parameter slip{.name = name, .unit = "rad", .value = start};
  slip.free = true;
  segment.shifts.push_back({sensor, row, static_cast<int>(mechanism.parameters.size())});
  mechanism.parameters.push_back(slip);
}

void place_stop(Mechanism& mechanism, int joint, double side, double position, double restitution) {
  using estimator::JointParameter;
  estimator::Joint& at = mechanism.joints[static_cast<std::size_t>(joint)];
  (side > 0.0 ? at.stops.lower : at.stops.upper) = true;
  mechanism
      .joint_parameter(joint, side > 0.0 ? JointParameter::kStopLower : JointParameter::kStopUpper)
      .value = position;
  mechanism.joint_parameter(joint, JointParameter::kRestitution).value = restitution;
}

Mechanism mechanism_of(const ReferenceFuruta& rig) {
  Mechanism mechanism = estimator::make_furuta({.mass_A = rig.m_A,
                                                .mass_B = rig.m_B,
                                                .distance_A = rig.l_1,
                                                .arm_length = rig.L_arm,
                                                .distance_B = rig.l_2,
                                                .inertia_A = {1e-4, rig.J_Azz, rig.J_Azz},
                                                .inertia_B = {rig.J_Bxx, rig.J_Byy, rig.J_Bzz}});
  for (const auto& [name, value] : {std::pair{"1.J_shaft", rig.J_shaft},
                                    {"1.b", rig.b_1},
                                    {"2.b", rig.b_2},
                                    {"1.tau_c", rig.tau_c1},
                                    {"2.tau_c", rig.tau_c2},
                                    {"1.K", rig.K},
                                    {"1.k_e", rig.k_e},
                                    {"gravity.tilt_x", rig.tilt.x()},
                                    {"gravity.tilt_z", rig.tilt.z()},
                                    {"gravity.g", rig.g}}) {
    parameter_of(mechanism, name).value = value;
  }
  return mechanism;
}

Mechanism pendulum_of(const ReferencePendulum& rig) {
  Mechanism mechanism =
      estimator::make_pendulum({.mass = rig.m, .distance = rig.l, .inertia_swing = rig.J});
  mechanism.parameter(estimator::GravityParameter::kGravity).value = rig.g;
  mechanism.joint_parameter(0, JointParameter::kStribeckTorque).lower = -1.0;
  for (const auto& [quantity, value] : {std::pair{JointParameter::kViscous, rig.b},
                                        {JointParameter::kQuadraticDrag, rig.c},
                                        {JointParameter::kCoulombTorque, rig.tau_c},
                                        {JointParameter::kStribeckTorque, rig.tau_s - rig.tau_c},
                                        {JointParameter::kStribeckRate, rig.zeta}}) {
    mechanism.joint_parameter(0, quantity).value = value;
  }
  return mechanism;
}

ReferenceFuruta viscous_furuta() { return {.b_1 = 2e-3, .b_2 = 2e-4, .K = 0.07}; }

Mechanism free_furuta(const ReferenceFuruta& rig, double inertia_factor) {
  Mechanism mechanism = mechanism_of(rig);
  free_parameters(mechanism, {"A.J_zz", "B.J_yy", "1.b", "2.b", "1.K"}, inertia_factor);
  return mechanism;
}

Eigen::VectorXd two_sines(int count, double period) {
  return sampled(count, period,
                 [](double t) { return 1.5 * (std::sin(3.0 * t) + std::sin(11.3 * t + 1.0)); });
}

Eigen::VectorXd three_sines(int count, double period) {
  return sampled(count, period, [](double t) {
    return 1.2 * (std::sin(3.1 * t) + std::sin(7.3 * t + 1.0) + std::sin(11.9 * t + 2.0));
  });
}

Eigen::MatrixXd with_noise(Eigen::MatrixXd angles, double deviation, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal(0.0, deviation);
  for (double& angle : angles.reshaped()) angle += normal(random);
  return angles;
}

estimator::Segment undriven(const Eigen::MatrixXd& angles, double period) {
  estimator::Segment segment;
  segment.period = period;
  segment.angles = angles;
  segment.controls.resize(angles.rows(), 0);
  return segment;
}

estimator::Recording record(const ReferenceFuruta& rig, const Eigen::Vector4d& start,
                            const Eigen::VectorXd& control, double period, double noise,
                            unsigned seed) {
  const Eigen::MatrixXd motion = simulate(rig, start, control, period);
  estimator::Segment segment =
      undriven(with_noise(motion.topRows(control.size()).leftCols(2), noise, seed), period);
  segment.controls = control;
  return {"reference", {segment}};
}

estimator::Recording swing(const ReferencePendulum& rig, const std::string& name, double angle,
                           int samples, double period, double noise, unsigned seed) {
  const Eigen::MatrixXd motion = simulate(rig, Eigen::Vector2d(angle, 0.0), period, samples);
  return {name, {undriven(with_noise(motion.col(0), noise, seed), period)}};
}

}  // namespace test_support
