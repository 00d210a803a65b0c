#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <set>
#include <string>

#include "service/rig/init/rig_answers.hpp"
#include "service/rig/init/rig_proposal.hpp"
#include "service/rig/rig_file.hpp"
#include "tests/service/run_rigcal.hpp"
#include "tests/support/parameters.hpp"
#include "tests/support/refusal.hpp"

namespace service {
namespace {

using namespace test_support;

/// Answers without a recording: a name, columns still to be recorded, nothing measured.
RigAnswers answers_of(RigKind kind, bool motor) {
  RigAnswers answers;
  answers.kind = kind;
  answers.name = "mine";
  answers.links.resize(link_names(kind, 3).size());
  ColumnChoice choice;
  if (motor) choice.command_unit = "V";
  propose_columns({}, choice, answers);
  if (kind == RigKind::kFourbar) {
    answers.links = {{0.1, {}, {}}, {0.28, {}, {}}, {0.2, {}, {}}};
    answers.ground = 0.3;
  }
  return answers;
}

std::set<std::string> free_of(const Rig& rig) {
  std::set<std::string> names;
  for (const estimator::Parameter& parameter : rig.mechanism.parameters) {
    if (parameter.free) names.insert(parameter.name);
  }
  return names;
}

// The written file must load: catches a field that the schema lacks, an inconsistent inertia, a
// column without a joint.
TEST(RigText, LoadsForEveryKindWithAndWithoutAMotor) {
  for (const RigKindDescription& kind : supported_rig_kinds()) {
    for (const bool motor : {false, true}) {
      SCOPED_TRACE(std::string(kind.name) + (motor ? " with" : " without") + " a motor");
      const RigAnswers answers = answers_of(kind.kind, motor);
      const Rig rig = parse_rig("rig.textproto", make_rig_file_text(answers));
      ASSERT_TRUE(rig.format.has_value());
      EXPECT_EQ(rig.format->angles.size(), answers.readings.size());
      EXPECT_EQ(rig.format->controls.size(), motor ? 1U : 0U);
      EXPECT_FALSE(free_of(rig).empty());
    }
  }
}

/// Returns the text with a commented-out section restored, and a number in place of each "?".
std::string with_section(std::string text, const std::string& section) {
  const std::size_t begin = text.find("# " + section + " {\n");
  EXPECT_NE(begin, std::string::npos) << section << " in\n" << text;
  if (begin == std::string::npos) return text;
  const std::size_t end = text.find("# }\n", begin) + 4;
  std::string lines = "\n" + text.substr(begin, end - begin);
  for (const auto& [from, to] : {std::pair<std::string, std::string>{"\n# ", "\n"},
                                 {"min: ?", "min: -1"},
                                 {"?", "1"}}) {
    for (std::size_t at = 0; (at = lines.find(from, at)) != std::string::npos; at += to.size()) {
      lines.replace(at, from.size(), to);
    }
  }
  return text.replace(begin, end - begin, lines);
}

// The templates of the sections unit and safety must be valid when they are filled in.
TEST(RigText, HasTemplatesForDriving) {
  for (const RigKindDescription& kind : supported_rig_kinds()) {
    SCOPED_TRACE(kind.name);
    const std::string text = make_rig_file_text(answers_of(kind.kind, true));
    const Rig rig = parse_rig("rig.textproto", with_section(with_section(text, "unit"), "safety"));
    ASSERT_FALSE(rig.joint_properties.empty());
    EXPECT_TRUE(std::ranges::any_of(rig.joint_properties, [](const JointProperties& joint) {
      return joint.safety && joint.safety->command_max == 1.0;
    }));
    EXPECT_NE(text.find("# stops {"), std::string::npos);
    EXPECT_EQ(make_rig_file_text(answers_of(kind.kind, false)).find("# safety {"),
              std::string::npos);
  }
}

// With a unit, the sections are complete, so that only commissioning remains.
TEST(RigText, WritesUnitAndSafety) {
  for (const RigKindDescription& kind : supported_rig_kinds()) {
    SCOPED_TRACE(kind.name);
    RigAnswers answers = answers_of(kind.kind, true);
    answers.unit.emplace(UnitAnswer{"serial:///dev/ttyACM0", {}, {}, 0.8});
    for (std::size_t k = 0; k < answers.readings.size(); ++k) {
      answers.unit->limits.push_back({-1.5, 2.0, 12.0});
    }
    const std::string text = make_rig_file_text(answers);
    const Rig rig = parse_rig("rig.textproto", text);
    EXPECT_TRUE(rig.has_unit);
    EXPECT_EQ(rig.incomplete_safety, "");
    ASSERT_FALSE(rig.encoders.empty());
    EXPECT_EQ(rig.encoders[0].limits.lowest, -1.5);
    EXPECT_EQ(rig.encoders[0].limits.highest, 2.0);
    EXPECT_EQ(text.find("# unit {"), std::string::npos) << "no template beside the section";
    answers.unit->channels = {"nobody"};
    EXPECT_THROW(make_rig_file_text(answers), proto::InputError);
  }
}

TEST(RigText, ParsesRangesOfJoints) {
  EXPECT_NEAR(parse_joint_range("-180:90", false).low, -M_PI, 1e-15);
  EXPECT_NEAR(parse_joint_range("-180:90", false).high, M_PI / 2.0, 1e-15);
  EXPECT_EQ(parse_joint_range("-0.25:0.5", true).high, 0.5);
  for (const char* const wrong : {"", "5", "5:", ":5", "5:5", "9:-9", "a:b", "1:2:3", "nan:1"}) {
    EXPECT_THROW(parse_joint_range(wrong, false), proto::InputError) << wrong;
  }
}

// A cart alone has one joint; its mass sets the scale of friction and motor.
TEST(RigText, DescribesACartAlone) {
  const RigAnswers answers = answers_of(RigKind::kCart, true);
  ASSERT_EQ(answers.readings.size(), 1U);
  EXPECT_EQ(answers.readings[0].unit, ReadingUnit::kMetre);
  const Rig rig = parse_rig("rig.textproto", make_rig_file_text(answers));
  EXPECT_EQ(rig.mechanism.joint_count(), 1);
  EXPECT_EQ(free_of(rig), (std::set<std::string>{"rail.b", "rail.f_c", "rail.K"}));
}

// Frees the parameters that angles can identify: for one link inertia and friction but not its
// mass, for two the second one's mass. Given values are fixed.
TEST(RigText, FreesIdentifiableParametersAndFixesGivenOnes) {
  RigAnswers one = answers_of(RigKind::kPendulum, false);
  EXPECT_EQ(
      free_of(parse_rig("r", make_rig_file_text(one))),
      (std::set<std::string>{"rod.J_zz", "pivot.b", "pivot.tau_c", "pivot.c", "pivot.offset"}));
  RigAnswers two = answers_of(RigKind::kDoublePendulum, false);
  two.links = {{0.2, 0.1, 0.1}, {0.25, 0.1, {}}};
  EXPECT_TRUE(free_of(parse_rig("r", make_rig_file_text(two))).contains("link2.m"));
  EXPECT_FALSE(free_of(parse_rig("r", make_rig_file_text(two))).contains("link1.m"));
  EXPECT_FALSE(free_of(parse_rig("r", make_rig_file_text(two))).contains("2.a_x"));
  two.links[1].mass = 0.2;
  EXPECT_FALSE(free_of(parse_rig("r", make_rig_file_text(two))).contains("link2.m"));
  two.links[0].length.reset();
  two.links[0].center.reset();
  EXPECT_TRUE(free_of(parse_rig("r", make_rig_file_text(two))).contains("2.a_x"));
  RigAnswers furuta = answers_of(RigKind::kFuruta, true);
  EXPECT_TRUE(free_of(parse_rig("r", make_rig_file_text(furuta))).contains("1.K"));
  EXPECT_TRUE(free_of(parse_rig("r", make_rig_file_text(furuta))).contains("2.a_x"));
  furuta.links[0].length = 0.2;
  EXPECT_FALSE(free_of(parse_rig("r", make_rig_file_text(furuta))).contains("2.a_x"));
}

TEST(RigText, StatesTheSourceOfEveryValue) {
  RigAnswers answers = answers_of(RigKind::kPendulum, false);
  answers.links[0].mass = 0.4281;
  std::string text = make_rig_file_text(answers);
  expect_parts(text, {"mass { value: 0.4281 }  # [kg] given", "assumed halfway"});
  answers.links[0].mass.reset();
  answers.swing = 1.0;
  text = make_rig_file_text(answers);
  expect_parts(text, {"# [kg] assumed", "from the oscillation frequency in the recording"});
  // A slender rod with that frequency: it swings like a pendulum of 2/3 of its length, with the
  // centre of mass halfway: 3/4 g / (2 π f)².
  const Rig rig = parse_rig("r", text);
  EXPECT_NEAR(parameter_of(rig.mechanism, "pivot.b_x").value, -0.75 * 9.81 / (4.0 * M_PI * M_PI),
              1e-6);
}

// An angle relative to the vertical is an encoder between the link and the ground; the joint itself
// has none.
TEST(RigText, AbsoluteAnglesAreEncodersBetweenBodies) {
  RigAnswers answers = answers_of(RigKind::kDoublePendulum, false);
  answers.absolute = true;
  const Rig rig = parse_rig("r", make_rig_file_text(answers));
  EXPECT_TRUE(rig.mechanism.joints[0].measured);
  EXPECT_FALSE(rig.mechanism.joints[1].measured);
  ASSERT_EQ(rig.mechanism.count_encoders_between_bodies(), 1);
  EXPECT_EQ(rig.mechanism.body_encoders[0].body_b, 1);
  EXPECT_EQ(rig.mechanism.body_encoders[0].body_a, estimator::Joint::kGround);
}

// Offset and sign: angle = ∓ value + offset is zero where the column reads `rest`.
TEST(RigText, AnAngleIsZeroWhenHanging) {
  for (const bool inverted : {false, true}) {
    RigAnswers answers = answers_of(RigKind::kPendulum, false);
    answers.readings[0].unit = ReadingUnit::kDegree;
    answers.readings[0].rest = 0.7;
    answers.readings[0].inverted = inverted;
    const Rig rig = parse_rig("r", make_rig_file_text(answers));
    const EncoderColumn& column = rig.format->angles[0];
    EXPECT_NEAR(column.scale * 0.7 * 180.0 / M_PI + column.offset, 0.0, 1e-12);
    EXPECT_EQ(column.scale < 0.0, inverted);
  }
}

// A unit vector in plain decimals; a quarter turn shows no round-off.
TEST(RigText, WritesATiltedAxisInPlainDecimals) {
  RigAnswers answers = answers_of(RigKind::kPendulum, false);
  answers.axis_tilt = 23.0 * M_PI / 180.0;
  EXPECT_NE(make_rig_file_text(answers).find("axis { y: 0.39073113 z: 0.92050485 }"),
            std::string::npos);
  answers.axis_tilt = M_PI / 2.0;
  EXPECT_NE(make_rig_file_text(answers).find("axis { y: 1 z: 0 }"), std::string::npos);
}

TEST(RigText, RefusesMissingEssentials) {
  RigAnswers loop = answers_of(RigKind::kFourbar, false);
  loop.ground.reset();
  EXPECT_NE(refusal([&] { make_rig_file_text(loop); }).find("--ground"), std::string::npos);
  RigAnswers counts = answers_of(RigKind::kPendulum, false);
  counts.readings[0].unit = ReadingUnit::kCount;
  EXPECT_NE(refusal([&] { make_rig_file_text(counts); }).find("--counts"), std::string::npos);
}

}  // namespace
}  // namespace service
