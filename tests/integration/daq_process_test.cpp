#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "proto/recording/recording_reader.hpp"
#include "tests/integration/child_process.hpp"
#include "tests/proto/recording_support.hpp"

// The two programs as an operator runs them, over a pseudo-terminal, in real time. The limits below
// are wide on purpose: what is asserted is what happens, never when.

namespace {

using test_support::ChildProcess;
using test_support::eventually;

constexpr double kPatience_s = 30.0;

const char* const kSimulation = R"(furuta {
  arm_mass_kg: 0.238 arm_center_distance_m: 0.128 arm_length_m: 0.376 arm_inertia_zz: 0.0044
  shaft_inertia: 0.0004 pendulum_mass_kg: 0.428 pendulum_center_distance_m: 0.092
  pendulum_inertia_xx: 0.0001 pendulum_inertia_yy: 0.00396 pendulum_inertia_zz: 0.0039
  motor { gain: 0.0729 } arm_friction { viscous: 0.01 } pendulum_friction { viscous: 0.0001 }
}
unit { ttl_max_ms: 255 }
line { baud: 921600 }
)";

const char* const kRig = R"(name: "rig"
hinge { name: "arm" motor { control_unit: "V" } encoder { counts_per_turn: 4096 } }
hinge { name: "rod" encoder { counts_per_turn: 4096 } }
unit { channel { hinge: "arm" } channel { hinge: "rod" } ttl_ms: 250 }
safety {
  command_max: 5
  staleness_ms_max: 2000
  hinge { hinge: "arm" angle_rad_min: -900 angle_rad_max: 900 speed_rad_per_s_max: 100 }
  hinge { hinge: "rod" angle_rad_min: -900 angle_rad_max: 900 speed_rad_per_s_max: 100 }
}
)";

struct TruthRow {
  std::map<std::string, std::string> cell;
};

// A simulated unit and a place for the files of one run.
class DaqProcess : public ::testing::Test {
 protected:
  void SetUp() override {
    write("sim.textproto", kSimulation);
    write("rig.textproto", kRig);
    write("short.textproto",
          "name: \"short\" duration_s: 1 pulse { motor: \"arm\" command: 1 start_s: 0.1 width_s: "
          "0.5 }");
    write("long.textproto", "name: \"long\" duration_s: 600 step { motor: \"arm\" command: 1 }");
    sim_.emplace(std::vector<std::string>{RIGCAL_SIM, "--config", path("sim.textproto"), "--link",
                                          path("unit"), "--truth", path("truth.csv")},
                 path("sim.txt"));
    ASSERT_TRUE(eventually([&] { return std::filesystem::exists(path("unit")); }, kPatience_s))
        << sim_->output();
  }

  void start_daq(const std::string& scenario, const std::function<void()>& before_exec = {}) {
    daq_.emplace(std::vector<std::string>{RIGCAL_DAQ, "run", "--rig", path("rig.textproto"),
                                          "--url", "pty://" + path("unit"), "--scenario",
                                          path(scenario), "--out", path("run.mcap")},
                 path("daq.txt"), before_exec);
  }

  // Until the scenario drives the rig and some of that is in the file.
  void wait_until_recorded() {
    ASSERT_TRUE(eventually(
        [&] {
          const auto read = proto::read_recording(path("run.mcap.part"));
          return read.ok() && !read.value().samples.empty() &&
                 read.value().samples.back().driving;
        },
        kPatience_s))
        << daq_->output();
  }

  int daq_exit_code() {
    const auto code = daq_->wait(kPatience_s);
    EXPECT_TRUE(code.has_value()) << "still running\n" << daq_->output();
    return code.value_or(-1);
  }

  void stop_sim() {
    sim_->send_signal(SIGINT);
    ASSERT_EQ(sim_->wait(kPatience_s), 0) << sim_->output();
  }

  // "name: 12" in what rigcal-sim printed at its end.
  std::uint64_t counted(const std::string& name) const {
    std::istringstream lines(sim_->output());
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with(name + ": ")) return std::stoull(line.substr(name.size() + 2));
    }
    ADD_FAILURE() << "no " << name << " in: " << sim_->output();
    return 0;
  }

  std::vector<TruthRow> truth() const {
    std::ifstream file(path("truth.csv"));
    std::string line;
    std::getline(file, line);
    std::vector<std::string> names = split(line);
    std::vector<TruthRow> rows;
    while (std::getline(file, line)) {
      const std::vector<std::string> cells = split(line);
      TruthRow row;
      for (std::size_t k = 0; k < std::min(names.size(), cells.size()); ++k) {
        row.cell[names[k]] = cells[k];
      }
      rows.push_back(std::move(row));
    }
    return rows;
  }

  proto::Recording recording(const std::string& name) const {
    auto read = proto::read_recording(path(name));
    EXPECT_TRUE(read.ok()) << (read.ok() ? "" : read.error().detail);
    return read.ok() ? std::move(read.value()) : proto::Recording{};
  }

  static bool has_event(const proto::Recording& recording, const std::string& name) {
    return std::any_of(recording.events.begin(), recording.events.end(),
                       [&](const proto::Event& event) { return event.name == name; });
  }

  std::string path(const std::string& name) const { return folder_.file(name); }

  std::optional<ChildProcess> sim_;
  std::optional<ChildProcess> daq_;

 private:
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(path(name)) << text;
  }
  static std::vector<std::string> split(const std::string& line) {
    std::vector<std::string> cells;
    std::istringstream stream(line);
    for (std::string cell; std::getline(stream, cell, ',');) cells.push_back(cell);
    return cells;
  }

  test_support::TemporaryFolder folder_;
};

// From the encoder to the file: every sample the unit sent is there or listed as a gap, and each
// holds the counts that were true when it was latched.
TEST_F(DaqProcess, RecordsWhatTheUnitSent) {
  start_daq("short.textproto");
  ASSERT_EQ(daq_exit_code(), 0) << daq_->output();
  stop_sim();
  const proto::Recording run = recording("run.mcap");
  EXPECT_TRUE(run.scan.container.intact());
  std::uint64_t listed = 0;
  for (const proto::Gap& gap : run.gaps) listed += gap.sample_count;
  EXPECT_EQ(run.samples.size() + listed, counted("samples_sent"));

  std::map<std::uint64_t, TruthRow> by_sequence;
  for (TruthRow& row : truth()) {
    const std::string sequence = row.cell["sample_sequence"];
    if (!sequence.empty()) by_sequence[std::stoull(sequence)] = std::move(row);
  }
  ASSERT_GT(run.samples.size(), 500U);
  for (const proto::Sample& sample : run.samples) {
    TruthRow& row = by_sequence[sample.sequence];
    ASSERT_EQ(std::to_string(sample.encoder_counts[0]), row.cell["count1"]) << sample.sequence;
    ASSERT_EQ(std::to_string(sample.encoder_counts[1]), row.cell["count2"]) << sample.sequence;
  }
  EXPECT_EQ(counted("trips_ttl"), 0U);
}

// Ctrl-C is an orderly end: power off, recording complete under its own name.
TEST_F(DaqProcess, CompletesTheRecordingOnCtrlC) {
  start_daq("long.textproto");
  wait_until_recorded();
  daq_->send_signal(SIGINT);
  ASSERT_EQ(daq_exit_code(), 0) << daq_->output();
  stop_sim();
  EXPECT_FALSE(std::filesystem::exists(path("run.mcap.part")));
  const proto::Recording run = recording("run.mcap");
  EXPECT_TRUE(run.scan.container.intact());
  EXPECT_TRUE(has_event(run, "stop"));
  EXPECT_EQ(counted("trips_ttl"), 0U);
  EXPECT_EQ(std::stod(truth().back().cell["command_V"]), 0.0);
}

// kill -9 leaves nobody to switch off; the unit's own ttl must, and the file must be readable.
TEST_F(DaqProcess, KilledLeavesTheUnitOffAndAReadableRecording) {
  start_daq("long.textproto");
  wait_until_recorded();
  daq_->send_signal(SIGKILL);
  ASSERT_EQ(daq_exit_code(), 128 + SIGKILL);
  ASSERT_TRUE(eventually(
      [&] {
        // The truth is written in blocks; the rows of after the trip take a moment to appear.
        const std::vector<TruthRow> rows = truth();
        return rows.size() > 2 && rows[rows.size() - 2].cell.at("tripped") == "1";
      },
      kPatience_s));
  stop_sim();
  EXPECT_EQ(counted("trips_ttl"), 1U);
  EXPECT_EQ(std::stod(truth().back().cell["command_V"]), 0.0);
  const proto::Recording run = recording("run.mcap.part");
  EXPECT_FALSE(run.scan.container.finished);
  EXPECT_GT(run.samples.size(), 100U);
}

// The unit disappears, cable and all.
TEST_F(DaqProcess, EndsWithATripWhenTheUnitIsGone) {
  start_daq("long.textproto");
  wait_until_recorded();
  sim_->send_signal(SIGKILL);
  EXPECT_EQ(daq_exit_code(), 1) << daq_->output();
  const proto::Recording run = recording("run.mcap");
  EXPECT_TRUE(run.scan.container.intact());
  EXPECT_TRUE(has_event(run, "link lost")) << daq_->output();
  EXPECT_TRUE(has_event(run, "black box"));
}

// A file that cannot grow any more stands for a full disk.
TEST_F(DaqProcess, SwitchesOffWhenTheDiskIsFull) {
  start_daq("long.textproto", [] {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{1'000'000, 1'000'000};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  });
  EXPECT_EQ(daq_exit_code(), 1) << daq_->output();
  stop_sim();
  EXPECT_EQ(std::stod(truth().back().cell["command_V"]), 0.0);
  const std::string name = std::filesystem::exists(path("run.mcap")) ? "run.mcap" : "run.mcap.part";
  const proto::Recording run = recording(name);
  EXPECT_GT(run.samples.size(), 100U);
  EXPECT_TRUE(has_event(run, "storage")) << daq_->output();
}

// Bad input: one message, exit code 2, and nothing on the disk.
TEST_F(DaqProcess, RefusesBadInputWithoutTouchingAnything) {
  std::ofstream(path("bad.textproto")) << "name: \"x\"\nduration_s: 1\nstep { comand: 1 }\n";
  start_daq("bad.textproto");
  EXPECT_EQ(daq_exit_code(), 2);
  EXPECT_NE(daq_->output().find("bad.textproto:3"), std::string::npos) << daq_->output();
  EXPECT_FALSE(std::filesystem::exists(path("run.mcap")));
  EXPECT_FALSE(std::filesystem::exists(path("run.mcap.part")));

  std::ofstream(path("run.mcap")) << "precious";
  start_daq("short.textproto");
  EXPECT_EQ(daq_exit_code(), 2);
  EXPECT_NE(daq_->output().find("exists already"), std::string::npos) << daq_->output();
  EXPECT_EQ(std::filesystem::file_size(path("run.mcap")), 8U);
}

}  // namespace
