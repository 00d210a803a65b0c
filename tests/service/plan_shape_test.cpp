#include "service/design/plan_shape.hpp"
#include "service/design/driven_motor.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "service/design/experiment.hpp"
#include "service/rig/rig_file.hpp"
#include "service/simulation/scenario.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/source_folder.hpp"

namespace {

using namespace test_support;

using service::find_swing_up_joint;
using service::SwingUpProperties;

service::Rig rig(const std::string& name) {
  return service::load_rig(source_folder() + "/configs/rig-" + name + ".textproto");
}

TEST(SwingUpPlan, FindsThePendulumAndItsFrequencyWhileTheMotorIsFree) {
  const service::Rig furuta = rig("furuta");
  const auto found = find_swing_up_joint(furuta.mechanism, 0, 6.0);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->pendulum, 1);
  EXPECT_EQ(found->name, "2");
  EXPECT_EQ(found->command_max, 6.0);
  // Hanging, a light arm yields, which is faster.
  const double g = 9.82, ml = 0.428 * 0.092, reach = 0.376;
  const double arm = 0.01 + 0.238 * 0.128 * 0.128 + 4e-4 + 1e-4 + 0.428 * reach * reach;
  const double moment = 0.01 + ml * 0.092 - std::pow(ml * reach, 2) / arm;
  EXPECT_NEAR(found->natural_frequency_Hz, std::sqrt(ml * g / moment) / (2.0 * M_PI), 1e-3);

  const auto pole = find_swing_up_joint(rig("cartpole").mechanism, 0, 2.0);
  ASSERT_TRUE(pole);
  EXPECT_EQ(pole->name, "pivot");
  const double cart_moment = 0.005 + 0.12 * 0.04 - std::pow(0.12 * 0.2, 2) / (0.6 + 0.12);
  EXPECT_NEAR(pole->natural_frequency_Hz, std::sqrt(0.12 * 0.2 * 9.81 / cart_moment) / (2.0 * M_PI),
              1e-3);
}

// Not if it has no encoder, a motor of its own, a zero that is not hanging, or mimics another
// joint.
TEST(SwingUpPlan, OmitsRigsThatCannotSwingUp) {
  const service::Rig furuta = rig("furuta");
  service::Rig other = furuta;
  other.mechanism.joints[1].motor.present = true;
  EXPECT_FALSE(find_swing_up_joint(other.mechanism, 0, 6.0));
  other = furuta;
  other.mechanism.joints[1].measured = false;
  EXPECT_FALSE(find_swing_up_joint(other.mechanism, 0, 6.0));
  other = furuta;
  other.mechanism.parameter(estimator::GravityParameter::kGravity).value *= -1.0;
  EXPECT_FALSE(find_swing_up_joint(other.mechanism, 0, 6.0));
  other = furuta;
  other.mechanism.mimic_joints.push_back({.joint = 1, .follows = 0, .ratio = 2.0});
  EXPECT_FALSE(find_swing_up_joint(other.mechanism, 0, 6.0));
  EXPECT_FALSE(find_swing_up_joint(rig("pendulum").mechanism, 0, 6.0));
}

TEST(SwingUpPlan, IsRefusedIfExplicitlyRequested) {
  service::DesignInput today =
      service::load_design_input(source_folder() + "/configs/rig-furuta.textproto", "");
  today.rig.mechanism.parameter(estimator::GravityParameter::kGravity).value *= -1.0;
  expect_parts(refusal([&] {
                 (void)design_experiment(today, {.kind = service::CommandKind::kSwingUp},
                                         "plan.textproto");
               }),
               {"--kind swing-up", "no pendulum", "Leave out --kind"});
}

TEST(SwingUpPlan, LimitsGainsToTheirRanges) {
  const SwingUpProperties rig{
      .pendulum = 1, .name = "2", .natural_frequency_Hz = 1.5, .command_max = 4.0};
  const daq::SwingUpSettings gains =
      compute_swing_up_gains(rig, Eigen::Vector<double, 5>{-0.5, 0.25, 0.1, 0.4, 0.2});
  EXPECT_EQ(gains.energy_gain, -2.0);
  EXPECT_EQ(gains.command_max, 1.0);
  EXPECT_EQ(gains.kick_command, 0.4);
  EXPECT_EQ(gains.stop_angle_rad, 0.4);
  EXPECT_EQ(gains.kick_time_s, 0.2);
  EXPECT_EQ(gains.natural_frequency_Hz, 1.5);
  const daq::SwingUpSettings most =
      compute_swing_up_gains(rig, Eigen::Vector<double, 5>{1e-9, -3.0, -3.0, 9.0, 9.0});
  EXPECT_EQ(most.energy_gain, 4e-3);
  EXPECT_EQ(most.command_max, 4.0);
  EXPECT_EQ(most.kick_command, -4.0);
  EXPECT_EQ(most.stop_angle_rad, 0.5 * M_PI);
  EXPECT_EQ(most.kick_time_s, 1.0);
  const daq::SwingUpSettings least =
      compute_swing_up_gains(rig, Eigen::Vector<double, 5>{-0.0, 0.0, 0.0, -1.0, -1.0});
  EXPECT_EQ(least.energy_gain, -4e-3);
  EXPECT_EQ(least.command_max, 0.04);
  EXPECT_EQ(least.stop_angle_rad, 0.0);
  EXPECT_EQ(least.kick_time_s, 0.25 / 1.5);
  for (const daq::SwingUpSettings& each : {gains, most, least}) {
    EXPECT_TRUE(daq::SwingUp(each).validation_errors().empty());
  }
  // A calmer plan pumps less, however far beyond its limits the plan was.
  const daq::SwingUpSettings calm = compute_swing_up_gains(
      rig, reduce_swing_up_commands(rig, Eigen::Vector<double, 5>{1.0, 3.0, -3.0, 0.4, 0.2}, 0.5));
  EXPECT_EQ(calm.energy_gain, 4.0);
  EXPECT_EQ(calm.command_max, 2.0);
  EXPECT_EQ(calm.kick_command, -2.0);
}

// Adjacent pulses have their own heights at every sample, for any length and rate, and no two add
// up.
TEST(CommandShape, PulsesOfAScenarioAreSideBySide) {
  const service::Rig furuta = rig("furuta");
  for (const double duration : {20.0, 13.37, 599.999}) {
    for (const double rate : {1000.0, 333.0, 10000.0}) {
      const service::CommandShape shape = make_command_shape(
          service::CommandKind::kPulses, duration, 1.5, rate, SwingUpProperties{});
      ASSERT_EQ(shape.pulses, 24);
      Eigen::VectorXd plan(24);
      for (int i = 0; i < 24; ++i) plan[i] = (i % 2 == 0 ? 1.0 : 0.9) + 0.001 * i;
      const std::string text = "duration_s: " + std::to_string(duration) + "\n" +
                               format_scenario_excitation(shape, "1", plan);
      daq::Scenario scenario = service::parse_scenario("plan", text, furuta).excitation;
      EXPECT_NEAR(scenario.command_peak(), plan.maxCoeff(), 1e-7) << duration << " " << rate;
      const auto samples = static_cast<Eigen::Index>(duration * rate);
      for (Eigen::Index k = 0; k + 1 < samples; k += 7) {
        const double time = static_cast<double>(k) / rate;
        const auto pulse = static_cast<Eigen::Index>((time + 1e-9) / duration * 24.0);
        ASSERT_NEAR(scenario.compute_command({time, {}}), plan[pulse], 1e-7)
            << duration << " " << time;
      }
    }
  }
}

// Test pushes do not depend on the motor's gain. They end at a twentieth of the joint's range, at
// most 0.2 rad, or at six counts of a coarse encoder.
TEST(TestPushRun, LimitsTheMotion) {
  service::Rig furuta = rig("furuta");
  const auto text = [&](double share = 1.0) {
    return make_test_push_run(furuta, 0, 2.5, share, 1000.0).scenario;
  };
  expect_parts(text(), {"motor: \"1\"", "command: 2.475", "motion_rad: 0.2\n"});
  expect_parts(text(0.5), {"motion_rad: 0.1\n"});
  furuta.encoders[0].limits = {-1.0, 2.0, 40.0};
  expect_parts(text(), {"motion_rad: 0.15\n", "angle_rad_min: -1\n", "angle_rad_max: 2\n"});
  furuta.encoders[0].count = 0.03;
  expect_parts(text(), {"motion_rad: 0.18\n"});
  furuta.encoders[0].count = 1.0;
  furuta.encoders[1].count = 1.0;
  expect_parts(text(), {"motion_rad: 0.75\n"});
  const service::Scenario scenario = service::parse_scenario("push", text(), furuta);
  EXPECT_NEAR(scenario.excitation.command_peak(), 2.475, 1e-12);
  EXPECT_FALSE(scenario.excitation.is_open_loop());
  const service::TestPushRun cart = make_test_push_run(rig("cartpole"), 0, 1.0, 1.0, 1000.0);
  expect_parts(cart.scenario, {"motion_m: 0.0", "motion_rad: 0."});
}

TEST(MissingMotion, IsAtMostThreeCounts) {
  const service::Rig furuta = rig("furuta");
  const double count = furuta.encoders[0].count;
  const auto text = [&](int counts, double command = 0.01,
                        service::MovedJoints moved = service::MovedJoints::kAny) {
    estimator::Segment segment;
    segment.angles = Eigen::MatrixXd::Zero(100, 2);
    segment.angles(50, 1) = counts * count;
    segment.angles(51, 0) = std::numeric_limits<double>::quiet_NaN();
    segment.controls = Eigen::MatrixXd::Constant(100, 1, -command);
    return describe_missing_motion(furuta, 0, {.name = "run", .segments = {segment}}, moved);
  };
  test_support::expect_parts(
      text(3), {"nothing moved", "3 counts", "0.01 V", "dry friction of the joint is 0.001 N·m",
                "Larger commands are needed"});
  EXPECT_EQ(text(4), "");
  // A driven joint at rest beside a swinging pendulum.
  test_support::expect_parts(
      text(4, 0.01, service::MovedJoints::kDriven),
      {"the joint did not move: no encoder reading of joint \"1\" changed, although"});
  test_support::expect_parts(
      text(0, 0.5), {"no encoder reading changed, although commands reached 0.5 V",
                     "such commands move the joint. Check the motor's supply and wiring"});
}

// Largest torque 0.05 N·m/V · u, friction 1e-3 N·m.
TEST(WeakMotor, IsWeakerThanDryFriction) {
  const service::Rig furuta = rig("furuta");
  expect_parts(describe_weak_motor(furuta, 0, 0.0199),
               {"at 0.0199 V", "0.001 N·m", "does not move"});
  EXPECT_EQ(describe_weak_motor(furuta, 0, 0.0201), "");
}

// The search ends by its budget of simulated motion, so that neither threads nor delays change the
// plan.
TEST(DesignedPlan, DoesNotDependOnTheSpeedOfTheMachine) {
  service::DesignInput today = service::load_design_input(
      test_support::source_folder() + "/configs/rig-furuta.textproto", "");
  const auto targets = service::parse_target_precisions("--for", {"1.K:1e-9"}, today.rig.mechanism,
                                                        today.rig.mechanism);
  std::vector<std::string> progress[2];
  const auto plan = [&](int threads, double search_motion) {
    return design_experiment(
               today,
               {.targets = targets,
                .duration = 1.0,
                .kind = service::CommandKind::kPulses,
                .search_motion = search_motion,
                .threads = threads,
                .progress =
                    [&](const std::string& text) {
                      progress[threads - 1].push_back(text);
                      std::this_thread::sleep_for(std::chrono::milliseconds(50 * (threads - 1)));
                    }},
               "plan.textproto")
        .scenario;
  };
  const std::string first = plan(1, 4e3), second = plan(2, 4e3);
  EXPECT_EQ(first, second);
  EXPECT_EQ(progress[0], progress[1]);
  ASSERT_FALSE(progress[0].empty());
  EXPECT_EQ(progress[0].front(), "searching for the best pulses, 0 %");
  EXPECT_NE(plan(1, 8e3), first);
}

// A motor below friction would leave the parameters unknown, which is explained instead of driven.
TEST(InfeasiblePlan, IsExplained) {
  service::DesignInput today = service::load_design_input(
      test_support::source_folder() + "/configs/rig-furuta.textproto", "");
  const auto targets = service::parse_target_precisions("--for", {"1.K:2%"}, today.rig.mechanism,
                                                         today.rig.mechanism);
  const auto refused = [&](double command_max) {
    try {
      (void)design_experiment(today,
                              {.targets = targets,
                               .duration = 2.0,
                               .command_max = command_max,
                               .kind = service::CommandKind::kPulses,
                               .threads = 2},
                              "plan.textproto");
    } catch (const service::InfeasibleExperiment& reason) {
      return std::string(reason.what());
    }
    return std::string();
  };
  expect_parts(refused(0.0002), {"dry friction of the joint is 0.001 N·m", "Raise command_max"});
  EXPECT_EQ(refused(2.0), "");
}

// Narrow limits permit no run while the parameters are uncertain. The refusal names the limits and
// the options of the caller, and does not claim that no command identifies the target.
TEST(InfeasiblePlan, NamesTheOptionsOfTheCaller) {
  service::DesignInput today = service::load_design_input(
      test_support::source_folder() + "/configs/rig-furuta.textproto", "");
  today.rig.encoders[0].limits = {-4e-3, 4e-3, 0.05};
  today.rig.encoders[1].limits = {-4e-3, 4e-3, 0.05};
  const auto targets = service::parse_target_precisions("--until", {"B.J_zz:2%"},
                                                        today.rig.mechanism, today.rig.mechanism);
  std::string text;
  try {
    (void)design_experiment(today,
                            {.targets = targets,
                             .duration = 2.0,
                             .kind = service::CommandKind::kPulses,
                             .threads = 2,
                             .target_option = "--until",
                             .result_option = "--parameters"},
                            "plan.textproto");
  } catch (const service::UncertainExperiment& reason) {
    text = reason.what();
  }
  expect_parts(text, {"limits", "add --parameters RESULT.json"});
  test_support::expect_absent(text, {"no command of motor", "--after"});
}

// The value of an estimate at its bound is no measure of its size: a percentage refers to the rig
// file's value, and the parameter is no default target.
TEST(TargetPrecision, AtABoundRefersToTheRigFile) {
  const estimator::Mechanism in_file = rig("furuta").mechanism;
  estimator::Mechanism reached = in_file;
  const int index = reached.find_parameter("B.J_zz");
  reached.at(index).value = reached.at(index).lower;
  const auto parse = [&](const std::string& text, const estimator::Mechanism& file) {
    return service::parse_target_precisions("--until", {text}, reached, file).at(0).deviation;
  };
  EXPECT_DOUBLE_EQ(parse("B.J_zz:0.5%", in_file), 0.005 * in_file.at(index).value);
  EXPECT_DOUBLE_EQ(parse("B.J_zz:1e-5", in_file), 1e-5);
  test_support::expect_parts(
      test_support::refusal([&] { (void)parse("B.J_zz:0.5%", estimator::Mechanism(reached)); }),
      {"its bound,", "meaningless"});
  const auto is_default_target = [&](const estimator::Mechanism& mechanism) {
    return std::ranges::count(service::default_target_precisions(mechanism), "B.J_zz",
                              &service::TargetPrecision::name) > 0;
  };
  EXPECT_TRUE(is_default_target(in_file));
  EXPECT_FALSE(is_default_target(reached));
}

// The law used in the search must be that of the written scenario.
TEST(SwingUpPlan, IsTheScenarioThatIsWritten) {
  const service::Rig furuta = rig("furuta");
  const SwingUpProperties swing_up = *find_swing_up_joint(furuta.mechanism, 0, 6.0);
  const service::CommandShape shape =
      make_command_shape(service::CommandKind::kSwingUp, 3.0, 1.5, 1000.0, swing_up);
  estimator::DesignTask task;
  task.facts.period = 0.004;
  set_task_signals(shape, task);
  ASSERT_TRUE(task.law);
  EXPECT_EQ(task.signals.rows(), 751);
  EXPECT_EQ(task.signals.cols(), 0);
  std::mt19937_64 random(3);
  for (int k = 0; k < 20; ++k) {
    const Eigen::VectorXd plan = task.law->draw(random);
    const std::string text = "duration_s: 3\n" + format_scenario_excitation(shape, "1", plan);
    daq::Scenario scenario = service::parse_scenario("plan", text, furuta).excitation;
    for (int i = 0; i < 100; ++i) {
      const double time = 0.017 * i;
      const Eigen::Vector2d joints(0.3, 0.2 * i), rates(-1.0, 4.0 * std::sin(i));
      const std::vector<daq::JointState> seen = {{joints[0], rates[0], true},
                                                 {joints[1], rates[1], true}};
      const double reported = scenario.compute_command({time, seen});
      EXPECT_NEAR(task.law->command(plan, time, joints, rates), reported, 1e-5 * 6.0)
          << k << " " << i;
    }
  }
  // If a motion diverges, the command is zero.
  EXPECT_EQ(task.law->command(task.law->draw(random), 2.0, Eigen::Vector2d(0.0, NAN),
                              Eigen::Vector2d(0.0, 1.0)),
            0.0);
}

// The position feedback of the search must be that of the written scenario: around the start, at an
// encoder with an offset, and for a motor that turns the joint backwards.
TEST(PositionFeedbackPlan, IsTheScenarioThatIsWritten) {
  const service::Rig furuta = rig("furuta");
  for (const service::CommandKind kind :
       {service::CommandKind::kMultisine, service::CommandKind::kPulses}) {
    service::CommandShape shape = make_command_shape(kind, 3.0, 1.5, 1000.0, SwingUpProperties{});
    shape.feedback = service::FeedbackProperties{
        .setpoint = 0.4, .offset = 0.15, .reach = 0.8, .direction = -1.0, .command_max = 6.0};
    estimator::DesignTask task;
    task.facts.period = 0.004;
    set_task_signals(shape, task);
    ASSERT_TRUE(task.law);
    std::mt19937_64 random(3);
    for (int k = 0; k < 20; ++k) {
      const Eigen::VectorXd gains = task.law->draw(random);
      const daq::PositionFeedbackSettings settings =
          compute_feedback_settings(*shape.feedback, gains);
      EXPECT_TRUE(daq::PositionFeedback(settings).validation_errors().empty());
      EXPECT_LT(settings.proportional_gain, 0.0);
      EXPECT_LE(settings.derivative_gain, 0.0);
      EXPECT_LE(task.law->command_max(gains), 3.0);
      Eigen::VectorXd plan = Eigen::VectorXd::Zero(task.signals.cols() + gains.size());
      plan.tail(gains.size()) = gains;
      const std::string text = "duration_s: 3\n" + format_scenario_excitation(shape, "1", plan);
      daq::Scenario scenario = service::parse_scenario("plan", text, furuta).excitation;
      for (int i = 0; i < 30; ++i) {
        const double time = 0.017 * i;
        const Eigen::Vector2d joints(0.4 + 0.1 * std::sin(3.0 * i), 9.0), rates(std::cos(i), 9.0);
        const std::vector<daq::JointState> measured = {{joints[0] - 0.15, rates[0], true}, {}};
        EXPECT_NEAR(task.law->command(gains, time, joints, rates),
                    scenario.compute_command({time, measured}), 1e-5 * 6.0)
            << k << " " << i;
      }
    }
  }
}

// A reduced plan excites less and feeds back as before.
TEST(PositionFeedbackPlan, KeepsItsGainsInAReducedPlan) {
  const service::CommandShape shape = make_command_shape(service::CommandKind::kPulses, 0.4, 1.5,
                                                         1000.0, SwingUpProperties{});
  ASSERT_EQ(shape.pulses, 2);
  const Eigen::Vector<double, 5> plan{2.0, -1.0, 0.3, 0.5, 0.7};
  EXPECT_EQ(reduce_plan_commands(shape, plan, 0.5),
            (Eigen::Vector<double, 5>{1.0, -0.5, 0.3, 0.5, 0.7}));
}

}  // namespace
