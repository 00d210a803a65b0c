#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "estimator/model/mechanism.hpp"
#include "estimator/model/placement.hpp"
#include "proto/text/input_error.hpp"
#include "service/rig/rig_file.hpp"
#include "service/rig/robot/robot.hpp"
#include "tests/support/parameters.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/texts.hpp"

namespace service {
namespace {

using namespace test_support;

// Classes within classes, degrees, a frame, two joints in one body, a body without a name, motors
// with and without defaults, and elements that rig files do not support.
const std::string kModel = R"(<mujoco model="arm">
  <compiler angle="degree" eulerseq="XYZ"/>
  <option gravity="0 0 -9.79" timestep="0.001"><flag contact="disable"/></option>
  <default>
    <joint damping="0.5" frictionloss="0.01"/>
    <motor ctrlrange="-3 2"/>
    <default class="light">
      <joint armature="0.002" axis="0 1 0"/>
      <default class="lighter"><joint damping="0.25"/></default>
    </default>
  </default>
  <worldbody>
    <geom type="plane" size="1 1 1"/>
    <body name="column" pos="0 0 0.5">
      <geom size="0.1"/>
      <frame pos="0.1 0 0" euler="0 0 90">
        <body name="upper" childclass="light" pos="0 0.2 0">
          <joint name="yaw" axis="0 0 1" range="-90 45" ref="30"/>
          <joint name="pitch" pos="0 0 0.1" class="lighter" stiffness="2" springref="10"/>
          <geom size="0.1"/>
          <inertial pos="0.1 0 0" mass="2" diaginertia="0.01 0.02 0.025" quat="1 0 0 1"/>
          <body pos="0.4 0 0">
            <joint type="slide" name="reach" axis="2 0 0" range="0 0.3"/>
            <inertial pos="0 0 0" mass="0.5" fullinertia="0.001 0.002 0.0015 1e-4 0 -1e-4"/>
          </body>
        </body>
      </frame>
    </body>
  </worldbody>
  <actuator>
    <motor name="m1" joint="yaw" gear="7"/>
    <general name="m2" joint="pitch" gear="2" gainprm="3" biastype="affine" biasprm="0 0 -0.5"
             ctrlrange="-1 1"/>
    <position name="servo" joint="reach" kp="100"/>
  </actuator>
</mujoco>
)";

ConvertedRigText convert(const std::string& text) {
  return convert_robot_to_rig(parse_mjcf("arm.xml", text),
                              {.source = "arm.xml", .floating = false, .friction = false});
}

Rig mjcf_rig(const std::string& text) { return parse_rig("arm.textproto", convert(text).text); }

double value(const Rig& rig, const std::string& name) {
  return parameter_of(rig.mechanism, name).value;
}

bool has_note(const ConvertedRigText& rig, const std::string& part) {
  return std::ranges::any_of(
      rig.notes, [&](const std::string& note) { return note.find(part) != std::string::npos; });
}

TEST(Mjcf, GravityIsReportedAndKeptByExportAndImport) {
  const ConvertedRigText written = convert(kModel);
  EXPECT_EQ(written.gravity, "gravity is 9.79 m/s² (as in the MuJoCo model)");
  const Robot robot = convert_rig_to_robot(parse_rig("arm.textproto", written.text));
  EXPECT_EQ(value(mjcf_rig(format_mjcf(robot, {}).text), "gravity.g"), 9.79);
}

TEST(Mjcf, BodiesJointsAndMotorsAreRead) {
  const Rig rig = mjcf_rig(kModel);
  EXPECT_EQ(value(rig, "upper.m"), 2.0);
  // Rotated by a quarter turn about z: x becomes y.
  EXPECT_NEAR(value(rig, "upper.J_xx"), 0.02, 1e-15);
  EXPECT_NEAR(value(rig, "upper.J_yy"), 0.01, 1e-15);
  EXPECT_EQ(value(rig, "body1.J_xy"), 1e-4);
  EXPECT_EQ(value(rig, "body1.J_yz"), -1e-4);
  EXPECT_EQ(value(rig, "yaw.K"), 7.0);
  EXPECT_EQ(value(rig, "pitch.K"), 6.0);
  // 2 · 0.5 · 2 N·m·s/rad of the joint equal K k_e.
  EXPECT_NEAR(value(rig, "pitch.k_e"), 2.0 / 6.0, 1e-15);
  EXPECT_EQ(rig.joint_properties[0].control_max, 3.0) << "of the defaults, whose range is lopsided";
  EXPECT_EQ(rig.joint_properties[1].control_max, 1.0);
  EXPECT_EQ(value(rig, "gravity.g"), 9.79);
}

TEST(Mjcf, ClassesSupplyOmittedAttributes) {
  const Rig rig = mjcf_rig(kModel);
  EXPECT_EQ(value(rig, "yaw.b"), 0.5) << "of main, around the body's class";
  EXPECT_EQ(value(rig, "pitch.b"), 0.25) << "of the joint's own class";
  EXPECT_EQ(value(rig, "yaw.J_shaft"), 0.002);
  EXPECT_EQ(value(rig, "pitch.J_shaft"), 0.002) << "of the class around its own";
  EXPECT_EQ(value(rig, "reach.f_c"), 0.01);
}

TEST(Mjcf, AnglesAreInDegreesUnlessTheModelSaysOtherwise) {
  const Rig rig = mjcf_rig(kModel);
  EXPECT_NEAR(rig.encoders[0].limits.lowest, -M_PI / 2, 1e-15);
  EXPECT_NEAR(value(rig, "pitch.theta_rest"), M_PI / 18, 1e-15);
  EXPECT_EQ(rig.encoders[2].limits.highest, 0.3) << "a slide has no degrees";
  std::string radians = replaced(kModel, "degree", "radian");
  EXPECT_EQ(value(mjcf_rig(radians), "pitch.theta_rest"), 10.0);
}

// The file's pose is that at yaw = 30 degrees: there the body is as given, at (0.1, 0, 0.5) and 0.2
// m along the frame's y, which is the world's −x.
TEST(Mjcf, ThePoseOfTheFileIsAtTheReferenceCoordinates) {
  const Rig rig = mjcf_rig(kModel);
  const auto placed = estimator::place_bodies(rig.mechanism, Eigen::Vector3d(M_PI / 6, 0.0, 0.0));
  std::size_t upper = 0;
  while (rig.mechanism.bodies[upper].name != "upper") ++upper;
  // In rig files y is up, and z is the former −y. The centre is 0.1 m along the frame's x, world y.
  EXPECT_NEAR(placed[upper].r.x(), 0.1 - 0.2, 1e-15);
  EXPECT_NEAR(placed[upper].r.y(), 0.5, 1e-15);
  EXPECT_NEAR(placed[upper].r.z(), -0.1, 1e-15);
}

TEST(Mjcf, UnsupportedElementsAreReported) {
  const ConvertedRigText rig = convert(kModel);
  EXPECT_TRUE(has_note(rig, "actuator \"servo\" is of type position"));
  std::string text = replaced(kModel, "</actuator>",
                              "</actuator><equality><joint joint1=\"yaw\" joint2=\"pitch\" "
                              "polycoef=\"0 1 0.5 0 0\"/></equality>"
                              "<tendon><fixed name=\"rope\"/></tendon>");
  EXPECT_TRUE(has_note(convert(text), "constraint of line"));
  EXPECT_TRUE(has_note(convert(text), "tendon \"rope\" is left out"));
}

std::string with_equality(const std::string& joint) {
  const std::string end = "</actuator>";
  return replaced(kModel, end, end + "<equality>" + joint + "</equality>");
}

// Joints are coupled relative to the file's pose, in which yaw is at 30 degrees.
TEST(Mjcf, AJointEqualityBecomesAMimicJoint) {
  const auto coupling_of = [](const std::string& joint) {
    const Rig rig = mjcf_rig(with_equality(joint));
    EXPECT_EQ(rig.mechanism.mimic_joints.size(), 1U) << joint;
    return rig.mechanism.mimic_joints.empty() ? estimator::MimicJoint()
                                              : rig.mechanism.mimic_joints[0];
  };
  const double ref = M_PI / 6.0;
  const estimator::MimicJoint reach =
      coupling_of(R"(<joint joint1="reach" joint2="yaw" polycoef="0.2 -1.5 0 0 0"/>)");
  EXPECT_EQ(reach.joint, 2);
  EXPECT_EQ(reach.follows, 0);
  EXPECT_EQ(reach.ratio, -1.5);
  EXPECT_NEAR(reach.offset, 0.2 + 1.5 * ref, 1e-15);
  const estimator::MimicJoint yaw = coupling_of(R"(<joint joint1="yaw" joint2="reach"/>)");
  EXPECT_EQ(yaw.joint, 0);
  EXPECT_EQ(yaw.ratio, 1.0);
  EXPECT_NEAR(yaw.offset, ref, 1e-15);
}

TEST(Mjcf, NonlinearEqualitiesAreOmitted) {
  for (const char* const joint :
       {R"(<joint name="c" joint1="yaw"/>)", R"(<joint name="c" joint1="yaw" joint2="none"/>)",
        R"(<joint name="c" joint1="none" joint2="yaw"/>)",
        R"(<joint name="c" joint1="yaw" joint2="pitch" polycoef="1"/>)",
        R"(<joint name="c" joint1="yaw" joint2="yaw"/>)", R"(<weld name="c" body1="upper"/>)"}) {
    const ConvertedRigText rig = convert(with_equality(joint));
    EXPECT_TRUE(has_note(rig, "constraint \"c\" is left out, because it is neither")) << joint;
    EXPECT_TRUE(parse_rig("r", rig.text).mechanism.mimic_joints.empty()) << joint;
  }
  const ConvertedRigText twice = convert(with_equality(
      R"(<joint joint1="yaw" joint2="reach"/><joint name="c" joint1="yaw" joint2="pitch"/>)"));
  EXPECT_TRUE(has_note(twice, "constraint \"c\" is left out, because it is neither"));
  const ConvertedRigText circle = convert(with_equality(
      R"(<joint joint1="yaw" joint2="reach"/><joint name="c" joint1="reach" joint2="yaw"/>)"));
  EXPECT_TRUE(has_note(circle, "constraint \"c\" is left out, because it is neither"));
  EXPECT_EQ(parse_rig("r", circle.text).mechanism.mimic_joints.size(), 1U);
  EXPECT_EQ(parse_rig("r", twice.text).mechanism.mimic_joints.size(), 1U);
}

// The coordinates of the free joint are qpos of MuJoCo: the pose of the body in the z-up world.
TEST(Mjcf, AFreeBodyHasAFreeJoint) {
  const std::string text = R"(<mujoco><worldbody><body name="kite" pos="1 2 3" quat="0 1 0 0">
    <freejoint/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/></body></worldbody></mujoco>)";
  const Rig rig = mjcf_rig(text);
  ASSERT_EQ(rig.mechanism.joint_count(), 7);
  EXPECT_EQ(rig.mechanism.bodies.size(), 1U);
  Eigen::VectorXd qpos(7);
  qpos << 1, 2, 3, 0.6, 0.0, 0.0, 0.8;  // turned about the vertical, y in rig files
  const estimator::Pose placed = estimator::place_bodies(rig.mechanism, qpos).at(0);
  EXPECT_NEAR((placed.r - Eigen::Vector3d(1, 3, -2)).norm(), 0.0, 1e-15);
  const Eigen::Vector3d x = placed.e * Eigen::Vector3d::UnitX();
  EXPECT_NEAR((x - Eigen::Vector3d(-0.28, 0.0, -0.96)).norm(), 0.0, 1e-15);
}

// Three rods in a plane: the anchor, a point on the last, becomes a joint about their common axis.
TEST(Mjcf, AConnectionAmongParallelAxesClosesALoop) {
  const auto rod = [](const std::string& name, const std::string& pos, const std::string& inner) {
    return "<body name=\"" + name + "\" pos=\"" + pos + "\"><joint name=\"j" + name +
           "\" axis=\"0 1 0\"/><inertial pos=\"0.1 0 0\" mass=\"1\" diaginertia=\"1 1 1\"/>" +
           inner + "</body>";
  };
  const std::string text =
      "<mujoco><worldbody>" + rod("a", "0 0 0", rod("b", "0 0 0.3", rod("c", "0.5 0 0", ""))) +
      "</worldbody><equality><connect name=\"end\" body1=\"c\" anchor=\"0 0 -0.3\"/></equality>"
      "</mujoco>";
  const ConvertedRigText written = convert(text);
  const Rig rig = parse_rig("r", written.text);
  ASSERT_EQ(rig.mechanism.joint_count(), 4) << written.text;
  EXPECT_EQ(rig.mechanism.joints[3].name, "end");
  EXPECT_NEAR(value(rig, "end.a_x"), 0.5, 1e-15) << "where the anchor is in the file's pose";
  EXPECT_TRUE(estimator::are_loop_orientations_consistent(rig.mechanism, Eigen::VectorXd::Zero(4)));
  // With a tilted axis one point is not a revolute joint.
  std::string askew = text;
  askew.replace(askew.rfind("0 1 0"), 5, "0 1 1");
  EXPECT_TRUE(has_note(convert(askew), "constraint \"end\" is left out, because it is neither"));
}

TEST(Mjcf, FaultsAreRefusedWithTheLine) {
  const struct {
    const char *from, *to, *message;
  } faults[] = {
      {"<mujoco model=\"arm\">", "<robot><mujoco>", "arm.xml:"},
      {"<inertial pos=\"0.1 0 0\" mass=\"2\"", "<geom size=\"0.1\"",
       "arm.xml:17: body \"upper\" has no <inertial>, so its mass would be computed from "
       "geometry"},
      {"angle=\"degree\"", "inertiafromgeom=\"true\"",
       "has an <inertial> that inertiafromgeom disables"},
      {"<joint type=\"slide\"", "<joint type=\"ball\"",
       "arm.xml:23: a joint has the type ball. Supported types are hinge, slide and free"},
      {"<joint type=\"slide\" name=\"reach\" axis=\"2 0 0\" range=\"0 0.3\"/>", "<freejoint/>",
       "arm.xml:23: body \"body1\" has a free joint, so it must be a child of the world"},
      {"childclass=\"light\"", "childclass=\"heavy\"", "refers to class \"heavy\""},
      {"<worldbody>", "<include file=\"x.xml\"/><worldbody>",
       "arm.xml:12: <include> refers to generated or external content"},
      {"angle=\"degree\"", "balanceinertia=\"true\"",
       "arm.xml:2: balanceinertia changes the masses"},
      {"angle=\"degree\"", "settotalmass=\"3\"", "settotalmass changes"},
      {"angle=\"degree\"", "coordinate=\"global\"", "arm.xml:2: global coord"},
      {"eulerseq=\"XYZ\"", "eulerseq=\"XYW\"", "is not three of xyzXYZ"},
      {"mass=\"2\"", "mass=\"2kg\"", "is not a finite number"},
      {"mass=\"2\"", "mass=\"-2\"", "a negative mass"},
      {"0.0015 1e-4 0 -1e-4", "0.0015", "needs 6 numbers"},
      {"axis=\"2 0 0\"", "axis=\"0 0 0\"", "a zero axis"},
      {"quat=\"1 0 0 1\"", "quat=\"0 0 0 0\"", "a zero quat"},
      {"0 0 -9.79", "0 -9.79 1", "arm.xml: gravity deviates by more than 86°"},
      {"name=\"upper\"", "name=\"column\"", "body \"column\" is defined twice"}};
  for (const auto& [from, to, message] : faults) {
    SCOPED_TRACE(to);
    expect_parts(refusal([&] { convert(replaced(kModel, from, to)); }), {message});
  }
}

TEST(Mjcf, AModelWithoutJointsIsReported) {
  EXPECT_THROW(convert("<mujoco/>"), proto::InputError);
  EXPECT_THROW(convert("<mujoco><worldbody><body name=\"a\"/></worldbody></mujoco>"),
               proto::InputError);
}

}  // namespace
}  // namespace service
