#include <signal.h>
#include <sys/resource.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "tests/daq/local_service.hpp"
#include "tests/integration/daq_process.hpp"
#include "tests/support/refusal.hpp"

// Stalls of this computer while the motor drives: of its disk, its folder, or the program itself.
// The motor is off, the operator reads the reason at once, and every lost sample is reported.

namespace {

using namespace test_support;

class StuckHost : public DaqProcess {
 protected:
  // Waits for the last rows of the truth, which is written in blocks.
  void wait_until_output_is_off() {
    ASSERT_TRUE(eventually(
        [&] {
          const std::vector<TruthRow> rows = truth();
          return rows.size() > 2 && std::stod(rows[rows.size() - 2].at("command_V")) == 0.0;
        },
        kPatience_s));
  }
};

/// Parameter: content of the disk's switch file. Empty stops every call, other text only fdatasync.
class HangingDisk : public StuckHost, public ::testing::WithParamInterface<const char*> {
 protected:
  void start_driving() {
    start_long({}, [this] {
      ::setenv("RIGCAL_HANGING_DISK", path("hang").c_str(), 1);
      ::setenv("LD_PRELOAD", FAILING_DISK, 1);
      ::setenv("ASAN_OPTIONS", "verify_asan_link_order=0", 1);
    });
  }
  void hang() const { write("hang", GetParam()); }
  void go_on() const { std::filesystem::remove(path("hang")); }
};

// The motor is switched off and the reason printed without the operator. Later the program explains
// how to leave it. When the disk continues, everything is in the recording.
TEST_P(HangingDisk, SwitchesOffReportsAndLosesNothing) {
  start_driving();
  hang();
  wait_until_said("TRIP: no data were stored for");
  wait_until_tripped();
  wait_until_said("press Ctrl-C twice");
  go_on();
  EXPECT_EQ(daq_exit_code(), 1) << daq_->output();
  expect_parts(daq_->output(), {"every sample accounted for"});
  stop_sim_with_output_off();
  EXPECT_EQ(counted("trips_host"), 1U);
  const proto::Recording run = recording("run.mcap");
  EXPECT_TRUE(run.scan.container.intact());
  const proto::Event* trip = find_event(run, "recording stalled");
  ASSERT_NE(trip, nullptr);
  EXPECT_GT(trip->value, trip->limit);
  std::uint64_t listed = 0;
  for (const proto::Gap& gap : run.gaps) {
    EXPECT_EQ(gap.cause, proto::GapCause::kLink);
    listed += gap.sample_count;
  }
  EXPECT_EQ(run.samples.size() + listed, counted("samples_sent"));
}

// The first Ctrl-C stops the motor whatever the disk does, the second one ends the program.
TEST_P(HangingDisk, ObeysCtrlC) {
  start_driving();
  hang();
  daq_->send_signal(SIGINT);
  wait_until_output_is_off();
  wait_until_said("press Ctrl-C again");
  EXPECT_FALSE(daq_->wait(0.0).has_value());
  daq_->send_signal(SIGINT);
  EXPECT_EQ(daq_exit_code(), 128 + SIGINT) << daq_->output();
  expect_parts(daq_->output(), {"rigcal recover " + path("run.mcap.part")});
  stop_sim_with_output_off();
  go_on();
  EXPECT_GT(recording("run.mcap.part").samples.size(), 100U);
}

INSTANTIATE_TEST_SUITE_P(By, HangingDisk, ::testing::Values("", "syncs only"),
                         [](const auto& disk) { return *disk.param == '\0' ? "All" : "Syncs"; });

class LostFolder : public StuckHost, public ::testing::WithParamInterface<bool> {};

// A recording that is deleted or moved during the run is detected at once. Its spool is lost with
// it, which changes nothing.
TEST_P(LostFolder, SwitchesOffAndReports) {
  std::filesystem::create_directory(path("runs"));
  start_sim();
  start_daq("long.textproto", pty_url(),
            {"--service", "127.0.0.1:" + std::to_string(refusing_port())}, {}, "runs/run.mcap");
  wait_until_recorded("runs/run.mcap");
  if (GetParam()) {
    std::filesystem::rename(path("runs"), path("elsewhere"));
  } else {
    std::filesystem::remove_all(path("runs"));
  }
  EXPECT_EQ(daq_exit_code(), 1) << daq_->output();
  expect_parts(daq_->output(), {"TRIP: Output off, because the run cannot be recorded: ",
                                "run.mcap.part: was removed or moved away", "samples received"});
  expect_absent(daq_->output(), {"\nrecorded "});
  stop_sim_with_output_off();
}

INSTANTIATE_TEST_SUITE_P(When, LostFolder, ::testing::Bool(),
                         [](const auto& moved) { return moved.param ? "Moved" : "Removed"; });

// Removing only the spool costs samples of the service, not the run. The operator is warned during
// the run, also if the service was already away.
TEST_F(StuckHost, ContinuesWithoutItsSpoolAndReports) {
  start_long({"--service", "127.0.0.1:" + std::to_string(refusing_port())});
  wait_until_said("kept on the disk");
  std::filesystem::remove_all(path("run.mcap.spool"));
  wait_until_said("samples will be missing on the service");
  daq_->send_signal(SIGINT);
  EXPECT_EQ(daq_exit_code(), 0) << daq_->output();
  expect_parts(daq_->output(), {"the service has received only a part of the run"});
  stop_sim();
  EXPECT_TRUE(recording("run.mcap").scan.container.intact());
}

// A limit on file sizes, as by `ulimit -f`, acts like a full disk: it is reported, does not kill
// the program, and leaves room for the report in the recording.
TEST_F(StuckHost, SwitchesOffWhenTheRecordingMayNotGrow) {
  start_sim();
  start_daq("long.textproto", pty_url(),
            {"--service", "127.0.0.1:" + std::to_string(refusing_port())}, [] {
              const rlimit limit{400'000, 400'000};
              ::setrlimit(RLIMIT_FSIZE, &limit);
            });
  EXPECT_EQ(daq_exit_code(), 1) << daq_->output();
  expect_parts(daq_->output(),
               {"TRIP: Output off, because the run cannot be recorded: ", "File too large"});
  stop_sim_with_output_off();
  EXPECT_LE(counted("unattended_us_max"), kTtl_us);
  const std::string name = std::filesystem::exists(path("run.mcap")) ? "run.mcap" : "run.mcap.part";
  const proto::Recording run = recording(name);
  EXPECT_GT(run.samples.size(), 100U);
  const proto::Event* trip = find_event(run, "storage");
  ASSERT_NE(trip, nullptr) << daq_->output();
  EXPECT_EQ(trip->kind, proto::EventKind::kTrip);
}

/// Parameter: longest pause that the rig file allows [ms], shorter and longer than the one below.
class PausedHost : public StuckHost, public ::testing::WithParamInterface<int> {};

// A stopped program leaves its last command in force. The unit's ttl ends that, and so does the
// program once it runs again. The message names the pause, whichever tripped first.
TEST_P(PausedHost, SwitchesOffAndNamesThePause) {
  edit("rig.textproto", "staleness_ms_max: 2000",
       "staleness_ms_max: " + std::to_string(GetParam()));
  const bool by_host = GetParam() < 900;
  start_long();
  daq_->send_signal(SIGSTOP);
  wait_until_tripped();
  std::this_thread::sleep_for(std::chrono::milliseconds(900));
  daq_->send_signal(SIGCONT);
  EXPECT_EQ(daq_exit_code(), 3) << daq_->output();
  stop_sim_with_output_off();
  EXPECT_EQ(counted("trips_ttl"), 1U);
  EXPECT_LE(counted("unattended_us_max"), kTtl_us);
  expect_parts(daq_->output(), {"TRIP: ", "this computer paused for ", "rigcal-daq latency",
                                "raise unit { ttl_ms } and safety { staleness_ms_max }"});
  EXPECT_NE(find_event(recording("run.mcap"), by_host ? "host paused" : "unit tripped"), nullptr)
      << daq_->output();
}

INSTANTIATE_TEST_SUITE_P(Allowed, PausedHost, ::testing::Values(500, 10'000),
                         ::testing::PrintToStringParamName());

}  // namespace
