#pragma once

#include <atomic>
#include <iosfwd>
#include <memory>
#include <string>
#include <vector>

#include "daq/config/rig_config.hpp"
#include "daq/console/exit_code.hpp"
#include "daq/console/operator_console.hpp"
#include "daq/realtime/rt_thread.hpp"
#include "daq/realtime/timing.hpp"
#include "daq/safety/black_box.hpp"
#include "daq/scenario/catalog.hpp"
#include "daq/stream/service_endpoint.hpp"
#include "firmware_iface/conformance/check.hpp"
#include "firmware_iface/link/unit_link.hpp"
#include "firmware_iface/link/unit_sample.hpp"
#include "proto/stream/live_estimate.hpp"

namespace daq {

struct RunOptions {
  std::string rig_path;
  std::string scenario_path;
  std::string out_path;           ///< path of the recording; must not exist
  ServiceOptions service;         ///< service to stream to
  std::string url;                ///< URL of the unit; empty: the URL in the rig file
  bool not_commissioned = false;  ///< allow large commands on a rig that is not commissioned
  /// Required precisions of parameters. When all are reached, the recording may end before its
  /// scenario.
  std::vector<proto::LiveTarget> until = {};
  bool terminal = false;  ///< output goes to a terminal: show the run's progress
};

/// Flags with which a signal handler stops a run, and through which the run reports its state.
struct RunFlags {
  std::atomic<bool> stop_requested{false};  ///< by the operator
  std::atomic<bool> stop_loop{false};       ///< stops the real-time loop
  std::atomic<bool> unfinished{false};      ///< a recording has not got its final name yet
  static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler may only use such");
};

/// Reads a rig file in order to connect to the rig's conversion unit. A nonempty `url` replaces the
/// URL in the file.
/// @throws proto::InputError for an error in the file, or if neither gives a URL
RigConfig load_rig(const std::string& rig_path, const std::string& url,
                   RigFilePurpose use = RigFilePurpose::kDrive);

/// Runs a scenario on a rig and records it. Ends when the scenario has finished, after a trip, when
/// the unit or the disk fails, or when `flags` request it. Unless the disk fails, the recording is
/// complete.
///
/// @throws proto::InputError for an error in the files
ExitCode run_scenario(const RunOptions& options, RunFlags& flags, std::ostream& out);

/// Writes the commands of an open-loop scenario to a file, as an SVG figure if `path` ends in .svg,
/// else as CSV. Accesses no unit and never replaces a file.
///
/// @throws proto::InputError for an error in the files
ExitCode plot_scenario(const RunOptions& options, const std::string& path, std::ostream& out);

/// Connects to a rig's conversion unit, then prints the unit's description and a summary of one
/// second of samples: encoder counts, angles, validity and losses. Drives no motor.
ExitCode probe_unit(const RigConfig& rig, std::ostream& out);

/// Shows the joint angles, speeds, motor output, timing and lost samples of a rig until `stop` is
/// set. Drives no motor.
/// @param in_place  `out` is a terminal: the view is updated ten times a second. Otherwise it is
///     printed once, at the end.
ExitCode monitor_unit(const RigConfig& rig, const std::atomic<bool>& stop, bool in_place,
                      std::ostream& out);

struct CommissionOptions {
  std::string rig_path;
  std::string url;                  ///< URL of the unit; empty: the URL in the rig file
  std::vector<std::string> joints;  ///< joints to check; empty: all with an encoder
};

/// Guides an operator through commissioning a rig. The operator first moves each joint by hand with
/// the motor off, to check its encoder. Small pulses then test each motor. If the operator agrees,
/// changes the unit section of the rig file, and writes a record into that file and into a file
/// beside it. The motors are always off at the end.
/// @throws proto::InputError for an error in the files, or if the operator's input has ended
ExitCode commission_rig(const CommissionOptions& options, const std::atomic<bool>& stop,
                        OperatorInterface& person, std::ostream& out);

/// Reads the unit's description and checks whether the rig was commissioned in its present state.
/// Prints the reason and the remedy on standard error if not. Drives no motor, and ignores
/// `options.joints`.
/// @return kDone or kNotCommissioned, or kTrouble if the unit cannot be reached
/// @throws proto::InputError for an error in the files
ExitCode check_commission(const CommissionOptions& options, std::ostream& out);

/// Commissions a rig like commission_rig, through a conversion unit that is already connected. The
/// unit's sample stream must not have been started.
/// @param black_box  receives the messages of `unit`
/// @param time       time written into the record, UTC, "2026-11-26T10:15:30Z"
ExitCode commission_unit(const RigConfig& rig, const std::vector<std::string>& joints,
                         firmware_iface::UnitLink& unit, BlackBox& black_box,
                         const std::atomic<bool>& stop, OperatorInterface& person,
                         const std::string& time);

/// Checks that the rig file is writable, because commissioning changes it. Called before the first
/// question to the operator.
/// @throws proto::InputError
void require_writable_rig_file(const RigConfig& rig);

/// Result of the check, before a run, whether a rig is commissioned.
struct CommissioningCheck {
  std::string text;      ///< message for the operator; empty if the rig is commissioned
  bool refuses = false;  ///< the run must not start
};

/// Checks whether a scenario may run on a rig. Unless the rig was commissioned in its present
/// state, no command may exceed a quarter of the motor's command_max.
/// @param is_allowed  the operator accepts larger commands
CommissioningCheck check_commissioning(const RigConfig& rig,
                                       const firmware_iface::UnitDescription& facts,
                                       const std::string& scenario_path, const Scenario& scenario,
                                       bool is_allowed);

struct ConformanceOptions {
  std::string url;
  std::string json_path;  ///< path of the JSON report; "-": standard output, with the table on
                          ///< standard error; empty: none
  std::vector<std::string> only;  ///< numbers of the requirements to test; empty: all
  firmware_iface::conformance::TestSettings settings;
};

/// Tests whether a conversion unit meets the requirements of PROTOCOL.md and prints a table of the
/// results. At the end the unit's output is locked (tripped).
/// @return kTrouble if a check failed, the port failed or `stop` ended the test
/// @throws proto::InputError for an unknown requirement number
ExitCode test_conformance(const ConformanceOptions& options, const std::atomic<bool>& stop,
                          std::ostream& out, std::ostream& err);

/// Returns the report of a conformance test as a JSON object.
std::string conformance_report_json(const std::string& url,
                                    const firmware_iface::conformance::TestSettings& settings,
                                    const firmware_iface::conformance::ConformanceReport& report);

/// Rating of a computer by the delay with which a sleeping thread wakes up, as in LinuxCNC's
/// latency test.
enum class LatencyRating { kExcellent, kGood, kUsable, kUnusable };

/// Returns the rating for the longest wake-up latency: excellent below 20 µs, good below 100 µs,
/// usable below half a sampling period, else unusable. "Usable" means that samples stay in order,
/// but some commands act one tick late.
LatencyRating assess_latency(Nanoseconds longest, Nanoseconds period);

struct LatencyOptions {
  Nanoseconds period{1'000'000};
  Nanoseconds duration{10'000'000'000};
  RealTimeSettings real_time;
};

struct LatencyResult {
  RealTimeReport real_time;
  std::unique_ptr<TimingHistogram> histogram;  ///< distribution of wake-up time minus deadline
  std::int64_t skipped_periods = 0;
};

/// Describes a latency measurement in words, such as "good for 1 kHz: at most 87 µs late" or "too
/// slow for 1 kHz: 2 of 3000 periods missed".
std::string describe_latency(const LatencyResult& result, Nanoseconds period);

/// Measures how late a thread with the given settings wakes up after sleeping until absolute
/// deadlines.
LatencyResult measure_latency(const LatencyOptions& options);

/// Measures the wake-up latency of this computer, then prints the granted thread settings, the
/// distribution of latencies and a rating.
/// @return kTrouble if the rating is unusable
ExitCode print_latency_report(const LatencyOptions& options, std::ostream& out);

struct SendOptions {
  std::string spool_folder;  ///< folder that `rigcal-daq run` left behind
  ServiceOptions service;
};

/// Sends the missing data of an ended or interrupted run to the service. The data come from the
/// run's spool folder and from the recording beside that folder. Retries until the service has
/// everything, then removes the spool folder. Setting `stop` ends the retries.
///
/// @throws proto::InputError for a service that is not host:port, or for errors in TLS files
ExitCode send_spooled_data(const SendOptions& options, const std::atomic<bool>& stop,
                           std::ostream& out);

}  // namespace daq
