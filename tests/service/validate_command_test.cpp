// rigcal validate and rigcal compare, run as programs on simulated recordings.
#include <google/protobuf/util/json_util.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "proto/check.pb.h"
#include "proto/validation.pb.h"
#include "tests/service/run_rigcal.hpp"
#include "tests/support/json.hpp"
#include "tests/support/refusal.hpp"

namespace service {
namespace {

using namespace test_support;

class ValidateCommand : public ::testing::Test {
 protected:
  void SetUp() override {
    run_successfully("simulate --rig " + rig_ + " --scenario " +
                     config("scenario-pendulum-release.textproto") +
                     " --start pendulum.J_zz=0.004 --step 1e-3 --out " + recording_);
  }
  /// A result that contains the inertia only.
  std::string result(double inertia) const {
    return folder_.write("r.json", R"({"parameters": [{"name": "pendulum.J_zz", "value": )" +
                                       std::to_string(inertia) + R"(, "unit": "kg·m²"}]})");
  }
  template <typename Message>
  static Message read(const std::string& path) {
    Message message;
    EXPECT_TRUE(google::protobuf::util::JsonStringToMessage(contents_of(path), &message).ok());
    return message;
  }
  std::string input() const { return recording_ + " --rig " + rig_ + " --to 4 --quiet "; }

  TemporaryFolder folder_;
  std::string rig_ = config("rig-pendulum.textproto");
  std::string recording_ = folder_.file("release.csv");
};

TEST_F(ValidateCommand, EvaluatesGivenParameters) {
  const auto rmse = [&](double inertia, const std::string& options) {
    run_successfully("validate " + input() + "--parameters " + result(inertia) + " --json " +
                         folder_.file("v.json") + " --plot " + folder_.file("v.html") + " " +
                         options,
                     {"Fixed parameters: ", "r.json", "pivot", "RMSE/noise", "initial state"});
    expect_parts(contents_of(folder_.file("v.html")), {"Validation of pendulum", "</html>"});
    const auto message = read<rigcal::v1::ValidationResult>(folder_.file("v.json"));
    EXPECT_EQ(message.kind(), "physical");
    EXPECT_EQ(message.windows_size(), message.all().windows());
    return std::pair(message.all().sensors(0).rmse(), message.windows_size());
  };
  const auto [right, whole] = rmse(0.004, "");
  EXPECT_EQ(whole, 1);
  expect_parts(contents_of(folder_.file("v.html")), {"; 1 whole segment<"});
  EXPECT_GT(rmse(0.0041, "").first, 3.0 * right);
  const auto [in_windows, windows] = rmse(0.0041, "--window 1");
  EXPECT_EQ(windows, 4);
  expect_parts(contents_of(folder_.file("v.html")), {"; 4 windows of 1 s<"});
  EXPECT_LT(in_windows, rmse(0.0041, "").first) << "short windows hide what grows";
  EXPECT_GT(rmse(0.0041, "--window 1 --start-window 0.3").first, in_windows);
}

// At rest, all readings of a coarse encoder have the same quantization error, and differences of
// readings underestimate the noise. With both errors, the ratios were 1.9 and 2.9.
TEST_F(ValidateCommand, ReportsARatioOfOneForACorrectModelWithCoarseEncoders) {
  std::string text = contents_of(rig_);
  const std::string counts = "counts_per_turn: 4096";
  text.replace(text.find(counts), counts.size(), "counts_per_turn: 200");
  const std::string coarse = folder_.write("coarse.textproto", text);
  const std::string truth = " --start pendulum.J_zz=0.004 --start pivot.tau_c=0.012 ";
  for (const char* angle : {"1.3", "1.5"}) {
    SCOPED_TRACE(angle);
    const std::string scenario = folder_.write(
        "rest.textproto", std::string("duration_s: 25 release { } noise { quantize: true } ") +
                              "initial { joint: \"pivot\" angle_rad: " + angle + " }");
    const std::string csv = folder_.file("rest.csv");
    run_successfully("simulate --rig " + coarse + " --scenario " + scenario + truth +
                     "--integrator physical --step 1e-3 --out " + csv);
    run_successfully("validate " + csv + " --rig " + coarse + truth + "--quiet --json " +
                     folder_.file("rest.json"));
    const auto all = read<rigcal::v1::ValidationResult>(folder_.file("rest.json")).all();
    EXPECT_NEAR(all.sensors(0).rmse() / all.sensors(0).noise(), 1.0, 0.1);
    EXPECT_LT(all.sensors(0).readings(), 25'000 / 2) << "rests are thinned";
  }
}

TEST_F(ValidateCommand, ReportsUnusableInput) {
  const auto refused = [&](const std::string& options, const std::vector<std::string>& parts) {
    expect_refused("validate " + input() + options, parts);
  };
  refused("--parameters fysical", {"--parameters", "fysical", "neither physical, shadow"});
  refused("--parameters gone.json", {"gone.json"});
  refused("--parameters " + rig_, {"rig-pendulum.textproto: not JSON"});
  refused("--window 1e-3", {"samples", "longer parts"});
  refused("--window 0", {"--window"});
  refused("--window 0.03", {"too short", "longer --window"});
  refused("--start-window 9", {"nothing is left to validate"});
  refused("--parameters " + result(0.004) + " --json " + folder_.file("r.json"), {"r.json"});
}

TEST_F(ValidateCommand, UsesSegmentsShorterThanTheWindowCompletely) {
  run_successfully("validate " + input() + "--parameters " + result(0.004) + " --window 60",
                   {"shorter than the window"});
}

// The values are used wherever the option is accepted.
TEST_F(ValidateCommand, ParameterFilesAreAcceptedByOtherCommands) {
  run_successfully("info " + rig_ + " --parameters " + result(0.0123), {"0.0123"});
  run_refused("info " + recording_ + " --parameters " + result(0.0123), {});
  run_successfully("calibrate " + input() + "--parameters physical --parameters " + result(0.0042),
                   {" 4.2  10⁻³ kg·m²\n"});
  run_successfully("simulate --rig " + rig_ + " --scenario " +
                   config("scenario-pendulum-release.textproto") + " --parameters " +
                   result(0.004) + " --step 1e-3 --out " + folder_.file("again.csv"));
  EXPECT_EQ(contents_of(folder_.file("again.csv")), contents_of(recording_));
}

TEST_F(ValidateCommand, ComparesLaws) {
  const std::string options = "--laws viscous,dry --window 1 --json " + folder_.file("c.json") +
                              " --plot " + folder_.file("c.html");
  run_successfully("compare " + input() + options,
                   {"Friction of pivot", "4 parts", "viscous", "recommended", "fit [mrad]"});
  expect_parts(contents_of(folder_.file("c.html")), {"Friction laws of pendulum", "</html>"});
  const auto message = read<rigcal::v1::LawComparisonResult>(folder_.file("c.json"));
  EXPECT_EQ(message.laws_size(), 2);
  EXPECT_EQ(message.laws(0).errors_rad_size(), 4);
  EXPECT_EQ(message.laws(0).estimates_size(), 1);
  EXPECT_FALSE(message.recommended().empty());
  const auto refused = [&](const std::string& wrong, const std::vector<std::string>& parts) {
    run_refused("compare " + input() + wrong, parts);
  };
  refused("--laws viscous+wet", {"--laws", "\"wet\"", "viscous+dry"});
  refused("--laws dry,dry", {"--laws", "twice"});
  refused("--joint 7", {"--joint 7", "pivot"});
  refused("--by recording", {"at least two are needed", "--by window"});
  refused("--by segment --window 1", {"--window", "--by window"});
  refused("--window 60", {"--window 60", "only one window", "shorter"});
}

// rigcal check, run as a program on simulated recordings.

class CheckCommand : public ::testing::Test {
 protected:
  std::string release() const {
    const std::string out = folder_.file("release.csv");
    run_successfully("simulate --rig " + rig_ + " --scenario " +
                     config("scenario-pendulum-release.textproto") + " --step 1e-3 --out " + out);
    return contents_of(out);
  }

  /// The same recording with its angle changed in some lines.
  template <typename Change>
  std::string changed(const std::string& name, const std::string& text,
                      const Change& change) const {
    std::istringstream lines(text);
    std::ostringstream out;
    int number = 0;
    for (std::string line; std::getline(lines, line); ++number) {
      const std::size_t first = line.find(','), second = line.find(',', first + 1);
      if (number == 0 || first == std::string::npos) {
        out << line << '\n';
        continue;
      }
      const double angle = std::stod(line.substr(first + 1));
      out.precision(12);
      out << line.substr(0, first + 1) << change(number, angle)
          << (second == std::string::npos ? "" : line.substr(second)) << '\n';
    }
    return folder_.write(name, out.str());
  }

  rigcal::v1::CheckResult result() const {
    const auto message = from_json<rigcal::v1::CheckResult>(contents_of(folder_.file("json")));
    return message;
  }
  ProgramRun check(const std::string& file) const {
    return run_rigcal("check " + file + " --rig " + rig_ + " --json " + folder_.file("json"));
  }

  TemporaryFolder folder_;
  std::string rig_ = config("rig-pendulum.textproto");
};

// A clean recording is reported as such, with what it can identify and exit status 0.
TEST_F(CheckCommand, ReportsACleanRecording) {
  const ProgramRun run = check(folder_.write("clean.csv", release()));
  EXPECT_EQ(run.exit_code, 0) << run.err << run.out;
  expect_parts(run.out, {"No problems found", "pendulum.J_zz"});
  // The clock rate is unobservable for a single pendulum with free inertia.
  expect_parts(run.out, {"clock: a rate error is not identifiable", "it would bias pendulum.J_zz"});
  EXPECT_GT(result().clock().absorbed_by_size(), 0);
  EXPECT_EQ(result().worst(), "none");
  ASSERT_GT(result().excitation_size(), 0);
  const rigcal::v1::CheckResult reported = result();
  for (const auto& parameter : reported.excitation()) {
    EXPECT_GT(parameter.standard_deviation(), 0.0) << parameter.parameter();
  }
}

// Spikes and a slip are warnings, in text and in JSON, with the treatment applied.
TEST_F(CheckCommand, ReportsSpikesAndSlips) {
  const ProgramRun run = check(changed("spoilt.csv", release(), [](int line, double angle) {
    if (line % 1000 == 700) return angle + 0.3;
    return line > 2200 ? angle - 0.02 : angle;
  }));
  EXPECT_EQ(run.exit_code, 2) << run.err << run.out;
  EXPECT_NE(run.out.find("rigcal: they are rejected"), std::string::npos) << run.out;
  EXPECT_EQ(result().worst(), "warning");
  bool spikes = false, slip = false;
  const rigcal::v1::CheckResult reported = result();
  for (const auto& finding : reported.findings()) {
    spikes |= finding.kind() == "outliers" && finding.channel() == "pivot";
    slip |= finding.kind() == "slip" || finding.kind() == "jump";
  }
  EXPECT_TRUE(spikes && slip) << run.out;
}

}  // namespace
}  // namespace service
