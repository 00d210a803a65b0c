#include "service/options/parameter_values.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "service/cli/commands/command_options.hpp"
#include "service/cli/remote/job_spec.hpp"
#include "service/rig/rig_file.hpp"
#include "tests/service/run_rigcal.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/texts.hpp"

namespace service {
namespace {

using test_support::expect_parts;
using test_support::refusal;
using test_support::replaced;

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
      apply_values(read(text), mechanism);
    });
  }
  static estimator::Mechanism rig() { return load_rig(config("rig-pendulum.textproto")).mechanism; }
  TemporaryFolder folder_;
};

double value(const estimator::Mechanism& mechanism, const std::string& name) {
  return mechanism.parameters[static_cast<std::size_t>(mechanism.find_parameter(name))].value;
}

// Only values change: freedom, bounds and parameters not in the result are those of the rig file.
TEST_F(ParameterValuesFile, BecomeTheRigs) {
  const ParameterValues values = read(kResult);
  EXPECT_EQ(values.kind, estimator::EstimateKind::kPhysical);
  EXPECT_EQ(values.step, 0.0) << "what was chosen for physical parameters is chosen again";
  const estimator::Mechanism before = rig();
  estimator::Mechanism after = before;
  apply_values(values, after);
  EXPECT_EQ(value(after, "pendulum.J_zz"), 0.0041);
  EXPECT_EQ(value(after, "pivot.b"), 1.25e-4);
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
TEST_F(ParameterValuesFile, AgreeWithTies) {
  estimator::Mechanism mechanism = rig();
  mechanism.dependencies.push_back(
      {mechanism.find_parameter("pivot.tau_c"), 0.0, {{mechanism.find_parameter("pivot.b"), 2.0}}});
  const auto with_tied = [](const std::string& value) {
    return std::string(R"({"parameters": [{"name": "pivot.b", "value": 0.01, "unit": "N·m·s/rad"}],
      "dependent": [{"name": "pivot.tau_c", "value": )") +
           value + R"(, "unit": "N·m"}]})";
  };
  const ParameterValues agree = read(with_tied("0.02"));
  apply_values(agree, mechanism);
  EXPECT_EQ(value(mechanism, "pivot.tau_c"), 0.02);
  EXPECT_EQ(initial_value_edits(agree, mechanism), std::vector<std::string>{"pivot.b=0.01"});
  expect_parts(refusal([&] { apply_values(read(with_tied("0.03")), mechanism); }),
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
      make_spec({}, options, [](const std::string& recording) { return recording; });
  ASSERT_EQ(spec.start_size(), 3);
  EXPECT_EQ(spec.start(0), "pendulum.J_zz=0.0041");
  EXPECT_EQ(spec.start(1), "pivot.b=125e-6");
  EXPECT_EQ(spec.start(2), "pivot.b=3");
}

TEST(ParametersOption, IsAWordOrAFile) {
  EstimationOptions options;
  parse_parameters_option("shadow", options);
  parse_parameters_option("not-there.json", options);
  EXPECT_EQ(options.calibration.kind, estimator::EstimateKind::kShadow);
  EXPECT_EQ(options.values, "not-there.json") << "reported later, with the reason";
  EXPECT_THROW(parse_parameters_option("other.json", options), CLI::ValidationError);
  EXPECT_THROW(parse_parameters_option("fysical", options), CLI::ValidationError);
}

}  // namespace
}  // namespace service
