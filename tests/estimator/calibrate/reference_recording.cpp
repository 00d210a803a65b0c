#include "tests/estimator/calibrate/reference_recording.hpp"

#include <cmath>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/support/mechanisms/furuta.hpp"

namespace test_support {

using estimator::Mechanism;

namespace {

void set(Mechanism& mechanism, const char* name, double value) {
  const int index = mechanism.find_parameter(name);
  if (index < 0) throw std::invalid_argument(std::string("no parameter ") + name);
  mechanism.parameters[static_cast<std::size_t>(index)].value = value;
}

}  // namespace

Mechanism mechanism_of(const ReferenceFuruta& rig) {
  estimator::FurutaDescription description;
  description.mass_A = rig.m_A;
  description.mass_B = rig.m_B;
  description.distance_A = rig.l_1;
  description.arm_length = rig.L_arm;
  description.distance_B = rig.l_2;
  description.inertia_A = {1e-4, rig.J_Azz, rig.J_Azz};
  description.inertia_B = {rig.J_Bxx, rig.J_Byy, rig.J_Bzz};
  Mechanism mechanism = estimator::make_furuta(description);
  set(mechanism, "1.J_shaft", rig.J_shaft);
  set(mechanism, "1.b", rig.b_1);
  set(mechanism, "2.b", rig.b_2);
  set(mechanism, "1.tau_c", rig.tau_c1);
  set(mechanism, "2.tau_c", rig.tau_c2);
  set(mechanism, "1.K", rig.K);
  set(mechanism, "gravity.tilt_x", rig.tilt.x());
  set(mechanism, "gravity.tilt_z", rig.tilt.z());
  set(mechanism, "gravity.g", rig.g);
  return mechanism;
}

void free_parameters(Mechanism& mechanism, const std::vector<std::string>& names,
                     double inertia_factor) {
  for (const std::string& name : names) {
    const int index = mechanism.find_parameter(name);
    if (index < 0) throw std::invalid_argument("no parameter " + name);
    estimator::Parameter& parameter = mechanism.parameters[static_cast<std::size_t>(index)];
    parameter.free = true;
    parameter.value *= name.find(".J_") != std::string::npos ? inertia_factor : 0.5;
  }
}

ReferenceFuruta viscous_furuta() {
  ReferenceFuruta rig;
  rig.b_1 = 2e-3;
  rig.b_2 = 2e-4;
  rig.K = 0.07;
  return rig;
}

Eigen::VectorXd three_sines(int count, double period) {
  return Eigen::VectorXd::NullaryExpr(count, [=](Eigen::Index k) {
    const double t = period * static_cast<double>(k);
    return 1.2 * (std::sin(3.1 * t) + std::sin(7.3 * t + 1.0) + std::sin(11.9 * t + 2.0));
  });
}

Mechanism free_furuta(const ReferenceFuruta& rig, double inertia_factor) {
  Mechanism mechanism = mechanism_of(rig);
  free_parameters(mechanism, {"A.J_zz", "B.J_yy", "1.b", "2.b", "1.K"}, inertia_factor);
  return mechanism;
}

estimator::Recording record(const ReferenceFuruta& rig, const Eigen::Vector4d& start,
                            const Eigen::VectorXd& control, double period, double noise,
                            unsigned seed) {
  const Eigen::MatrixXd motion = simulate(rig, start, control, period);
  std::mt19937 random(seed);
  std::normal_distribution<double> normal(0.0, noise);
  estimator::Segment segment;
  segment.period = period;
  segment.controls = control;
  segment.angles = motion.topRows(control.size()).leftCols(2);
  for (double& angle : segment.angles.reshaped()) angle += normal(random);
  estimator::Recording recording;
  recording.name = "reference";
  recording.segments.push_back(std::move(segment));
  return recording;
}

}  // namespace test_support
