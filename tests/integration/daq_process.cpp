#include "tests/integration/daq_process.hpp"

#include <signal.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace test_support {
namespace {

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

std::vector<std::string> split(const std::string& line) {
  std::vector<std::string> cells;
  std::istringstream stream(line);
  for (std::string cell; std::getline(stream, cell, ',');) cells.push_back(cell);
  return cells;
}

}  // namespace

DaqProcess::DaqProcess() {
  write("sim.textproto", kSimulation);
  write("rig.textproto", kRig);
  write("short.textproto",
        "name: \"short\" duration_s: 1 pulse { motor: \"arm\" command: 1 start_s: 0.1 width_s: "
        "0.5 }");
  write("long.textproto", "name: \"long\" duration_s: 600 step { motor: \"arm\" command: 1 }");
}

void DaqProcess::start_sim(bool on_tcp) {
  std::vector<std::string> command = {RIGCAL_SIM, "--config", path("sim.textproto"), "--truth",
                                      path("truth.csv")};
  const std::vector<std::string> port = {on_tcp ? "--tcp" : "--link", on_tcp ? "0" : path("unit")};
  command.insert(command.end(), port.begin(), port.end());
  sim_.emplace(command, path("sim.txt"));
  ASSERT_TRUE(
      eventually([&] { return sim_->output().find('\n') != std::string::npos; }, kPatience_s))
      << sim_->output();
}

std::uint16_t DaqProcess::sim_port() const {
  const std::string output = sim_->output();
  const std::string before = "tcp://127.0.0.1:";
  if (!output.starts_with(before)) ADD_FAILURE() << output;
  return static_cast<std::uint16_t>(std::stoi(output.substr(before.size())));
}

void DaqProcess::start_daq(const std::string& scenario, const std::string& url,
                           const std::vector<std::string>& more,
                           const std::function<void()>& before_exec) {
  std::vector<std::string> command = {
      RIGCAL_DAQ,   "run",          "--rig", path("rig.textproto"), "--url", url,
      "--scenario", path(scenario), "--out", path("run.mcap")};
  command.insert(command.end(), more.begin(), more.end());
  daq_.emplace(command, path("daq.txt"), before_exec);
}

void DaqProcess::wait_until_recorded() {
  ASSERT_TRUE(eventually(
      [&] {
        const auto read = proto::read_recording(path("run.mcap.part"));
        return read.ok() && !read.value().samples.empty() && read.value().samples.back().driving;
      },
      kPatience_s))
      << daq_->output();
}

int DaqProcess::daq_exit_code() {
  const auto code = daq_->wait(kPatience_s);
  EXPECT_TRUE(code.has_value()) << "still running\n" << daq_->output();
  return code.value_or(-1);
}

void DaqProcess::stop_sim() {
  sim_->send_signal(SIGINT);
  ASSERT_EQ(sim_->wait(kPatience_s), 0) << sim_->output();
}

std::uint64_t DaqProcess::counted(const std::string& name) const {
  std::istringstream lines(sim_->output());
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(name + ": ")) return std::stoull(line.substr(name.size() + 2));
  }
  ADD_FAILURE() << "no " << name << " in: " << sim_->output();
  return 0;
}

std::vector<TruthRow> DaqProcess::truth() const {
  std::ifstream file(path("truth.csv"));
  std::string line;
  std::getline(file, line);
  const std::vector<std::string> names = split(line);
  std::vector<TruthRow> rows;
  while (std::getline(file, line)) {
    const std::vector<std::string> cells = split(line);
    TruthRow row;
    for (std::size_t k = 0; k < std::min(names.size(), cells.size()); ++k) row[names[k]] = cells[k];
    rows.push_back(std::move(row));
  }
  return rows;
}

double DaqProcess::last_output_V() const {
  const std::vector<TruthRow> rows = truth();
  if (rows.empty()) ADD_FAILURE() << "the truth is empty";
  return rows.empty() ? -1.0 : std::stod(rows.back().at("command_V"));
}

proto::Recording DaqProcess::recording(const std::string& name) const {
  auto read = proto::read_recording(path(name));
  EXPECT_TRUE(read.ok()) << (read.ok() ? "" : read.error().detail);
  return read.ok() ? std::move(read.value()) : proto::Recording{};
}

const proto::Event* DaqProcess::find_event(const proto::Recording& recording,
                                           const std::string& name) {
  const auto found = std::find_if(recording.events.begin(), recording.events.end(),
                                  [&](const proto::Event& event) { return event.name == name; });
  return found == recording.events.end() ? nullptr : &*found;
}

void DaqProcess::write(const std::string& name, const std::string& text) const {
  std::ofstream(path(name)) << text;
}

}  // namespace test_support
