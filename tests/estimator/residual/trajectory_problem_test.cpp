#include "estimator/fit/shadow/trajectory_problem.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <string>

#include "estimator/model/kinematics/kinematics.hpp"
#include "tests/estimator/body_encoder.hpp"
#include "tests/estimator/dense_problem.hpp"
#include "tests/support/mechanisms/example_mechanisms.hpp"
#include "tests/support/mechanisms/reference_rigs.hpp"

namespace estimator {
namespace {

Eigen::VectorXd random_vector(std::mt19937& engine, Eigen::Index size, double scale) {
  std::normal_distribution<double> normal;
  Eigen::VectorXd x(size);
  for (double& value : x) value = scale * normal(engine);
  return x;
}

/// A segment of random motion, off the constraints, with one missing observation.
TrajectoryData made_up_data(const Mechanism& mechanism, int nodes, unsigned seed) {
  std::mt19937 engine(seed);
  const ModelParameterValues values = unpack_parameters(mechanism);
  TrajectoryData data;
  data.period = 0.005;
  data.angles = Eigen::MatrixXd::Zero(nodes, mechanism.joint_count());
  data.controls = random_vector(engine, 2 * nodes, 1.0);
  for (int k = 0; k < nodes; ++k) {
    Eigen::VectorXd angles(mechanism.joint_count());
    for (int j = 0; j < mechanism.joint_count(); ++j) angles[j] = std::sin(0.1 * k + j) + 0.3 * k;
    Configuration q = assemble_configuration(mechanism, values, angles);
    for (Pose& pose : q) pose = apply_pose_increment(pose, random_vector(engine, 6, 1e-3));
    data.initial.push_back(q);
    data.angles.row(k) =
        (angles + random_vector(engine, mechanism.joint_count(), 1e-2)).transpose();
  }
  data.angles(2, 0) = std::numeric_limits<double>::quiet_NaN();
  return data;
}

using namespace test_support;

void set_free(Mechanism& mechanism, const std::string& name, double value) {
  test_support::set_free(mechanism, {name});
  parameter_of(mechanism, name).value = value;
}

Mechanism furuta_with_free_parameters() {
  Mechanism mechanism = make_furuta();
  for (const auto& [name, value] : {std::pair{"A.J_zz", 3e-3},
                                    {"B.J_yy", 4e-3},
                                    {"1.b", 1e-3},
                                    {"1.K", 7e-2},
                                    {"1.delay", 2e-3},
                                    {"1.offset", 0.1},
                                    {"2.tau_c", 1e-3},
                                    {"2.a_x", 0.25},
                                    {"2.b_x", -0.092},
                                    {"1.a_y", 0.01},
                                    {"gravity.tilt_x", 0.02}}) {
    set_free(mechanism, name, value);
  }
  auto& parameter = parameter_of(mechanism, "1.b");
  parameter.prior_mean = 2e-3;
  parameter.prior_standard_deviation = 1e-3;
  return mechanism;
}

Mechanism mechanism_named(const std::string& name) {
  if (name == "furuta") return furuta_with_free_parameters();
  Mechanism mechanism =
      name == "pendulum" ? make_pendulum({.motorised = true}) : make_chain({.links = 3});
  mechanism.joints[0].motor.present = true;
  if (name == "inclined") {
    mechanism.joints[2].measured = false;
    add_body_encoder(mechanism, "up", Joint::kGround, 2, 0.1);
  }
  set_free(mechanism, "1.K", 0.1);
  set_free(mechanism, "1.c", 0.1);
  return mechanism;
}

struct Case {
  std::string mechanism;
  StateForm form;
};

class TrajectoryProblemTest : public ::testing::TestWithParam<Case> {
 protected:
  TrajectoryProblem make_problem() const {
    TrajectorySettings settings;
    settings.state_form = GetParam().form;
    const Mechanism mechanism = mechanism_named(GetParam().mechanism);
    return {mechanism, {made_up_data(mechanism, 6, 3), made_up_data(mechanism, 5, 4)}, settings};
  }
};

// Catches a block at the wrong node, a wrong chain rule from velocities to configurations, wrong
// derivatives of a missing observation, a prior or the control's delay.
TEST_P(TrajectoryProblemTest, JacobianMatchesCentralDifferencesAlongTheRetraction) {
  TrajectoryProblem problem = make_problem();
  const DenseProblem at = stack(problem);
  EXPECT_NEAR(problem.cost() / at.residual.squaredNorm(), 1.0, 1e-12);
  for (Eigen::Index j = 0; j < at.jacobian.cols(); ++j) {
    // Small: the finest parameter scale is 1e-3.
    const Eigen::VectorXd numeric =
        slope_along(problem, 1e-7 * Eigen::VectorXd::Unit(at.jacobian.cols(), j));
    // Residuals reach 1e3 (random motion), so round-off leaves 1e3·1e-16/1e-7 = 1e-6 of noise.
    const double scale = 1.0 + numeric.cwiseAbs().maxCoeff();
    EXPECT_LT((numeric - at.jacobian.col(j)).cwiseAbs().maxCoeff() / scale, 1e-5)
        << "column " << j << " of " << at.jacobian.cols();
  }
}

INSTANTIATE_TEST_SUITE_P(Forms, TrajectoryProblemTest,
                         ::testing::Values(Case{"pendulum", StateForm::kConfigurations},
                                           Case{"furuta", StateForm::kConfigurations},
                                           Case{"chain", StateForm::kConfigurations},
                                           Case{"inclined", StateForm::kConfigurations},
                                           Case{"furuta", StateForm::kFull},
                                           Case{"chain", StateForm::kFull}),
                         [](const ::testing::TestParamInfo<Case>& test) {
                           return test.param.mechanism +
                                  (test.param.form == StateForm::kFull ? "Full" : "Configurations");
                         });

}  // namespace
}  // namespace estimator
