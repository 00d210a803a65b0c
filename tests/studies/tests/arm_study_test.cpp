#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>

#include "estimator/dynamics/tree_inverse_dynamics.hpp"
#include "estimator/fit/physical/shooting_fit.hpp"
#include "proto/text/input_error.hpp"
#include "tests/studies/arm/arm.hpp"
#include "tests/studies/arm/arm_draw.hpp"
#include "tests/studies/arm/arm_energy.hpp"
#include "tests/studies/arm/arm_judgement.hpp"
#include "tests/studies/arm/arm_regressors.hpp"
#include "tests/studies/arm/arm_tasks.hpp"
#include "tests/studies/study_file.hpp"
#include "tests/studies/tests/tiny_study.hpp"

namespace service {
namespace {

constexpr const char* kTinyArms = R"(kind: ARM
arms {
  arm {
    links: 2
    repetitions: 1
    tied_repetitions: 1
    seed: 3
    duration_s: 8
    rate_Hz: 100
    amplitude_rad: 0.7
    frequency_min_Hz: 0.1
    frequency_max_Hz: 1.5
    dither: 0.1
    start_error: 0.7
    noise: [0, 0.01]
    energy_starts: 1
    energy_duration_s: 2
    energy_noise: 0.01
  }
}
)";

StudyArm tiny_arm() {
  const TemporaryFolder folder;
  return load_study(folder.write("study.textproto", kTinyArms)).arms.front();
}

/// Returns the result of a random arm of the study, compared with the true values.
ArmResult draw_of(const StudyArm& arm, double noise, std::uint64_t index = 0) {
  const StudyRun fit = run_task(arm_fit_task(arm, noise, index), nullptr);
  const StudyRun regressions = run_task(arm_regression_task(arm, noise, index), nullptr);
  if (noise == 0.0) return evaluate_arm(arm, noise, index, fit, regressions, nullptr);
  const StudyRun tied = run_task(arm_tied_task(arm, noise, index, fit), nullptr);
  return evaluate_arm(arm, noise, index, fit, regressions, &tied);
}

double median_error(std::vector<double> errors) {
  std::ranges::sort(errors);
  return errors[errors.size() / 2];
}

Eigen::VectorXd wave(int n, double phase) {
  return Eigen::VectorXd::NullaryExpr(
      n, [&](Eigen::Index i) { return std::sin(phase + 1.7 * static_cast<double>(i)); });
}

// Readings far more precise than the process noise between nodes bind a start 70 % off to its own
// motion. With full weight from the start, this draw ends 0.04 rad away.
TEST(Arm, OfSixLinksWithoutNoiseIsFoundFromFarOff) {
  StudyArm arm = tiny_arm();
  arm.links = 6;
  arm.duration = 4.0;
  arm.seed = 1;
  const ArmResult draw = draw_of(arm, 0.0, 13);
  EXPECT_TRUE(draw.fits_noise);
  EXPECT_TRUE(draw.has_consistent_inertias);
  EXPECT_LT(median_error(draw.errors), 1e-5);
}

// The study's own equations and the estimator's, written separately, must describe the same arm,
// through the rig file. Catches a wrong frame, sign or lever arm in either.
TEST(Arm, MatchesItsRigFile) {
  for (const int links : {2, 6}) {
    const RandomArm drawn = make_random_arm(links, 0.7, 5, 6);
    const estimator::Mechanism mechanism = arm_mechanism(drawn.arm, drawn.bodies);
    estimator::TreeInverseDynamics<double> dynamics(mechanism, parameter_values(mechanism));
    const Eigen::VectorXd q = wave(links, 0.3), v = 3.0 * wave(links, 1.0),
                          a = 9.0 * wave(links, 2.0), u = wave(links, 4.0);
    estimator::JointVector<double> torque_residual;
    dynamics.torque_residual(q, v, a, u, torque_residual);
    const Eigen::VectorXd links_torque =
        torque_regressor(drawn.arm, q, v, a) * standard_parameters(drawn.arm);
    const ArmState state = arm_state(drawn.arm, q, v);
    for (int j = 0; j < links; ++j) {
      const ArmLink& link = drawn.arm.links[static_cast<std::size_t>(j)];
      const double torque = links_torque[j] + link.shaft * a[j];
      EXPECT_NEAR(torque + link.viscous * v[j] - link.gain * u[j], torque_residual[j], 1e-9) << j;
      EXPECT_NEAR(torque, state.mass.row(j).dot(a) + state.bias[j], 1e-9) << j;
    }
  }
}

// The controls' work equals energy plus friction losses [MTM, eq. 62], through reversals and rests.
TEST(Arm, BalancesItsEnergy) {
  StudyArm settings = tiny_arm();
  settings.period = 1e-3;
  const auto [drawn, run] = draw_run(settings, 4.0, 0);
  double put_in = 0.0, taken = 0.0;
  const Eigen::Index last = run.angles.rows() - 1;
  for (Eigen::Index k = 0; k < last; ++k) {
    for (int j = 0; j < 2; ++j) {
      const ArmLink& link = drawn.arm.links[static_cast<std::size_t>(j)];
      const double moved = run.angles(k + 1, j) - run.angles(k, j);
      put_in += link.gain * run.controls(k, j) * moved;
      const double mean = 0.5 * (run.rates(k, j) + run.rates(k + 1, j));
      taken += link.viscous * mean * moved + link.coulomb * std::abs(moved);
    }
  }
  const auto energy = [&](Eigen::Index k) {
    return energy_of(drawn.arm, run.angles.row(k).transpose(), run.rates.row(k).transpose());
  };
  EXPECT_GT(taken, 1.0);
  EXPECT_NEAR(put_in - taken, energy(last) - energy(0), 1e-3 * taken);
}

// Regressions are fair baselines only if they find the truth in an ideal case.
TEST(ArmRegression, IsExactWithoutNoise) {
  StudyArm settings = tiny_arm();
  settings.period = 1e-3;
  settings.dither = 0.0;
  auto [drawn, run] = draw_run(settings, 8.0, 0);
  for (ArmLink& link : drawn.arm.links) link.coulomb = 0.0;  // polynomials smooth its jumps
  run = simulate_arm(drawn.arm,
                     {.seed = 2,
                      .duration = 8.0,
                      .period = 1e-3,
                      .amplitude = 0.7,
                      .slowest = 0.1,
                      .fastest = 1.5,
                      .dither = 0.0},
                     1e-3);
  const SmoothedRun smoothed = smooth_run(run, 5);
  EXPECT_LT((smoothed.rates.row(100) - run.rates.row(103)).norm(), 1e-3);
  for (const auto regress : {regress_torques, regress_energy}) {
    const Eigen::VectorXd found = regress(drawn.arm, run, 5).values;
    const Eigen::VectorXd truth = regression_values(drawn.arm);
    EXPECT_NEAR(found[22], truth[22], 0.01 * truth[22]);  // viscous friction
    EXPECT_NEAR(found[26], truth[26], 0.01 * truth[26]);  // the second gain
  }
}

// The study's goal, on 8 s.
TEST(ArmStudy, FindsTheTruthWithoutNoise) {
  const ArmResult draw = draw_of(tiny_arm(), 0.0);
  EXPECT_TRUE(draw.fits_noise);
  EXPECT_TRUE(draw.has_consistent_inertias);
  EXPECT_LT(median_error(draw.errors), 1e-4);
  EXPECT_GT(median_error(draw.torque_errors), 1e-4);
}

// A dependency is information: no standard deviation may grow, and some must shrink.
TEST(ArmStudy, TiesNeverWiden) {
  const ArmResult draw = draw_of(tiny_arm(), 0.01);
  EXPECT_TRUE(draw.fits_noise);
  ASSERT_EQ(draw.tied_ratios.size(), 7U);
  EXPECT_LE(*std::ranges::max_element(draw.tied_ratios), 1.02);
  EXPECT_LT(*std::ranges::min_element(draw.tied_ratios), 0.95);
  EXPECT_LT(median_error(draw.errors), 0.01);
}

// A base parameter does not contain moments without effect on its motion. Round-off must not add
// them and make it unidentifiable.
TEST(ArmStudy, BaseParametersAreIdentifiable) {
  const StudyArm arm = tiny_arm();
  for (const std::uint64_t index : {0U, 1U}) {
    const StudyRun fit = run_task(arm_fit_task(arm, 0.01, index), nullptr);
    const StudyRun tied = run_task(arm_tied_task(arm, 0.01, index, fit), nullptr);
    for (const StudyRun* run : {&fit, &tied}) {
      ASSERT_EQ(run->base.size(), 7U);
      for (const RunParameter& each : run->base) {
        EXPECT_LT(each.standard_deviation, 0.1) << index << ' ' << each.name;
      }
    }
  }
}

// The gradient of energies by states and parameters, against differences of the cost. Catches a
// block at the wrong place of the chain and a column at the wrong place of a block.
TEST(ArmEnergy, HasTheDerivativesOfItsCost) {
  StudyArm settings = tiny_arm();
  const auto [drawn, clean] = draw_run(settings, 0.3, 0);
  const ArmRun run = with_noise(clean, 0.01, 9);
  const estimator::Mechanism start = arm_mechanism(drawn.start, drawn.start_bodies);
  estimator::ShootingInput input = estimator::prepare_shooting_input(
      start, {recording_of(run)}, estimator::CalibrationOptions{});
  input.grid.interval = run.period;
  EnergyObservedProblem problem(
      {start, input.segments, input.states, input.state_spacing, input.grid, input.noise},
      drawn.arm, run, 0.01);
  const auto shape = problem.shape();
  const Eigen::Index nodes = shape.node_count * shape.node_size;
  Eigen::VectorXd gradient = Eigen::VectorXd::Zero(nodes + shape.parameter_count);
  estimator::ResidualBlock block;
  for (int i = 0, before = 0; i < problem.block_count(); ++i) {
    problem.linearize(i, block);
    if (block.node_span > 0) {
      const int last = block.first_node + block.node_span - 1;
      EXPECT_GE(last, before) << "block " << i;
      before = last;
    }
    const Eigen::VectorXd r = block.residual.head(block.rows);
    gradient.segment(block.first_node * shape.node_size, block.node_span * shape.node_size) +=
        2.0 * block.node_jacobian.topRows(block.rows).transpose() * r;
    gradient.tail(shape.parameter_count) +=
        2.0 * block.parameter_jacobian.topRows(block.rows).transpose() * r;
  }
  const auto cost_after = [&](Eigen::Index at, double by) {
    const Eigen::VectorXd step = by * Eigen::VectorXd::Unit(gradient.size(), at);
    return problem.evaluate_trial_step(step.head(nodes), step.tail(shape.parameter_count));
  };
  EXPECT_GT(problem.cost() - problem.inner().cost(), 1.0);
  // For the first nodes, and all parameters.
  for (Eigen::Index i = 0; i < gradient.size(); i = i + 1 == 12 ? nodes : i + 1) {
    constexpr double kBy = 1e-6;
    const double slope = (cost_after(i, kBy) - cost_after(i, -kBy)) / (2.0 * kBy);
    EXPECT_NEAR(gradient[i], slope, 1e-3 * std::abs(slope) + 1e-6 * problem.cost()) << i;
  }
}

// An error must be reported with its place before anything is computed.
TEST(ArmStudy, RefusesFaultsWithFileAndLine) {
  struct Fault {
    const char* from;
    const char* to;
    const char* said;
  };
  const Fault faults[] = {{"links: 2", "links: 7", "links is 7"},
                          {"repetitions: 1", "", "repetitions must be given"},
                          {"noise: [0, 0.01]", "", "has no noise"},
                          {"start_error: 0.7", "start_error: 1", "start_error is 1"},
                          {"frequency_min_Hz: 0.1", "frequency_min_Hz: 9",
                           "frequency_min_Hz must not exceed frequency_max_Hz"},
                          {"energy_noise: 0.01", "", "energy_noise must be given"},
                          {"dither", "shaking", "shaking"}};
  const TemporaryFolder folder;
  for (const Fault& fault : faults) {
    std::string text = kTinyArms;
    const std::size_t at = text.find(fault.from);
    ASSERT_NE(at, std::string::npos) << fault.from;
    text.replace(at, std::string(fault.from).size(), fault.to);
    const std::string path = folder.write("bad.textproto", text);
    try {
      load_study(path);
      ADD_FAILURE() << fault.to << ": loaded";
    } catch (const proto::InputError& error) {
      const std::string said = error.what();
      EXPECT_NE(said.find(fault.said), std::string::npos) << said;
      EXPECT_NE(said.find("bad.textproto:"), std::string::npos) << said;
    }
  }
}

// Stored results of a solve with energy must be read back unchanged, or a resumed study is wrong.
TEST(ArmStudy, StoresResultsOfEnergySolves) {
  EnergyRuns runs;
  runs.without = {true, 7, 3.5, 0.01, 0.02, 0.03, 1.5};
  runs.inflated_without.cost = 9.0;
  StudyRun kept;
  kept.parameters = parameters_of(runs);
  const EnergyRuns back = energy_runs_of(kept);
  EXPECT_TRUE(back.without.fits_noise);
  EXPECT_FALSE(back.with.fits_noise);
  EXPECT_EQ(back.without.iterations, 7);
  EXPECT_EQ(back.without.cost, 3.5);
  EXPECT_EQ(back.without.trajectory, 0.01);
  EXPECT_EQ(back.without.inertia, 0.02);
  EXPECT_EQ(back.without.friction, 0.03);
  EXPECT_EQ(back.without.reported, 1.5);
  EXPECT_EQ(back.inflated_without.cost, 9.0);
  EXPECT_EQ(back.inflated_with.cost, 0.0);
}

// Two recordings that differ in anything must have different keys in the store.
TEST(ArmStudy, GivesEveryRunAKeyOfItsOwn) {
  const StudyArm arm = tiny_arm();
  StudyArm other = arm;
  other.dither = 0.2;
  StudyRun fit;
  fit.key = "another";
  std::set<std::string> keys;
  for (const StudyTask& task :
       {arm_fit_task(arm, 0.0, 0), arm_fit_task(arm, 0.01, 0), arm_fit_task(arm, 0.0, 1),
        arm_fit_task(other, 0.0, 0), arm_regression_task(arm, 0.0, 0), arm_time_task(arm, 2.0),
        arm_time_task(arm, 4.0), arm_tied_task(arm, 0.01, 0, {}), arm_tied_task(arm, 0.01, 0, fit),
        arm_energy_task(arm, 0), arm_energy_task(arm, 1)}) {
    EXPECT_TRUE(keys.insert(task.key).second) << task.place.stage;
  }
}

// The whole command: tables, draws for other programs, and runs that a second call does not repeat.
TEST(ArmStudy, WritesItsFolder) {
  const TemporaryFolder folder;
  const std::string config = folder.write("study.textproto", kTinyArms);
  const ProgramRun run = run_rigcal(config + " --out " + folder.file("out"));
  EXPECT_NE(run.out.find("Energy observations, 2 links"), std::string::npos) << run.out << run.err;
  EXPECT_NE(contents_of(folder.file("out/table-errors-2.csv")).find("2.8 %"), std::string::npos);
  const std::string draws = contents_of(folder.file("out/draws.jsonl"));
  EXPECT_EQ(std::ranges::count(draws, '\n'), 2);
  const auto kept = stored_runs(folder.file("out"));
  EXPECT_EQ(kept.size(), 9U);
  const ProgramRun again = run_rigcal(config + " --out " + folder.file("out"));
  EXPECT_EQ(again.out, run.out);
  EXPECT_EQ(stored_runs(folder.file("out")), kept);
}

}  // namespace
}  // namespace service
