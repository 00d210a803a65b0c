#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "estimator/model/mechanism.hpp"
#include "proto/text/input_error.hpp"
#include "service/rig/rig_file.hpp"
#include "service/rig/robot/robot.hpp"
#include "tests/support/parameters.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/texts.hpp"

namespace service {
namespace {

using namespace test_support;

// An arm on a base with mass: a revolute joint, a massless tool flange rotated by rpy, a prismatic
// joint, a camera mark, a mimic finger, and a link named like the ground.
const std::string kUrdfArm = R"(<?xml version="1.0"?>
<robot name="arm">
  <link name="base"><inertial><mass value="5"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>
  <link name="upper.arm">
    <inertial>
      <origin xyz="0.1 0 0" rpy="0 0 1.5707963267948966"/>
      <mass value="2"/>
      <inertia ixx="0.01" ixy="0" ixz="0" iyy="0.02" iyz="0.001" izz="0.025"/>
    </inertial>
    <visual><geometry><mesh filename="package://arm/upper.stl"/></geometry></visual>
  </link>
  <link name="flange"/>
  <link name="ground">
    <inertial><mass value="0.5"/><inertia ixx="1e-3" iyy="1e-3" izz="1e-2"/></inertial>
  </link>
  <link name="camera"/>
  <link name="finger"><inertial><mass value="0.1"/>
    <inertia ixx="1e-5" iyy="1e-5" izz="1e-5"/></inertial></link>
  <joint name="shoulder" type="revolute">
    <parent link="base"/><child link="upper.arm"/>
    <origin xyz="0 0 0.3"/><axis xyz="0 1 0"/>
    <limit lower="-1" upper="2" effort="40" velocity="3"/>
    <dynamics damping="0.2" friction="0.5"/>
  </joint>
  <joint name="wrist" type="fixed">
    <parent link="upper.arm"/><child link="flange"/>
    <origin xyz="0.2 0 0" rpy="0 1.5707963267948966 0"/>
  </joint>
  <joint name="slide" type="prismatic">
    <parent link="flange"/><child link="ground"/><origin xyz="0 0 0.1"/><axis xyz="0 0 2"/>
    <limit lower="0" upper="0.2" effort="0" velocity="0.5"/>
  </joint>
  <joint name="eye" type="continuous"><parent link="ground"/><child link="camera"/></joint>
  <joint name="grip" type="revolute"><parent link="ground"/><child link="finger"/>
    <axis xyz="1 0 0"/><limit lower="0" upper="1" effort="1" velocity="1"/>
    <mimic joint="slide" multiplier="2" offset="0.1"/>
  </joint>
</robot>
)";

ConvertedRigText convert_urdf(const std::string& text, bool floating = false,
                              bool friction = true) {
  return convert_robot_to_rig(parse_urdf("arm.urdf", text),
                              {.source = "arm.urdf", .floating = floating, .friction = friction});
}

double urdf_value(const Rig& rig, const std::string& name) {
  return parameter_of(rig.mechanism, name).value;
}

bool has_urdf_note(const ConvertedRigText& rig, const std::string& part) {
  return std::ranges::any_of(
      rig.notes, [&](const std::string& note) { return note.find(part) != std::string::npos; });
}

TEST(Urdf, HasStandardGravityAlsoAfterExportAndImport) {
  const ConvertedRigText written = convert_urdf(kUrdfArm);
  EXPECT_EQ(written.gravity,
            "gravity is 9.80665 m/s² (standard gravity, because a URDF file has none)");
  EXPECT_NE(written.text.find("magnitude { value: 9.80665 }"), std::string::npos);
  Rig rig = parse_rig("arm.textproto", written.text);
  EXPECT_EQ(urdf_value(rig, "gravity.g"), 9.80665);
  const auto export_notes = [&](std::string& text) {
    const RobotFileText file = format_urdf(convert_rig_to_robot(rig), {});
    text = file.text;
    return std::ranges::count_if(file.notes, [](const std::string& note) {
      return note.find("is not standard gravity, which a URDF file cannot") != std::string::npos;
    });
  };
  std::string text;
  EXPECT_EQ(export_notes(text), 0);
  const Rig again = parse_rig("again.textproto", convert_urdf(text).text);
  EXPECT_EQ(urdf_value(again, "gravity.g"), 9.80665);
  rig.mechanism.parameter(estimator::GravityParameter::kGravity).value = 9.82;
  EXPECT_EQ(export_notes(text), 1);
}

TEST(Urdf, BecomesARigFileThatLoadsWithItsValues) {
  const ConvertedRigText written = convert_urdf(kUrdfArm);
  const Rig rig = parse_rig("arm.textproto", written.text);
  ASSERT_EQ(rig.mechanism.bodies.size(), 3U) << written.text;
  EXPECT_EQ(rig.mechanism.bodies[0].name, "upper_arm");
  EXPECT_EQ(rig.mechanism.bodies[1].name, "ground_link");
  EXPECT_EQ(urdf_value(rig, "upper_arm.m"), 2.0);
  EXPECT_EQ(urdf_value(rig, "upper_arm.c_x"), 0.1);
  // Rotated by a quarter turn about z: x becomes y.
  EXPECT_NEAR(urdf_value(rig, "upper_arm.J_xx"), 0.02, 1e-15);
  EXPECT_NEAR(urdf_value(rig, "upper_arm.J_yy"), 0.01, 1e-15);
  EXPECT_NEAR(urdf_value(rig, "upper_arm.J_zz"), 0.025, 1e-15);
  EXPECT_NEAR(urdf_value(rig, "upper_arm.J_xz"), -0.001, 1e-15);
  EXPECT_EQ(urdf_value(rig, "shoulder.b"), 0.2);
  EXPECT_EQ(urdf_value(rig, "shoulder.tau_c"), 0.5);
  ASSERT_EQ(rig.mechanism.joints.size(), 3U);
  EXPECT_TRUE(rig.mechanism.fixed_joints.empty());
  EXPECT_TRUE(rig.mechanism.joints[0].motor.present);
  EXPECT_FALSE(rig.mechanism.joints[1].motor.present) << "no effort is stated";
  EXPECT_EQ(rig.joint_properties[0].control_max, 40.0);
  EXPECT_EQ(rig.mechanism.joints[1].kind, estimator::JointKind::kPrismatic);
}

// A mimic joint has neither motor nor encoder; the joint that it mimics has.
TEST(Urdf, MimicJointsAreCoupled) {
  const Rig rig = parse_rig("arm.textproto", convert_urdf(kUrdfArm).text);
  ASSERT_EQ(rig.mechanism.mimic_joints.size(), 1U);
  const estimator::MimicJoint& coupling = rig.mechanism.mimic_joints[0];
  const estimator::Joint& grip = rig.mechanism.joints[static_cast<std::size_t>(coupling.joint)];
  EXPECT_EQ(grip.name, "grip");
  EXPECT_EQ(rig.mechanism.joints[static_cast<std::size_t>(coupling.follows)].name, "slide");
  EXPECT_EQ(coupling.ratio, 2.0);
  EXPECT_EQ(coupling.offset, 0.1);
  EXPECT_FALSE(grip.motor.present);
  EXPECT_FALSE(grip.measured);
  ASSERT_EQ(rig.encoders.size(), 2U);
}

std::string with_mimic(const std::string& mimic) {
  const std::string own = R"(<mimic joint="slide" multiplier="2" offset="0.1"/>)";
  return replaced(kUrdfArm, own, mimic);
}

TEST(Urdf, ImpossibleMimicsAreFixedOrIndependent) {
  for (const char* const mimic :
       {R"(<mimic joint="nothing"/>)", R"(<mimic joint="grip"/>)", R"(<mimic joint="wrist"/>)",
        R"(<mimic joint="slide" multiplier="0"/>)"}) {
    const ConvertedRigText text = convert_urdf(with_mimic(mimic));
    EXPECT_TRUE(has_urdf_note(text, "fixed at zero")) << mimic;
    const Rig rig = parse_rig("arm.textproto", text.text);
    EXPECT_TRUE(rig.mechanism.mimic_joints.empty());
    EXPECT_EQ(rig.mechanism.fixed_joints.size(), 1U);
  }
  const ConvertedRigText alone = convert_urdf(with_mimic(R"(<mimic joint="eye"/>)"));
  EXPECT_TRUE(
      has_urdf_note(alone, "mimics \"eye\", which is left out: it becomes an independent joint"));
  const Rig rig = parse_rig("arm.textproto", alone.text);
  EXPECT_TRUE(rig.mechanism.mimic_joints.empty());
  EXPECT_EQ(rig.encoders.size(), 3U);
}

// Joints that mimic one another, and one that mimics before its other is found to be fixed.
TEST(Urdf, CircularMimicJointsAreFixed) {
  std::string text = kUrdfArm;
  const std::string own = "<limit lower=\"0\" upper=\"0.2\"";
  text.insert(text.find(own), R"(<mimic joint="grip"/>)");
  const ConvertedRigText circle = convert_urdf(text);
  EXPECT_TRUE(has_urdf_note(circle, "joint \"slide\" mimics \"grip\", which mimics it in turn"));
  EXPECT_TRUE(has_urdf_note(circle, "joint \"grip\" mimics \"slide\", which is fixed"));
  EXPECT_EQ(parse_rig("arm.textproto", circle.text).mechanism.joint_count(), 1);
  std::string late = with_mimic(R"(<mimic joint="wrist"/>)");
  late.insert(late.find(own), R"(<mimic joint="grip"/>)");
  const Rig rig = parse_rig("arm.textproto", convert_urdf(late).text);
  EXPECT_EQ(rig.mechanism.joint_count(), 1);
  EXPECT_TRUE(rig.mechanism.mimic_joints.empty());
}

TEST(Urdf, AxesAndPointsUseYUp) {
  const Rig rig = parse_rig("arm.textproto", convert_urdf(kUrdfArm).text);
  // The shoulder: 0.3 m up, about the URDF file's y, which points to our −z.
  EXPECT_NEAR(urdf_value(rig, "shoulder.a_y"), 0.3, 1e-15);
  const std::string text = convert_urdf(kUrdfArm).text;
  expect_parts(text, {"parent { body: \"ground\" point { y { value: 0.3 } } axis { z: -1 }"});
  // The prismatic joint: beyond the flange, whose z points along the upper arm's x.
  expect_parts(text, {"parent { body: \"upper_arm\" point { x { value: 0.3000", "axis { x: 1 }"});
}

TEST(Urdf, UnsupportedElementsAreReported) {
  const ConvertedRigText rig = convert_urdf(kUrdfArm);
  EXPECT_TRUE(has_urdf_note(rig, "\"base\" is the fixed base"));
  EXPECT_TRUE(has_urdf_note(rig, "joint \"eye\" moves no mass"));
  EXPECT_TRUE(has_urdf_note(rig, "\"upper.arm\" is renamed to \"upper_arm\""));
  EXPECT_TRUE(has_urdf_note(rig, "link \"ground\" has a physically inconsistent inertia"));
  EXPECT_FALSE(has_urdf_note(rig, "\"finger\" has")) << "its inertia is possible";
}

// Simulators add such an inertia to the link to which it is fixed; it must be reported.
TEST(Urdf, AnInertiaWithoutMassIsReported) {
  std::string text =
      replaced(kUrdfArm, "<link name=\"flange\"/>",
               "<link name=\"flange\"><inertial><mass value=\"0\"/><inertia ixx=\"1\" iyy=\"1\" "
               "izz=\"1\"/></inertial></link>");
  EXPECT_TRUE(
      has_urdf_note(convert_urdf(text), "link \"flange\" has moments of inertia but no mass"));
  EXPECT_FALSE(has_urdf_note(convert_urdf(kUrdfArm), "has moments of inertia but no mass"));
}

TEST(Urdf, LimitsBecomeSafetyLimitsOfTheRig) {
  const std::string text = convert_urdf(kUrdfArm).text;
  expect_parts(text, {"joint { joint: \"shoulder\" angle_rad_min: -1 angle_rad_max: 2 "
                      "speed_rad_per_s_max: 3 }",
                      "joint { joint: \"slide\" position_m_min: 0 position_m_max: 0.2 "
                      "speed_m_per_s_max: 0.5 }"});
}

TEST(Urdf, FrictionIsFreeUnlessFixedOnRequest) {
  const auto free_count = [](const Rig& rig) {
    int count = 0;
    for (const auto& parameter : rig.mechanism.parameters) count += parameter.free ? 1 : 0;
    return count;
  };
  EXPECT_EQ(free_count(parse_rig("a", convert_urdf(kUrdfArm).text)), 6);
  const Rig kept = parse_rig("a", convert_urdf(kUrdfArm, false, false).text);
  EXPECT_EQ(free_count(kept), 0);
  EXPECT_EQ(urdf_value(kept, "shoulder.b"), 0.2);
}

TEST(Urdf, AFloatingBaseHasAFreeJointAndItsMass) {
  const Rig rig = parse_rig("arm.textproto", convert_urdf(kUrdfArm, true).text);
  EXPECT_EQ(rig.mechanism.joints.size(), 10U);
  EXPECT_EQ(urdf_value(rig, "base.m"), 5.0);
  int slides = 0;
  for (const auto& joint : rig.mechanism.joints) {
    slides += joint.kind == estimator::JointKind::kPrismatic ? 1 : 0;
  }
  EXPECT_EQ(slides, 4);
}

TEST(Urdf, NumbersAreReadAsTheyAreWritten) {
  // The shortest text that reads back exactly: no digit is lost between the two files.
  std::string text =
      replaced(kUrdfArm, "<mass value=\"2\"/>", "<mass value=\" +0.26703123456789012\"/>");
  EXPECT_EQ(urdf_value(parse_rig("a", convert_urdf(text).text), "upper_arm.m"),
            0.26703123456789012);
}

TEST(Urdf, FaultsAreRefusedWithTheLine) {
  const struct {
    const char *from, *to, *message;
  } faults[] = {{"</robot>", "", "is not XML: an element is not closed, or closed"},
                {"mass value=\"2\"", "mass value=2",
                 "is not XML: an attribute is not written NAME=\"VALUE\""},
                {"<link name=\"flange\"/>", "<xacro:flange/><link name=\"flange\"/>",
                 "arm.urdf:12: <xacro:flange> is a macro"},
                {"mass value=\"2\"", "mass value=\"2kg\"",
                 "arm.urdf:7: <mass value=\"2kg\"> is not a finite number"},
                {"mass value=\"2\"", "mass value=\"nan\"", "is not a finite number"},
                {"xyz=\"0 0 0.3\"", "xyz=\"0 0.3\"", "needs three numbers"},
                {"mass value=\"2\"", "mass value=\"-2\"", "a negative mass"},
                {"<child link=\"upper.arm\"/>", "<child link=\"upper\"/>",
                 "refers to link \"upper\", which is not in the file"},
                {"<link name=\"flange\"/>", "<link name=\"base\"/>", "is defined twice"},
                {"joint name=\"eye\"", "joint name=\"slide\"", "is defined twice"},
                {"type=\"continuous\"", "type=\"planar\"", "joint \"eye\" has the type planar"},
                {"xyz=\"0 0 2\"", "xyz=\"0 0 0\"", "a zero axis"},
                {"<child link=\"camera\"/>", "<child link=\"finger\"/>",
                 "link \"finger\" is the child of two joints, \"eye\" and \"grip\""},
                {"<link name=\"camera\"/>", "<link name=\"camera\"/><link name=\"x\"/>",
                 "both have no parent"},
                {"<parent link=\"base\"/>", "<parent link=\"ground\"/>", "a cycle"},
                {"<child link=\"camera\"/>", "", "has no <child link"}};
  for (const auto& [from, to, message] : faults) {
    SCOPED_TRACE(to);
    expect_parts(refusal([&] { convert_urdf(replaced(kUrdfArm, from, to)); }), {message});
  }
}

TEST(Urdf, ATableIsNotXml) {
  const std::string reported = refusal([] { convert_urdf("t_s,q\n0,1\n"); });
  expect_parts(
      reported,
      {"is not XML: text in place of an element; correct it, or give a URDF or MJCF file"});
  EXPECT_EQ(reported.find("XML_"), std::string::npos) << reported;
}

TEST(Urdf, ARobotWithoutJointsIsReported) {
  const std::string text = "<robot name=\"r\"><link name=\"a\"/></robot>";
  EXPECT_THROW(convert_urdf(text), proto::InputError);
  EXPECT_THROW(convert_urdf("<mujoco/>"), proto::InputError);
  EXPECT_THROW(convert_urdf(""), proto::InputError);
}

}  // namespace
}  // namespace service
