#include "service/rig/rig_file.hpp"

#include <google/protobuf/descriptor.h>
#include <gtest/gtest.h>

#include <Eigen/LU>
#include <cmath>
#include <string>

#include "estimator/model/joint_friction.hpp"
#include "service/messages/message_text.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/texts.hpp"

namespace service {
namespace {

using namespace test_support;

// A pendulum, one statement per line so that messages can be located.
const char* const kPendulum = R"(name: 'p'
body {
  name: 'B'
  mass { value: 0.4 }
  inertia { xx { value: 0.01 } yy { value: 0.01 } zz { value: 0.01 free: true } }
}
joint {
  name: '1'
  parent { body: 'ground' axis { z: 1 } zero_direction { y: -1 } }
  child { body: 'B' point { x { value: -0.1 } } axis { z: 1 } zero_direction { x: 1 } }
  friction { viscous { value: 1e-3 free: true lower: 1e-6 upper: 1 prior_standard_deviation: 2 } }
  motor { control_unit: 'V' gain { value: 0.1 } }
  encoder { counts_per_turn: 4096 }
}
recording {
  time { column: 't' }
  angle { joint: '1' column: 'theta' unit: COUNT inverted: true offset_rad: 0.5 }
  control { joint: '1' column: 'u' scale: 2 }
}
)";

const std::string kFriction =
    "friction { viscous { value: 1e-3 free: true lower: 1e-6 upper: 1 "
    "prior_standard_deviation: 2 } }";

/// The pendulum with the first occurrence of `from` replaced by `to`.
std::string edited(const std::string& from, const std::string& to) {
  return replaced(kPendulum, from, to);
}

std::string refusal_of(const std::string& text) {
  return refusal([&] { (void)parse_rig("r.textproto", text); });
}

/// The pendulum on a turning base, whose motion is prescribed.
std::string prescribed_base(const std::string& motion = "motion: PRESCRIBED") {
  const std::string base =
      "joint {\n  name: 'base'\n"
      "  parent { body: 'ground' axis { y: 1 } zero_direction { x: 1 } }\n"
      "  child { body: 'A' axis { y: 1 } zero_direction { x: 1 } }\n  " +
      motion + "\n  encoder { counts_per_turn: 200 }\n}\n";
  const std::string carried = replaced(kPendulum, "joint {",
                                       "body { name: 'A' mass { value: 1 } inertia { xx { value: 1 "
                                       "} yy { value: 1 } zz { value: 1 } } }\n" +
                                           base + "joint {");
  return replaced(replaced(carried, "body: 'ground' axis { z: 1 }", "body: 'A' axis { z: 1 }"),
                  "recording {", "recording { angle { joint: 'base' column: 'q' unit: RADIAN }");
}

// A joint with a prescribed motion has a motor whose control is the acceleration of its coordinate.
TEST(RigFile, PrescribedMotionIsAnAcceleration) {
  const Rig rig = parse_rig("r.textproto", prescribed_base());
  const estimator::Motor& motor = rig.mechanism.joints.at(0).motor;
  EXPECT_TRUE(motor.present && motor.is_prescribed);
  EXPECT_FALSE(rig.mechanism.joints.at(1).motor.is_prescribed);
  EXPECT_EQ(rig.joint_properties.at(0).control_unit, "rad/s²");
  ASSERT_EQ(rig.format->controls.size(), 2U);
  EXPECT_TRUE(rig.format->controls[0].is_prescribed);
  EXPECT_EQ(rig.format->controls[0].column, "q");
}

TEST(RigFile, RejectsTheOldNameOfPrescribedMotions) {
  expect_parts(refusal_of(prescribed_base("prescribed: true")),
               {"r.textproto:", "field \"prescribed\" is now called \"motion\"",
                "scripts/convert_old_files.py"});
}

TEST(RigFile, RejectsPrescribedMotionsThatNothingDetermines) {
  const auto refused = [](const std::string& motion) {
    return refusal_of(prescribed_base("motion: PRESCRIBED " + motion));
  };
  expect_parts(refusal_of(replaced(prescribed_base(), "encoder { counts_per_turn: 200 }", "")),
               {"r.textproto:8:", "\"base\" has a prescribed motion but no encoder"});
  expect_parts(refused("motor { control_unit: 'V' }"),
               {"r.textproto:12:", "motor", "has a prescribed motion and a motor"});
  expect_parts(refused("friction { viscous { value: 1 } }"),
               {"have no effect", "Remove friction { }"});
  expect_parts(refusal_of(replaced(prescribed_base(), "recording {",
                                   "recording { control { joint: 'base' column: 'v' }")),
               {"has no control column"});
  expect_parts(
      refusal_of(replaced(
          prescribed_base(),
          "friction { viscous { value: 1e-3 free: true lower: 1e-6 upper: 1 "
          "prior_standard_deviation: 2 } }\n  motor { control_unit: 'V' gain { value: 0.1 } }",
          "motion: PRESCRIBED")),
      {"r.textproto:19:", "all moving joints have a prescribed motion",
       "Remove motion: PRESCRIBED"});
}

// Friction may rise from rest if the file says so, starting from zero at the least.
TEST(RigFile, StribeckExcessMayLieBelowZero) {
  const auto excess_of = [&](const std::string& excess) {
    const Rig rig =
        parse_rig("r.textproto", edited(kFriction, "friction { coulomb_torque { value: 2e-3 }\n" +
                                                       excess + " stribeck_rate { value: 1 } }"));
    return rig.mechanism.joint_parameter(0, estimator::JointParameter::kStribeckTorque);
  };
  EXPECT_EQ(excess_of("stribeck_torque { value: 1e-3 free: true }").lower, 0.0) << "as ever";
  EXPECT_EQ(excess_of("stribeck_torque { free: true }").lower, 0.0);
  EXPECT_EQ(excess_of("stribeck_torque { value: 1e-3 lower: -2e-3 }").lower, -2e-3);
  EXPECT_TRUE(std::isinf(excess_of("stribeck_torque { value: -1e-3 free: true }").lower));
  EXPECT_EQ(excess_of("stribeck_torque { value: -1e-3 free: true }").value, -1e-3);
  EXPECT_EQ(excess_of("stribeck_torque { value: -2e-3 }").value, -2e-3);
  expect_parts(refusal([&] { (void)excess_of("stribeck_torque { value: -2.1e-3 }"); }),
               {"r.textproto:12:1:", "1.tau_delta", "1.tau_c", "rest"});
}

// A law's table of fields must match the schema, for revolute and prismatic joints, and its place
// in the file is found again.
TEST(RigFile, ReadsTheFieldsOfEveryFrictionLaw) {
  for (int place = 0; place < estimator::FrictionLaws::kQuantityCount; ++place) {
    const auto quantity = estimator::friction_parameter_at(place);
    const std::string path = estimator::friction_properties(quantity)->field;
    const std::size_t dot = path.find('.');
    const std::string parameter = path.substr(dot + 1) + " { value: 0.25 }";
    const std::string text = edited(
        kFriction, "friction { " +
                       (dot == std::string::npos ? parameter
                                                 : path.substr(0, dot) + " { " + parameter + " }") +
                       " }");
    const RigWithLocations placed = parse_rig_with_locations("r.textproto", text);
    const estimator::Parameter& read = placed.rig.mechanism.joint_parameter(0, quantity);
    EXPECT_EQ(read.value, 0.25) << path;
    EXPECT_EQ(placed.places.at(read.name).back().field->name(), path.substr(dot + 1));
  }
}

// No body has one principal moment above the sum of the others. For a body that rotates about
// several axes this is an error. With a single axis the others have no effect and are not checked.
TEST(RigFile, MomentsAreCheckedOnlyIfTheyHaveAnEffect) {
  const std::string too_large =
      edited("zz { value: 0.01 free: true }", "zz { value: 0.03 free: true }");
  EXPECT_EQ(parse_rig("r.textproto", too_large)
                .mechanism.parameter(0, estimator::BodyParameter::kJzz)
                .value,
            0.03);
  const auto on_a_carrier = [&](const std::string& axis) {
    return replaced(too_large, "body: 'ground'", "body: 'A'") +
           "body { name: 'A' mass { value: 1 } inertia { xx { value: 1 } yy { value: 1 } "
           "zz { value: 1 } } }\njoint { name: '0' parent { body: 'ground' axis " +
           axis + " zero_direction { x: 1 } } child { body: 'A' axis " + axis +
           " zero_direction { x: 1 } } }\n";
  };
  EXPECT_NO_THROW((void)parse_rig("r.textproto", on_a_carrier("{ z: 1 }")));
  // Estimates of free moments can lie a little beyond the limit.
  const Rig beyond = parse_rig("r.textproto", on_a_carrier("{ y: 1 }"));
  // The message about such an estimate names the fixed moments, which may cause it.
  const auto errors = estimator::find_mechanism_errors(beyond.mechanism);
  ASSERT_EQ(errors.size(), 1U);
  expect_parts(format_message(errors[0]),
               {"triangle inequality", "B.J_xx, B.J_yy in the rig file"});
  const std::string fixed =
      replaced(on_a_carrier("{ y: 1 }"), "zz { value: 0.03 free: true }", "zz { value: 0.03 }");
  expect_parts(refusal([&] { (void)parse_rig("r.textproto", fixed); }),
               {"r.textproto:2:1", "\"B\"", "triangle inequality", "correct the inertia"});
}

// Every unit of time and of angle has its factor. One that is off by a thousand would be refused
// later for its sampling period, but one exchanged for another would not.
TEST(RigFile, ConvertsTheUnitsOfTheRecording) {
  const auto format_with = [](const std::string& from, const std::string& to) {
    return *parse_rig("r.textproto", edited(from, to)).format;
  };
  const std::string time = "time { column: 't' }";
  EXPECT_EQ(format_with(time, time).time_scale, 1.0);
  EXPECT_EQ(format_with(time, "time { column: 't' unit: SECOND }").time_scale, 1.0);
  EXPECT_EQ(format_with(time, "time { column: 't' unit: MILLISECOND }").time_scale, 1e-3);
  EXPECT_EQ(format_with(time, "time { column: 't' unit: MICROSECOND }").time_scale, 1e-6);
  EXPECT_EQ(format_with(time, "time { column: 't' unit: NANOSECOND }").time_scale, 1e-9);
  const auto angle_in = [&](const std::string& unit) {
    return format_with("unit: COUNT", "unit: " + unit).angles.at(0).scale;  // inverted
  };
  EXPECT_EQ(angle_in("RADIAN"), -1.0);
  EXPECT_DOUBLE_EQ(angle_in("DEGREE"), -M_PI / 180.0);
  EXPECT_DOUBLE_EQ(angle_in("TURN"), -2.0 * M_PI);
  EXPECT_DOUBLE_EQ(angle_in("COUNT"), -2.0 * M_PI / 4096.0);
  const EncoderColumn counter =
      format_with("unit: COUNT", "unit: DEGREE counts_modulo: 4294967296").angles.at(0);
  EXPECT_EQ(counter.counts_modulo, 4294967296.0);
  EXPECT_DOUBLE_EQ(counter.count_size, 2.0 * M_PI / 4096.0);
}

// The time is not a command or an angle too, and a command is not an encoder's reading.
TEST(RigFile, GivesAColumnOneRole) {
  const auto refused = [](const std::string& from, const std::string& to) {
    return refusal([&] { (void)parse_rig("r.textproto", edited(from, to)); });
  };
  expect_parts(refused("column: 'u'", "column: 't'"), {"r.textproto:18:", "\"t\"", "the time"});
  expect_parts(refused("column: 'theta'", "column: 't'"), {"r.textproto:17:", "the time"});
  expect_parts(refused("column: 'u'", "column: 'theta'"), {"r.textproto:18:", "encoder"});
}

TEST(RigFile, ValuesFreedomAndUnitsArriveAtTheirQuantities) {
  const Rig rig = parse_rig("r.textproto", kPendulum);
  const estimator::Mechanism& mechanism = rig.mechanism;
  EXPECT_EQ(mechanism.name, "p");
  const auto& zz = mechanism.parameter(0, estimator::BodyParameter::kJzz);
  EXPECT_DOUBLE_EQ(zz.value, 0.01);
  EXPECT_TRUE(zz.free);
  EXPECT_FALSE(mechanism.parameter(0, estimator::BodyParameter::kJxx).free);
  const auto& viscous = mechanism.joint_parameter(0, estimator::JointParameter::kViscous);
  EXPECT_DOUBLE_EQ(viscous.lower, 1e-6);
  EXPECT_DOUBLE_EQ(viscous.upper, 1.0);
  EXPECT_DOUBLE_EQ(viscous.prior_mean, 1e-3);
  EXPECT_DOUBLE_EQ(viscous.prior_standard_deviation, 2.0);
  EXPECT_DOUBLE_EQ(mechanism.joint_parameter(0, estimator::JointParameter::kPointBx).value, -0.1);
  EXPECT_EQ(mechanism.joint_parameter(0, estimator::JointParameter::kMotorGain).unit, "N·m/V");
  EXPECT_TRUE(mechanism.joints[0].measured);
  EXPECT_TRUE(mechanism.joints[0].motor.present);
  EXPECT_EQ(mechanism.joints[0].body_a, estimator::Joint::kGround);
}

TEST(RigFile, NoiseOfAControlArrivesAtItsMotor) {
  EXPECT_EQ(parse_rig("r.textproto", kPendulum).mechanism.joints[0].motor.control_noise, 0.0);
  const Rig rig =
      parse_rig("r.textproto", edited("control_unit: 'V'", "control_unit: 'V' control_noise: 0.2"));
  EXPECT_EQ(rig.mechanism.joints[0].motor.control_noise, 0.2);
}

// Each term arrives at its own parameter; the values are their positions in the list.
TEST(RigFile, ReadsTermsThatVary) {
  const Rig rig = parse_rig(
      "r.textproto",
      replaced(replaced(kPendulum, "gain { value: 0.1 } }",
                        "gain { value: 0.1 } cogging { order: 7 sine { value: 1 } cosine { value: "
                        "2 } } gain_drift { value: 3 } gain_sag { value: 4 } } "
                        "spring { play { value: 6 } }"),
               "prior_standard_deviation: 2 } }",
               "prior_standard_deviation: 2 } drift { value: 5 } }") +
          "vibration { frequency { value: 7 } x_sine { value: 8 } z_cosine { value: 9 } }\n");
  EXPECT_EQ(rig.mechanism.joints[0].motor.cogging_order, 7);
  const std::string joint = rig.mechanism.joints[0].name + ".";
  double expected = 0.0;
  for (const std::string& name :
       {joint + "cogging_sine", joint + "cogging_cosine", joint + "K_drift", joint + "K_sag",
        joint + "friction_drift", joint + "play", std::string("vibration.frequency"),
        std::string("vibration.x_sine"), std::string("vibration.z_cosine")}) {
    const int index = rig.mechanism.find_parameter(name);
    ASSERT_GE(index, 0) << name;
    EXPECT_EQ(rig.mechanism.at(index).value, ++expected) << name;
  }
  EXPECT_EQ(rig.mechanism.at(rig.mechanism.find_parameter(joint + "K_sag")).unit, "1/V");
}

TEST(RigFile, ColumnsCarrySignUnitAndOffset) {
  const Rig rig = parse_rig("r.textproto", kPendulum);
  ASSERT_TRUE(rig.format.has_value());
  EXPECT_NEAR(rig.format->angles.at(0).scale, -2.0 * M_PI / 4096.0, 1e-15);
  EXPECT_DOUBLE_EQ(rig.format->angles.at(0).offset, 0.5);
  EXPECT_DOUBLE_EQ(rig.format->controls.at(0).scale, 2.0);
}

// Frames are built from an axis and a mark that need be neither normalized nor perpendicular.
TEST(RigFile, JointFramesAreOrthonormalised) {
  const Rig rig = parse_rig("r.textproto", edited("axis { z: 1 } zero_direction { y: -1 }",
                                                  "axis { z: 2 } zero_direction { y: -3 z: 7 }"));
  const Eigen::Matrix3d& frame = rig.mechanism.joints[0].frame_a;
  EXPECT_TRUE((frame * frame.transpose()).isIdentity(1e-15));
  EXPECT_NEAR(frame.determinant(), 1.0, 1e-15);
  EXPECT_TRUE(frame.col(0).isApprox(Eigen::Vector3d::UnitZ()));
  EXPECT_TRUE(frame.col(1).isApprox(-Eigen::Vector3d::UnitY()));
}

TEST(RigFile, ChainExpandsToLinksAndJoints) {
  const Rig rig = parse_rig("c.textproto",
                            "chain { links: 3 mass { value: 0.3 free: true } length_m: 0.2 "
                            "friction { viscous { value: 1e-4 free: true } } encoder { } }");
  ASSERT_EQ(rig.mechanism.body_count(), 3);
  ASSERT_EQ(rig.mechanism.joint_count(), 3);
  EXPECT_EQ(rig.mechanism.bodies[2].name, "link3");
  EXPECT_EQ(rig.mechanism.joints[1].body_a, 0);
  EXPECT_EQ(rig.mechanism.joints[1].body_b, 1);
  // A slender rod about its centre: m L² / 12.
  EXPECT_NEAR(rig.mechanism.parameter(1, estimator::BodyParameter::kJzz).value, 0.3 * 0.04 / 12.0,
              1e-15);
  EXPECT_TRUE(rig.mechanism.parameter(2, estimator::BodyParameter::kMass).free);
  EXPECT_TRUE(rig.mechanism.joint_parameter(2, estimator::JointParameter::kViscous).free);
}

// Every error must have file, line and column, name its subject and give a remedy.
TEST(RigFile, RefusesWithPlaceCauseAndRemedy) {
  const struct {
    const char *from, *to;
    std::vector<std::string> parts;
  } bad_rigs[] = {
      {"mass {", "mas {", {"r.textproto:4:", "\"mas\"", "Body", "mass, inertia"}},
      {"value: 0.4", "value: 'heavy'", {"r.textproto:4:17", "Expected double"}},
      {"mass { value: 0.4 }", "mass { value: 0.4", {"r.textproto:"}},
      {"child { body: 'B'",
       "child { body: 'Q'",
       {"r.textproto:10:11", "no body is called \"Q\"", "use one of B"}},
      {"name: '1'", "name: 'B'", {"r.textproto:8:3", "\"B\"", "already used"}},
      {"name: '1'", "name: '1 a'", {"r.textproto:8:3", "letters"}},
      {"name: '1'", "name: 'gravity'", {"r.textproto:8:3", "Choose another"}},
      {"zz { value: 0.01 free: true }",
       "zz { value: 0.01 } xy { value: 0.03 }",
       {"r.textproto:2:1", "\"B\"", "not positive definite", "correct the inertia"}},
      {"value: 0.4", "value: -0.4", {"r.textproto:4:10", "\"B.m\"", "outside its bounds"}},
      {"mass { value: 0.4 }", "", {"r.textproto:2:1", "needs a mass [kg]"}},
      {"yy { value: 0.01 }", "", {"r.textproto:5:3", "xx, yy and zz"}},
      {"value: 1e-3 free", "value: 5 free", {"r.textproto:11:24", "\"1.b\"", "outside its bounds"}},
      {"upper: 1 ", "upper: 1e-9 ", {"r.textproto:11:", "exchange"}},
      {"lower: 1e-6", "lower: -1", {"r.textproto:11:", "the lower bound must be at least 0"}},
      {"value: 0.4", "value: nan", {"r.textproto:4:10", "finite"}},
      {"mass { value: 0.4 }", "mass { lower: 1 }", {"r.textproto:4:", "mass"}},
      {"unit: COUNT",
       "",
       {"r.textproto:17:3", "\"theta\" has no unit", "RADIAN, DEGREE, COUNT or TURN"}},
      {"unit: COUNT",
       "unit: DEGREES",
       {"r.textproto:17:", "\"DEGREES\"", "RADIAN, DEGREE, COUNT, TURN"}},
      {"counts_per_turn: 4096", "", {"r.textproto:17:", "counts_per_turn"}},
      {"angle { joint: '1'",
       "angle { joint: '2'",
       {"r.textproto:17:3", "no joint is called \"2\"", "use one of 1"}},
      {"  control { joint: '1' column: 'u' scale: 2 }\n",
       "",
       {"r.textproto:15:1", "motor but no control column"}},
      {"angle { joint: '1' column: 'theta' unit: COUNT inverted: true "
       "offset_rad: 0.5 }",
       "",
       {"r.textproto:15:1", "encoder but no angle column"}},
      {"encoder { counts_per_turn: 4096 }",
       "",
       {"r.textproto:17:3", "no encoder", "add encoder { }"}},
      {"time { column: 't' }", "", {"r.textproto:15:1", "rate_hz"}},
      {"axis { z: 1 } zero_direction { y: -1 }",
       "zero_direction { y: -1 }",
       {"r.textproto:9:3", "joint axis"}},
      {"zero_direction { y: -1 }", "zero_direction { z: 5 }", {"r.textproto:9:41", "parallel"}},
      {"control_unit: 'V'",
       "control_unit: 'V' control_noise: -0.1",
       {"r.textproto:12:", "control_noise is -0.1"}},
      {"control_unit: 'V'", "", {"r.textproto:12:3", "control_unit"}},
      {"control_unit: 'V'",
       "control_unit: 'V' cogging { sine { value: 0.1 } }",
       {"r.textproto:12:", "cogging without an order"}},
      {"name: 'p'", "chain { links: 2 }", {"r.textproto:1:1", "cannot be combined with bodies"}},
      {"recording {",
       "body { name: 'C' mass { value: 1 } inertia { xx { value: 1 } yy { value: 1 } "
       "zz { value: 1 } } }\nrecording {",
       {"r.textproto:15:1", "\"C\"", "not connected to the ground"}}};
  for (const auto& [from, to, parts] : bad_rigs) {
    SCOPED_TRACE(to);
    expect_parts(refusal_of(edited(from, to)), parts);
  }
}

TEST(RigFile, MissingFileIsReported) {
  expect_parts(refusal([] { (void)load_rig("/nowhere/rig.textproto"); }),
               {"/nowhere/rig.textproto", "cannot be opened"});
}

// A file of 5 MB with 20 000 bodies takes minutes and memory.
TEST(RigFile, TooManyBodiesAreRefused) {
  const auto with_bodies = [](int count) {
    std::string text;
    for (int k = 0; k < count; ++k) {
      const std::string number = std::to_string(k), body = "\"b" + number + "\"";
      text +=
          "body { name: " + body +
          " mass { value: 1 } inertia { xx { value: 1 } yy { value: 1 } zz { value: 1 } } }\n"
          "joint { name: \"j" +
          number +
          "\" parent { body: \"ground\" axis { z: 1 } zero_direction { x: 1 } } child { body: " +
          body + " axis { z: 1 } zero_direction { x: 1 } } encoder { } }\n";
    }
    return parse_rig("rig.textproto", text).mechanism.body_count();
  };
  EXPECT_EQ(with_bodies(1100), 1100);
  expect_parts(refusal([&] { (void)with_bodies(1101); }),
               {"rig.textproto", "more than 1100 bodies or joints"});
}

}  // namespace
}  // namespace service
