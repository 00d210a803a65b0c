#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

#include "estimator/fit/free_parameters.hpp"
#include "proto/stream/content_hash.hpp"
#include "service/design/experiment.hpp"
#include "service/options/parameter_values.hpp"
#include "service/report/sections/estimate_comparison.hpp"
#include "service/result/result_message.hpp"
#include "service/result/stored_result.hpp"
#include "service/rig/rig_file.hpp"
#include "tests/service/run_rigcal.hpp"
#include "tests/support/parameters.hpp"
#include "tests/support/refusal.hpp"

namespace service {
namespace {

using namespace test_support;

/// A simulated pendulum, calibrated once with changes of all kinds.
class Calibrated : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new TemporaryFolder;
    run_successfully("simulate --rig " + rig() + " --scenario " +
                     config("scenario-pendulum-release.textproto") + " --step 1e-3 --out " +
                     file("p.csv"));
    run_successfully("calibrate " + file("p.csv") + " --rig " + rig() +
                     " --to 3 --start pivot.b=2e-4 --fix pendulum.m=0.43 --json " + file("p.json") +
                     " --rig-out " + file("out.textproto") + " --trajectories --quiet");
  }
  static void TearDownTestSuite() { delete folder_; }

  static std::string file(const std::string& name) { return folder_->file(name); }
  static std::string rig() { return config("rig-pendulum.textproto"); }
  static std::string replaced(std::string text, const std::string& from, const std::string& to) {
    EXPECT_NE(text.find(from), std::string::npos) << from;
    for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
      text.replace(at, from.size(), to);
    }
    return text;
  }

  static TemporaryFolder* folder_;
};

TemporaryFolder* Calibrated::folder_ = nullptr;

TEST_F(Calibrated, ReportsItsInputs) {
  const StoredResult result = read_stored_result(file("p.json"));
  EXPECT_EQ(result.command, "calibrate");
  EXPECT_EQ(result.version, RIGCAL_VERSION);
  EXPECT_EQ(result.rig_name, rig());
  EXPECT_EQ(result.rig_text, contents_of(rig()));
  ASSERT_EQ(result.request.recordings.size(), 1U);
  EXPECT_EQ(result.request.recordings[0].path, file("p.csv"));
  EXPECT_EQ(result.request.recordings[0].selection.to, 3.0);
  EXPECT_EQ(result.request.edits.start, std::vector<std::string>{"pivot.b=2e-4"});
  EXPECT_EQ(result.request.edits.fix, std::vector<std::string>{"pendulum.m=0.43"});
  proto::ContentHash content;
  content.add(contents_of(file("p.csv")));
  EXPECT_EQ(result.recordings[0].sha256, content.sha256());
  EXPECT_EQ(result.recordings[0].sha256.size(), 64U);
  ASSERT_EQ(result.rig.kept.size(), 1U);
  EXPECT_EQ(result.rig.kept[0].name, "pendulum.m");
  expect_parts(contents_of(file("p.json")),
               {"\"trajectories\": [", "\"simulated\": [", "\"timeS\": ["});
}

// The written rig file equals that of --parameters to the last bit, and calibrates to itself.
TEST_F(Calibrated, RigIsWrittenBack) {
  Rig by_values = load_rig(rig());
  apply_parameter_values(read_parameter_values(file("p.json")), by_values.mechanism);
  const Rig written = load_rig(file("out.textproto"));
  for (std::size_t i = 0; i < written.mechanism.parameters.size(); ++i) {
    EXPECT_EQ(written.mechanism.parameters[i].value, by_values.mechanism.parameters[i].value)
        << written.mechanism.parameters[i].name;
  }
  for (const std::string& arguments :
       {"--rig " + file("out.textproto") + " --out " + file("a.csv"),
        "--rig " + rig() + " --parameters " + file("p.json") + " --out " + file("b.csv")}) {
    run_successfully("simulate --step 1e-3 --scenario " +
                     config("scenario-pendulum-release.textproto") + " " + arguments);
  }
  EXPECT_EQ(contents_of(file("a.csv")), contents_of(file("b.csv")));
  run_successfully("calibrate " + file("p.csv") + " --rig " + file("out.textproto") +
                   " --to 3 --quiet --json " + file("again.json"));
  EXPECT_TRUE(is_repetition_successful(
      compare_repeated_estimates(read_stored_result(file("p.json")).rig.estimates,
                                 read_stored_result(file("again.json")).rig.estimates)));
}

TEST_F(Calibrated, WritesOverNoInput) {
  const std::string start = "calibrate " + file("p.csv") + " --rig " + file("out.textproto");
  const std::string before = contents_of(file("out.textproto"));
  run_refused(start + " --rig-out " + file("out.textproto"), {"out.textproto"});
  EXPECT_EQ(contents_of(file("out.textproto")), before);
  for (const std::string& more :
       {" --json " + file("x") + " --rig-out " + file("x"), std::string(" --rig-out-priors"),
        std::string(" --trajectories")}) {
    run_refused(start + more, {});
  }
}

// The recording does not exist, so the refusal precedes the calibration.
TEST_F(Calibrated, OverwritesADescriptionOnlyWithForce) {
  for (const char* const option : {"--rig-out ", "--urdf-out ", "--mjcf-out "}) {
    const std::string old = folder_->write("old.file", "precious");
    run_refused("calibrate missing.csv --rig " + rig() + " " + option + old,
                {"old.file: exists", "--force"});
    run_refused("repeat " + file("p.json") + " " + option + old, {"old.file: exists", "--force"});
    EXPECT_EQ(contents_of(old), "precious");
    run_successfully("repeat --quiet --force " + file("p.json") + " " + option + old);
    EXPECT_NE(contents_of(old), "precious");
  }
  const std::string before = contents_of(file("out.textproto"));
  run_refused("calibrate --force " + file("p.csv") + " --rig " + file("out.textproto") +
                  " --rig-out " + file("out.textproto"),
              {"out.textproto: is an input"});
  EXPECT_EQ(contents_of(file("out.textproto")), before);
}

TEST_F(Calibrated, IsRepeatedFromItsResultAlone) {
  run_successfully("repeat --quiet " + file("p.json"), {"Repeated: every estimate is within 0.01"});
  // A result with other content is another result.
  const std::string text = contents_of(file("p.json"));
  const auto at = text.find("\"value\": ") + 9;
  folder_->write("other.json", std::string(text).replace(at, text.find(',', at) - at, "0.011"));
  const ProgramRun other = run_rigcal("repeat --quiet " + file("other.json"));
  EXPECT_EQ(other.exit_code, 2) << other.err;
  expect_parts(other.out, {"NOT REPEATED"});
}

// Recordings beside the result are found; another or missing one is refused.
TEST_F(Calibrated, FindsAndVerifiesItsRecordings) {
  const TemporaryFolder elsewhere;
  elsewhere.write("p.json", replaced(contents_of(file("p.json")), file("p.csv"), "/gone/p.csv"));
  const std::string repeat = "repeat --quiet " + elsewhere.file("p.json");
  run_refused(repeat, {"p.json: the recording \"/gone/p.csv\"", "give it"});
  elsewhere.write("p.csv", contents_of(file("p.csv")));
  run_successfully(repeat);
  elsewhere.write("p.csv", contents_of(file("p.csv")) + "\n");
  run_refused(repeat, {"p.csv: differs in content", "--changed-data"});
  run_successfully(repeat + " --changed-data");
  run_successfully(repeat + " " + file("p.csv"));
  run_refused(repeat + " " + file("p.csv") + " " + rig(),
              {"rig-pendulum.textproto: is none of the recordings"});
}

TEST_F(Calibrated, OtherFilesAreRefused) {
  const std::string text = contents_of(file("p.json"));
  const auto refused = [&](const std::string& from, const std::string& to) {
    return refusal(
        [&] { (void)read_stored_result(folder_->write("bad.json", replaced(text, from, to))); });
  };
  expect_parts(refused("{\n \"rig\"", "[\n \"rig\""), {"bad.json: not a result"});
  expect_parts(refused("\"rigText\"", "\"riggText\""), {"bad.json: provenance.rigText: missing"});
  expect_parts(refused("\"fromS\": \"-Infinity\"", "\"fromS\": 7"), {"recordings[0]: fromS"});
  expect_parts(refused("\"command\": \"calibrate\"", "\"command\": 3"), {"bad.json: not a result"});
  run_refused("repeat " + folder_->write("val.json", replaced(text, "\"command\": \"calibrate\"",
                                                              "\"command\": \"validate\"")),
              {"val.json: is a result of \"rigcal validate\""});
}

// Every command that writes JSON includes date, version and hashes.
TEST_F(Calibrated, InputsAreReportedByAllCommandsWithJson) {
  const std::string input = file("p.csv") + " --rig " + rig() + " --to 2 --quiet --parameters " +
                            file("p.json") + " --json " + file("j.json");
  for (const auto& [command, options] : std::vector<std::pair<std::string, std::string>>{
           {"check", ""},
           {"validate", ""},
           {"crossvalidate", " --parts 2"},
           {"bootstrap", " --draws 2 --method noise"},
           {"compare", " --laws viscous,viscous+dry --window 0.5 --folds 2"}}) {
    const ProgramRun made = run_rigcal(command + " " + input + options);
    EXPECT_NE(made.exit_code, 1) << made.err;
    expect_parts(contents_of(file("j.json")), {"\"command\": \"" + command + "\"", "\"date\": \"20",
                                               "\"sha256\": \"", "\"valuesFile\": {"});
  }
}

TEST(UtcDate, HonoursSourceDateEpoch) {
  ::setenv("SOURCE_DATE_EPOCH", "1763842500", 1);
  EXPECT_EQ(current_utc_time(), "2025-11-22T20:15:00Z");
  ::setenv("SOURCE_DATE_EPOCH", "soon", 1);
  expect_parts(refusal([] { (void)current_utc_time(); }), {"SOURCE_DATE_EPOCH: \"soon\"", "unset"});
  ::unsetenv("SOURCE_DATE_EPOCH");
  EXPECT_EQ(current_utc_time().size(), 20U);
}

// Differences are in standard deviations; one that is not a number counts as not repeated.
TEST(Repetition, FailsSafe) {
  estimator::ParameterEstimate before;
  before.name = "a";
  before.value = 1.0;
  before.standard_deviation = 0.1;
  estimator::ParameterEstimate now = before;
  const auto repeated = [&] {
    return is_repetition_successful(compare_repeated_estimates({before}, {now}));
  };
  EXPECT_TRUE(repeated());
  now.value = 1.0009;
  EXPECT_TRUE(repeated());
  now.value = 1.0011;
  EXPECT_FALSE(repeated());
  now.value = std::nan("");
  EXPECT_FALSE(repeated());
  now.value = 1.0;
  before.standard_deviation = 0.0;
  EXPECT_TRUE(repeated()) << "the same, where nothing is left to vary";
  now.value = 1.0 + 1e-12;
  EXPECT_FALSE(repeated());
  EXPECT_FALSE(is_repetition_successful(compare_repeated_estimates({before}, {})));
  EXPECT_FALSE(is_repetition_successful(compare_repeated_estimates({}, {now})));
}

TEST_F(Calibrated, IsComparedWithAnotherResult) {
  run_successfully("compare-results " + file("p.json") + " " + file("p.json") + " --json " +
                       file("same.json") + " --plot " + file("same.html"),
                   {"0 of ", "95 % interval", "recordings in common", "2 results agree",
                    "Rig file and options are equal"});
  expect_parts(contents_of(file("same.json")), {"\"name\": \"pivot.b\"", "\"chiSquare\": 0"});
  expect_parts(contents_of(file("same.html")), {"<h2>Control charts</h2>", "pivot.b"});
  const ProgramRun refused = run_rigcal("compare-results " + file("p.json") + " " + file("p.csv"));
  EXPECT_EQ(refused.exit_code, 1);
  expect_parts(refused.err, {"p.csv: not JSON. Give the output of rigcal calibrate --json"});
  run_refused("compare-results " + file("p.json"), {"needs at least two results"});
}

// A dependent parameter repeats the estimates that it depends on, so it gets no row of its own,
// unless the other result estimates it.
TEST_F(Calibrated, ComparisonListsEachParameterOnce) {
  const std::string text = contents_of(file("p.json"));
  const std::string twin =
      R"("dependent": [{"name": "twin.b", "unit": "N·m·s/rad", "value": 0.5}])";
  const std::string tied = folder_->write("tied.json", replaced(text, "\"dependent\": []", twin));
  const ProgramRun run = run_successfully("compare-results " + tied + " " + tied, {"pivot.b"});
  EXPECT_EQ(run.out.find("twin.b"), std::string::npos) << run.out;
  const std::string free = folder_->write("free.json", replaced(text, "\"pivot.b\"", "\"twin.b\""));
  expect_parts(run_successfully("compare-results " + tied + " " + free).out, {"\ntwin.b"});
}

// Results of other commands, given where one of calibrate is expected.

const std::string kCompared = R"({"rig": "pendulum", "version": "0.1.0", "verdict": "take viscous",
  "parts": ["a to b"], "provenance": {"command": "compare", "date": "2026-11-24T10:50:07Z",
  "version": "0.1.0", "rig": {"path": "t1.textproto"}, "recordings": [{"path": "run 1.csv"}]}})";

TEST(ResultHeader, IdentifiesTheCommandOfAResult) {
  const TemporaryFolder folder;
  const ResultHeader head = read_result_header(folder.write("c.json", kCompared));
  EXPECT_EQ(head.command, "compare");
  EXPECT_EQ(head.recordings, (std::vector<std::string>{"run 1.csv"}));
  EXPECT_EQ(describe_result_file(head),
            "a result of \"rigcal compare\" 0.1.0 of 2026-11-24T10:50:07Z");
}

// The command is checked before other fields are read, which may not be a calibration's.
TEST(ResultHeader, OnlyCalibrationsAreRepeated) {
  const TemporaryFolder folder;
  const ProgramRun run = run_refused("repeat " + folder.write("c.json", kCompared),
                                     {"c.json: is a result of \"rigcal compare\"",
                                      "only results of \"rigcal "
                                      "calibrate\" and of jobs",
                                      "rigcal compare run 1.csv --rig t1.textproto"});
  EXPECT_EQ(run.err.find("type.googleapis"), std::string::npos) << run.err;
}

TEST(ResultHeader, InfoPrintsIt) {
  const TemporaryFolder folder;
  run_successfully(
      "info " + folder.write("c.json", kCompared),
      {"a result of \"rigcal compare\"", "pendulum (t1.textproto)", "run 1.csv", "Take viscous."});
}

TEST(ResultHeader, OtherFilesAreRefusedWithARemedy) {
  const TemporaryFolder folder;
  expect_parts(refusal([&] { (void)read_result_header(folder.write("a.json", "{\"a\": 1}")); }),
               {"a.json: not a result of rigcal", "--json"});
  expect_parts(refusal([&] { (void)read_result_header(folder.write("b.json", "{\"a\": ")); }),
               {"b.json: not JSON", "--json"});
}

// Prior state of a rig before a run is designed.

std::string values_of(double viscous, const std::string& more = "") {
  return "{\"parameters\": [{\"name\": \"1.b\", \"unit\": \"N·m·s/rad\", \"value\": " +
         std::to_string(viscous) + ", \"standardDeviation\": 1e-7}]" + more + "}";
}

double viscous_of(const DesignInput& today) {
  return parameter_of(today.rig.mechanism, "1.b").value;
}

// A result without a covariance gives only values; their uncertainty is that of the rig file.
TEST(DesignInput, TakesOnlyTheValuesOfAResultWithoutCovariance) {
  const TemporaryFolder folder;
  const std::string rig = config("rig-furuta.textproto");
  const DesignInput plain = load_design_input(rig, "");
  EXPECT_EQ(viscous_of(plain), 1e-4);
  const DesignInput valued = load_design_input(rig, "", folder.write("v.json", values_of(0.002)));
  EXPECT_EQ(viscous_of(valued), 0.002);
  EXPECT_FALSE(valued.is_estimated);
  EXPECT_EQ(valued.deviations, plain.deviations);
}

// An inertia at its bound hardly affects the motion, so no run would seem to identify it. Friction
// may be zero.
TEST(DesignInput, TakesTheRigFilesValueOfAnInertiaAtItsBound) {
  const TemporaryFolder folder;
  const DesignInput input = load_design_input(config("rig-furuta.textproto"), "",
                                              folder.write("v.json", R"({"parameters": [
        {"name": "B.J_zz", "unit": "kg·m²", "value": 1e-9, "standardDeviation": "NaN"},
        {"name": "1.b", "unit": "N·m·s/rad", "value": 0, "standardDeviation": "NaN"}]})"));
  EXPECT_EQ(parameter_of(input.rig.mechanism, "B.J_zz").value, 0.01);
  EXPECT_EQ(viscous_of(input), 0.0);
}

// With a covariance, the result determines the spread of likely values. It is no information of the
// next calibration, which does not use the recordings of that result.
TEST(DesignInput, TakesTheCovarianceOfAResultAsPrior) {
  const TemporaryFolder folder;
  const std::string rig = config("rig-furuta.textproto");
  const DesignInput plain = load_design_input(rig, "");
  const DesignInput known = load_design_input(
      rig, "",
      folder.write("v.json", values_of(0.002, ", \"covariance\": [{\"values\": [9e-10]}]")));
  EXPECT_EQ(viscous_of(known), 0.002);
  EXPECT_TRUE(known.is_estimated);
  EXPECT_EQ(known.knowledge.information, plain.knowledge.information);
  const estimator::FreeParameters free(known.rig.mechanism);
  const auto place = free.find_position(known.rig.mechanism.find_parameter("1.b"));
  EXPECT_NEAR(known.deviations[place], 3e-5, 1e-12);
  EXPECT_NEAR(known.knowledge.root.row(place).norm(), 3e-5, 1e-12);
  // Parameters that are not in the result: 25 % of their values, as without a result.
  const auto other = free.find_position(known.rig.mechanism.find_parameter("2.b"));
  EXPECT_TRUE(std::isinf(known.deviations[other]));
  EXPECT_NEAR(known.knowledge.root.row(other).norm(), 0.25e-4, 1e-12);
}

TEST(DesignInput, ValuesOfASimulatorAreRefused) {
  const TemporaryFolder folder;
  const std::string shadow =
      folder.write("s.json", values_of(0.002,
                                       ", \"options\": {\"parameters\": \"shadow\", \"stepS\": "
                                       "0.001, \"stateErrorWeight\": 1}"));
  expect_parts(
      refusal([&] { (void)load_design_input(config("rig-furuta.textproto"), "", shadow); }),
      {"s.json", "SPOOK simulator"});
}

TEST(DesignInput, DesignAcceptsOneResult) {
  const TemporaryFolder folder;
  const std::string values = folder.write("v.json", values_of(0.002));
  run_refused("design --rig " + config("rig-furuta.textproto") + " --after " + values +
                  " --parameters " + values + " --out " + folder.file("next.textproto"),
              {"--after", "--parameters"});
}

}  // namespace
}  // namespace service
