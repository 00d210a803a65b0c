#include "tests/integration/daq_process.hpp"

#include <signal.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "tests/integration/rig_files.hpp"
#include "tests/support/texts.hpp"

namespace test_support {
namespace {

std::vector<std::string> split(const std::string& line) {
  std::vector<std::string> cells;
  std::istringstream stream(line);
  for (std::string cell; std::getline(stream, cell, ',');) cells.push_back(cell);
  return cells;
}

}  // namespace

DaqProcess::DaqProcess() {
  write("sim.textproto", kSimulationFile);
  write("rig.textproto", kRigFile);
  write("short.textproto",
        "name: \"short\" duration_s: 1 pulse { motor: \"arm\" command: 1 start_s: 0.1 width_s: "
        "0.5 }");
  write("long.textproto", "name: \"long\" duration_s: 600 step { motor: \"arm\" command: 1 }");
}

void DaqProcess::start_sim_of(const std::string& option, const std::string& name, bool on_tcp) {
  const std::vector<std::string> command = {RIGCAL_SIM,
                                            option,
                                            path(name),
                                            "--truth",
                                            path("truth.csv"),
                                            on_tcp ? "--tcp" : "--link",
                                            on_tcp ? "0" : path("unit")};
  sim_.emplace(command, path("sim.txt"));
  ASSERT_TRUE(eventually([&] { return sim_->says("\n"); }, kPatience_s)) << sim_->output();
}

std::uint16_t DaqProcess::sim_port() const {
  const std::string output = sim_->output();
  const std::string before = "tcp://127.0.0.1:";
  if (!output.starts_with(before)) ADD_FAILURE() << output;
  return static_cast<std::uint16_t>(std::stoi(output.substr(before.size())));
}

void DaqProcess::start_daq(const std::string& scenario, const std::string& url,
                           const std::vector<std::string>& more,
                           const std::function<void()>& before_exec, const std::string& out) {
  const std::vector<std::string> command = {
      RIGCAL_DAQ,     "run",   "--rig",  path("rig.textproto"), "--url", url, "--scenario",
      path(scenario), "--out", path(out)};
  daq_.emplace(with(command, more), path("daq.txt"), before_exec);
}

void DaqProcess::start_long(const std::vector<std::string>& more,
                            const std::function<void()>& before_exec) {
  ASSERT_NO_FATAL_FAILURE(start_sim());
  start_daq("long.textproto", pty_url(), more, before_exec);
  wait_until_recorded();
}

void DaqProcess::wait_until_recorded(const std::string& name) {
  ASSERT_TRUE(eventually(
      [&] {
        const auto read = proto::read_recording(path(name + ".part"));
        return read.ok() && !read.value().samples.empty() && read.value().samples.back().driving;
      },
      kPatience_s))
      << daq_->output();
}

void DaqProcess::wait_until_off() {
  constexpr std::size_t kRows = 2 * kTtl_us / 1000;  // one row per millisecond
  ASSERT_TRUE(eventually(
      [&] {
        const std::vector<TruthRow> rows = truth();
        if (rows.size() < kRows + 2) return false;
        return std::all_of(rows.end() - kRows - 1, rows.end() - 1,
                           [](const TruthRow& row) { return row.at("command_V") == "0"; });
      },
      kPatience_s));
}

void DaqProcess::wait_until_tripped() {
  ASSERT_TRUE(eventually(
      [&] {
        // The truth is written in blocks, so rows after the trip appear with a delay.
        const std::vector<TruthRow> rows = truth();
        return rows.size() > 2 && rows[rows.size() - 2].at("tripped") == "1";
      },
      kPatience_s));
}

void DaqProcess::wait_until_said(const std::string& text) {
  ASSERT_TRUE(eventually([&] { return daq_->says(text); }, kPatience_s)) << daq_->output();
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

void DaqProcess::stop_sim_with_output_off() {
  ASSERT_NO_FATAL_FAILURE(stop_sim());
  EXPECT_EQ(last_output_V(), 0.0);
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

void DaqProcess::edit(const std::string& name, const std::string& from,
                      const std::string& to) const {
  std::ostringstream text;
  text << std::ifstream(path(name)).rdbuf();
  write(name, replaced(text.str(), from, to));
}

}  // namespace test_support
