#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "proto/text/table/csv_table.hpp"
#include "tests/integration/child_process.hpp"
#include "tests/service/run_rigcal.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/texts.hpp"

// rigcal identify on the simulated rig: three programs, in real time.

namespace service {
namespace {

using namespace test_support;

constexpr double kPatience_s = 120.0;

class Identify : public ::testing::Test {
 protected:
  Identify() {
    // Time limits for a loaded machine.
    rig_ =
        files_.write("rig.textproto", replaced(contents_of(config("rig-furuta.textproto")),
                                               "staleness_ms_max: 250", "staleness_ms_max: 2000"));
    start_sim(config("sim-furuta-hanging.textproto"));
  }

  void start_sim(const std::string& file) {
    sim_.emplace(std::vector<std::string>{RIGCAL_SIM, "--config", file, "--link",
                                          files_.file("unit"), "--truth", files_.file("truth.csv")},
                 files_.file("sim.log"));
    EXPECT_TRUE(eventually([this] { return sim_->says("\n"); }, kPatience_s)) << sim_->output();
  }

  void start(const std::string& until, const std::string& duration, const std::string& runs) {
    identify_.emplace(
        std::vector<std::string>{RIGCAL_BINARY, "identify", "--rig", rig_, "--url",
                                 "pty://" + files_.file("unit"), "--until", until, "--folder",
                                 files_.file("runs"), "--duration", duration, "--runs", runs,
                                 "--pause", "1", "--quiet", "--not-commissioned"},
        files_.file("identify.log"));
  }

  std::string file(const std::string& name) const { return files_.file("runs/" + name); }
  bool exists(const std::string& name) const { return std::filesystem::exists(file(name)); }

  /// Checks the true state at the unit at the end.
  void expect_motor_off() {
    sim_->send_signal(SIGINT);
    ASSERT_EQ(sim_->wait(kPatience_s), 0) << sim_->output();
    const std::vector<double> volts = outputs();
    ASSERT_GT(volts.size(), 100U);
    EXPECT_EQ(volts.back(), 0.0);
  }

  /// Outputs of the unit written so far [V].
  std::vector<double> outputs() const {
    const std::string truth = files_.file("truth.csv");
    std::string text = contents_of(truth);
    text.resize(text.rfind('\n') + 1);
    if (std::ranges::count(text, '\n') < 2) return {};
    return proto::parse_csv(truth, text, {{"command_V"}}).values[0];
  }

  /// Number of ticks with a non-zero output.
  std::ptrdiff_t driven() const {
    return std::ranges::count_if(outputs(), [](double volts) { return volts != 0.0; });
  }

  TemporaryFolder files_;
  std::string rig_;
  std::optional<ChildProcess> sim_, identify_;
};

// A precision that takes a few runs, designed in the time that the machine has. The same command
// afterwards finds nothing left to do.
TEST_F(Identify, RecordsUntilThePrecisionIsReached) {
  start("2.b:2%", "4", "6");
  ASSERT_EQ(identify_->wait(4 * kPatience_s), 0) << identify_->output();
  expect_parts(identify_->output(), {"Run 1, test pushes", "Reached after"});
  for (const char* name : {"run-01.textproto", "run-01.mcap", "result-01.json"}) {
    EXPECT_TRUE(exists(name)) << name;
  }
  const auto recordings = [this] {
    return std::distance(std::filesystem::directory_iterator(files_.file("runs")), {});
  };
  const auto before = recordings();
  start("2.b:2%", "4", "6");
  ASSERT_EQ(identify_->wait(kPatience_s), 0) << identify_->output();
  EXPECT_EQ(recordings(), before);

  // A precision that no number of runs can give is reported.
  start("1.K:1e-12", "4", "1");
  EXPECT_EQ(identify_->wait(kPatience_s), 2) << identify_->output();
  expect_parts(identify_->output(), {"not reached after"});
}

// Ctrl-C during a run: the run ends in order with a complete recording, and the same command
// continues from it.
TEST_F(Identify, CtrlCLeavesTheMotorOffAndEverythingRecorded) {
  start("1.K:1e-9", "20", "2");
  ASSERT_TRUE(eventually([this] { return exists("run-02.mcap.part"); }, 2 * kPatience_s))
      << identify_->output();
  const auto before = driven();
  ASSERT_TRUE(eventually([&] { return driven() > before + 3000; }, kPatience_s));
  identify_->send_signal(SIGINT);
  ASSERT_EQ(identify_->wait(kPatience_s), 130) << identify_->output();
  expect_parts(identify_->output(),
               {"recorded " + file("run-02.mcap"), "every sample accounted for"});
  EXPECT_TRUE(exists("run-02.mcap"));
  EXPECT_FALSE(exists("run-02.mcap.part"));
  EXPECT_FALSE(exists("result-02.json"));
  expect_motor_off();

  start("1.K:1e-9", "20", "2");  // nothing left to record, only to estimate
  EXPECT_EQ(identify_->wait(kPatience_s), 2) << identify_->output();
  EXPECT_TRUE(exists("result-02.json"));
}

// A run that tripped before it drove anything gives no estimate. The trip is reported, and the same
// command records that run again.
TEST_F(Identify, ReportsATripBeforeAnythingWasDriven) {
  sim_->send_signal(SIGINT);
  ASSERT_EQ(sim_->wait(kPatience_s), 0) << sim_->output();
  const std::string hanging = contents_of(config("sim-furuta-hanging.textproto"));
  sim_.emplace(
      std::vector<std::string>{
          RIGCAL_SIM, "--config",
          files_.write("sim.textproto", replaced(hanging, "arm_mass_kg:",
                                                 "arm_start_angle_rad: 20\n  arm_mass_kg:")),
          "--link", files_.file("unit")},
      files_.file("turned.log"));
  ASSERT_TRUE(eventually([this] { return sim_->says("\n"); }, kPatience_s)) << sim_->output();
  start("1.K:1e-9", "4", "1");
  EXPECT_EQ(identify_->wait(kPatience_s), 1) << identify_->output();
  expect_parts(identify_->output(), {"run 1 was stopped by a safety trip", "The motor stayed off",
                                     "Turn it by hand", "run-01.tripped.mcap"});
  expect_absent(identify_->output(), {"angle columns"});
  EXPECT_FALSE(exists("run-01.mcap"));
  EXPECT_TRUE(exists("run-01.tripped.mcap"));
}

TEST_F(Identify, RefusesWithOneSentence) {
  const auto refusal = [this](const std::string& arguments) {
    const ProgramRun run =
        run_rigcal("identify --rig " + rig_ + " --folder " + files_.file("none") + " " + arguments);
    EXPECT_EQ(run.exit_code, 1) << run.err;
    return run.err;
  };
  expect_parts(refusal("--until 1.K"), {"1.K: has no precision"});
  expect_parts(refusal("--until 1.q:1%"), {"did you mean"});
  expect_parts(refusal("--until A.m:1%"), {"not free"});
  expect_parts(refusal("--until 1.K:-2"), {"not a positive standard deviation"});
}

// The rig file has looser time limits than its record, so it is refused before run 1 is planned.
TEST_F(Identify, RefusesARigThatIsNotCommissionedBeforeRunOne) {
  const ProgramRun run = run_rigcal("identify --rig " + rig_ + " --url pty://" +
                                    files_.file("unit") + " --folder " + files_.file("runs") +
                                    " --until 1.K:1% --duration 2 --quiet");
  EXPECT_EQ(run.exit_code, 1) << run.err;
  expect_parts(run.err, {"since it was commissioned on ",
                         "commission it with 'rigcal-daq commission --rig " + rig_ +
                             "', or give --not-commissioned",
                         "no run was started"});
  expect_absent(run.out, {"Run 1"});
  EXPECT_FALSE(exists("run-01.textproto"));
}

}  // namespace
}  // namespace service
