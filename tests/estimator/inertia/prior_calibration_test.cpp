#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "estimator/calibrate/calibrate.hpp"
#include "estimator/fit/physical/shooting_fit.hpp"
#include "estimator/fit/physical/shooting_input.hpp"
#include "estimator/model/kinematics/kinematics.hpp"
#include "tests/support/estimates.hpp"
#include "tests/support/mechanisms/example_mechanisms.hpp"
#include "tests/support/mechanisms/reference_rigs.hpp"
#include "tests/support/note_text.hpp"
#include "tests/support/refusal.hpp"

namespace estimator {
namespace {

using namespace test_support;

constexpr double kNoise = 1e-3;

Parameter& at(Mechanism& mechanism, const std::string& name) {
  return parameter_of(mechanism, name);
}

Recording swing(const ReferencePendulum& rig, const std::string& name, unsigned seed,
                int samples = 1500, double start = 2.0) {
  return test_support::swing(rig, name, start, samples, 2e-3, kNoise, seed);
}

ReferencePendulum damped() { return {.b = 2e-3}; }

Mechanism pendulum(const ReferencePendulum& rig) {
  Mechanism mechanism = make_pendulum(
      {.mass = rig.m, .distance = rig.l, .inertia_axial = 1e-3, .inertia_swing = rig.J});
  mechanism.parameter(GravityParameter::kGravity).value = rig.g;
  at(mechanism, "1.b").value = 0.5 * rig.b;
  at(mechanism, "1.b").free = true;
  return mechanism;
}

CalibrationOptions plain() {
  CalibrationOptions options;
  options.compare_parts = false;
  return options;
}

/// A Gaussian prior of the moment, `off` of its standard deviations from the truth.
Calibration with_prior(double off, double share) {
  const ReferencePendulum rig = damped();
  Mechanism mechanism = pendulum(rig);
  Parameter& moment = at(mechanism, "P.J_zz");
  moment.free = true;
  moment.prior_standard_deviation = share * rig.J;
  moment.prior_mean = rig.J * (1.0 + off * share);
  return calibrate(mechanism, {swing(rig, "free", 3)}, plain());
}

// The estimate from the data alone is reported too. It must equal that of a fit without the prior.
TEST(Priors, AreReportedWithEstimatesFromTheDataAlone) {
  const ReferencePendulum rig = damped();
  Mechanism mechanism = pendulum(rig);
  at(mechanism, "P.J_zz").free = true;
  const Recording own = swing(rig, "free", 3);
  const Calibration without = calibrate(mechanism, {own}, plain());
  const ParameterEstimate& alone = estimate_of(without, "P.J_zz");
  EXPECT_TRUE(std::isnan(alone.data_deviation));  // no prior
  EXPECT_TRUE(without.conflicts.empty());
  // As precise as the data, and two standard deviations off: the posterior lies halfway.
  Parameter& moment = at(mechanism, "P.J_zz");
  moment.prior_standard_deviation = alone.standard_deviation;
  moment.prior_mean = alone.value + 2.0 * alone.standard_deviation;
  const Calibration with = calibrate(mechanism, {own}, plain());
  const ParameterEstimate& both = estimate_of(with, "P.J_zz");
  EXPECT_NEAR(both.value, alone.value + alone.standard_deviation,
              0.1 * alone.standard_deviation);  // noise levels are estimated
  EXPECT_NEAR(both.standard_deviation, alone.standard_deviation / std::sqrt(2.0),
              0.05 * alone.standard_deviation);
  EXPECT_NEAR(both.data_value, alone.value, 0.1 * alone.standard_deviation);
  EXPECT_NEAR(both.data_deviation, alone.standard_deviation, 0.05 * alone.standard_deviation);
  EXPECT_TRUE(with.conflicts.empty());
}

// A prior that is wrong by many standard deviations is reported, a right one is not.
TEST(Priors, AreReportedIfTheDataContradictThem) {
  EXPECT_TRUE(with_prior(0.0, 0.01).conflicts.empty());
  EXPECT_TRUE(with_prior(2.0, 0.1).conflicts.empty());
  for (const double off : {-6.0, 6.0}) {
    const Calibration wrong = with_prior(off, 0.1);
    ASSERT_EQ(wrong.conflicts.size(), 1U) << off;
    EXPECT_EQ(wrong.conflicts[0].parameter, "P.J_zz");
    // The data are far more precise than the prior, so it is off by 6 of its deviations.
    EXPECT_NEAR(wrong.conflicts[0].deviations, 6.0, 0.2);
    EXPECT_NEAR(wrong.conflicts[0].without, damped().J, 0.02 * damped().J);
  }
}

// A free swing identifies only the ratio of mass and inertia. CAD values known to 5 % determine the
// rest, and the estimate from the data alone reports the ratio.
TEST(Priors, FromCadDetermineUnidentifiableParameters) {
  const ReferencePendulum rig = damped();
  Mechanism mechanism = pendulum(rig);
  for (const char* name : {"P.m", "P.J_zz"}) {
    at(mechanism, name).free = true;
    at(mechanism, name).prior_mean = at(mechanism, name).value;
  }
  for (const char* name : {"P.J_xx", "P.J_yy"})
    at(mechanism, name).prior_mean = at(mechanism, name).value;
  at(mechanism, "P.m").value *= 1.5;
  mechanism.bodies[0].cad_uncertainty = 0.05;
  const Calibration result = calibrate(mechanism, {swing(rig, "free", 5)}, plain());
  ASSERT_TRUE(result.converged());
  const ParameterEstimate& mass = estimate_of(result, "P.m");
  EXPECT_TRUE(std::isinf(mass.data_deviation));
  EXPECT_LT(mass.standard_deviation, 0.05 * rig.m);
  // J_zz moves with the mass, and so the small second moment across the rod by ten times as much.
  EXPECT_GT(mass.standard_deviation, 0.002 * rig.m);
  EXPECT_NEAR(mass.value, rig.m, 0.5 * mass.standard_deviation);
  EXPECT_TRUE(result.conflicts.empty()) << text_of_notes(result.notes);
}

/// The pendulum with a weight fixed 0.05 m below its centre of mass in recordings named loaded*.
Mechanism weighted(const ReferencePendulum& rig, double weight) {
  Mechanism bare = pendulum(rig), mechanism = bare;
  mechanism.bodies.push_back({.name = "W", .present_in_recordings = {"loaded*"}});
  FixedJoint weld{.name = "on", .body_a = 0, .body_b = 1};
  mechanism.fixed_joints.push_back(weld);
  make_parameters(mechanism);
  for (const Parameter& parameter : bare.parameters) at(mechanism, parameter.name) = parameter;
  at(mechanism, "W.m").value = weight;
  for (const char* name : {"W.J_xx", "W.J_yy", "W.J_zz"}) at(mechanism, name).value = 1e-9;
  at(mechanism, "on.a_x").value = 0.05;
  return mechanism;
}

/// The same as one body.
ReferencePendulum loaded(const ReferencePendulum& rig, double weight) {
  ReferencePendulum both = rig;
  both.m = rig.m + weight;
  both.l = (rig.m * rig.l + weight * (rig.l + 0.05)) / both.m;
  both.J =
      rig.J + rig.m * std::pow(rig.l - both.l, 2) + weight * std::pow(rig.l + 0.05 - both.l, 2);
  return both;
}

// A known weight, attached in one of two recordings, makes mass and inertia identifiable, which
// neither recording does alone.
TEST(Payload, IdentifiesTheScaleOfInertias) {
  const ReferencePendulum rig = damped();
  Mechanism mechanism = weighted(rig, 0.2);
  for (const char* name : {"P.m", "P.J_zz"}) {
    at(mechanism, name).free = true;
    at(mechanism, name).value *= 1.3;
  }
  const Recording free = swing(rig, "free", 7), heavy = swing(loaded(rig, 0.2), "loaded.csv", 8);
  const Calibration result = calibrate(mechanism, {free, heavy}, plain());
  ASSERT_TRUE(result.converged());
  EXPECT_TRUE(result.null_directions.empty());
  for (const auto& [name, truth] :
       {std::pair("P.m", rig.m), std::pair("P.J_zz", rig.J), std::pair("1.b", rig.b)}) {
    const ParameterEstimate& estimate = estimate_of(result, name);
    EXPECT_NEAR(estimate.value, truth, 3.5 * estimate.standard_deviation) << name;
    EXPECT_LT(estimate.standard_deviation, 0.02 * truth) << name;
  }
  const Calibration alone = calibrate(mechanism, {free}, plain());
  EXPECT_EQ(alone.null_directions.size(), 1U);
  EXPECT_NE(
      text_of_notes(alone.notes).find("body \"W\" is present only in recordings named \"loaded*\""),
      std::string::npos);
}

// A weight that is itself free has no effect on recordings without it.
TEST(Payload, HasNoEffectIfDetached) {
  const ReferencePendulum rig = damped();
  Mechanism mechanism = weighted(rig, 0.3);
  at(mechanism, "P.J_zz").free = at(mechanism, "W.m").free = true;
  const Recording free = swing(rig, "free", 7), heavy = swing(loaded(rig, 0.2), "loaded.csv", 8);
  const Calibration result = calibrate(mechanism, {free, heavy}, plain());
  ASSERT_TRUE(result.converged());
  const ParameterEstimate& weight = estimate_of(result, "W.m");
  EXPECT_NEAR(weight.value, 0.2, 3.5 * weight.standard_deviation);
  // If no recording has it, it is fixed, and the rest equals the result for a bare pendulum.
  const Calibration alone = calibrate(mechanism, {free}, plain());
  EXPECT_NE(text_of_notes(alone.notes).find("W.m has no effect on these recordings"),
            std::string::npos);
  Mechanism bare = pendulum(rig);
  at(bare, "P.J_zz").free = true;
  const Calibration same = calibrate(bare, {free}, plain());
  EXPECT_NEAR(estimate_of(alone, "P.J_zz").value, estimate_of(same, "P.J_zz").value,
              1e-3 * estimate_of(same, "P.J_zz").standard_deviation);
}

TEST(Payload, IsSelectedByFileNamePatterns) {
  EXPECT_TRUE(matches_pattern("loaded-2.csv", "loaded*"));
  EXPECT_TRUE(matches_pattern("run-loaded.csv", "*loaded*"));
  EXPECT_TRUE(matches_pattern("loaded", "loaded*"));
  EXPECT_FALSE(matches_pattern("unloaded.csv", "loaded*"));
  EXPECT_FALSE(matches_pattern("loaded.csv", "loaded"));
  const Mechanism mechanism = weighted(damped(), 0.1);
  EXPECT_TRUE(find_absent_bodies(mechanism, "data/loaded.csv").empty());
  EXPECT_EQ(find_absent_bodies(mechanism, "data/free.csv"), std::vector<int>{1});
}

// Released from rest, which is known: the initial speed of a short, noisy recording comes from the
// prior, which makes dependent parameters more precise.
TEST(Priors, OfTheInitialStateAreUsed) {
  const ReferencePendulum rig = damped();
  Mechanism mechanism = pendulum(rig);
  at(mechanism, "P.J_zz").free = true;
  const Recording own = swing(rig, "free", 9, 60, 1.0);
  const auto first_speed = [&](const Mechanism& with) {
    ShootingFit fit(prepare_shooting_input(with, {own}, plain()), plain(), {});
    fit.estimate_jointly(with);
    return fit.joint_problem().node_states(0)(1, 0);
  };
  const double loose = first_speed(mechanism);
  const Calibration before = calibrate(mechanism, {own}, plain());
  mechanism.joints[0].start.rate = {.mean = 0.0, .standard_deviation = 1e-4};
  EXPECT_GT(std::abs(loose), 1e-3);
  EXPECT_LT(std::abs(first_speed(mechanism)), 3e-4);
  const Calibration after = calibrate(mechanism, {own}, plain());
  EXPECT_LT(estimate_of(after, "P.J_zz").standard_deviation,
            0.7 * estimate_of(before, "P.J_zz").standard_deviation);
  mechanism.joints[0].start.rate.mean = 0.5;
  EXPECT_NEAR(first_speed(mechanism), 0.5, 0.05);
}

TEST(Priors, AreRejectedForASimulator) {
  const ReferencePendulum rig = damped();
  CalibrationOptions shadow;
  shadow.kind = EstimateKind::kShadow;
  const auto refusal = [&](const auto& know) {
    Mechanism mechanism = pendulum(rig);
    at(mechanism, "P.J_zz").free = true;
    know(mechanism);
    return test_support::refusal<std::invalid_argument>(
        [&] { calibrate(mechanism, {swing(rig, "free", 3)}, shadow); });
  };
  EXPECT_NE(refusal([](Mechanism& m) {
              m.bodies[0].cad_uncertainty = 0.1;
            }).find("cad_uncertainty_percent"),
            std::string::npos);
  EXPECT_NE(refusal([](Mechanism& m) {
              m.bodies[0].present_in_recordings = {"a"};
            }).find("present_in_recordings"),
            std::string::npos);
  EXPECT_NE(refusal([](Mechanism& m) {
              m.joints[0].start.angle.standard_deviation = 0.1;
            }).find("start_position"),
            std::string::npos);
}

}  // namespace
}  // namespace estimator
