#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "proto/text/input_error.hpp"
#include "service/import/csv_recording.hpp"
#include "service/simulation/scenario_file.hpp"
#include "service/simulation/simulation.hpp"
#include "service/simulation/simulation_csv.hpp"
#include "tests/support/refusal.hpp"

// Simulations by the equations of motion, which know slides, fixed joints and what else SPOOK does
// not.

namespace service {
namespace {

using test_support::expect_parts;
using test_support::refusal;

// A cart of 1.5 kg of two parts bolted together, on a spring and a motor.
const std::string kCart = R"(name: "cart"
body { name: "cart" mass { value: 1 } inertia { xx { value: 1 } yy { value: 1 } zz { value: 1 } } }
body { name: "load" mass { value: 0.5 }
  inertia { xx { value: 1 } yy { value: 1 } zz { value: 1 } } }
hinge { name: "rail" kind: PRISMATIC
  parent { body: "ground" axis { x: 1 } zero_direction { y: 1 } }
  child { body: "cart" axis { x: 1 } zero_direction { y: 1 } }
  spring { stiffness { value: 6 } }
  motor { control_unit: "V" gain { value: 3 } }
  encoder { counts_per_m: 1000 } }
hinge { name: "bolt" kind: FIXED
  parent { body: "cart" point { y { value: 0.1 } } axis { x: 1 } zero_direction { y: 1 } }
  child { body: "load" axis { x: 1 } zero_direction { y: 1 } } }
recording { time { column: "t" } position { hinge: "rail" column: "x" unit: MILLIMETER }
  control { hinge: "rail" column: "u" } }
)";

SimulatedRun run_of(const std::string& rig_text, const std::string& scenario, double step,
                    Integrator integrator = Integrator::kAutomatic) {
  const Rig rig = parse_rig("r", rig_text);
  return simulate(rig, parse_scenario("s", scenario, rig), step, nullptr, integrator);
}

// x(t) = x0 cos(ωt) with ω = 2/s: a mass left out, or bolted on wrongly, changes ω.
TEST(PhysicalSimulation, ACartOnASpringSwingsAsItsMassesSay) {
  const SimulatedRun run =
      run_of(kCart, "duration_s: 2 release { } initial { hinge: \"rail\" position_m: 0.2 }", 1e-3);
  EXPECT_EQ(run.integrator, Integrator::kPhysical);
  ASSERT_EQ(run.angles.rows(), 2001);
  for (const Eigen::Index k : {0, 500, 1234, 2000}) {
    EXPECT_NEAR(run.angles(k, 0), 0.2 * std::cos(2e-3 * static_cast<double>(k)), 1e-9);
  }
}

// m x'' = K u - k x from rest: x = K u / k (1 - cos ωt).
TEST(PhysicalSimulation, TheMotorsCommandActs) {
  const SimulatedRun run =
      run_of(kCart, "duration_s: 1 step { motor: \"rail\" command: 0.4 }", 1e-3);
  EXPECT_NEAR(run.angles(1000, 0), 0.2 * (1.0 - std::cos(2.0)), 1e-9);
  EXPECT_EQ(run.controls(500, 0), 0.4);
}

TEST(PhysicalSimulation, PositionsAreWrittenAndRoundedAsTheirEncoderDoes) {
  const Rig rig = parse_rig("r", kCart);
  const SimulatedRun run = run_of(kCart,
                                  "duration_s: 0.5 release { } noise { quantise: true } "
                                  "initial { hinge: \"rail\" position_m: 0.2 }",
                                  1e-3);
  for (Eigen::Index k = 0; k < run.angles.rows(); ++k) {
    EXPECT_NEAR(std::remainder(run.angles(k, 0), 1e-3), 0.0, 1e-12);
  }
  const std::string csv = simulation_csv(rig, run);
  EXPECT_EQ(csv.substr(0, csv.find('\n')), "t,x,u");
  EXPECT_NE(csv.find("\n0,200,0\n"), std::string::npos) << "in millimetres";
}

// A hinge, by either: SPOOK is of first order, so at 0.1 ms it strays by that order.
TEST(PhysicalSimulation, AgreesWithSpookWhereBothCan) {
  const std::string pendulum = R"(
body { name: "B" mass { value: 0.4 }
  inertia { xx { value: 0.001 } yy { value: 0.001 } zz { value: 0.001 } } }
hinge { name: "1"
  parent { body: "ground" axis { z: 1 } zero_direction { y: -1 } }
  child { body: "B" point { x { value: -0.1 } } axis { z: 1 } zero_direction { x: 1 } }
  friction { viscous { value: 1e-3 } coulomb_torque { value: 2e-3 } }
  encoder { } })";
  const std::string scenario =
      "duration_s: 1 release { } initial { hinge: \"1\" angle_rad: 1 speed_rad_per_s: 2 }";
  const SimulatedRun spook = run_of(pendulum, scenario, 1e-4);
  const SimulatedRun physical = run_of(pendulum, scenario, 1e-4, Integrator::kPhysical);
  EXPECT_EQ(spook.integrator, Integrator::kSpook);
  EXPECT_LT((spook.angles - physical.angles).cwiseAbs().maxCoeff(), 2e-3);
  EXPECT_GT((spook.angles - physical.angles).cwiseAbs().maxCoeff(), 0.0) << "they are two";
}

TEST(PhysicalSimulation, TurnsAndSlidesAreToldApart) {
  const auto refused = [](const std::string& scenario) {
    return refusal([&] { run_of(kCart, "duration_s: 1 release { } " + scenario, 1e-3); });
  };
  expect_parts(refused("initial { hinge: \"rail\" angle_rad: 0.2 }"),
               {"the joint slides; write position_m"});
  expect_parts(refused("initial { hinge: \"rail\" speed_rad_per_s: 0.2 }"),
               {"the joint slides; write speed_m_per_s"});
  expect_parts(refused("limits { hinge { hinge: \"rail\" angle_rad_max: 1 } }"),
               {"the joint slides; write position_m_max"});
  const SimulatedRun run = run_of(kCart,
                                  "duration_s: 1 release { } limits { hinge { hinge: \"rail\" "
                                  "position_m_max: 0.1 } } initial { hinge: \"rail\" position_m: "
                                  "0.2 }",
                                  1e-3);
  ASSERT_FALSE(run.notes.empty());
  EXPECT_NE(run.notes[0].find("exceeds its position limit of 0.1 m"), std::string::npos)
      << run.notes[0];
}

}  // namespace
}  // namespace service
