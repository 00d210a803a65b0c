#include "estimator/fit/physical/shooting/shooting_problem.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "estimator/optimize/arrow_factor.hpp"
#include "estimator/optimize/levenberg_marquardt.hpp"
#include "tests/estimator/body_encoder.hpp"
#include "tests/estimator/dense_problem.hpp"
#include "tests/support/mechanisms/example_mechanisms.hpp"
#include "tests/support/mechanisms/reference_rigs.hpp"

namespace estimator {
namespace {

using namespace test_support;

constexpr double kShootingPeriod = 2e-3;

ReferenceFuruta rig_with_motor() { return {.b_1 = 2e-3, .b_2 = 2e-4, .tau_c1 = 2e-3, .K = 0.07}; }

enum class Control { kSmooth, kSwitched };

Recording driven(Control control = Control::kSmooth) {
  Eigen::VectorXd u(400);
  for (Eigen::Index k = 0; k < u.size(); ++k) u[k] = std::sin(0.05 * static_cast<double>(k));
  if (control == Control::kSwitched) u = u.array().sign();
  return record(rig_with_motor(), Eigen::Vector4d(0.3, 1.0, 0.2, 0.0), u, kShootingPeriod, 1e-3, 5);
}

Mechanism mechanism_to_fit() {
  Mechanism mechanism = mechanism_of(rig_with_motor());
  free_parameters(
      mechanism,
      {"A.J_zz", "B.J_yy", "1.b", "1.tau_c", "1.K", "1.delay", "2.offset", "gravity.tilt_x"}, 0.9);
  parameter_of(mechanism, "1.delay").value = 3e-3;
  parameter_of(mechanism, "A.J_zz").prior_mean = 3e-3;
  parameter_of(mechanism, "A.J_zz").prior_standard_deviation = 1e-3;
  return mechanism;
}

/// Two nodes a tenth of a second apart.
const Eigen::MatrixXd kStarts{{0.31, 0.32}, {1.02, 0.9}, {0.21, 0.5}, {0.1, -0.4}};

ShootingNoise noise() { return {Eigen::Vector2d(1e-3, 2e-3), Eigen::Vector2d(0.3, 0.5)}; }

ShootingProblem problem_of(const Mechanism& mechanism, double interval, Control control) {
  const Recording recording = driven(control);

  return ShootingProblem(mechanism, recording.segments, {kStarts}, {0.1}, {4e-3, interval},
                         noise());
}

ShootingProblem problem_with(double interval, Control control = Control::kSmooth) {
  return problem_of(mechanism_to_fit(), interval, control);
}

// Every kind of block (readings, defects, start, prior) along every kind of unknown (states, delay,
// encoder offset, prior, motion), against central differences. With a switching control, the
// switching times move with the delay, some of them within a step.
class ShootingProblemDerivatives : public testing::TestWithParam<Control> {};

TEST_P(ShootingProblemDerivatives, MatchDifferencesOfAllResiduals) {
  expect_derivatives(problem_with(0.2, GetParam()));
}

// Noise of the control couples the defects of all joints.
TEST(ShootingProblem, DerivativesMatchDifferencesWithControlNoise) {
  const Recording recording = driven();

  ShootingNoise noisy = noise();
  noisy.control = Eigen::VectorXd::Constant(1, 2.0);
  ShootingProblem problem(mechanism_to_fit(), recording.segments, {kStarts}, {0.1}, {4e-3, 0.2},
                          noisy);
  EXPECT_GT(std::abs(problem.cost() - problem_with(0.2).cost()), 50.0);
  expect_derivatives(problem);
}

// Readings at irregular times, and an encoder that slips in the middle of an interval.
TEST_P(ShootingProblemDerivatives, MatchDifferencesWithIrregularTimesAndSlips) {
  Mechanism mechanism = mechanism_to_fit();

  Recording recording = driven(GetParam());
  Segment& segment = recording.segments.front();
  for (int k = 0; k < segment.sample_count(); ++k) {
    segment.times.push_back((k + 0.4 * std::sin(3.0 * k)) * kShootingPeriod);
  }
  add_slip(mechanism, segment, 1, 150, 0.1);
  segment.angles.col(1).segment(100, 20).setConstant(std::numeric_limits<double>::quiet_NaN());

  expect_derivatives(
      ShootingProblem(mechanism, recording.segments, {kStarts}, {0.1}, {4e-3, 0.2}, noise()));
}

// Dependencies of each kind: an inertia with an inertia, a lever arm with a quantity of no body,
// friction of one joint with another's. The derivative by a parameter includes all that depends on
// it.
TEST_P(ShootingProblemDerivatives, MatchDifferencesOfDependentParameters) {
  Mechanism mechanism = mechanism_to_fit();
  const auto index = [&](const char* name) { return mechanism.find_parameter(name); };
  Parameter reach{.name = "reach", .value = 0.02};
  reach.free = true;
  mechanism.parameters.push_back(reach);
  const auto value = [&](const char* name) { return parameter_of(mechanism, name).value; };
  mechanism.dependencies = {
      {index("B.J_zz"), value("B.J_zz") - 0.4 * value("B.J_yy"), {{index("B.J_yy"), 0.4}}},
      {index("2.a_x"), value("2.a_x") + 0.02, {{index("reach"), -1.0}}},
      {index("2.tau_c"), 0.0, {{index("1.tau_c"), 0.2}, {index("1.b"), 0.1}}}};
  // A prior on a dependent parameter, such as a weighed sum, acts on all its terms.
  Parameter& dry = parameter_of(mechanism, "2.tau_c");
  dry.prior_mean = 1e-3;
  dry.prior_standard_deviation = 1e-4;
  ShootingProblem problem = problem_of(mechanism, 0.2, GetParam());
  expect_derivatives(problem);
  EXPECT_EQ(parameter_of(problem.mechanism(), "2.tau_c").value,
            0.2 * value("1.tau_c") + 0.1 * value("1.b"));
}

// An encoder between bodies reads several joints at once, one of them with negative sign.
TEST(ShootingProblem, ReadsEncodersBetweenBodies) {
  Mechanism mechanism = make_chain({.links = 3});
  mechanism.joints[1].measured = mechanism.joints[2].measured = false;
  add_body_encoder(mechanism, "up", Joint::kGround, 2, 0.1);
  add_body_encoder(mechanism, "back", 2, 1, -0.2);
  free_parameters(mechanism, {"1.c", "L2.J_zz"}, 0.9);
  const Segment segment = undriven(0.3 * Eigen::MatrixXd::Random(200, 3), kShootingPeriod);
  Eigen::MatrixXd states(6, 2);
  states << 0.3, 0.2, -0.2, -0.1, 0.4, 0.1, 1.0, -0.5, 0.5, 0.2, -0.7, 0.6;
  ShootingProblem problem(
      mechanism, {segment}, {states}, {0.2}, {4e-3, 0.2},
      {Eigen::VectorXd::LinSpaced(3, 1e-3, 3e-3), Eigen::VectorXd::LinSpaced(3, 0.3, 0.7)});
  expect_derivatives(problem);
  // A node's first sample is at the node itself.
  EXPECT_NEAR(problem.predicted_angles(0)(0, 0), 0.3, 1e-12);
  EXPECT_NEAR(problem.predicted_angles(0)(0, 1), 0.3 - 0.2 + 0.4 - 0.1, 1e-12);
  EXPECT_NEAR(problem.predicted_angles(0)(0, 2), -0.4 + 0.2, 1e-12);
}

INSTANTIATE_TEST_SUITE_P(Controls, ShootingProblemDerivatives,
                         testing::Values(Control::kSmooth, Control::kSwitched));

// A pulse acts on joints at rest in the middle of a step. A smooth replacement would pull them the
// wrong way first, release one of them too early, and be off by a milliradian.
TEST(ShootingProblem, ResolvesControlPulsesOfJointsAtRest) {
  Recording recording = driven();
  recording.segments[0].controls.setZero();
  recording.segments[0].controls.middleRows(51, 40).setConstant(3.0);
  Mechanism mechanism = mechanism_of(rig_with_motor());
  free_parameters(mechanism, {"1.K"}, 1.0);
  mechanism.joint_parameter(1, JointParameter::kCoulombTorque).value = 2e-3;
  const auto angles_with = [&](double step) {
    return ShootingProblem(mechanism, recording.segments, {Eigen::MatrixXd::Zero(4, 1)}, {1.0},
                           {step, std::numeric_limits<double>::infinity()}, noise())
        .predicted_angles(0);
  };
  const Eigen::MatrixXd fine = angles_with(2.5e-4);
  EXPECT_GT(fine.cwiseAbs().maxCoeff(), 0.05);
  EXPECT_LT((angles_with(4e-3) - fine).cwiseAbs().maxCoeff(), 1e-6);
}

// On any grid, each reading enters once.
TEST(ShootingProblem, UsesEveryReadingOnce) {
  for (const double interval : {0.004, 0.05, 0.3, std::numeric_limits<double>::infinity()}) {
    const ShootingProblem problem = problem_with(interval);
    std::vector<int> readings(2, 0);
    ResidualBlock block;
    for (int index = 0; index < problem.block_count(); ++index) {
      problem.linearize(index, block);
      if (block.group < 2) readings[static_cast<std::size_t>(block.group)] += block.rows;
    }
    EXPECT_EQ(readings[0], problem.reading_count(0)) << interval;
    EXPECT_EQ(readings[1], problem.reading_count(1)) << interval;
  }
}

// A start of which anything is known, an angle or a rate of any joint, belongs to the priors, whose
// variance is given. A start of which nothing is known has its own noise group.
TEST(ShootingProblem, GroupsAStartThatIsPartlyKnownWithThePriors) {
  const auto group_of_start = [](int joint, bool angle, bool rate) {
    Mechanism mechanism = mechanism_of(rig_with_motor());
    free_parameters(mechanism, {"A.J_zz"}, 0.9);
    Joint& known = mechanism.joints[static_cast<std::size_t>(joint)];
    if (angle) known.start.angle = {0.3, 0.01};
    if (rate) known.start.rate = {0.1, 0.02};
    Recording recording = driven();
    recording.segments.front().is_first_of_recording = true;
    const ShootingProblem problem(mechanism, recording.segments, {kStarts}, {0.1}, {4e-3, 0.2},
                                  noise());
    std::vector<int> groups;
    ResidualBlock block;
    for (int index = 0; index < problem.block_count(); ++index) {
      problem.linearize(index, block);
      if (block.group >= problem.initial_state_noise_group()) groups.push_back(block.group);
    }
    EXPECT_EQ(groups.size(), 1U);
    return groups.front() - problem.initial_state_noise_group();
  };
  for (const int joint : {0, 1}) {
    EXPECT_EQ(group_of_start(joint, false, false), 0);
    EXPECT_EQ(group_of_start(joint, true, false), 1) << joint;
    EXPECT_EQ(group_of_start(joint, false, true), 1) << joint;
    EXPECT_EQ(group_of_start(joint, true, true), 1) << joint;
  }
}

// One node, and many nodes with almost no process noise, have the same optimal motion.
TEST(ShootingProblem, AgreesWithOneNodeWhereProcessNoiseIsNegligible) {
  ShootingProblem one = problem_with(std::numeric_limits<double>::infinity());
  ASSERT_TRUE(is_converged(solve(one).termination));
  const Eigen::Index samples = one.predicted_angles(0).rows();
  Eigen::MatrixXd states(4, samples - 1);
  states.topRows(2) = one.predicted_angles(0).topRows(samples - 1).transpose();
  states.bottomRows(2) = (one.predicted_angles(0).bottomRows(samples - 1) -
                          one.predicted_angles(0).topRows(samples - 1))
                             .transpose() /
                         kShootingPeriod;
  ShootingProblem many(one.mechanism(), driven().segments, {states}, {kShootingPeriod}, {4e-3, 0.1},
                       noise());
  ASSERT_GT(many.shape().node_count, 5);
  ASSERT_TRUE(is_converged(solve(many).termination));
  ShootingNoise still = noise();
  for (int round = 0; round < 4; ++round) {
    still.acceleration *= 0.03;
    many.set_noise_levels(still);
    ASSERT_TRUE(is_converged(solve(many).termination));
  }
  EXPECT_NEAR(many.cost(), one.cost(), 1e-3);
  for (Eigen::Index i = 0; i < one.parameter_values().size(); ++i) {
    EXPECT_NEAR(many.parameter_values()[i], one.parameter_values()[i],
                1e-4 * std::abs(one.parameter_values()[i]) + 1e-7)
        << i;
  }
}

// A calibration must give the same result on any machine, whatever its number of processors.
TEST(ShootingProblem, IsBitIdenticalForAnyNumberOfThreads) {
  const Recording recording = driven(Control::kSwitched);
  const std::vector<Segment> segments(30, recording.segments.front());

  const std::vector<Eigen::MatrixXd> starts(segments.size(), kStarts);
  const std::vector<double> spacing(segments.size(), 0.1);
  std::vector<Eigen::MatrixXd> expected;
  for (const int threads : {1, 2, 3}) {
    ShootingProblem problem(mechanism_to_fit(), segments, starts, spacing, {4e-3, 0.1}, noise(),
                            threads);
    EXPECT_EQ(problem.thread_count(), threads);
    const auto shape = problem.shape();
    // Blocks are linearized by the factor's threads, then derivatives are computed by one thread.
    ArrowheadFactorization factor(shape, problem.max_block_rows());
    ASSERT_TRUE(factor.factorize(problem, 1e-8));
    Eigen::VectorXd step;
    factor.compute_node_step(Eigen::VectorXd::Zero(shape.parameter_count), step);
    const DenseProblem dense = stack(problem);
    const double cost = problem.evaluate_trial_step(
        Eigen::VectorXd::Constant(shape.node_count * shape.node_size, 1e-2),
        Eigen::VectorXd::Zero(shape.parameter_count));
    const std::vector<Eigen::MatrixXd> found = {
        dense.residual, dense.jacobian,
        factor.schur(), factor.reduced_gradient(),
        step,           Eigen::MatrixXd::Constant(1, 1, cost)};
    if (threads == 1) expected = found;
    EXPECT_EQ(found, expected) << threads;
  }
}

// Slow parts of the motion may use longer steps. Each time span has its own step, nodes stay in
// place, and no sample is read twice or omitted.
TEST(ShootingProblem, TakesLongerIntegrationStepsOnlyIfRequested) {
  const Recording recording = driven();

  const auto problem_of = [&](const ShootingGrid& grid) {
    return ShootingProblem(mechanism_to_fit(), recording.segments, {kStarts}, {0.1}, grid, noise());
  };
  // 0.798 s in steps of 2 ms, of which 0.2 s in steps of 6 ms; nodes cut at multiples of 0.1 s.
  const ShootingGrid even{2e-3, 0.1};
  ShootingGrid local = even;
  local.local_steps = {{2e-3, 6e-3, 1e-3, 2e-3}};
  const ShootingProblem fine = problem_of(even), coarse = problem_of(local);
  EXPECT_EQ(fine.integration_step_count(), 399);
  EXPECT_EQ(coarse.integration_step_count(), 399 - 100 + 2 * 17);
  EXPECT_EQ(coarse.node_states(0), fine.node_states(0));
  EXPECT_LT((coarse.predicted_angles(0) - fine.predicted_angles(0)).cwiseAbs().maxCoeff(), 1e-6);
  EXPECT_GT((coarse.predicted_angles(0) - fine.predicted_angles(0))
                .middleRows(100, 100)
                .cwiseAbs()
                .maxCoeff(),
            0.0);
  EXPECT_EQ(
      (coarse.predicted_angles(0) - fine.predicted_angles(0)).topRows(100).cwiseAbs().maxCoeff(),
      0.0);
}

}  // namespace
}  // namespace estimator
