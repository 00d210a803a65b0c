#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "proto/text/files.hpp"
#include "proto/text/input_error.hpp"
#include "service/rig/rig_file.hpp"
#include "service/rig/robot/robot.hpp"
#include "tests/support/evaluation_data.hpp"
#include "tests/support/parameters.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/texts.hpp"

namespace service {
namespace {

using namespace test_support;

// Two links of 0.2 m, with radii of gyration of 67 and 62 mm.
const std::string kTwoLinks = R"(<robot name="r">
  <link name="base"/>
  <link name="l1"><inertial><origin xyz="0 0 -0.1"/><mass value="0.5"/>
    <inertia ixx="0.002" iyy="0.002" izz="0.0005"/></inertial></link>
  <link name="l2"><inertial><origin xyz="0 0 -0.1"/><mass value="0.3"/>
    <inertia ixx="0.001" iyy="0.001" izz="0.0003"/></inertial></link>
  <joint name="j1" type="continuous"><parent link="base"/><child link="l1"/>
    <axis xyz="0 1 0"/><dynamics damping="0.1" friction="0.2"/></joint>
  <joint name="j2" type="revolute"><parent link="l1"/><child link="l2"/>
    <origin xyz="0 0 -0.2"/><axis xyz="0 1 0"/>
    <limit lower="-1" upper="1" effort="2" velocity="5"/></joint>
</robot>
)";

/// Returns a rig with one link whose centre of mass is 1 m from its joint.
std::string ball_on_rod(const std::string& inertia, const std::string& length = "1") {
  return "<robot name='r'><link name='base'/><link name='ball'><inertial><origin xyz='0 0 -" +
         length + "'/><mass value='1'/><inertia ixx='" + inertia + "' iyy='" + inertia + "' izz='" +
         inertia +
         "'/></inertial></link><joint name='j' type='continuous'><parent link='base'/><child "
         "link='ball'/></joint></robot>";
}

ConvertedRigText import_text(const std::string& text, const RobotConversionOptions& options = {}) {
  RobotConversionOptions choice = options;
  choice.source = "r.urdf";
  const ConvertedRigText converted = convert_robot_to_rig(parse_robot("r.urdf", text), choice);
  (void)parse_rig("r.textproto", converted.text);
  return converted;
}

bool has_import_note(const ConvertedRigText& rig, const std::string& part) {
  return std::ranges::any_of(
      rig.notes, [&](const std::string& note) { return note.find(part) != std::string::npos; });
}

ConvertedRigText import_report(const std::string& name) {
  const auto data = find_evaluation_data();
  return import_text(proto::read_file((*data / "field_reports" / name).string()));
}

TEST(RobotChecks, PlausibleRobotHasNoNotes) {
  const ConvertedRigText rig = import_text(kTwoLinks);
  EXPECT_TRUE(rig.notes.empty()) << rig.notes.front();
}

TEST(RobotChecks, FieldReportsAreReadAndReported) {
  if (!find_evaluation_data()) GTEST_SKIP() << "no evaluation data";
  EXPECT_TRUE(has_import_note(import_report("mm.urdf"), "lengths are probably in mm"));
  EXPECT_TRUE(has_import_note(import_report("swaplim.urdf"), "the lower limit (1 rad) is not"));
  EXPECT_TRUE(import_report("world.urdf").notes.empty());
}

// Drake and Gazebo define the link "world" themselves.
TEST(RobotChecks, WorldIsAnImplicitLink) {
  const std::string text = replaced(replaced(kTwoLinks, "<link name=\"base\"/>", ""),
                                    "parent link=\"base\"", "parent link=\"world\"");
  EXPECT_EQ(import_text(text).text, import_text(kTwoLinks).text);
  expect_parts(refusal([&] {
                 import_text(replaced(text, "parent link=\"world\"", "parent link=\"wrld\""));
               }),
               {"refers to link \"wrld\", which is not in the file"});
}

TEST(RobotChecks, InfiniteLimitsGiveNoRange) {
  const std::string text =
      replaced(kTwoLinks, "lower=\"-1\" upper=\"1\" effort=\"2\" velocity=\"5\"",
               "lower=\"-inf\" upper=\"INF\" effort=\"inf\" velocity=\"Infinity\"");
  const ConvertedRigText rig = import_text(text);
  EXPECT_TRUE(rig.notes.empty());
  EXPECT_EQ(rig.text.find("safety"), std::string::npos);
  EXPECT_EQ(rig.text.find("control_max"), std::string::npos);
  EXPECT_TRUE(has_import_note(import_text(replaced(text, "\"INF\"", "\"2\"")),
                              "a limit on one side only (2 rad)"));
  expect_parts(refusal([&] { import_text(replaced(text, "\"INF\"", "\"nan\"")); }),
               {"upper=\"nan\"> is not a number"});
}

TEST(RobotChecks, LimitsWithoutARangeAreReported) {
  const auto with_limits = [](const std::string& limits) {
    return import_text(replaced(kTwoLinks, "lower=\"-1\" upper=\"1\"", limits));
  };
  for (const char* const limits : {"lower=\"1\" upper=\"-1\"", "lower=\"0.5\" upper=\"0.5\""}) {
    const ConvertedRigText rig = with_limits(limits);
    EXPECT_TRUE(has_import_note(rig, "is not below the upper limit")) << limits;
    EXPECT_EQ(rig.text.find("angle_rad_min"), std::string::npos);
  }
  // Exporters write zeros where there is no limit.
  EXPECT_TRUE(with_limits("lower=\"0\" upper=\"0\"").notes.empty());
  EXPECT_TRUE(with_limits("lower=\"-1\" upper=\"-0.9\"").notes.empty());
  EXPECT_TRUE(with_limits("lower=\"-6.28\" upper=\"6.28\"").notes.empty());
  EXPECT_TRUE(
      has_import_note(with_limits("lower=\"-90\" upper=\"90\""), "are probably in degrees"));
}

TEST(RobotChecks, NegativeValuesAreReported) {
  const struct {
    const char *from, *to, *note;
  } values[] = {
      {"damping=\"0.1\"", "damping=\"-0.1\"", "the damping (-0.1 N·m·s/rad) is negative"},
      {"friction=\"0.2\"", "friction=\"-0.2\"", "the dry friction (-0.2 N·m) is negative"},
      {"velocity=\"5\"", "velocity=\"-5\"", "the largest speed (-5 rad/s) is negative"},
      {"effort=\"2\"", "effort=\"-2\"", "the largest effort (-2 N·m) is negative"}};
  for (const auto& [from, to, note] : values) {
    EXPECT_TRUE(has_import_note(import_text(replaced(kTwoLinks, from, to)), note)) << to;
  }
  EXPECT_TRUE(import_text(replaced(kTwoLinks, "damping=\"0.1\"", "damping=\"0\"")).notes.empty());
}

TEST(RobotChecks, InconsistentInertiasAreReportedWithTheirMoments) {
  const auto with_izz = [](const std::string& izz) {
    return import_text(replaced(kTwoLinks, "izz=\"0.0005\"", "izz=\"" + izz + "\""));
  };
  EXPECT_TRUE(has_import_note(with_izz("0.0041"), "0.002, 0.002 and 0.0041 kg·m²: one exceeds"));
  EXPECT_TRUE(has_import_note(with_izz("-0.001"), "one is negative"));
  EXPECT_TRUE(has_import_note(import_text(ball_on_rod("0")), "all are zero"));
  EXPECT_TRUE(with_izz("0.0039").notes.empty());
}

// √(3/2) times the root of the inertia is the radius of gyration of a ball of 1 kg.
TEST(RobotChecks, LengthsInMillimetresAreRecognized) {
  EXPECT_TRUE(has_import_note(import_text(ball_on_rod("7e-6")), "lengths are probably in mm"));
  EXPECT_TRUE(import_text(ball_on_rod("8e-6")).notes.empty()) << "1 / 289";
  EXPECT_TRUE(has_import_note(import_text(ball_on_rod("0.1", "20.1")), "lengths are probably"));
  EXPECT_TRUE(import_text(ball_on_rod("0.1", "19.9")).notes.empty());
  // 0.9 mm is no length of a rig.
  EXPECT_TRUE(
      has_import_note(import_text(ball_on_rod("5e-6", "0.9")), "inertias are probably too"));
}

TEST(RobotChecks, InertiasInOtherUnitsAreRecognized) {
  EXPECT_TRUE(
      has_import_note(import_text(ball_on_rod("2e3", "0.5")), "inertias are probably in kg"));
  EXPECT_TRUE(has_import_note(import_text(ball_on_rod("2e6", "0.01")), "probably in g·mm²"));
  EXPECT_TRUE(has_import_note(import_text(ball_on_rod("0.7", "0.01")), "inertias are probably in"));
  EXPECT_TRUE(import_text(ball_on_rod("0.6", "0.01")).notes.empty()) << "95 times";
}

// One link among right ones, whatever the median is.
TEST(RobotChecks, InertiaOfASingleLinkInAnotherUnitIsRecognized) {
  const std::string moments = "ixx=\"0.001\" iyy=\"0.001\" izz=\"0.0003\"";
  const ConvertedRigText grams =
      import_text(replaced(kTwoLinks, moments, "ixx=\"1e6\" iyy=\"1e6\" izz=\"3e5\""));
  EXPECT_TRUE(has_import_note(grams, "link \"l2\": the inertia is probably in g·mm²"));
  EXPECT_FALSE(has_import_note(grams, "--scale-inertia"));
  EXPECT_FALSE(has_import_note(grams, "link \"l1\""));
  const ConvertedRigText kilograms =
      import_text(replaced(kTwoLinks, moments, "ixx=\"1e3\" iyy=\"1e3\" izz=\"3e2\""));
  EXPECT_TRUE(has_import_note(kilograms, "link \"l2\": the inertia is probably in kg·mm²"));
  EXPECT_TRUE(import_text(kTwoLinks).notes.empty());
}

TEST(RobotChecks, ScalesGiveTheRobotInMetres) {
  const ConvertedRigText metres = import_text(ball_on_rod("0.002", "0.1"));
  const ConvertedRigText scaled =
      import_text(ball_on_rod("2000", "100"), {.length_scale = 1e-3, .inertia_scale = 1e-6});
  EXPECT_TRUE(scaled.notes.empty());
  const Rig a = parse_rig("a", metres.text), b = parse_rig("b", scaled.text);
  for (const char* const name : {"ball.c_z", "ball.J_xx", "ball.m"}) {
    EXPECT_NEAR(parameter_of(a.mechanism, name).value, parameter_of(b.mechanism, name).value, 1e-15)
        << name;
  }
}

TEST(RobotChecks, OnlySelectedJointsMove) {
  const ConvertedRigText rig = import_text(kTwoLinks, {.joints = {"j2"}});
  EXPECT_TRUE(has_import_note(rig, "since --joints does not name them: j1."));
  EXPECT_TRUE(has_import_note(rig, "Robot descriptions written from the rig file"));
  EXPECT_NE(rig.text.find("# Fixed by --joints: j1."), std::string::npos);
  const Rig read = parse_rig("r.textproto", rig.text);
  ASSERT_EQ(read.mechanism.joints.size(), 1U);
  EXPECT_EQ(read.mechanism.joints[0].name, "j2");
  EXPECT_TRUE(import_text(kTwoLinks, {.joints = {"j2", "j1"}}).notes.empty());
  expect_parts(refusal([] { import_text(kTwoLinks, {.joints = {"j3"}}); }),
               {"r.urdf: --joints: has no moving joint \"j3\"", "its moving joints are j1, j2"});
}

// A joint that is fixed at a coordinate gives the same robot as an origin turned by it.
TEST(RobotChecks, FixesJointsAtOtherPositionsThanZero) {
  const ConvertedRigText rig =
      import_text(kTwoLinks, {.joints = {"j2"}, .positions = {{"j1", 0.5}}});
  EXPECT_TRUE(has_import_note(rig, "since --joints does not name them: j1 at 0.5 rad."));
  const ConvertedRigText turned =
      import_text(replaced(kTwoLinks, "<axis xyz=\"0 1 0\"/><dynamics",
                           "<origin xyz=\"0 0 0\" rpy=\"0 0.5 0\"/><axis xyz=\"0 1 0\"/><dynamics"),
                  {.joints = {"j2"}});
  const Rig a = parse_rig("a", rig.text), b = parse_rig("b", turned.text);
  ASSERT_EQ(a.mechanism.parameters.size(), b.mechanism.parameters.size());
  for (std::size_t k = 0; k < a.mechanism.parameters.size(); ++k) {
    EXPECT_NEAR(a.mechanism.parameters[k].value, b.mechanism.parameters[k].value, 1e-9)
        << a.mechanism.parameters[k].name;
  }
  EXPECT_NE(rig.text.substr(rig.text.find("body {")),
            import_text(kTwoLinks, {.joints = {"j2"}}).text.substr(rig.text.find("body {")));
  const std::string mimic = replaced(kTwoLinks, "<limit lower=\"-1\"",
                                     "<mimic joint=\"j1\" multiplier=\"2\" offset=\"0.1\"/>"
                                     "<limit lower=\"-1\"");
  const std::string free =
      "<link name=\"l3\"><inertial><mass value=\"1\"/><inertia ixx=\"1\" "
      "iyy=\"1\" izz=\"1\"/></inertial></link><joint name=\"j3\" "
      "type=\"continuous\"><parent link=\"l2\"/><child link=\"l3\"/>"
      "</joint></robot>";
  EXPECT_TRUE(has_import_note(import_text(replaced(mimic, "</robot>", free),
                                          {.joints = {"j3"}, .positions = {{"j1", 0.3}}}),
                              "j1 at 0.3 rad, j2 at 0.7 rad"));
  expect_parts(refusal([] {
                 import_text(kTwoLinks, {.joints = {"j2"}, .positions = {{"j2", 0.5}}});
               }),
               {"--at j2", "a joint that --joints fixes"});
}

TEST(RobotChecks, APositionInMillimetresAmongMetresIsRecognized) {
  const auto arm = [](const std::string& joint, const std::string& center) {
    std::string text = "<robot name='r'><link name='base'/>";
    for (int k = 0; k < 5; ++k) {
      const std::string own = std::to_string(k);
      text += "<link name='l" + own + "'><inertial><origin xyz='0 0 -" + (k == 2 ? center : "0.1") +
              "'/><mass value='0.3'/><inertia ixx='0.001' iyy='0.001' izz='0.0003'/></inertial>"
              "</link><joint name='j" +
              own + "' type='continuous'><parent link='" +
              (k == 0 ? "base" : "l" + std::to_string(k - 1)) + "'/><child link='l" + own +
              "'/><origin xyz='0 0 -" + (k == 2 ? joint : "0.2") + "'/></joint>";
    }
    return import_text(text + "</robot>");
  };
  EXPECT_TRUE(
      has_import_note(arm("200", "0.1"), "joint \"j2\": the position (200 m) is probably in mm"));
  EXPECT_TRUE(
      has_import_note(arm("0.2", "100"), "centre of mass of link \"l2\": the position (100 m)"));
  EXPECT_FALSE(has_import_note(arm("2", "1"), "probably in mm"));
}

TEST(RobotChecks, MimicJointsMoveWithTheSelectedJoint) {
  const std::string text =
      replaced(kTwoLinks, "<limit lower=\"-1\"", "<mimic joint=\"j1\"/><limit lower=\"-1\"");
  EXPECT_TRUE(import_text(text, {.joints = {"j1"}}).notes.empty());
  expect_parts(refusal([&] { import_text(text, {.joints = {"j2"}}); }),
               {"joint \"j2\" mimics \"j1\"; name that joint, too"});
}

/// Returns a URDF file that is a chain of links.
std::string chain_of_links(int count, bool has_masses) {
  std::string text = "<robot name='c'>";
  for (int k = 0; k < count; ++k) {
    const std::string link = std::to_string(k);
    const bool has_mass = has_masses || k + 1 == count;
    text += "<link name='l" + link + "'>" +
            (has_mass ? "<inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1'/></inertial>"
                      : "") +
            "</link>";
    if (k == 0) continue;
    text += "<joint name='j" + link + "' type='continuous'><parent link='l" +
            std::to_string(k - 1) + "'/><child link='l" + link + "'/></joint>";
  }
  return text + "</robot>";
}

TEST(RobotChecks, LongChainsAreReadOrRefused) {
  for (const bool has_masses : {true, false}) {
    const ConvertedRigText rig = convert_robot_to_rig(
        parse_urdf("c.urdf", chain_of_links(1000, has_masses)), {.source = "c.urdf"});
    EXPECT_NE(rig.text.find("l999"), std::string::npos);
    expect_parts(refusal([&] { parse_urdf("c.urdf", chain_of_links(1001, has_masses)); }),
                 {"c.urdf:1: has more than 1000 links"});
  }
  EXPECT_THROW(parse_urdf("c.urdf", chain_of_links(10'000, true)), proto::InputError);
}

TEST(RobotChecks, ManyElementsAndAttributesAreRefused) {
  const auto with_attributes = [](int count) {
    std::string text = "<robot name='r'><link name='a'";
    for (int k = 1; k < count; ++k) text += " a" + std::to_string(k) + "='=>'";
    return text + "/></robot>";
  };
  EXPECT_EQ(parse_urdf("r.urdf", with_attributes(200)).links.size(), 1U);
  expect_parts(refusal([&] { parse_urdf("r.urdf", with_attributes(201)); }),
               {"r.urdf: has an XML element with more than 200 attributes"});
  std::string many = "<robot name='r'><link name='a'/>";
  for (int k = 0; k < 200'000; ++k) many += "<a/>";
  expect_parts(refusal([&] { parse_urdf("r.urdf", many + "</robot>"); }),
               {"r.urdf: has more than 200 000 XML elements"});
  std::string deep;
  for (int k = 0; k < 10'000; ++k) deep += "<a>";
  expect_parts(refusal([&] { parse_robot("r.xml", deep); }), {"nested more than 100 levels deep"});
}

}  // namespace
}  // namespace service
