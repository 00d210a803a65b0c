// rigcal calibrate and crossvalidate, run as programs on simulated recordings.
#include <google/protobuf/util/json_util.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <cmath>
#include <filesystem>
#include <map>
#include <optional>
#include <regex>
#include <sstream>
#include <string>

#include "proto/calibration.pb.h"
#include "tests/integration/child_process.hpp"
#include "tests/service/run_rigcal.hpp"
#include "tests/support/evaluation_data.hpp"
#include "tests/support/refusal.hpp"

namespace service {
namespace {

using namespace test_support;

const char* const kSmallSwing = R"(
name: "small swing"
duration_s: 6
initial { joint: "pivot" angle_rad: 0.05 }
release { joint: "pivot" }
)";

class CalibrateCommand : public ::testing::Test {
 protected:
  /// Simulates the pendulum with J_zz = 0.004 kg·m², where its rig file starts from 0.01.
  std::string simulate(const std::string& name, const std::string& scenario) const {
    const std::string out = folder_.file(name);
    run_successfully("simulate --rig " + rig_ + " --scenario " + scenario +
                     " --start pendulum.J_zz=0.004 --step 1e-3 --out " + out);
    return out;
  }
  std::string release() const {
    return simulate("release.csv", config("scenario-pendulum-release.textproto"));
  }

  template <typename Message>
  Message read_result(const std::string& path) const {
    Message message;
    EXPECT_TRUE(google::protobuf::util::JsonStringToMessage(contents_of(path), &message).ok());
    return message;
  }

  TemporaryFolder folder_;
  std::string rig_ = config("rig-pendulum.textproto");
};

// A sliding cart that gets faster has no friction: the only free parameter ends at its bound.
TEST_F(CalibrateCommand, ReportsAResultWithAllParametersAtBounds) {
  std::ostringstream rows;
  rows << "t,x\n";
  for (int k = 0; k < 200; ++k) {
    const double t = 0.005 * k;
    rows << t << ',' << std::round((0.1 * t + 0.2 * t * t) * 40000.0) / 40000.0 << '\n';
  }
  const std::string rig = folder_.write("cart.textproto", R"(
      name: "cart"
      body { name: "cart" mass { value: 0.9 }
             inertia { xx { value: 1e-3 } yy { value: 1e-3 } zz { value: 1e-3 } } }
      joint { name: "rail" type: PRISMATIC
              parent { body: "ground" axis { x: 1 } zero_direction { y: 1 } }
              child { body: "cart" axis { x: 1 } zero_direction { y: 1 } }
              friction { viscous { value: 1 free: true } }
              encoder { counts_per_m: 40000 } }
      recording { time { column: "t" } position { joint: "rail" column: "x" unit: METER } })");
  const ProgramRun run = run_rigcal("calibrate " + folder_.write("run.csv", rows.str()) +
                                    " --rig " + rig + " --quiet");
  EXPECT_LE(run.exit_code, 2) << run.err;
  expect_parts(run.out, {"rail.b", "at lower bound 0"});
}

std::string without_lines(const std::string& text, int first, int count) {
  std::istringstream lines(text);
  std::string kept;
  int number = 1;
  for (std::string line; std::getline(lines, line); ++number) {
    if (number < first || number >= first + count) kept += line + "\n";
  }
  return kept;
}

// The same CSV with its second column multiplied.
std::string scaled(const std::string& text, double factor) {
  std::istringstream lines(text);
  std::ostringstream result;
  std::string line;
  std::getline(lines, line);
  result << line << '\n';
  while (std::getline(lines, line)) {
    const std::size_t comma = line.find(',');
    result << line.substr(0, comma + 1) << factor * std::stod(line.substr(comma + 1)) << '\n';
  }
  return result.str();
}

TEST_F(CalibrateCommand, WritesTableJsonAndPage) {
  const ProgramRun run =
      run_successfully("calibrate " + release() + " --rig " + rig_ + " --json " +
                           folder_.file("r.json") + " --plot " + folder_.file("r.html"),
                       {"pendulum.J_zz", "kg·m²", "joint pivot", "Converged", "simulation fit"});
  // Without a terminal: one line per stage.
  expect_parts(run.err, {"stage 1 of 4, joint estimation\n", "stage 2 of 4, simulation fit\n"});
  EXPECT_EQ(run.err.find("iteration"), std::string::npos) << run.err;
  expect_parts(contents_of(folder_.file("r.html")), {"Calibration of pendulum", "</html>"});
  const auto result = read_result<rigcal::v1::CalibrationResult>(folder_.file("r.json"));
  ASSERT_EQ(result.parameters(0).name(), "pendulum.J_zz");
  // Simulated with SPOOK at 1 ms, estimated at 5 ms: first order, 3 % at 10 ms on a Furuta rig.
  EXPECT_NEAR(result.parameters(0).value(), 0.004, 0.02 * 0.004);
  EXPECT_EQ(result.parameters(0).initial(), 0.01);
  EXPECT_TRUE(result.converged());
  EXPECT_TRUE(result.refined());
  EXPECT_GT(result.refinement_iterations(), 0);
  EXPECT_GT(result.wall_time_s(), 0.0);
}

TEST_F(CalibrateCommand, NoRefineEndsWithTheJointEstimation) {
  const ProgramRun run = run_successfully("calibrate " + release() + " --rig " + rig_ +
                                          " --no-refine --quiet --json " + folder_.file("r.json"));
  EXPECT_EQ(run.err, "");
  const auto result = read_result<rigcal::v1::CalibrationResult>(folder_.file("r.json"));
  EXPECT_FALSE(result.refined());
  EXPECT_EQ(result.refinement_termination(), "");
  EXPECT_FALSE(result.options().fields().at("refineSimulation").bool_value());
}

// A result that did not converge is shown and written, and the exit status reports it.
TEST_F(CalibrateCommand, NotConvergedIsExitStatusTwo) {
  const ProgramRun run =
      run_rigcal("calibrate " + release() + " --rig " + rig_ +
                 " --no-refine --max-iterations 1 --json " + folder_.file("r.json"));
  EXPECT_EQ(run.exit_code, 2) << run.err;
  expect_parts(run.out, {"NOT CONVERGED", "iteration limit"});
  EXPECT_FALSE(read_result<rigcal::v1::CalibrationResult>(folder_.file("r.json")).converged());
}

TEST_F(CalibrateCommand, GapsAreReportedAndSplitTheRecording) {
  const std::string file =
      folder_.write("gap.csv", without_lines(contents_of(release()), 3001, 250));
  const ProgramRun run = run_successfully("calibrate " + file + " --rig " + rig_ + " --json " +
                                          folder_.file("r.json"));
  expect_parts(run.err, {"gap.csv:3001", "1 gap of 251 ms", "split"});
  expect_parts(run.out, {"1 gap of 251 ms"});
  const auto result = read_result<rigcal::v1::CalibrationResult>(folder_.file("r.json"));
  EXPECT_EQ(result.recordings(0).gaps(), 1);
  EXPECT_EQ(result.recordings(0).segments_size(), 2);
}

// ±2.9 "radians" that are really degrees exceed no limit of speed or range: the fit must reveal it.
TEST_F(CalibrateCommand, DegreesReadAsRadiansAreReported) {
  const std::string swing = simulate("small.csv", folder_.write("small.textproto", kSmallSwing));
  const std::string degrees =
      folder_.write("degrees.csv", scaled(contents_of(swing), 180.0 / M_PI));
  run_refused("calibrate " + degrees + " --rig " + rig_,
              {"\"pivot\" is in degrees, not in radians", "unit", "--as-is"});
  const ProgramRun run = run_rigcal("calibrate " + degrees + " --as-is --rig " + rig_);
  EXPECT_EQ(run.exit_code, 2) << run.err;
  expect_parts(run.out, {"warning: joint pivot", "does not reproduce the recording", "unit"});
  const ProgramRun right = run_rigcal("calibrate " + swing + " --rig " + rig_);
  EXPECT_EQ(right.out.find("does not reproduce"), std::string::npos) << right.out;
}

// The motor's gain is not identifiable without a command: reported, fixed, infinite in the JSON.
TEST_F(CalibrateCommand, ReportsAnUnexcitedParameter) {
  const std::string rig = config("rig-furuta.textproto");
  const std::string out = folder_.file("release.csv");
  run_successfully("simulate --rig " + rig + " --scenario " + config("scenario-release.textproto") +
                   " --step 1e-3 --out " + out);
  const std::string base = "calibrate " + out + " --rig " + rig + " --to 3 --no-refine ";
  const ProgramRun run = run_rigcal(base + "--json " + folder_.file("r.json"));
  EXPECT_NE(run.exit_code, 1) << run.err;
  expect_parts(run.out, {"1.K has no effect on these recordings", "not identifiable"});
  const auto result = read_result<rigcal::v1::CalibrationResult>(folder_.file("r.json"));
  EXPECT_GE(result.null_directions_size(), 1);
  bool found = false;
  for (const auto& parameter : result.parameters()) {
    if (parameter.name() != "1.K") continue;
    found = true;
    EXPECT_TRUE(std::isinf(parameter.standard_deviation()));
    EXPECT_EQ(parameter.value(), parameter.initial());
  }
  EXPECT_TRUE(found);
  std::string fix_others;
  for (const auto& parameter : result.parameters()) {
    if (parameter.name() != "1.K") fix_others += " --fix " + parameter.name();
  }
  run_refused(base + fix_others, {"excite none of the free parameters", "1.K"});
  run_refused(base + fix_others + " --fix 1.K", {"no parameter is free"});
}

TEST_F(CalibrateCommand, OutputsThatCannotBeWrittenAreRefusedBeforeTheWork) {
  const std::string recording = release();
  const std::string before = contents_of(recording);
  const std::string base = "calibrate " + recording + " --rig " + rig_ + " ";
  const auto refused = [&](const std::string& arguments, const std::vector<std::string>& parts) {
    const ProgramRun run = expect_refused(base + arguments, parts);
    EXPECT_EQ(run.err.find("iteration"), std::string::npos) << run.err;
  };
  refused("--json " + folder_.file("no/r.json"), {"no/r.json", "does not exist"});
  refused("--plot " + folder_.file("no/r.html"), {"no/r.html", "does not exist"});
  refused("--json " + std::filesystem::path(recording).parent_path().string(), {"is a folder"});
  std::filesystem::create_symlink(recording, folder_.file("link.csv"));
  refused("--plot " + folder_.file("link.csv"), {"link.csv", "is an input"});
  refused("--json " + folder_.file("x") + " --plot " + folder_.file("x"),
          {"both --json and --plot"});
  refused(recording, {"given twice"});
  EXPECT_EQ(contents_of(recording), before);
}

// The first Ctrl-C ends the run in order: status 130, no output file, no temporary files.
TEST_F(CalibrateCommand, CtrlCLeavesNothingBehind) {
  const std::string rig = config("rig-furuta.textproto");
  const std::string recording = folder_.file("long.csv");
  const std::string scenario =
      folder_.write("long.textproto",
                    "name: \"long\" duration_s: 8 pulse { motor: \"1\" command: 3 "
                    "start_s: 1 width_s: 0.5 }");
  run_successfully("simulate --rig " + rig + " --scenario " + scenario + " --step 1e-3 --out " +
                   recording);
  const std::size_t before = folder_.file_count();
  // Small steps make every iteration long: the signal arrives in the middle of one.
  ChildProcess child(
      {RIGCAL_BINARY, "calibrate", recording, "--rig", rig, "--step", "0.001", "--verbose",
       "--json", folder_.file("r.json"), "--plot", folder_.file("r.html")},
      folder_.file("output"));
  ASSERT_TRUE(
      eventually([&] { return child.output().find("iteration 0") != std::string::npos; }, 100.0))
      << child.output();
  child.send_signal(SIGINT);
  const std::optional<int> status = child.wait(100.0);
  ASSERT_TRUE(status.has_value());
  EXPECT_EQ(*status, 130) << child.output();
  expect_parts(child.output(), {"nothing was written"});
  EXPECT_EQ(folder_.file_count(), before + 1);  // `output`
}

TEST_F(CalibrateCommand, CrossvalidateHoldsOutPieces) {
  const ProgramRun run = run_successfully(
      "crossvalidate " + release() + " --rig " + rig_ + " --to 9 --parts 3 --json " +
          folder_.file("c.json") + " --plot " + folder_.file("c.html"),
      {"held out", "release.csv 3 s to", "open loop pivot", "Converged: 3"});
  expect_parts(run.err, {"fold 1 of 3\n", "fold 3 of 3\n"});
  const auto result = read_result<rigcal::v1::CrossValidationResult>(folder_.file("c.json"));
  ASSERT_EQ(result.folds_size(), 3);
  EXPECT_EQ(result.parts_size(), 3);
  EXPECT_EQ(result.folds(2).parameters(0).name(), "pendulum.J_zz");
  EXPECT_NEAR(result.folds(2).parameters(0).value(), 0.004, 0.02 * 0.004);
  expect_parts(contents_of(folder_.file("c.html")), {"Cross-validation of pendulum", "</html>"});
}

TEST_F(CalibrateCommand, CrossvalidateRefusesImpossiblePieces) {
  const std::string base = "crossvalidate " + release() + " --rig " + rig_ + " --to 3 ";
  for (const auto& [arguments, part] :
       {std::pair<std::string, std::string>{"", "at least two parts"},
        {"--parts 500", "fewer or longer parts"},
        {"--part-length 0.005", "fewer or longer parts"},
        {"--parts 2 --part-length 1", "excludes"},
        {"--parts 2 --by segment", "excludes"},
        {"--by joint", "--by"}}) {
    expect_refused(base + arguments, {part});
  }
}

// A pendulum recorded on hardware. The program in the data README reaches 0.8 to 2.9 mrad.
TEST_F(CalibrateCommand, CrossvalidatesARealPendulumBySegment) {
  const auto data = find_evaluation_data();
  if (!data) GTEST_SKIP() << "no evaluation data (../shared/data or RIG_DATA)";
  const std::string file = *data / "real/multiarm_single/single_pendulum_free_swing.csv";
  run_successfully("crossvalidate " + file + " --rig " + config("rig-multiarm-single.textproto") +
                   " --segments 1-3 --json " + folder_.file("c.json"));
  const auto result = read_result<rigcal::v1::CrossValidationResult>(folder_.file("c.json"));
  ASSERT_EQ(result.folds_size(), 3);
  EXPECT_NE(result.parts(0).find("segment 1"), std::string::npos) << result.parts(0);
  // Twice the publisher's identification errors on the segments predicted here.
  EXPECT_LT(result.simulation(0).rmse_rad(), 0.030);
}

/// Returns the text of a rig file that still calls a joint "hinge", with today's name.
std::string with_joints(const std::filesystem::path& rig) {
  return std::regex_replace(contents_of(rig), std::regex(R"(\bhinge\b)"), "joint");
}

// The arm rests from 13.2 s on, while the pendulum still swings until 16.7 s. Each of the 5 600
// readings of the arm at rest has the same quantization error.
TEST_F(CalibrateCommand, AcceptsAReleaseInWhichOneJointRestsFirst) {
  const auto data = find_evaluation_data();
  if (!data) GTEST_SKIP() << "no evaluation data (../shared/data or RIG_DATA)";
  const std::filesystem::path folder = *data / "release_that_rests";
  const std::string rig = folder_.write("rig.textproto", with_joints(folder / "rig.textproto"));
  run_successfully("calibrate " + (folder / "release.csv").string() + " --rig " + rig + " --json " +
                       folder_.file("r.json"),
                   {"The model fits", "encoder \"1\" is at rest in 39 % of its readings"});
  const auto result = read_result<rigcal::v1::CalibrationResult>(folder_.file("r.json"));
  const std::map<std::string, double> truth = {{"1.tau_c", 0.003}, {"1.b", 0.0075},
                                               {"2.tau_c", 2e-4},  {"2.b", 6e-5},
                                               {"2.offset", 0.01}, {"gravity.tilt_x", 0.005}};
  for (const rigcal::v1::ParameterResult& each : result.parameters()) {
    if (!truth.contains(each.name())) continue;
    EXPECT_NEAR(each.value(), truth.at(each.name()), 4.0 * each.standard_deviation())
        << each.name();
  }
}

// Friction of 10 N·m·s/rad stops the pendulum within half a millisecond. Its true value is 1e-3.
TEST_F(CalibrateCommand, StartsFromStiffFrictionOrNamesIt) {
  const auto data = find_evaluation_data();
  if (!data) GTEST_SKIP() << "no evaluation data (../shared/data or RIG_DATA)";
  const std::filesystem::path folder = *data / "field_reports";
  const std::string rig =
      folder_.write("rig.textproto", with_joints(folder / "rig-stiff-friction.textproto"));
  const std::string base = "calibrate " + (folder / "plain.csv").string() + " --rig " + rig;
  run_successfully(base + " --json " + folder_.file("r.json"), {"The model fits"});
  const auto result = read_result<rigcal::v1::CalibrationResult>(folder_.file("r.json"));
  ASSERT_EQ(result.parameters(1).name(), "pivot.b");
  EXPECT_NEAR(result.parameters(1).value(), 1e-3, 4.0 * result.parameters(1).standard_deviation());
  run_successfully(base + " --start pivot.b=1e5", {"The model fits"});
  const ProgramRun refused =
      expect_refused(base + " --fix pivot.b=1e5", {"pivot", "friction", "Check the unit"});
  expect_absent(refused.err, {"loops"});
}

}  // namespace
}  // namespace service
