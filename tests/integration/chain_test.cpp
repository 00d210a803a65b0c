#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "tests/integration/demo.hpp"
#include "tests/service/server/service_process.hpp"
#include "tests/support/refusal.hpp"

// A short form of scripts/demo.sh: a simulated rig, its recordings, the service, its result.

namespace service {
namespace {

using namespace test_support;

constexpr double kPatience_s = 60.0;

/// The demo's rig with time limits for a loaded machine, and the programs around it.
class Chain : public ::testing::Test {
 protected:
  Chain() {
    rig_ = files_.write("rig.textproto", patient_rig());
    files_.write("sim-furuta.textproto",
                 replaced(contents_of(config("sim-furuta.textproto")), "hold_s: 3", "hold_s: 1.5"));
    files_.write("sim-furuta-hanging.textproto",
                 contents_of(config("sim-furuta-hanging.textproto")));
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
    const std::string path =
        files_.write(scenario + ".textproto", short_scenario(scenario, duration));
    Recording& recording = recordings_.emplace_back();
    recording.sim = std::make_unique<ChildProcess>(
        std::vector<std::string>{RIGCAL_SIM, "--config", files_.file(simulation + ".textproto"),
                                 "--link", files_.file("unit-" + scenario)},
        files_.file("sim-" + scenario + ".log"));
    ASSERT_TRUE(eventually([&] { return recording.sim->says("\n"); }, kPatience_s));
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
      expect_parts(recording.daq->output(), {"every sample accounted for", "streamed to"});
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

  const auto result = expect_simulated_parameters(files_.file("result.json"), 4.0);
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
