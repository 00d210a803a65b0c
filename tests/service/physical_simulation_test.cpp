#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "estimator/simulation/loops/loop_closure.hpp"
#include "estimator/simulation/statics/equilibrium.hpp"
#include "service/recordings/csv_recording.hpp"
#include "service/simulation/scenario.hpp"
#include "service/simulation/simulation.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/source_folder.hpp"
#include "tests/support/texts.hpp"

namespace service {
namespace {

using namespace test_support;

// Simulations by the equations of motion, which support prismatic and fixed joints and more that
// SPOOK does not.

// A cart of 1.5 kg of two parts bolted together, with a spring and a motor.
const std::string kCart = R"(name: "cart"
body { name: "cart" mass { value: 1 } inertia { xx { value: 1 } yy { value: 1 } zz { value: 1 } } }
body { name: "load" mass { value: 0.5 }
  inertia { xx { value: 1 } yy { value: 1 } zz { value: 1 } } }
joint { name: "rail" type: PRISMATIC
  parent { body: "ground" axis { x: 1 } zero_direction { y: 1 } }
  child { body: "cart" axis { x: 1 } zero_direction { y: 1 } }
  spring { stiffness { value: 6 } }
  motor { control_unit: "V" gain { value: 3 } }
  encoder { counts_per_m: 1000 } }
joint { name: "bolt" type: FIXED
  parent { body: "cart" point { y { value: 0.1 } } axis { x: 1 } zero_direction { y: 1 } }
  child { body: "load" axis { x: 1 } zero_direction { y: 1 } } }
recording { time { column: "t" } position { joint: "rail" column: "x" unit: MILLIMETER }
  control { joint: "rail" column: "u" } }
)";

SimulatedRun run_of(const std::string& rig_text, const std::string& scenario, double step,
                    Integrator integrator = Integrator::kAutomatic) {
  const Rig rig = parse_rig("r", rig_text);
  return simulate(rig, parse_scenario("s", scenario, rig), step, nullptr, integrator);
}

// x(t) = x0 cos(ωt) with ω = 2/s: an omitted or wrongly attached mass changes ω.
TEST(PhysicalSimulation, ACartOnASpringHasTheFrequencyOfItsMasses) {
  const SimulatedRun run =
      run_of(kCart, "duration_s: 2 release { } initial { joint: \"rail\" position_m: 0.2 }", 1e-3);
  EXPECT_EQ(run.integrator, Integrator::kPhysical);
  ASSERT_EQ(run.angles.rows(), 2001);
  for (const Eigen::Index k : {0, 500, 1234, 2000}) {
    EXPECT_NEAR(run.angles(k, 0), 0.2 * std::cos(2e-3 * static_cast<double>(k)), 1e-9);
  }
}

// m x'' = K u - k x from rest: x = K u / k (1 - cos ωt).
TEST(PhysicalSimulation, TheCommandDrivesTheMotor) {
  const SimulatedRun run =
      run_of(kCart, "duration_s: 1 step { motor: \"rail\" command: 0.4 }", 1e-3);
  EXPECT_NEAR(run.angles(1000, 0), 0.2 * (1.0 - std::cos(2.0)), 1e-9);
  EXPECT_EQ(run.controls(500, 0), 0.4);
}

TEST(PhysicalSimulation, PositionsAreWrittenAndRoundedAsTheirEncoderDoes) {
  const Rig rig = parse_rig("r", kCart);
  const SimulatedRun run = run_of(kCart,
                                  "duration_s: 0.5 release { } noise { quantize: true } "
                                  "initial { joint: \"rail\" position_m: 0.2 }",
                                  1e-3);
  for (Eigen::Index k = 0; k < run.angles.rows(); ++k) {
    EXPECT_NEAR(std::remainder(run.angles(k, 0), 1e-3), 0.0, 1e-12);
  }
  const std::string csv = simulation_csv(rig, run);
  EXPECT_EQ(csv.substr(0, csv.find('\n')), "t,x,u");
  EXPECT_NE(csv.find("\n0,200,0\n"), std::string::npos) << "in millimetres";
}

// Friction of 10 m/s² with a transition velocity of 1 mm/s, ten times too steep for a step of 1 ms.
TEST(PhysicalSimulation, ACartThatCreepsComesToRest) {
  std::string cart = kCart;
  const std::string spring = "spring { stiffness { value: 6 } }";
  cart = replaced(cart, spring, "friction { coulomb_force { value: 15 } transition_speed: 1e-3 }");
  const SimulatedRun run = run_of(
      cart, "duration_s: 0.3 release { } initial { joint: \"rail\" speed_m_per_s: -1 }", 1e-3);
  EXPECT_NEAR(run.angles(50, 0), -0.05 + 0.5 * 0.5 * 0.5 / 10.0, 1e-9);
  for (Eigen::Index k = 101; k <= 300; ++k) EXPECT_NEAR(run.angles(k, 0), -0.05, 1e-6);
  cart = replaced(cart, "transition_speed: 1e-3", "transition_speed: 1e-6");
  expect_parts(
      refusal([&] { run_of(cart, "duration_s: 0.3 release { }", 1e-3); }),
      {"r: joint \"rail\"", "the transition speed (1e-6 m/s)", "use a larger transition speed"});
}

// A revolute joint with both: SPOOK is of first order, so at 0.1 ms it differs by that order.
TEST(PhysicalSimulation, AgreesWithSpookForSupportedRigs) {
  const std::string pendulum = R"(
body { name: "B" mass { value: 0.4 }
  inertia { xx { value: 0.001 } yy { value: 0.001 } zz { value: 0.001 } } }
joint { name: "1"
  parent { body: "ground" axis { z: 1 } zero_direction { y: -1 } }
  child { body: "B" point { x { value: -0.1 } } axis { z: 1 } zero_direction { x: 1 } }
  friction { viscous { value: 1e-3 } coulomb_torque { value: 2e-3 } }
  encoder { } })";
  const std::string scenario =
      "duration_s: 1 release { } initial { joint: \"1\" angle_rad: 1 speed_rad_per_s: 2 }";
  const SimulatedRun spook = run_of(pendulum, scenario, 1e-4);
  const SimulatedRun physical = run_of(pendulum, scenario, 1e-4, Integrator::kPhysical);
  EXPECT_EQ(spook.integrator, Integrator::kSpook);
  EXPECT_LT((spook.angles - physical.angles).cwiseAbs().maxCoeff(), 2e-3);
  EXPECT_GT((spook.angles - physical.angles).cwiseAbs().maxCoeff(), 0.0) << "they are two";
}

TEST(PhysicalSimulation, DistinguishesRevoluteAndPrismaticJoints) {
  const auto refused = [](const std::string& scenario) {
    return refusal([&] { run_of(kCart, "duration_s: 1 release { } " + scenario, 1e-3); });
  };
  expect_parts(refused("initial { joint: \"rail\" angle_rad: 0.2 }"),
               {"the joint slides; write position_m"});
  expect_parts(refused("initial { joint: \"rail\" speed_rad_per_s: 0.2 }"),
               {"the joint slides; write speed_m_per_s"});
  expect_parts(refusal([&] {
                 run_of(kCart, "duration_s: 1 release { rest_speed_rad_per_s: 0.1 rest_time_s: 1 }",
                        1e-3);
               }),
               {"some joints of the rig slide; also write rest_speed_m_per_s"});
  expect_parts(refused("limits { joint { joint: \"rail\" angle_rad_max: 1 } }"),
               {"the joint slides; write position_m_max"});
  const SimulatedRun run = run_of(kCart,
                                  "duration_s: 1 release { } limits { joint { joint: \"rail\" "
                                  "position_m_max: 0.1 } } initial { joint: \"rail\" position_m: "
                                  "0.2 }",
                                  1e-3);
  ASSERT_FALSE(run.notes.empty());
  expect_parts(run.notes[0], {"exceeds its position limit of 0.1 m"});
}

// A crank of 3 m, a rod of 5 m and a block on a prismatic joint along x.
const std::string kSlider = R"(name: "slider"
body { name: "crank" mass { value: 9 }
  inertia { xx { value: 9 } yy { value: 9 } zz { value: 90 } } }
body { name: "rod" mass { value: 1 } inertia { xx { value: 2 } yy { value: 2 } zz { value: 2 } } }
body { name: "block" mass { value: 1 } inertia { xx { value: 1 } yy { value: 1 } zz { value: 1 } } }
joint { name: "O" parent { body: "ground" axis { z: 1 } zero_direction { x: 1 } }
  child { body: "crank" axis { z: 1 } zero_direction { x: 1 } } encoder { } }
joint { name: "P"
  parent { body: "crank" point { x { value: 3 } } axis { z: 1 } zero_direction { x: 1 } }
  child { body: "rod" point { x { value: -2.5 } } axis { z: 1 } zero_direction { x: 1 } } }
joint { name: "Q" assembly_guess: 0
  parent { body: "rod" point { x { value: 2.5 } } axis { z: 1 } zero_direction { x: 1 } }
  child { body: "block" axis { z: 1 } zero_direction { x: 1 } } }
joint { name: "S" type: PRISMATIC parent { body: "ground" axis { x: 1 } zero_direction { y: 1 } }
  child { body: "block" axis { x: 1 } zero_direction { y: 1 } } encoder { } }
gravity { magnitude { value: 0 } }
recording { time { column: "t" } angle { joint: "O" column: "o" unit: RADIAN }
  position { joint: "S" column: "s" unit: METER } }
)";

// A given speed moves the whole loop, whichever joints describe its motion.
TEST(PhysicalSimulation, ALoopRunsThroughItsDeadCentres) {
  const SimulatedRun run = run_of(
      kSlider,
      "duration_s: 4 release { } initial { joint: \"O\" angle_rad: 1.5 speed_rad_per_s: 5 }", 1e-3);
  ASSERT_GT(run.angles.rows(), 3000);
  EXPECT_GT(run.angles.col(0).maxCoeff(), 4.0 * M_PI);
  for (Eigen::Index k = 0; k < run.angles.rows(); ++k) {
    const double across = 3.0 * std::sin(run.angles(k, 0));
    ASSERT_NEAR(run.angles(k, 1),
                3.0 * std::cos(run.angles(k, 0)) + std::sqrt(25.0 - across * across), 1e-6)
        << k;
  }
}

// A crank on a ball joint, a coupler and a rocker on a universal joint: a spatial loop in which no
// joint determines the others well all the way round.
const std::string kSpatial = R"(name: "rsur"
body { name: "crank" mass { value: 0.2 } inertia { xx { value: 0.0005 } yy { value: 0.00055 } zz {
  value: 0.0006 } } }
body { name: "s1" massless: true }
body { name: "s2" massless: true }
body { name: "coupler" mass { value: 0.3 } inertia { xx { value: 0.002 } yy { value: 0.0022 } zz {
  value: 0.0024 } } }
body { name: "u1" massless: true }
body { name: "rocker" mass { value: 0.25 } inertia { xx { value: 0.002 } yy { value: 0.0022 } zz {
  value: 0.0024 } } }
joint { name: "O" parent { body: "ground" axis { y: 1 } zero_direction { x: 1 } } child { body:
  "crank" point { x { value: -0.0368424 } z { value: 0.0155767 } } axis { y: 1 } zero_direction {
  x: 1 } } friction { viscous { value: 2e-3 } coulomb_torque { value: 4e-3 } } encoder { } motor {
  control_unit: "V" gain { value: 0.08 } } }
joint { assembly_guess: 0 name: "S1" parent { body: "crank" point { x { value: 0.0368424 } z {
  value: -0.0155767 } } axis { x: 1 } zero_direction { y: 1 } } child { body: "s1" axis { x: 1 }
  zero_direction { y: 1 } } }
joint { name: "S2" parent { body: "s1" axis { y: 1 } zero_direction { z: 1 } } child { body: "s2"
  axis { y: 1 } zero_direction { z: 1 } } }
joint { name: "S3" parent { body: "s2" axis { z: 1 } zero_direction { x: 1 } } child { body:
  "coupler" point { x { value: -0.0881576 } y { value: -0.0859803 } z { value: -0.0671736 } } axis
  { z: 1 } zero_direction { x: 1 } } friction { viscous { value: 1e-4 } } }
joint { assembly_guess: 0 name: "U1" parent { body: "coupler" point { x { value: 0.0881576 } y {
  value: 0.0859803 } z { value: 0.0671736 } } axis { y: 0.615652 z: -0.788018 } zero_direction {
  x: 0.628469 y: 0.612948 z: 0.478876 } } child { body: "u1" axis { y: 0.615652 z: -0.788018 }
  zero_direction { x: 0.628469 y: 0.612948 z: 0.478876 } } }
joint { name: "U2" parent { body: "rocker" point { y { value: 0.0859803 } z { value: 0.0265968 } }
  axis { x: -0.777835 y: 0.495245 z: 0.386919 } zero_direction { x: 0.628469 y: 0.612948 z:
  0.478876 } } child { body: "u1" axis { x: -0.777835 y: 0.495245 z: 0.386919 } zero_direction {
  x: 0.628469 y: 0.612948 z: 0.478876 } } }
joint { name: "R" parent { body: "ground" point { x { value: 0.25 } z { value: 0.05 } } axis { x:
  1 } zero_direction { y: 1 } } child { body: "rocker" point { y { value: -0.0859803 } z { value:
  -0.0265968 } } axis { x: 1 } zero_direction { y: 1 } } friction { viscous { value: 2e-3 }
  coulomb_torque { value: 4e-3 } } encoder { } }
gravity { magnitude { value: 9.81 } }
)";

TEST(PhysicalSimulation, ASpatialLoopChangesItsCoordinates) {
  const std::string drive =
      "duration_s: 3 multisine { motor: \"O\" ramp_s: 0.5 sine { frequency_hz: 0.5 amplitude: 2 "
      "} "
      "sine { frequency_hz: 1.1 amplitude: 6 } sine { frequency_hz: 2.3 amplitude: 6 } }";
  // The two change coordinates at different steps, which must not matter.
  const SimulatedRun coarse = run_of(kSpatial, drive, 5e-4), fine = run_of(kSpatial, drive, 2.5e-4);
  ASSERT_EQ(coarse.angles.rows(), fine.angles.rows());
  EXPECT_GT(fine.angles.col(0).maxCoeff() - fine.angles.col(0).minCoeff(), 1.0);
  EXPECT_LT((coarse.angles - fine.angles).cwiseAbs().maxCoeff(), 2e-4);  // steps: 3e-5
}

// Start configurations of simulations of rigs with loops.

Rig five_bar() { return load_rig(source_folder() + "/configs/rig-fivebar.textproto"); }

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
  const Rig rig = load_rig(source_folder() + "/configs/rig-fourbar.textproto");
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
    return refusal([&] { (void)parse_scenario("s", start_of(joints), rig); });
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
  estimator::Mechanism tree = load_rig(source_folder() + "/configs/rig-furuta.textproto").mechanism;
  tree.joints[1].assembly_guess = 0.3;
  const double nothing = std::numeric_limits<double>::quiet_NaN();
  const auto start = assemble_initial_configuration(tree, Eigen::Vector2d(0.4, nothing));
  ASSERT_TRUE(start.has_value());
  EXPECT_EQ((*start)[0], 0.4);
  EXPECT_EQ((*start)[1], 0.0);
}

}  // namespace
}  // namespace service
