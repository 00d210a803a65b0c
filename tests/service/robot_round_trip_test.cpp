#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "estimator/model/inertia/inertia_parameterization.hpp"
#include "estimator/model/mechanism.hpp"
#include "estimator/model/placement.hpp"
#include "proto/text/files.hpp"
#include "service/rig/rig_file.hpp"
#include "service/rig/robot/robot.hpp"
#include "tests/support/parameters.hpp"
#include "tests/support/source_folder.hpp"
#include "tests/support/texts.hpp"

// Rig files are converted to robot descriptions and back, with the same bodies and joints. Two
// roundings of a number near one, or of an angle, stay below 1e-12.

namespace service {
namespace {

using namespace test_support;

using estimator::BodyParameter;
using estimator::JointParameter;
using estimator::Mechanism;

constexpr double kExact = 1e-12;

// Rotations about tilted axes in tilted frames, one at the singularity of roll and yaw; a prismatic
// joint; a massless link between two axes; parts fixed to the arm and to the ground; a link named
// like a keyword of rig files.
const std::string kArm = R"(<robot name="arm &amp; hand">
  <link name="base"/>
  <link name="upper"><inertial><origin xyz="0.1 -0.02 0.3" rpy="0.3 -0.2 1.1"/><mass value="2.5"/>
    <inertia ixx="0.013" ixy="1e-4" ixz="-2e-4" iyy="0.021" iyz="1e-3" izz="0.025"/></inertial>
  </link>
  <link name="tool"><inertial><origin xyz="0 0.01 0"/><mass value="0.2"/>
    <inertia ixx="1e-4" ixy="0" ixz="0" iyy="2e-4" iyz="0" izz="1.5e-4"/></inertial></link>
  <link name="cross"/>
  <link name="ground"><inertial><mass value="0.51"/>
    <inertia ixx="3e-3" ixy="0" ixz="0" iyy="3e-3" iyz="0" izz="2e-3"/></inertial></link>
  <link name="carriage"><inertial><origin xyz="0 0 0.07"/><mass value="0.3"/>
    <inertia ixx="1e-3" ixy="1e-5" ixz="0" iyy="1e-3" iyz="0" izz="1e-3"/></inertial></link>
  <joint name="shoulder" type="revolute"><parent link="base"/><child link="upper"/>
    <origin xyz="0.1 0.2 0.3" rpy="0.1 0.2 0.3"/><axis xyz="1 2 3"/>
    <limit lower="-1.5" upper="2.25" effort="40" velocity="3"/>
    <dynamics damping="0.21" friction="0.53"/></joint>
  <joint name="bolt" type="fixed"><parent link="upper"/><child link="tool"/>
    <origin xyz="0.2 0 0.1" rpy="0.4 0 -0.3"/></joint>
  <joint name="bend" type="continuous"><parent link="upper"/><child link="cross"/>
    <origin xyz="0.4 0 0" rpy="0.7 1.5707963267948966 -0.2"/><axis xyz="0 0 1"/></joint>
  <joint name="twist" type="continuous"><parent link="cross"/><child link="ground"/>
    <origin rpy="-2 -0.4 3"/><axis xyz="1 0 -1"/><dynamics damping="0.01" friction="0"/></joint>
  <joint name="slide" type="prismatic"><parent link="ground"/><child link="carriage"/>
    <origin xyz="0 0.05 0"/><axis xyz="0 -1 1"/>
    <limit lower="-0.1" upper="0.2" effort="12" velocity="0.5"/></joint>
</robot>
)";

Rig rig_of(const std::string& description, bool floating = false) {
  return parse_rig("rig",
                   convert_robot_to_rig(parse_robot("robot", description),
                                        {.source = "r", .floating = floating, .friction = false})
                       .text);
}

template <typename List>
std::size_t place_of(const List& list, const std::string& name) {
  const auto found =
      std::ranges::find_if(list, [&](const auto& element) { return element.name == name; });
  EXPECT_NE(found, list.end()) << name;
  return static_cast<std::size_t>(found - list.begin());
}

void expect_near(double a, double b, const std::string& what) {
  EXPECT_LE(std::abs(a - b), kExact * std::max(1.0, std::abs(a))) << what;
}

template <typename Joint>
void expect_same_frames(const Joint& a, const Joint& b) {
  const auto turn = [](const Joint& j) { return j.frame_a * j.frame_b.transpose(); };
  EXPECT_LE((turn(a) - turn(b)).cwiseAbs().maxCoeff(), kExact) << a.name;
  EXPECT_LE((a.frame_b.col(0) - b.frame_b.col(0)).norm(), kExact) << a.name;
}

/// Compares every quantity of bodies, these ones of joints, and all orientations.
void expect_same(const Rig& a, const Rig& b, const std::vector<JointParameter>& quantities) {
  const Mechanism &x = a.mechanism, &y = b.mechanism;
  ASSERT_EQ(x.bodies.size(), y.bodies.size());
  ASSERT_EQ(x.joints.size(), y.joints.size());
  ASSERT_EQ(x.fixed_joints.size(), y.fixed_joints.size());
  for (int i = 0; i < x.body_count(); ++i) {
    const auto& body = x.bodies[static_cast<std::size_t>(i)];
    const int k = static_cast<int>(place_of(y.bodies, body.name));
    EXPECT_EQ(body.massless, y.bodies[static_cast<std::size_t>(k)].massless);
    for (int q = 0; q < Mechanism::kBodyParameters; ++q) {
      const auto& p = x.parameter(i, static_cast<BodyParameter>(q));
      expect_near(p.value, y.parameter(k, static_cast<BodyParameter>(q)).value, p.name);
    }
  }
  for (int i = 0; i < x.joint_count(); ++i) {
    const auto& joint = x.joints[static_cast<std::size_t>(i)];
    const int k = static_cast<int>(place_of(y.joints, joint.name));
    const auto& other = y.joints[static_cast<std::size_t>(k)];
    EXPECT_EQ(joint.kind, other.kind);
    EXPECT_EQ(x.bodies[static_cast<std::size_t>(joint.body_b)].name,
              y.bodies[static_cast<std::size_t>(other.body_b)].name);
    expect_same_frames(joint, other);
    for (const JointParameter q : quantities) {
      const auto& p = x.joint_parameter(i, q);
      expect_near(p.value, y.joint_parameter(k, q).value, p.name);
    }
  }
  for (std::size_t i = 0; i < x.fixed_joints.size(); ++i) {
    const std::size_t k = place_of(y.fixed_joints, x.fixed_joints[i].name);
    expect_same_frames(x.fixed_joints[i], y.fixed_joints[k]);
    for (const bool child : {false, true}) {
      EXPECT_LE((estimator::fixed_joint_point(x, static_cast<int>(i), child) -
                 estimator::fixed_joint_point(y, static_cast<int>(k), child))
                    .norm(),
                kExact);
    }
  }
}

std::vector<JointParameter> points_and(std::vector<JointParameter> more) {
  for (int q = 0; q <= static_cast<int>(JointParameter::kPointBz); ++q) {
    more.push_back(static_cast<JointParameter>(q));
  }
  return more;
}
const std::vector<JointParameter> kOfUrdf =
    points_and({JointParameter::kViscous, JointParameter::kCoulombTorque});
const std::vector<JointParameter> kOfMjcf =
    points_and({JointParameter::kViscous, JointParameter::kCoulombTorque,
                JointParameter::kShaftInertia, JointParameter::kStiffness,
                JointParameter::kRestAngle, JointParameter::kMotorGain, JointParameter::kBackEmf});

void expect_same_limits(const Rig& a, const Rig& b) {
  ASSERT_EQ(a.encoders.size(), b.encoders.size());
  for (std::size_t k = 0; k < a.encoders.size(); ++k) {
    EXPECT_EQ(a.encoders[k].limits.lowest, b.encoders[k].limits.lowest);
    EXPECT_EQ(a.encoders[k].limits.highest, b.encoders[k].limits.highest);
    EXPECT_EQ(a.encoders[k].limits.fastest, b.encoders[k].limits.fastest);
    EXPECT_EQ(a.joint_properties[k].control_max, b.joint_properties[k].control_max);
  }
}

TEST(RobotRoundTrip, UrdfToRigToUrdfToRigIsExact) {
  for (const bool floating : {false, true}) {
    SCOPED_TRACE(floating);
    const Rig first = rig_of(kArm, floating);
    const Rig second = rig_of(format_urdf(convert_rig_to_robot(first), {}).text, floating);
    expect_same(first, second, kOfUrdf);
    if (!floating) expect_same_limits(first, second);
  }
}

// Massless links become several joints of one body there, each about its own axis.
TEST(RobotRoundTrip, UrdfToRigToMjcfToRigIsExact) {
  const Rig first = rig_of(kArm);
  const RobotFileText mjcf = format_mjcf(convert_rig_to_robot(first), {});
  const Rig second = rig_of(mjcf.text);
  ASSERT_EQ(second.mechanism.joint_count(), 4) << mjcf.text;
  EXPECT_EQ(mjcf.text.find("\"cross\""), std::string::npos);
  for (int i = 0; i < 4; ++i) {
    const auto& parameter = first.mechanism.joint_parameter(i, JointParameter::kViscous);
    EXPECT_EQ(parameter.value, parameter_of(second.mechanism, parameter.name).value);
  }
  // Bodies have the same poses at any angles.
  Eigen::VectorXd angles(4);
  angles << 0.3, -1.2, 2.5, 0.04;
  const auto x = estimator::place_bodies(first.mechanism, angles);
  const auto y = estimator::place_bodies(second.mechanism, angles);
  for (const char* const name : {"upper", "tool", "ground_link", "carriage"}) {
    const auto& at = x[place_of(first.mechanism.bodies, name)];
    const auto& other = y[place_of(second.mechanism.bodies, name)];
    EXPECT_LE((at.r - other.r).norm(), kExact) << name;
    EXPECT_LE((at.e.toRotationMatrix() - other.e.toRotationMatrix()).norm(), kExact) << name;
  }
}

/// The features that each format supports, with unchanged names.
void expect_round_trips(const std::string& text) {
  const Rig rig = parse_rig("rig", text);
  expect_same(rig, rig_of(format_urdf(convert_rig_to_robot(rig), {}).text), kOfUrdf);
  const Rig back = rig_of(format_mjcf(convert_rig_to_robot(rig), {}).text);
  expect_same(rig, back, kOfMjcf);
  EXPECT_LE(
      (estimator::gravity_vector(rig.mechanism) - estimator::gravity_vector(back.mechanism)).norm(),
      1e-12);
}

TEST(RobotRoundTrip, RigFilesComeBackWithEverythingThatMjcfHas) {
  for (const char* const name :
       {"furuta", "qube-servo2", "paper-furuta", "pendulum", "chain3", "cartpole",
        "dfki-double-pendulum", "lund-furuta", "multiarm-double", "synthetic-furuta"}) {
    SCOPED_TRACE(name);
    expect_round_trips(proto::read_file(source_folder() + "/configs/rig-" + name + ".textproto"));
  }
}

// A body that rotates about z alone, with a moment about z that is inconsistent with those about x
// and y, which have no effect: these are raised, and that is reported.
TEST(RobotRoundTrip, MomentsWithoutEffectAreMadeConsistent) {
  Rig rig = load_rig(source_folder() + "/configs/rig-pendulum.textproto");
  for (const double zz : {0.019, 0.05}) {
    rig.mechanism.parameter(0, estimator::BodyParameter::kJzz).value = zz;
    const Robot robot = convert_rig_to_robot(rig);
    const auto link =
        std::ranges::find_if(robot.links, [](const auto& each) { return !!each.inertial; });
    ASSERT_NE(link, robot.links.end());
    EXPECT_TRUE(estimator::is_physically_consistent(link->inertial->inertia));
    EXPECT_NEAR(link->inertial->inertia(2, 2), zz, 1e-12);
    const bool reported = std::ranges::any_of(robot.notes, [](const std::string& note) {
      return note.find("were raised to make the inertia physically consistent") !=
             std::string::npos;
    });
    EXPECT_EQ(reported, zz == 0.05);
  }
}

// Not in shipped rigs: springs, back EMF and a shaft on a prismatic joint, a strongly tilted table.
const std::string kCart = R"(name: "cart"
body { name: "cart" mass { value: 0.7 }
  inertia { xx { value: 1 } yy { value: 1 } zz { value: 1 } } }
body { name: "bob" mass { value: 0.2 }
  inertia { xx { value: 2e-3 } yy { value: 2e-3 } zz { value: 1e-3 } yz { value: 3e-4 } }
  center_of_mass { x { value: 0.01 } y { value: -0.2 } } }
joint { name: "rail" type: PRISMATIC
  parent { body: "ground" point { y { value: 0.4 } } axis { x: 1 } zero_direction { y: 1 } }
  child { body: "cart" axis { x: 1 } zero_direction { y: 1 } }
  friction { viscous { value: 0.3 } coulomb_force { value: 0.1 } }
  spring { stiffness { value: 4 } rest_position { value: 0.05 } }
  motor { control_unit: "V" gain { value: 1.7 } reflected_mass { value: 0.03 }
          back_emf { value: 0.6 } control_max: 5 }
  encoder { } }
joint { name: "swing"
  parent { body: "cart" point { z { value: 0.03 } } axis { z: 1 x: 0.2 } zero_direction { y: -1 } }
  child { body: "bob" axis { z: 1 } zero_direction { y: -1 } }
  spring { stiffness { value: 0.02 } rest_angle { value: -0.4 } }
  encoder { } }
gravity { magnitude { value: 9.7 } tilt_x { value: 0.3 } tilt_z { value: -1.2 } }
)";

TEST(RobotRoundTrip, SpringsMotorsAndALeaningTableComeBack) { expect_round_trips(kCart); }

std::string with_follower(const std::string& follower) {
  std::string text = kCart;
  return text.insert(text.find("  spring { stiffness { value: 0.02 }"), follower);
}

TEST(RobotRoundTrip, MimicJointsAreConverted) {
  const Rig rig =
      parse_rig("r", with_follower("mimic { joint: \"rail\" ratio: -3 offset: 0.2 }\n"));
  for (const std::string& text : {format_urdf(convert_rig_to_robot(rig), {}).text,
                                  format_mjcf(convert_rig_to_robot(rig), {}).text}) {
    const Rig back = rig_of(text);
    ASSERT_EQ(back.mechanism.mimic_joints.size(), 1U) << text;
    const estimator::MimicJoint& own = back.mechanism.mimic_joints[0];
    EXPECT_EQ(back.mechanism.joints[static_cast<std::size_t>(own.joint)].name, "swing");
    EXPECT_EQ(back.mechanism.joints[static_cast<std::size_t>(own.follows)].name, "rail");
    EXPECT_EQ(own.ratio, -3.0);
    EXPECT_EQ(own.offset, 0.2);
  }
}

// Air drag cannot be represented there, and is reported once per body.
TEST(RobotRoundTrip, AirDragIsReportedAsOmitted) {
  std::string text = kCart;
  text.insert(text.find("  center_of_mass"), "  air_drag { coefficient { value: 0.01 } }\n");
  const auto reported = [](const std::string& rig) {
    const Robot robot = convert_rig_to_robot(parse_rig("r", rig));
    return std::ranges::count_if(robot.notes, [](const std::string& note) {
      return note.find("the air drag of body \"bob\" is left out") != std::string::npos;
    });
  };
  EXPECT_EQ(reported(text), 1);
  EXPECT_EQ(reported(kCart), 0);
}

// Seen from its other end a joint rotates about the opposite axis.
TEST(RobotRoundTrip, AChildNearerToTheGroundThanItsParentMovesAsBefore) {
  std::string text = kCart;
  const auto swap = [&](const std::string& a, const std::string& b) {
    text = replaced(text, a, b);
  };
  swap("parent { body: \"cart\" point { z { value: 0.03 } } axis { z: 1 x: 0.2 }",
       "child { body: \"cart\" point { z { value: 0.03 } } axis { z: 1 x: 0.2 }");
  swap("child { body: \"bob\"", "parent { body: \"bob\"");
  const Rig rig = parse_rig("rig", text);
  for (const bool urdf : {true, false}) {
    const Robot robot = convert_rig_to_robot(rig);
    const Rig back = rig_of((urdf ? format_urdf(robot, {}) : format_mjcf(robot, {})).text);
    const Eigen::Vector2d at(0.3, 0.8);
    const auto x = estimator::place_bodies(rig.mechanism, at);
    const auto y = estimator::place_bodies(back.mechanism, at);
    for (std::size_t k = 0; k < 2; ++k) {
      EXPECT_LE((x[k].r - y[k].r).norm(), kExact);
      EXPECT_LE((x[k].e.toRotationMatrix() - y[k].e.toRotationMatrix()).norm(), kExact);
    }
  }
}

}  // namespace
}  // namespace service
