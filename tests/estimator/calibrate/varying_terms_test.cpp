// Terms of the model that change with time, or with the angle or command of a motor, as free
// parameters of a calibration. The recordings come from a simulator that shares no code with the
// estimator.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

#include "estimator/calibrate/calibrate.hpp"
#include "tests/support/mechanisms/reference_rigs.hpp"
#include "tests/support/mechanisms/varying_furuta.hpp"

namespace estimator {
namespace {

using namespace test_support;

constexpr double kVaryingPeriod = 4e-3;  // [s]

Recording recorded_varying(const VaryingFuruta& truth) {
  return record(truth, {0.2, 0.5, 0.0, 0.0}, three_sines(2500, kVaryingPeriod), kVaryingPeriod,
                5e-4, 7);
}

struct Expected {
  std::string parameter;
  double value;
};

/// Checks that a calibration accepts the model and estimates these parameters within five standard
/// deviations, which are small.
void expect_estimates(const VaryingFuruta& truth, const std::vector<Expected>& expected,
                      Mechanism mechanism) {
  for (const Expected& each : expected) {
    const int index = mechanism.find_parameter(each.parameter);
    ASSERT_GE(index, 0) << each.parameter;
    mechanism.at(index).free = true;
  }
  const Calibration found = calibrate(mechanism, {recorded_varying(truth)});
  EXPECT_EQ(found.verdict.kind, VerdictKind::kAccepted);
  for (const Expected& each : expected) {
    const auto estimate =
        std::ranges::find(found.parameters, each.parameter, &ParameterEstimate::name);
    ASSERT_NE(estimate, found.parameters.end());
    const double deviation = estimate->standard_deviation;
    EXPECT_NEAR(estimate->value, each.value, 5.0 * deviation) << each.parameter;
    EXPECT_LT(deviation, 0.1 * std::abs(each.value)) << each.parameter;
  }
}

Mechanism described_varying() { return free_furuta(viscous_furuta(), 1.3); }

TEST(VaryingTerms, IncludeCogging) {
  Mechanism mechanism = described_varying();
  mechanism.joints[0].motor.cogging_order = 7;
  expect_estimates({.rig = viscous_furuta(),
                    .cogging_sine = 0.02,
                    .cogging_cosine = -0.015,
                    .cogging_order = 7},
                   {{"1.cogging_sine", 0.02}, {"1.cogging_cosine", -0.015}}, mechanism);
}

TEST(VaryingTerms, IncludeDriftAndSagOfTheGain) {
  expect_estimates({.rig = viscous_furuta(), .gain_drift = -0.02, .gain_sag = 0.05},
                   {{"1.K_drift", -0.02}, {"1.K_sag", 0.05}}, described_varying());
}

// Both dry and viscous friction fall with time.
TEST(VaryingTerms, IncludeADriftOfFriction) {
  ReferenceFuruta rig = viscous_furuta();
  rig.b_1 *= 5.0;
  rig.tau_c1 = 0.01;
  Mechanism mechanism = free_furuta(rig, 1.3);
  free_parameters(mechanism, {"1.tau_c"}, 1.0);
  expect_estimates({.rig = rig, .friction_drift = -0.04}, {{"1.friction_drift", -0.04}}, mechanism);
}

TEST(VaryingTerms, IncludeAVibrationOfTheGround) {
  Mechanism mechanism = described_varying();
  mechanism.parameter(GravityParameter::kVibrationFrequency).value = 5.29;
  expect_estimates({.rig = viscous_furuta(), .vibration_sine = 2.0, .frequency = 5.3},
                   {{"vibration.frequency", 5.3}, {"vibration.y_sine", 2.0}}, mechanism);
}

// The error once per turn of an encoder is estimated with the other parameters.
TEST(VaryingTerms, IncludeHarmonicsOfAnEncoder) {
  Mechanism mechanism = described_varying();
  Recording recording = recorded_varying({.rig = viscous_furuta()});
  for (double& angle : recording.segments[0].angles.col(1)) {
    angle += 0.01 * std::sin(angle) + 0.004 * std::cos(2.0 * angle);
  }
  for (const char* name : {"2.encoder_sine_1", "2.encoder_cosine_2", "2.offset"}) {
    mechanism.at(mechanism.find_parameter(name)).free = true;
  }
  const Calibration found = calibrate(mechanism, {recording});
  const auto value = [&](const char* name) {
    return found.mechanism.at(found.mechanism.find_parameter(name)).value;
  };
  EXPECT_NEAR(value("2.encoder_sine_1"), 0.01, 5e-4);
  EXPECT_NEAR(value("2.encoder_cosine_2"), 0.004, 5e-4);
}

TEST(VaryingTerms, RefuseANegativeOrderOfCogging) {
  Mechanism mechanism = described_varying();
  mechanism.joints[0].motor.cogging_order = -1;
  const std::vector<Message> errors = find_mechanism_errors(mechanism);
  ASSERT_EQ(errors.size(), 1U);
  EXPECT_EQ(errors[0].code, MessageCode::kNegativeCoggingOrder);
}

// SPOOK simulators lack these terms.
TEST(VaryingTerms, AreRefusedForSpook) {
  for (const char* name : {"1.cogging_sine", "1.K_drift", "1.K_sag", "1.friction_drift",
                           "2.encoder_sine_1", "vibration.y_sine", "1.play"}) {
    Mechanism mechanism = described_varying();
    mechanism.at(mechanism.find_parameter(name)).value = 0.01;
    EXPECT_THROW(require_spook_support(mechanism), std::invalid_argument) << name;
  }
  EXPECT_NO_THROW(require_spook_support(described_varying()));
}

}  // namespace
}  // namespace estimator
