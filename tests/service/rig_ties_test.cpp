#include <gtest/gtest.h>
#include "service/cli/remote/remote_calibration.hpp"

#include <numbers>
#include <string>
#include <vector>

#include "estimator/model/mechanism.hpp"
#include "proto/text/files.hpp"
#include "service/cli/commands/command_options.hpp"
#include "service/options/parameter_values.hpp"
#include "service/rig/parameters/parameter_edits.hpp"
#include "service/rig/rig_file.hpp"
#include "tests/service/run_rigcal.hpp"
#include "tests/support/parameters.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/source_folder.hpp"
#include "tests/support/texts.hpp"

namespace service {
namespace {

using namespace test_support;

// Two links, whose points are given from the upper joint of each; one statement per line.
const char* const kArms = R"(name: 'arms'
body {
  name: 'A'
  mass { value: 0.4 }
  inertia { xx { value: 0.01 } yy { value: 0.01 } zz { value: 0.01 free: true } }
  center_of_mass { x { value: 0.08 free: true } y { value: 0.001 } }
}
body {
  name: 'B'
  inertia { xx { value: 0.01 } yy { value: 0.01 } }
}
joint {
  name: '1'
  parent { body: 'ground' axis { z: 1 } zero_direction { y: -1 } }
  child { body: 'A' axis { z: 1 } zero_direction { x: 1 } }
  friction { viscous { value: 1e-3 free: true } }
  encoder { }
}
joint {
  name: '2'
  parent { body: 'A' point { x { value: 0.2 } } axis { z: 1 } zero_direction { x: 1 } }
  child { body: 'B' point { x { value: -0.1 } } axis { z: 1 } zero_direction { x: 1 } }
  encoder { }
}
quantity { name: 'scale reading' unit: 'kg' parameter { value: 1.0 } }
dependency { parameter: 'B.m' term {parameter: 'scale reading'} term {parameter: 'A.m' factor:-1}}
dependency { parameter: 'B.J_zz' constant: 0.002 term { parameter: 'A.J_zz' factor: 0.5 } }
dependency { parameter: '2.b' term { parameter: '1.b' } }
)";

std::string tied_rig(const std::string& from, const std::string& to) {
  return replaced(kArms, from, to);
}

double value_of(const Rig& rig, const std::string& name) {
  return parameter_of(rig.mechanism, name).value;
}

TEST(RigTies, GiveTiedParametersTheirValues) {
  const Rig rig = parse_rig("r.textproto", kArms);
  EXPECT_DOUBLE_EQ(value_of(rig, "B.m"), 0.6);
  EXPECT_DOUBLE_EQ(value_of(rig, "B.J_zz"), 0.007);
  EXPECT_DOUBLE_EQ(value_of(rig, "2.b"), 1e-3);
  EXPECT_TRUE(is_changed_by_fit(rig.mechanism, rig.mechanism.find_parameter("B.J_zz")));
  EXPECT_FALSE(is_changed_by_fit(rig.mechanism, rig.mechanism.find_parameter("B.m")));
}

// Points are given on the body. The centre of mass shifts all of them together, so the measured
// distance between joints is kept.
TEST(RigTies, CentreOfMassMovesAllPointsOfItsBody) {
  Rig rig = parse_rig("r.textproto", kArms);
  EXPECT_DOUBLE_EQ(value_of(rig, "1.b_x"), -0.08);
  EXPECT_DOUBLE_EQ(value_of(rig, "1.b_y"), -0.001);
  EXPECT_DOUBLE_EQ(value_of(rig, "2.a_x"), 0.12);
  EXPECT_DOUBLE_EQ(value_of(rig, "2.b_x"), -0.1);  // of the other body
  apply_parameter_edits({{"A.c_x=0.11"}, {}, {}}, rig.mechanism);
  EXPECT_DOUBLE_EQ(value_of(rig, "1.b_x"), -0.11);
  EXPECT_DOUBLE_EQ(value_of(rig, "2.a_x"), 0.09);
  EXPECT_TRUE(is_changed_by_fit(rig.mechanism, rig.mechanism.find_parameter("2.a_x")));
  EXPECT_FALSE(is_changed_by_fit(rig.mechanism, rig.mechanism.find_parameter("2.a_y")));
}

// A point with a dependency, on a body with its own centre of mass, is dependent in that body's
// frame.
TEST(RigTies, PointsMayBeTiedInTheFrameOfTheBody) {
  const Rig rig = parse_rig(
      "r.textproto", tied_rig("dependency { parameter: '2.b'",
                              "quantity { name: 'length' unit: 'm' parameter { value: 0.25 } }\n"
                              "dependency { parameter: '2.a_x' term { parameter: 'length' } }\n"
                              "dependency { parameter: '2.b'"));
  EXPECT_DOUBLE_EQ(value_of(rig, "2.a_x"), 0.25 - 0.08);
}

// Centres of mass are ordinary parameters: those of equal bodies can be dependent.
TEST(RigTies, CentresOfMassMayBeTiedThemselves) {
  Rig rig =
      parse_rig("r.textproto", tied_rig("  name: 'B'\n", "  name: 'B'\n  center_of_mass { }\n") +
                                   "dependency { parameter: 'B.c_x' term { parameter: 'A.c_x' "
                                   "factor: -1 } }\n");
  EXPECT_DOUBLE_EQ(value_of(rig, "2.b_x"), -0.1 + 0.08);
  apply_parameter_edits({{"A.c_x=0.11"}, {}, {}}, rig.mechanism);
  EXPECT_DOUBLE_EQ(value_of(rig, "2.b_x"), -0.1 + 0.11);
}

// Two encoders on one bus that were zeroed together.
TEST(RigTies, OffsetsAndDelaysMayBeTied) {
  const Rig rig = parse_rig(
      "r.textproto",
      tied_rig("encoder { }",
               "encoder { offset { value: 0.1 free: true } delay { value: 2e-3 } }") +
          "dependency { parameter: '2.offset' term { parameter: '1.offset' factor: -1 } }\n"
          "dependency { parameter: '2.encoder_delay' constant: 1e-3 "
          "term { parameter: '1.encoder_delay' } }\n");
  EXPECT_DOUBLE_EQ(value_of(rig, "2.offset"), -0.1);
  EXPECT_DOUBLE_EQ(value_of(rig, "2.encoder_delay"), 3e-3);
  EXPECT_TRUE(is_changed_by_fit(rig.mechanism, rig.mechanism.find_parameter("2.offset")));
  EXPECT_FALSE(is_changed_by_fit(rig.mechanism, rig.mechanism.find_parameter("2.encoder_delay")));
}

TEST(RigTies, TiedParametersAreNotEdited) {
  Rig rig = parse_rig("r.textproto", kArms);
  for (const ParameterEdits& edits :
       {ParameterEdits{{"2.b=1"}, {}, {}}, ParameterEdits{{}, {"2.b"}, {}},
        ParameterEdits{{}, {}, {"2.b=0"}}}) {
    expect_parts(refusal([&] { apply_parameter_edits(edits, rig.mechanism); }),
                 {"2.b", "depends on other parameters", "Change the other parameters"});
  }
}

TEST(RigTies, AreRefusedWithPlaceCauseAndRemedy) {
  const struct {
    const char *from, *to;
    std::vector<std::string> parts;
  } bad_ties[] = {
      {"dependency { parameter: '2.b'",
       "dependency { parameter: '2.bb'",
       {"r.textproto:28:14", "no parameter is called \"2.bb\""}},
      {"term { parameter: '1.b' }",
       "term { parameter: '1.bb' }",
       {"r.textproto:28:", "no parameter is called \"1.bb\""}},
      {"dependency { parameter: '2.b' term { parameter: '1.b' } }",
       "dependency { parameter: '2.b' term { parameter: '2.c' } }\n"
       "dependency { parameter: '2.c' term { parameter: '2.b' } }",
       {"r.textproto:28:1", "\"2.b\" depends on itself", "Remove the circular dependency"}},
      {"dependency { parameter: '2.b' term { parameter: '1.b' } }",
       "dependency { parameter: '2.b' constant: 1 }",
       {"r.textproto:28:1", "a dependency without terms", "Add term"}},
      {"dependency { parameter: '2.b'",
       "dependency { parameter: '2.b' term { parameter: '1.b' } }\ndependency { parameter: "
       "'2.b'",
       {"r.textproto:29:1", "has two dependencies"}},
      {"dependency { parameter: '2.b'",
       "dependency { parameter: 'A.J_zz'",
       {"r.textproto:28:1", "\"A.J_zz\"", "cannot be free as well", "remove"}},
      {"dependency { parameter: 'B.m'",
       "dependency { parameter: 'A.m'",
       {"r.textproto", "needs a mass"}},
      {"inertia { xx { value: 0.01 } yy { value: 0.01 } }",
       "inertia { xx { value: 0.01 } yy { value: 0.01 } zz { value: 0.008 } }",
       {"r.textproto:27:1", "\"B.J_zz\"", "0.008", "0.007", "correct the dependency"}},
      {"dependency { parameter: '2.b'",
       "dependency { parameter: 'B.J_xx' term { parameter: 'B.J_zz' } term { parameter: 'A.m' "
       "} }\n"
       "dependency { parameter: '2.b'",
       {"r.textproto:28:1", "\"B.J_xx\"", "0.01", "0.407", "correct the dependency"}},
      {" parameter { value: 1.0 }", "", {"r.textproto:25:1", "\"scale reading\" needs a value"}},
      {"parameter { value: 1.0 }",
       "parameter { value: 0.3 }",
       {"r.textproto:26:1", "\"B.m\"", "-0.1", "outside its bounds"}},
      {"point { x { value: 0.2 } }",
       "point { x { value: 0.2 free: true } }",
       {"r.textproto:6:", "\"2.a_x\" is free", "Fix the point"}},
      {"quantity { name: 'scale reading'",
       "quantity { name: 'A.m'",
       {"r.textproto:25:12", "\"A.m\"", "the name is used by a parameter"}},
      {"constant: 0.002", "constant: nan", {"r.textproto:27:", "constant"}},
      {"mass { value: 0.4 }\n  inertia { xx { value: 0.01 } yy { value: 0.01 } zz { value: 0.01 "
       "free: true } }",
       "massless: true",
       {"r.textproto:5:", "massless", "center_of_mass"}}};
  for (const auto& [from, to, parts] : bad_ties) {
    SCOPED_TRACE(to);
    expect_parts(refusal([&] { (void)parse_rig("r.textproto", tied_rig(from, to)); }), parts);
  }
}

constexpr const char* kResult = R"({
  "rig": "p", "aFieldOfLater": {"x": [1, 2]},
  "parameters": [
    {"name": "pendulum.J_zz", "value": 0.0041, "unit": "kg·m²", "standardDeviation": "Infinity"},
    {"name": "pivot.b", "value": 1.25e-4, "unit": "N·m·s/rad"}
  ],
  "options": {"parameters": "physical", "stepS": 0.004, "stateErrorWeight": 0}
})";

class ParameterValuesFile : public ::testing::Test {
 protected:
  ParameterValues read(const std::string& text) const {
    return read_parameter_values(folder_.write("r.json", text));
  }
  std::string refused(const std::string& from, const std::string& to) const {
    std::string text = replaced(kResult, from, to);
    return refusal([&] {
      estimator::Mechanism mechanism = rig();
      apply_parameter_values(read(text), mechanism);
    });
  }
  static estimator::Mechanism rig() { return load_rig(config("rig-pendulum.textproto")).mechanism; }
  TemporaryFolder folder_;
};

// Only values change: freedom, bounds and parameters not in the result are those of the rig file.
TEST_F(ParameterValuesFile, ReplaceTheValuesOfTheRig) {
  const ParameterValues values = read(kResult);
  EXPECT_EQ(values.kind, estimator::EstimateKind::kPhysical);
  EXPECT_EQ(values.step, 0.0) << "what was chosen for physical parameters is chosen again";
  const estimator::Mechanism before = rig();
  estimator::Mechanism after = before;
  apply_parameter_values(values, after);
  EXPECT_EQ(parameter_of(after, "pendulum.J_zz").value, 0.0041);
  EXPECT_EQ(parameter_of(after, "pivot.b").value, 1.25e-4);
  for (std::size_t i = 0; i < before.parameters.size(); ++i) {
    EXPECT_EQ(after.parameters[i].free, before.parameters[i].free);
    EXPECT_EQ(after.parameters[i].lower, before.parameters[i].lower);
    if (after.parameters[i].name == "pendulum.J_zz" || after.parameters[i].name == "pivot.b") {
      continue;
    }
    EXPECT_EQ(after.parameters[i].value, before.parameters[i].value);
  }
  EXPECT_TRUE(read_parameter_values("").entries.empty());
}

TEST_F(ParameterValuesFile, AreRefusedWithFileAndField) {
  expect_parts(refused("pivot.b", "pivot.bb"), {"r.json: parameters[1].name: ", "\"pivot.bb\""});
  expect_parts(refused("N·m·s/rad", "N·s/m"),
               {"r.json: parameters[1].unit: ", "N·s/m", "N·m·s/rad"});
  expect_parts(refused("1.25e-4", "-1"), {"r.json: parameters[1].value: ", "[0, inf]"});
  expect_parts(refused("1.25e-4", "\"NaN\""), {"r.json: parameters[1].value: ", "finite"});
  expect_parts(refused("\"value\": 1.25e-4", "\"mean\": 1"), {"parameters[1].value: missing"});
  expect_parts(refused("\"name\": \"pivot.b\"", "\"name\": 3"), {"parameters[1].name: "});
  expect_parts(refused("\"parameters\": [", "\"values\": ["), {"r.json: parameters: empty"});
  expect_parts(refused("{", "["), {"r.json: not JSON"});
}

// Dependent values must satisfy the rig file's dependencies as well.
TEST_F(ParameterValuesFile, AgreeWithDependencies) {
  estimator::Mechanism mechanism = rig();
  mechanism.dependencies.push_back(
      {mechanism.find_parameter("pivot.tau_c"), 0.0, {{mechanism.find_parameter("pivot.b"), 2.0}}});
  const auto with_tied = [](const std::string& value) {
    return std::string(R"({"parameters": [{"name": "pivot.b", "value": 0.01, "unit": "N·m·s/rad"}],
      "dependent": [{"name": "pivot.tau_c", "value": )") +
           value + R"(, "unit": "N·m"}]})";
  };
  const ParameterValues agree = read(with_tied("0.02"));
  apply_parameter_values(agree, mechanism);
  EXPECT_EQ(parameter_of(mechanism, "pivot.tau_c").value, 0.02);
  EXPECT_EQ(make_initial_value_edits(agree, mechanism), std::vector<std::string>{"pivot.b=0.01"});
  expect_parts(refusal([&] { apply_parameter_values(read(with_tied("0.03")), mechanism); }),
               {"dependent[0].value: ", "0.03", "0.02", "dependency"});
}

// A simulator's parameters include its step and weight.
TEST_F(ParameterValuesFile, IncludeASimulatorsStep) {
  std::string text = replaced(replaced(kResult, "\"physical\"", "\"shadow\""),
                              "\"stateErrorWeight\": 0", "\"stateErrorWeight\": 7.5");
  const ParameterValues values = read(text);
  EXPECT_EQ(values.kind, estimator::EstimateKind::kShadow);
  EXPECT_EQ(values.step, 0.004);
  EXPECT_EQ(values.state_error_weight, 7.5);
}

// A job starts at the values of a local run: with every digit, and explicit ones take precedence.
TEST_F(ParameterValuesFile, ReachAJob) {
  EstimationOptions options;
  options.rig = config("rig-pendulum.textproto");
  options.values = folder_.write("r.json", kResult);
  options.edits.start = {"pivot.b=3"};
  const rigcal::v1::JobSpec spec =
      make_job_spec({}, options, [](const std::string& recording) { return recording; });
  ASSERT_EQ(spec.start_size(), 3);
  EXPECT_EQ(spec.start(0), "pendulum.J_zz=0.0041");
  EXPECT_EQ(spec.start(1), "pivot.b=125e-6");
  EXPECT_EQ(spec.start(2), "pivot.b=3");
}

TEST(ParametersOption, AcceptsAKindOrAFile) {
  EstimationOptions options;
  parse_parameters_option("shadow", options);
  parse_parameters_option("not-there.json", options);
  EXPECT_EQ(options.calibration.kind, estimator::EstimateKind::kShadow);
  EXPECT_EQ(options.values, "not-there.json") << "reported later, with the reason";
  EXPECT_THROW(parse_parameters_option("other.json", options), CLI::ValidationError);
  EXPECT_THROW(parse_parameters_option("fysical", options), CLI::ValidationError);
}

Rig load(const std::string& name) { return load_rig(source_folder() + "/configs/" + name); }

int free_count(const Rig& rig) {
  int count = 0;
  for (const estimator::Parameter& parameter : rig.mechanism.parameters) count += parameter.free;
  return count;
}

// Catches a config that is out of date with the schema, or whose columns do not match its joints.
// Does not check whether the numbers are those of the rig.
TEST(ConfigFiles, RigFilesLoadAndDescribeTheirRecordings) {
  struct Expected {
    const char* file;
    int joints;
    int motors;
    int free;
    int unread = 0;  // joints without an encoder
  };
  const Expected files[] = {{"rig-multiarm-single.textproto", 1, 0, 5},
                            {"rig-lund-furuta.textproto", 2, 0, 4},
                            {"rig-qube-servo2.textproto", 2, 1, 14},
                            {"rig-dfki-pendulum.textproto", 1, 1, 5},
                            {"rig-synthetic-furuta.textproto", 2, 1, 10},
                            {"rig-furuta.textproto", 2, 1, 10},
                            {"rig-synthetic-pendulum.textproto", 1, 0, 5},
                            {"rig-pendulum.textproto", 1, 0, 4},
                            {"rig-pendulum-stop.textproto", 1, 0, 4},
                            {"rig-chain3.textproto", 3, 0, 6},
                            {"rig-chain3imu.textproto", 3, 1, 28},
                            {"rig-cartpole.textproto", 2, 1, 7},
                            {"rig-multiarm-double.textproto", 2, 0, 11},
                            {"rig-dfki-double-pendulum.textproto", 2, 2, 13},
                            {"rig-fourbar.textproto", 4, 1, 12, 2},
                            {"rig-fivebar.textproto", 5, 2, 18, 3},
                            {"rig-leg.textproto", 6, 3, 31, 2},
                            {"rig-leg-ratio.textproto", 3, 3, 30}};
  for (const Expected& expected : files) {
    SCOPED_TRACE(expected.file);
    const Rig rig = load(expected.file);
    EXPECT_EQ(rig.mechanism.joint_count(), expected.joints);
    EXPECT_EQ(free_count(rig), expected.free);
    ASSERT_TRUE(rig.format.has_value());
    EXPECT_EQ(static_cast<int>(rig.format->angles.size()), expected.joints - expected.unread);
    EXPECT_EQ(static_cast<int>(rig.format->controls.size()), expected.motors);
  }
}

// The Lund pendulum's published inertia is physically inconsistent; the file has an equivalent one.
// The three combinations identifiable from angles must equal the published ones.
TEST(ConfigFiles, LundInertiasKeepThePublishedCombinations) {
  const Rig rig = load("rig-lund-furuta.textproto");
  EXPECT_NEAR(value_of(rig, "A.J_zz") + value_of(rig, "B.J_xx"), 0.001 + 0.001, 1e-12);
  EXPECT_NEAR(value_of(rig, "B.J_zz") - value_of(rig, "B.J_xx"), 0.001 - 0.001, 1e-12);
  EXPECT_NEAR(value_of(rig, "B.J_yy"), 0.00384, 1e-12);
}

// Zero must be hanging: with a recording "from upright" that hangs at π the estimate would start
// upside down.
TEST(ConfigFiles, AnglesFromUprightAreZeroWhenHanging) {
  for (const char* file : {"rig-multiarm-single.textproto", "rig-lund-furuta.textproto"}) {
    const Rig rig = load(file);
    const EncoderColumn& angle = rig.format->angles.back();
    EXPECT_NEAR(angle.scale * std::numbers::pi + angle.offset, 0.0, 1e-12) << file;
  }
}

// The rig files shown in the documentation must load.
TEST(Documents, ContainValidRigFiles) {
  int shown = 0;
  for (const char* name : {"README.md", "docs/reference/rig-file.md"}) {
    const std::string text = proto::read_file(source_folder() + "/" + name);
    const std::string open = "```textproto\n";
    for (std::size_t at = text.find(open); at != std::string::npos; at = text.find(open, at)) {
      at += open.size();
      const Rig rig = parse_rig(name, text.substr(at, text.find("```", at) - at));
      EXPECT_TRUE(rig.format.has_value()) << name;
      EXPECT_TRUE(estimator::find_mechanism_errors(rig.mechanism).empty()) << name;
      ++shown;
    }
  }
  EXPECT_GE(shown, 1);
}

}  // namespace
}  // namespace service
