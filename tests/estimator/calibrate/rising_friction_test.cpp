#include <gtest/gtest.h>

#include <cmath>

#include "estimator/calibrate/calibrate.hpp"
#include "estimator/fit/free_parameters.hpp"
#include "estimator/fit/physical/restarts.hpp"
#include "estimator/model/joint_friction.hpp"
#include "tests/support/estimates.hpp"
#include "tests/support/mechanisms/reference_rigs.hpp"

// Dry friction that rises from rest: a negative Stribeck excess.

namespace estimator {
namespace {

using namespace test_support;
using test_support::swing;

/// Half of the kinetic torque at rest; the rest builds up over some 0.7 rad/s.
ReferencePendulum rising() { return {.b = 2e-4, .tau_c = 0.006, .tau_s = 0.003, .zeta = 2.0}; }

// Also from a start with the wrong sign, so the fit must pass through zero excess.
TEST(RisingFriction, IsEstimatedFromAnotherSimulator) {
  const ReferencePendulum rig = rising();
  const auto recording = swing(rig, "release", 0.8, 6000, 2e-3, 1e-4, 5);
  for (const double start : {-0.001, 0.001}) {
    SCOPED_TRACE(start);
    Mechanism mechanism =
        freed(pendulum_of(rig), {"P.J_zz", "1.b", "1.tau_c", "1.tau_delta", "1.zeta"}, 0.7);
    mechanism.joint_parameter(0, JointParameter::kStribeckTorque).value = start;
    const Calibration result = calibrate(mechanism, {recording});
    EXPECT_TRUE(result.converged());
    for (const auto& [name, truth] : {std::pair{"P.J_zz", rig.J},
                                      {"1.b", rig.b},
                                      {"1.tau_c", rig.tau_c},
                                      {"1.tau_delta", rig.tau_s - rig.tau_c},
                                      {"1.zeta", rig.zeta}}) {
      expect_within(result, name, truth, 3.0);
      EXPECT_LT(estimate_of(result, name).standard_deviation, 0.2 * std::abs(truth)) << name;
    }
  }
}

// Zero friction at rest is the limit: below, friction would drive the joint. The bound of the
// excess follows the kinetic torque.
TEST(RisingFriction, EndsAtZeroFrictionAtRest) {
  Mechanism mechanism = freed(pendulum_of(rising()), {"1.tau_c", "1.tau_delta"});
  auto& excess = mechanism.joint_parameter(0, JointParameter::kStribeckTorque);
  const FreeParameters free(mechanism);
  EXPECT_EQ(free.lower(mechanism)[1], -0.006);
  mechanism.joint_parameter(0, JointParameter::kCoulombTorque).value = 0.004;
  EXPECT_EQ(free.lower(mechanism)[1], -0.004);
  excess.lower = -0.002;
  EXPECT_EQ(free.lower(mechanism)[1], -0.002) << "a given bound may be tighter";
  excess.lower = 0.0;
  EXPECT_EQ(free.lower(mechanism)[1], 0.0) << "and is zero by default";
  excess.lower = -1.0;
  excess.value = -0.004;
  EXPECT_TRUE(FreeParameters::has_valid_dependent_parameters(mechanism));
  EXPECT_TRUE(find_mechanism_errors(mechanism).empty());
  excess.value = std::nextafter(-0.004, -1.0);
  EXPECT_FALSE(FreeParameters::has_valid_dependent_parameters(mechanism));
  ASSERT_EQ(find_mechanism_errors(mechanism).size(), 1U);
  EXPECT_EQ(find_mechanism_errors(mechanism)[0].arguments[0].value, Argument::Value("1.tau_delta"));
  excess.value = std::nan("");
  EXPECT_FALSE(FreeParameters::has_valid_dependent_parameters(mechanism));
}

// A lost excess may be restarted with either sign if friction may rise, otherwise with one.
TEST(RisingFriction, IsRestartedWithBothSigns) {
  Mechanism mechanism = freed(pendulum_of(rising()), {"1.tau_c", "1.tau_delta", "1.zeta"});
  auto& excess = mechanism.joint_parameter(0, JointParameter::kStribeckTorque);
  excess.value = 0.0;
  const auto signs = [&] {
    int positive = 0, negative = 0;
    for (const Mechanism& chance :
         choose_restart_values(mechanism, mechanism, Eigen::VectorXd::Constant(1, 3.0))) {
      const double value = chance.joint_parameter(0, JointParameter::kStribeckTorque).value;
      ++(value > 0.0 ? positive : negative);
    }
    return std::pair(positive, negative);
  };
  EXPECT_EQ(signs(), std::pair(5, 5));
  excess.lower = 0.0;
  EXPECT_EQ(signs(), std::pair(5, 0));
  // An excess that hardly decays up to the fastest speed, 3 rad/s, may have the wrong sign.
  auto& rate = mechanism.joint_parameter(0, JointParameter::kStribeckRate);
  excess.value = 0.001;
  rate.value = 0.9;
  EXPECT_EQ(signs(), std::pair(0, 0)) << "as ever where it may not be negative";
  excess.lower = -1.0;
  EXPECT_EQ(signs(), std::pair(5, 5));
  rate.value = 1.1;
  EXPECT_EQ(signs(), std::pair(0, 0));
}

// If the fit took all friction for an excess, a restart needs a kinetic torque again. Otherwise a
// negative excess would have nothing to reduce.
TEST(RisingFriction, IsRestartedWithACoulombTorque) {
  Mechanism mechanism = freed(pendulum_of(rising()), {"1.tau_c", "1.tau_delta", "1.zeta"});
  mechanism.joint_parameter(0, JointParameter::kCoulombTorque).value = 0.0;
  mechanism.joint_parameter(0, JointParameter::kStribeckTorque).value = 0.003;
  mechanism.joint_parameter(0, JointParameter::kStribeckRate).value = 0.1;
  const auto chances =
      choose_restart_values(mechanism, mechanism, Eigen::VectorXd::Constant(1, 3.0));
  ASSERT_EQ(chances.size(), 10U);
  for (const Mechanism& chance : chances) {
    EXPECT_EQ(chance.joint_parameter(0, JointParameter::kCoulombTorque).value, 0.003);
    EXPECT_TRUE(FreeParameters::has_valid_dependent_parameters(chance));
  }
}

}  // namespace
}  // namespace estimator
