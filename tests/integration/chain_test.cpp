#include <google/protobuf/util/json_util.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <vector>

#include "proto/calibration.pb.h"
#include "tests/service/run_rigcal.hpp"
#include "tests/service/server/service_process.hpp"

// A short form of scripts/demo.sh: a simulated rig, its recordings, the service, its result.

namespace service {
namespace {

using test_support::ChildProcess;
using test_support::eventually;
using test_support::ServiceProcess;

constexpr double kPatience_s = 60.0;

std::string replaced(std::string text, const std::string& what, const std::string& with) {
  const std::size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return at == std::string::npos ? text : text.replace(at, what.size(), with);
}

std::string with_duration(std::string scenario, const std::string& duration) {
  const std::string field = "duration_s: ";
  const std::size_t at = scenario.find(field);
  EXPECT_NE(at, std::string::npos) << scenario;
  const std::size_t value = at + field.size();
  return scenario.replace(value, scenario.find('\n', value) - value, duration);
}

/// The demo's rig with time limits for a loaded machine, and the programs around it.
class Chain : public ::testing::Test {
 protected:
  Chain() {
    const std::string rig = contents_of(config("rig-furuta.textproto"));
    rig_ = files_.write("rig.textproto",
                        replaced(rig, "staleness_ms_max: 250", "staleness_ms_max: 2000"));
    for (const std::string name : {"sim-furuta", "sim-furuta-hanging"}) {
      const std::string simulation = contents_of(config(name + ".textproto"));
      files_.write(name + ".textproto", name == "sim-furuta"
                                            ? replaced(simulation, "hold_s: 3", "hold_s: 1.5")
                                            : simulation);
    }
  }

  /// A rig of its own, which is being recorded.
  struct Recording {
    std::unique_ptr<ChildProcess> sim;
    std::unique_ptr<ChildProcess> daq;
  };

  /// Starts to run and stream one of the demo's scenarios for this duration, as a session of its
  /// own name. Several run in parallel: each waits for its rig's time, not for the processor.
  void start_recording(const std::string& simulation, const std::string& scenario,
                       const std::string& duration) {
    const std::string text = contents_of(config("scenario-" + scenario + ".textproto"));
    const std::string path = files_.write(scenario + ".textproto", with_duration(text, duration));
    Recording& recording = recordings_.emplace_back();
    recording.sim = std::make_unique<ChildProcess>(
        std::vector<std::string>{RIGCAL_SIM, "--config", files_.file(simulation + ".textproto"),
                                 "--link", files_.file("unit-" + scenario)},
        files_.file("sim-" + scenario + ".log"));
    ASSERT_TRUE(eventually([&] { return recording.sim->output().find('\n') != std::string::npos; },
                           kPatience_s));
    recording.daq = std::make_unique<ChildProcess>(
        std::vector<std::string>{RIGCAL_DAQ, "run", "--not-commissioned", "--rig", rig_, "--url",
                                 "pty://" + files_.file("unit-" + scenario), "--scenario", path,
                                 "--out", files_.file(scenario + ".mcap"), "--service",
                                 "127.0.0.1:" + std::to_string(service_.port())},
        files_.file("daq-" + scenario + ".log"));
  }

  void finish_recordings() {
    for (const Recording& recording : recordings_) {
      ASSERT_EQ(recording.daq->wait(kPatience_s), 0) << recording.daq->output();
      const std::string output = recording.daq->output();
      EXPECT_NE(output.find("every sample accounted for"), std::string::npos) << output;
      EXPECT_NE(output.find("streamed to"), std::string::npos) << output;
      recording.sim->send_signal(SIGINT);
      EXPECT_EQ(recording.sim->wait(kPatience_s), 0) << recording.sim->output();
    }
  }

  std::string server() const {
    return " --server 127.0.0.1:" + std::to_string(service_.port()) + " ";
  }

  TemporaryFolder files_;
  std::string rig_;
  ServiceProcess service_;
  std::vector<Recording> recordings_;
};

/// The values of sim-furuta.textproto.
const std::map<std::string, double> kTruth = {
    {"A.J_zz", 0.0044},        {"B.J_yy", 0.00396},       {"B.J_zz", 0.0039},  {"1.b", 0.001},
    {"2.b", 0.0001},           {"1.tau_c", 0.004},        {"2.tau_c", 0.0009}, {"1.K", 0.0729},
    {"gravity.tilt_x", 0.006}, {"gravity.tilt_z", -0.004}};

// From the simulated encoders to the estimates through every program. A wrong sign, unit, scale,
// time base or joint order anywhere moves an estimate by far more than its standard deviation. The
// bound is four standard deviations. Every session is given by the start of its id.
// (Cross-validation, three more calibrations, is left to the tests of jobs.)
TEST_F(Chain, RecoversTheSimulatedRigsParameters) {
  ASSERT_TRUE(service_.start());
  ASSERT_NO_FATAL_FAILURE(start_recording("sim-furuta-hanging", "pulse", "3"));
  ASSERT_NO_FATAL_FAILURE(start_recording("sim-furuta-hanging", "swing-up", "3"));
  ASSERT_NO_FATAL_FAILURE(start_recording("sim-furuta", "release", "5"));
  ASSERT_NO_FATAL_FAILURE(finish_recordings());
  const ProgramRun run = run_rigcal(
      "calibrate session:release session:swing-up session:pulse --rig " + rig_ + server() +
      "--job chain --skip-cross-validation --quiet --json " + files_.file("result.json"));
  ASSERT_EQ(run.exit_code, 0) << run.err;

  rigcal::v1::CalibrationResult result;
  ASSERT_TRUE(
      google::protobuf::util::JsonStringToMessage(contents_of(files_.file("result.json")), &result)
          .ok());
  ASSERT_EQ(static_cast<std::size_t>(result.parameters_size()), kTruth.size());
  for (const auto& parameter : result.parameters()) {
    const double truth = kTruth.at(parameter.name());
    EXPECT_NEAR(parameter.value(), truth, 4.0 * parameter.standard_deviation()) << parameter.name();
    // An interval that contains any value would prove nothing.
    EXPECT_LT(parameter.standard_deviation(), 0.1 * std::abs(truth)) << parameter.name();
  }
  ASSERT_EQ(result.recordings_size(), 3);
  EXPECT_TRUE(result.recordings(0).file().starts_with("release-"));
  EXPECT_GT(result.recordings(0).rows_before_release(), 1000);  // held by the hand for 1.5 s

  const ProgramRun beside =
      run_rigcal("result chain" + server() + "--truth " + config("sim-furuta.textproto"));
  EXPECT_EQ(beside.exit_code, 0) << beside.err;
  EXPECT_NE(beside.out.find("error/sd"), std::string::npos) << beside.out;
  EXPECT_EQ(std::count(beside.out.begin(), beside.out.end(), '\n'), 11) << beside.out;
}

}  // namespace
}  // namespace service
