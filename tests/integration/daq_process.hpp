#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "proto/recording/recording_reader.hpp"
#include "tests/integration/child_process.hpp"
#include "tests/support/temporary_folder.hpp"

namespace test_support {

/// Long enough for a loaded machine. No duration is asserted.
inline constexpr double kPatience_s = 30.0;

/// The ttl of every command in microseconds, as in the rig file below.
inline constexpr std::uint64_t kTtl_us = 250'000;

/// A row of the simulation's truth, by column.
using TruthRow = std::map<std::string, std::string>;

/// rigcal-sim and rigcal-daq as an operator runs them, in real time, with a folder for the files of
/// one run: the unit under "unit", scenarios short.textproto (1 s) and long.textproto (10 min), the
/// recording run.mcap. The limits are wide on purpose.
class DaqProcess : public ::testing::Test {
 protected:
  DaqProcess();

  /// Starts the simulated unit on a pseudo-terminal, or on a TCP port that it chooses.
  void start_sim(bool on_tcp = false) { start_sim_of("--config", "sim.textproto", on_tcp); }
  /// The same with another option and file of the folder.
  void start_sim_of(const std::string& option, const std::string& name, bool on_tcp = false);
  /// TCP port of the unit, if it was started on one.
  std::uint16_t sim_port() const;

  void start_daq(const std::string& scenario, const std::string& url,
                 const std::vector<std::string>& more = {},
                 const std::function<void()>& before_exec = {},
                 const std::string& out = "run.mcap");
  void start_daq(const std::string& scenario) { start_daq(scenario, pty_url()); }
  /// Starts both programs and waits until the long scenario is being recorded.
  void start_long(const std::vector<std::string>& more = {},
                  const std::function<void()>& before_exec = {});
  std::string pty_url() const { return "pty://" + path("unit"); }

  /// Waits until the scenario drives the rig and some of that is in the file.
  void wait_until_recorded(const std::string& name = "run.mcap");
  void wait_until_tripped();

  /// Waits until the simulated unit has put out nothing for twice its time to live.
  void wait_until_off();
  void wait_until_said(const std::string& text);
  int daq_exit_code();

  /// Sends Ctrl-C, after which rigcal-sim prints its counts.
  void stop_sim();
  /// The same; the output must be zero at the end.
  void stop_sim_with_output_off();

  /// Value of a line "name: 12" that rigcal-sim printed at its end.
  std::uint64_t counted(const std::string& name) const;

  std::vector<TruthRow> truth() const;
  /// The output in the last row of the truth [V].
  double last_output_V() const;

  proto::Recording recording(const std::string& name) const;
  static const proto::Event* find_event(const proto::Recording& recording, const std::string& name);

  void write(const std::string& name, const std::string& text) const;
  void edit(const std::string& name, const std::string& from, const std::string& to) const;
  std::string path(const std::string& name) const { return folder_.file(name); }

  std::optional<ChildProcess> sim_;
  std::optional<ChildProcess> daq_;

 private:
  TemporaryFolder folder_;
};

}  // namespace test_support
