// Start configurations of simulations of rigs with loops.
#include "service/simulation/initial_assembly.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "estimator/simulation/loops/loop_closure.hpp"
#include "estimator/simulation/statics/equilibrium.hpp"
#include "service/simulation/scenario_file.hpp"
#include "service/simulation/simulation.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/source_folder.hpp"

namespace service {
namespace {

using test_support::expect_parts;

Rig five_bar() {
  return load_rig(test_support::source_folder() + "/configs/rig-fivebar.textproto");
}

std::string start_of(const std::string& joints) { return "duration_s: 0.2 release { } " + joints; }

std::string initial(const std::string& joint, double angle) {
  return "initial { joint: \"" + joint + "\" angle_rad: " + std::to_string(angle) + " } ";
}

/// Elbow of an arm of 0.12 and 0.18 [m].
Eigen::Vector2d elbow_of(double base, double shoulder) {
  return {base + 0.12 * std::cos(shoulder), 0.12 * std::sin(shoulder)};
}
Eigen::Vector2d tip_of(double base, double shoulder, double elbow) {
  return elbow_of(base, shoulder) +
         0.18 * Eigen::Vector2d(std::cos(shoulder + elbow), std::sin(shoulder + elbow));
}

/// Distance between the tips of the five-bar's arms, grounded 0.14 apart [m].
double opening(const Eigen::VectorXd& q) {
  return (tip_of(0.0, q[0], q[1]) - tip_of(0.14, q[2], q[3])).norm();
}

/// Whether the tip is above the line from the left elbow to the right one, as assembly_guess
/// states.
bool is_above(const Eigen::VectorXd& q) {
  const Eigen::Vector2d left = elbow_of(0.0, q[0]);
  const Eigen::Vector2d across = elbow_of(0.14, q[2]) - left, up = tip_of(0.0, q[0], q[1]) - left;
  return across.x() * up.y() - across.y() * up.x() > 0.0;
}

// Equilibrium of gravity and springs, on the branch that assembly_guess selects: 120° and 60°,
// elbows outward.
TEST(StartAssembly, LoopsStartAtRestByDefault) {
  const Rig rig = five_bar();
  const Scenario scenario = parse_scenario("s", start_of(""), rig);
  EXPECT_LT(opening(scenario.initial_angles), 1e-9);
  EXPECT_NEAR(scenario.initial_angles[0], 2.1, 1e-6);
  EXPECT_TRUE(is_above(scenario.initial_angles));
  for (const Integrator integrator : {Integrator::kSpook, Integrator::kPhysical}) {
    const SimulatedRun run = simulate(rig, scenario, 1e-4, nullptr, integrator);
    EXPECT_LT((run.angles.rowwise() - run.angles.row(0)).cwiseAbs().maxCoeff(), 1e-4);
  }
}

// A few degrees at a time, so that the elbows stay on their branch.
TEST(StartAssembly, GivenJointsMoveTheOthers) {
  const Rig rig = five_bar();
  for (const auto& [left, right] :
       {std::pair(2.5, 0.6), std::pair(1.2, 1.9), std::pair(0.5, 3.0)}) {
    const Scenario scenario =
        parse_scenario("s", start_of(initial("O1", left) + initial("O2", right)), rig);
    const Eigen::VectorXd& q = scenario.initial_angles;
    EXPECT_NEAR(q[0], left, 1e-6);
    EXPECT_NEAR(q[2], right, 1e-6);
    EXPECT_LT(opening(q), 1e-9);
    EXPECT_TRUE(is_above(q)) << left;
  }
  // If one is given, the loop determines the other.
  const Scenario one = parse_scenario("s", start_of(initial("O2", 0.8)), rig);
  EXPECT_NEAR(one.initial_angles[2], 0.8, 1e-6);
  EXPECT_LT(opening(one.initial_angles), 1e-9);
}

// Joints without encoder may be given with few digits.
TEST(StartAssembly, JointsWithEncoderAreExactAndOthersApproximate) {
  const Rig rig = five_bar();
  const auto rest = estimator::find_stable_equilibrium(rig.mechanism);
  ASSERT_TRUE(rest.has_value());
  const double elbow = std::round(100.0 * rest->coordinates[1]) / 100.0;
  const Scenario scenario = parse_scenario(
      "s", start_of(initial("O1", 2.1) + initial("E1", elbow) + initial("O2", 1.04)), rig);
  EXPECT_NEAR(scenario.initial_angles[0], 2.1, 1e-6);
  EXPECT_NEAR(scenario.initial_angles[2], 1.04, 1e-6);
  EXPECT_LT(opening(scenario.initial_angles), 1e-9);
}

// A crank-rocker has two branches that are not connected: a given rocker angle selects one.
TEST(StartAssembly, GivenJointsSelectTheBranch) {
  const Rig rig = load_rig(test_support::source_folder() + "/configs/rig-fourbar.textproto");
  const auto start = [&](const std::string& joints) {
    return parse_scenario("s", start_of(joints), rig).initial_angles;
  };
  const Eigen::VectorXd one = start(initial("O", 1.0));
  const Eigen::Index rocker = one.size() - 1;
  const double other = one[rocker] > 0.0 ? -2.1838 : 1.5246;
  const Eigen::VectorXd two = start(initial("O", 1.0) + initial("R", other));
  EXPECT_NEAR(two[0], 1.0, 1e-3);
  EXPECT_NEAR(two[rocker], other, 1e-3);
  EXPECT_GT(std::abs(two[rocker] - one[rocker]), 1.0);
  EXPECT_LT(estimator::LoopClosure(rig.mechanism).closure_error(two), 1e-9);
}

TEST(StartAssembly, JointsWhereLoopsCannotBeClosedAreRefused) {
  const Rig rig = five_bar();
  const auto refused = [&](const std::string& joints) {
    return test_support::refusal([&] { (void)parse_scenario("s", start_of(joints), rig); });
  };
  // Arms that point apart have elbows 0.38 apart, but at most 0.36 can be bridged.
  expect_parts(refused(initial("O1", M_PI) + initial("O2", 0.0)),
               {"s:1:", "rig-fivebar", "cannot be closed", "initial"});
  // The elbow on its other side.
  expect_parts(refused(initial("O1", 2.1) + initial("O2", 1.04) + initial("E1", 1.3)),
               {"cannot be closed"});
}

// Zero, whatever assembly_guess states, which applies to loops.
TEST(StartAssembly, OfATreeIsZeroByDefault) {
  estimator::Mechanism tree =
      load_rig(test_support::source_folder() + "/configs/rig-furuta.textproto").mechanism;
  tree.joints[1].assembly_guess = 0.3;
  const double nothing = std::numeric_limits<double>::quiet_NaN();
  const auto start = assemble_joints(tree, Eigen::Vector2d(0.4, nothing));
  ASSERT_TRUE(start.has_value());
  EXPECT_EQ((*start)[0], 0.4);
  EXPECT_EQ((*start)[1], 0.0);
}

}  // namespace
}  // namespace service
