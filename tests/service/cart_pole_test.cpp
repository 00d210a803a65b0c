// A prismatic joint, from rig file and recording to estimates, checked with independent data.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <map>
#include <stdexcept>
#include <string>

#include "estimator/calibrate/calibrate.hpp"
#include "proto/text/files.hpp"
#include "service/messages/message_text.hpp"
#include "service/recordings/csv_recording.hpp"
#include "service/rig/rig_file.hpp"
#include "tests/support/evaluation_data.hpp"
#include "tests/support/evaluation_truth.hpp"
#include "tests/support/import_csv.hpp"
#include "tests/support/parameters.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/source_folder.hpp"
#include "tests/support/texts.hpp"

namespace service {
namespace {

using namespace test_support;

const std::string kRigPath = source_folder() + "/configs/rig-cartpole.textproto";

/// The rig file has no back-EMF, so rail.b includes it: b + K k_e.
std::map<std::string, double> truth_of(const std::filesystem::path& data, const std::string& set) {
  auto truth = true_parameters(data, set);
  truth["rail.b"] += truth["rail.K"] * truth["rail.k_e"];
  return truth;
}

/// @param creeps  whether friction creeps, as in the data, or sticks
estimator::Calibration calibrate_set(const std::filesystem::path& data, const std::string& set,
                                     const std::string& variant, bool creeps = true) {
  const auto truth = truth_of(data, set);
  Rig rig = load_rig(kRigPath);
  for (estimator::Joint& joint : rig.mechanism.joints) {
    if (!creeps) joint.transition_speed = 0.0;
  }
  for (const char* const mass : {"cart.m", "pole.m"}) {
    parameter_of(rig.mechanism, mass).value = truth.at(mass);
  }
  const std::filesystem::path file = data / "synthetic_planar" / (set + "__" + variant + ".csv");
  return estimator::calibrate(rig.mechanism, {import_csv(file.string(), *rig.format).recording});
}

// The data's friction is Coulomb friction that creeps, tanh(rate/1e-3), as in the rig file. Catches
// a prismatic joint treated as revolute, a wrong unit, threshold or equation of motion, and
// friction that sticks (0.32 mm open loop: the cart of set base creeps 1 mm in its 1.3 s of rest).
TEST(CartPole, ParametersOfIndependentDataAreFound) {
  const auto data = find_evaluation_data();
  if (!data) GTEST_SKIP() << "no evaluation data beside the checkout";
  struct Noise {
    const char* variant;
    double rail_m, pivot_rad;
  };
  const double counts = std::sqrt(12.0);
  for (const Noise& noise :
       {Noise{"noise", 2e-4, 1e-3}, Noise{"quant", 5e-5 / counts, 2.0 * M_PI / 4096 / counts}}) {
    for (const std::string set : {"cartpole_base", "cartpole_rand1"}) {
      SCOPED_TRACE(set + " " + noise.variant);
      const auto truth = truth_of(*data, set);
      const estimator::Calibration result = calibrate_set(*data, set, noise.variant);
      EXPECT_TRUE(result.converged());
      EXPECT_TRUE(result.refined);
      EXPECT_TRUE(result.null_directions.empty());
      ASSERT_EQ(result.simulation.size(), 2U);
      EXPECT_EQ(result.simulation[0].kind, estimator::JointKind::kPrismatic);
      EXPECT_LT(result.simulation[0].rmse, 1.1 * noise.rail_m);
      EXPECT_LT(result.simulation[1].rmse, 1.1 * noise.pivot_rad);
      for (const estimator::ParameterEstimate& estimate : result.parameters) {
        const double expected = truth.at(estimate.name);
        EXPECT_LT(std::abs(estimate.value - expected),
                  std::max(3.0 * estimate.standard_deviation, 5e-3 * std::abs(expected)))
            << estimate.name << " " << estimate.value << " ± " << estimate.standard_deviation
            << " for " << expected;
      }
    }
  }
}

// Sticking friction is not the data's law. Only the dry friction of the pivot may be further off
// than its standard deviation, and the notes must report an unexplained misfit.
TEST(CartPole, DistinguishesStickingFromCreepingFriction) {
  const auto data = find_evaluation_data();
  if (!data) GTEST_SKIP() << "no evaluation data beside the checkout";
  const auto truth = truth_of(*data, "cartpole_base");
  const estimator::Calibration result = calibrate_set(*data, "cartpole_base", "noise", false);
  EXPECT_TRUE(result.converged());
  EXPECT_GT(result.simulation[0].rmse, 1.5 * 2e-4);
  for (const estimator::ParameterEstimate& estimate : result.parameters) {
    if (estimate.name == "pivot.tau_c") continue;
    const double expected = truth.at(estimate.name);
    EXPECT_LT(std::abs(estimate.value - expected), 3.0 * estimate.standard_deviation)
        << estimate.name << " " << estimate.value << " ± " << estimate.standard_deviation;
  }
  ASSERT_FALSE(result.notes.empty());
  expect_parts(format_note(result.notes[0]), {"rail", "are unexplained", "m/s²/√Hz"});
}

// Motor and friction along the rail scale with the masses: if the cart's mass is free too, there is
// one null direction, which must be reported.
TEST(CartPole, ReportsTheUnidentifiableDirection) {
  const auto data = find_evaluation_data();
  if (!data) GTEST_SKIP() << "no evaluation data beside the checkout";
  Rig rig = load_rig(kRigPath);
  estimator::Parameter& back_emf =
      rig.mechanism.joint_parameter(0, estimator::JointParameter::kBackEmf);
  back_emf.free = true;
  back_emf.value = 0.4;  // away from its bound
  const auto file = *data / "synthetic_planar" / "cartpole_base__noise.csv";
  const estimator::Calibration result =
      estimator::calibrate(rig.mechanism, {import_csv(file.string(), *rig.format).recording});
  ASSERT_EQ(result.null_directions.size(), 1U);
  expect_parts(format_message(result.null_directions[0].description), {"rail.b", "rail.k_e"});
}

TEST(CartPole, UnitsDependOnTheJointType) {
  const Rig rig = load_rig(kRigPath);
  const auto unit_of = [&](const char* name) { return parameter_of(rig.mechanism, name).unit; };
  EXPECT_EQ(unit_of("rail.b"), "N·s/m");
  EXPECT_EQ(unit_of("rail.f_c"), "N");
  EXPECT_EQ(unit_of("rail.K"), "N/V");
  EXPECT_EQ(unit_of("rail.m_shaft"), "kg");
  EXPECT_EQ(unit_of("rail.offset"), "m");
  EXPECT_EQ(unit_of("rail.mu"), "-");
  EXPECT_EQ(unit_of("pivot.b"), "N·m·s/rad");
  EXPECT_EQ(rig.encoders[0].counts, 20000.0);
  EXPECT_STREQ(rig.encoders[0].counts_of, "m");
}

std::string edited(const std::string& from, const std::string& to) {
  return replaced(proto::read_file(kRigPath), from, to);
}

std::string refusal_of(const std::string& from, const std::string& to) {
  return refusal([&] { (void)parse_rig("r.textproto", edited(from, to)); });
}

TEST(CartPole, UnitsOfTheOtherKindAreRefused) {
  expect_parts(refusal_of("coulomb_force", "coulomb_torque"),
               {"r.textproto:48:", "\"rail\" slides", "no coulomb_torque", "coulomb_force [N]"});
  expect_parts(refusal_of("counts_per_m: 20000", "counts_per_turn: 4096"),
               {"r.textproto:55:", "\"rail\" slides", "counts_per_m"});
  expect_parts(refusal_of("coulomb_torque", "coulomb_force"),
               {"r.textproto:", "\"pivot\" turns", "coulomb_torque [N·m]"});
  expect_parts(refusal_of("position { joint: \"rail\" column: \"rail_m\" unit: METER }",
                          "angle { joint: \"rail\" column: \"rail_m\" unit: RADIAN }"),
               {"r.textproto:81:", "\"rail\" slides", "its position", "unit: METER"});
  expect_parts(refusal_of("angle { joint: \"pivot\" column: \"pivot_rad\" unit: RADIAN }",
                          "position { joint: \"pivot\" column: \"pivot_rad\" unit: METER }"),
               {"\"pivot\" turns", "its angle", "unit: RADIAN"});
  expect_parts(refusal_of("type: PRISMATIC", "type: FIXED"), {"\"rail\" is fixed", "remove its"});
}

TEST(CartPole, MillimetresAndCountsBecomeMetres) {
  const auto scale = [](const std::string& unit) {
    return parse_rig("r.textproto", edited("unit: METER", unit)).format->angles[0].scale;
  };
  EXPECT_DOUBLE_EQ(scale("unit: METER"), 1.0);
  EXPECT_DOUBLE_EQ(scale("unit: MILLIMETER"), 1e-3);
  EXPECT_DOUBLE_EQ(scale("unit: COUNT"), 1.0 / 20000.0);
  EXPECT_DOUBLE_EQ(scale("unit: METER inverted: true"), -1.0);
}

// Two bodies bolted together act as one, and their joint has no column, encoder or friction.
TEST(CartPole, AWeightBoltedToTheCartHasNoCoordinate) {
  const Rig rig = parse_rig("r.textproto", edited("gravity {", R"(body {
  name: "weight"
  mass { value: 0.1 }
  inertia { xx { value: 1e-4 } yy { value: 1e-4 } zz { value: 1e-4 } }
}
joint {
  name: "bolt"
  type: FIXED
  parent { body: "cart" point { y { value: 0.05 } } axis { x: 1 } zero_direction { y: 1 } }
  child { body: "weight" axis { x: 1 } zero_direction { y: 1 } }
}
gravity {)"));
  EXPECT_EQ(rig.mechanism.joint_count(), 2);
  ASSERT_EQ(rig.mechanism.fixed_joint_count(), 1);
  EXPECT_GE(rig.mechanism.find_parameter("bolt.a_y"), 0);
  EXPECT_EQ(rig.format->angles.size(), 2U);
}

// The pole on a universal joint: a massless cross between two joints.
const std::string kCross = R"(body { name: "cross" massless: true }
joint {
  name: "pivot"
  parent { body: "cart" axis { z: 1 } zero_direction { y: -1 } }
  child { body: "cross" axis { z: 1 } zero_direction { x: 1 } }
}
joint {
  name: "sway"
  parent { body: "cross" axis { y: 1 } zero_direction { x: 1 } }
)";

TEST(CartPole, AMasslessCrossMakesAUniversalJoint) {
  const std::string old = R"(joint {
  name: "pivot"
  parent {
    body: "cart"
    axis { z: 1 }
    zero_direction { y: -1 }  # hanging
  }
)";
  std::string text = edited(old, kCross);
  const std::size_t columns = text.find("  angle { joint: \"pivot\"");
  text.replace(text.find("pivot", columns), 5, "sway");
  const Rig rig = parse_rig("r.textproto", text);
  EXPECT_EQ(rig.mechanism.joint_count(), 3);
  EXPECT_TRUE(rig.mechanism.bodies[2].massless);
  const auto refused = [&](const std::string& from, const std::string& to) {
    return refusal([&] { (void)parse_rig("r.textproto", replaced(text, from, to)); });
  };
  expect_parts(refused("massless: true", "massless: true mass { value: 1 }"),
               {"r.textproto:", "\"cross\"", "massless", "remove its mass"});
  expect_parts(refused("body: \"cross\" axis { y: 1 }", "body: \"cart\" axis { y: 1 }"),
               {"r.textproto:", "\"cross\" is massless and carries no other body"});
  expect_parts(refused("transition_speed: 1e-3  # [m/s]", "transition_speed: -1  # [m/s]"),
               {"r.textproto:49", "transition_speed"});
}

// An XY table: two prismatic joints with a massless body between them, which must not be reported
// as inconsistent.
TEST(CartPole, AMasslessBodyBetweenPrismaticJointsIsAccepted) {
  const std::string slide = "friction { viscous { value: 1 free: true } } encoder {} }\n";
  const Rig rig = parse_rig("r.textproto", R"(body { name: "between" massless: true }
body { name: "table" mass { value: 1 } inertia { xx { value: 1 } yy { value: 1 } zz { value: 1 } } }
joint { name: "x" type: PRISMATIC parent { body: "ground" axis { x: 1 } zero_direction { y: 1 } }
  child { body: "between" axis { x: 1 } zero_direction { y: 1 } } )" +
                                               slide +
                                               R"(joint { name: "y" type: PRISMATIC
  parent { body: "between" axis { y: 1 } zero_direction { x: 1 } }
  child { body: "table" axis { y: 1 } zero_direction { x: 1 } } )" +
                                               slide +
                                               R"(gravity { magnitude { value: 0 } }
recording { time { column: "t" } position { joint: "x" column: "x" unit: METER }
  position { joint: "y" column: "y" unit: METER } })");
  estimator::Recording recording{"coasting", {{}}};
  estimator::Segment& segment = recording.segments[0];
  segment.period = 1e-2;
  segment.controls.resize(200, 0);
  segment.angles.resize(200, 2);
  for (int k = 0; k < 200; ++k) {
    const double gone = 1.0 - std::exp(-0.01 * k);
    segment.angles.row(k) << 0.3 * gone + 1e-5 * (k % 3), 0.2 * gone - 1e-5 * (k % 2);
  }
  const estimator::Calibration result = estimator::calibrate(rig.mechanism, {recording});
  EXPECT_NEAR(result.parameters.at(0).value, 1.0, 0.01);
  for (const estimator::Message& note : result.notes) {
    EXPECT_NE(note.code, estimator::MessageCode::kUnphysicalEstimate) << format_note(note);
  }
}

// Only physical parameters support prismatic joints.
TEST(CartPole, ShadowParametersAreRefused) {
  const Rig rig = load_rig(kRigPath);
  estimator::Segment segment;
  segment.period = 1e-3;
  segment.angles = Eigen::MatrixXd::Random(2000, 2);
  segment.controls = Eigen::MatrixXd::Zero(2000, 1);
  estimator::CalibrationOptions options;
  options.kind = estimator::EstimateKind::kShadow;
  options.start_from_physical = false;
  expect_parts(refusal<std::invalid_argument>([&] {
                 (void)estimator::calibrate(rig.mechanism, {{"r", {segment}}}, options);
               }),
               {"\"rail\" slides", "physical parameters"});
}

}  // namespace
}  // namespace service
