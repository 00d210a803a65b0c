#include "tests/estimator/calibrate/simulated_furuta.hpp"

#include <cmath>
#include <limits>
#include <random>

#include "estimator/model/kinematics/kinematics.hpp"
#include "estimator/signal/resample.hpp"
#include "tests/support/mechanisms/example_mechanisms.hpp"
#include "tests/support/mechanisms/reference_rigs.hpp"
#include "tests/support/mechanisms/rollout.hpp"

namespace test_support {

using estimator::Mechanism;
using estimator::TrajectoryData;

namespace {

// Control signal: five sines between 0.3 and 3 Hz with random phases, one sample per step.
Eigen::MatrixXd multisine(int samples, double period, std::mt19937& random) {
  std::uniform_real_distribution<double> phase(0.0, 2.0 * M_PI);
  Eigen::MatrixXd controls = Eigen::MatrixXd::Zero(samples, 1);
  for (const double frequency : {0.31, 0.57, 1.03, 1.71, 2.93}) {
    const double shift = phase(random);
    for (int k = 0; k < samples; ++k) {
      controls(k, 0) += std::sin(2.0 * M_PI * frequency * period * k + shift);
    }
  }
  return controls;
}

}  // namespace

Mechanism furuta_with_free(const std::vector<std::string>& free_names) {
  Mechanism mechanism = estimator::make_furuta();
  const std::pair<const char*, double> truth[] = {
      {"1.b", 1e-3}, {"2.b", 1e-4},           {"1.tau_c", 2e-3},        {"2.tau_c", 2e-4},
      {"1.K", 3e-2}, {"gravity.tilt_x", .02}, {"gravity.tilt_z", -.01}, {"2.offset", 0.05},
      {"2.c", 1e-4}};
  for (const auto& [name, value] : truth) parameter_of(mechanism, name).value = value;
  for (estimator::Joint& joint : mechanism.joints) joint.spook.stick_speed = 0.05;
  set_free(mechanism, free_names);
  return mechanism;
}

Mechanism furuta_with_12_parameters() {
  return furuta_with_free({"A.J_zz", "B.J_yy", "B.J_zz", "1.b", "2.b", "2.c", "1.tau_c", "2.tau_c",
                           "1.K", "2.offset", "gravity.tilt_x", "gravity.tilt_z"});
}

Mechanism smooth_furuta(const std::vector<std::string>& free_names) {
  Mechanism mechanism = furuta_with_free(free_names);
  for (const char* name : {"1.tau_c", "2.tau_c"}) parameter_of(mechanism, name).value = 0.0;
  return mechanism;
}

void lift_bounds(Mechanism& mechanism) {
  for (estimator::Parameter& parameter : mechanism.parameters) {
    if (!parameter.free) continue;
    parameter.lower = -std::numeric_limits<double>::infinity();
    parameter.upper = std::numeric_limits<double>::infinity();
  }
}

void disturb_parameters(Mechanism& mechanism, double factor) {
  for (estimator::Parameter& parameter : mechanism.parameters) {
    if (!parameter.free) continue;
    parameter.value *= factor;
    factor = 1.0 / factor;
  }
}

TrajectoryData simulate_furuta(const Mechanism& mechanism, int nodes, double step, double noise,
                               unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  TrajectoryData data;
  data.period = step;
  data.controls = multisine(nodes, step, random);
  const Eigen::MatrixXd means =
      estimator::average_controls(data.controls.col(0), step, step, nodes, 0.5 * step).mean;
  const Eigen::MatrixXd angles =
      estimator::rollout(mechanism, Eigen::Vector2d(0.3, 1.5), Eigen::Vector2d(0.5, -1.0),
                         means.topRows(nodes - 1), step);
  const estimator::ModelParameterValues values = unpack_parameters(mechanism);
  data.angles.resize(nodes, 2);
  for (int k = 0; k < nodes; ++k) {
    data.initial.push_back(assemble_configuration(mechanism, values, angles.row(k).transpose()));
    for (int j = 0; j < 2; ++j) {
      const double offset =
          mechanism.joint_parameter(j, estimator::JointParameter::kEncoderOffset).value;
      data.angles(k, j) = angles(k, j) - offset + noise * normal(random);
    }
  }
  return data;
}

}  // namespace test_support
