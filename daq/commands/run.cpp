#include "daq/commands/commands.hpp"

#include <algorithm>
#include <atomic>
#include <cctype>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <ostream>
#include <thread>
#include <vector>

#include "daq/config/commission_file.hpp"
#include "daq/config/scenario_config.hpp"
#include "daq/console/recording_sink.hpp"
#include "daq/console/run_progress.hpp"
#include "daq/console/slow_notice.hpp"
#include "daq/console/stream_watch.hpp"
#include "daq/console/unit_connection.hpp"
#include "daq/loop/control_loop.hpp"
#include "daq/loop/supervisor.hpp"
#include "daq/scenario/plan.hpp"
#include "daq/stream/live_check.hpp"
#include "daq/stream/stream_sink.hpp"
#include "proto/notation/number_format.hpp"
#include "proto/recording/recording_rules.hpp"
#include "proto/text/files.hpp"
#include "proto/text/input_error.hpp"
#include "proto/text/printable.hpp"

namespace daq {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kPollPeriod(10);
constexpr milliseconds kDiskPatience(1000);
constexpr milliseconds kStreamShortPatience(300);
constexpr std::chrono::seconds kStreamPatience(5);

// Checks the path of a new file: the extension, an existing folder, an unused name.
void require_new_file(const std::string& path, const std::vector<std::string>& extensions) {
  const std::filesystem::path file(path);
  proto::check_file_extension(path, extensions);
  if (file.has_parent_path() && !std::filesystem::is_directory(file.parent_path())) {
    throw proto::InputError(path + ": there is no folder " + file.parent_path().string() +
                            "; make it first");
  }
  if (!std::filesystem::exists(file)) return;
  throw proto::InputError(
      path + ": exists already; choose another name, existing files are never overwritten");
}

proto::RecordingHeader make_header(const RigConfig& rig, const ScenarioConfig& scenario,
                                   const firmware_iface::UnitDescription& facts) {
  proto::RecordingHeader header;
  for (const ChannelConfig& channel : rig.channel) {
    header.joints.push_back(channel.joint);
    if (channel.slides) header.slides.push_back(channel.joint);
  }
  for (const MotorConfig& motor : rig.motor) {
    header.motors.push_back(motor.joint);
    header.command_units.push_back(motor.command_unit);
  }
  for (const InertialSensorConfig& sensor : rig.inertial)
    header.inertial_sensors.push_back(sensor.name);
  header.epoch_unix_ns =
      std::chrono::duration_cast<Nanoseconds>(std::chrono::system_clock::now().time_since_epoch())
          .count();
  header.facts = {{"rig", rig.name},
                  {"scenario", scenario.scenario.name()},
                  {"unit_url", rig.unit_url},
                  {"unit_id", unit_id_text(facts)},
                  {"configuration_hash", configuration_hash_text(facts)},
                  {"tick_rate_Hz", std::to_string(std::lround(facts.tick_rate_Hz))},
                  {"ttl_ms", std::to_string(rig.ttl_ms)},
                  {"version", RIGCAL_VERSION}};
  return header;
}

// File name and time make the id unique; other characters are not allowed in a session id.
proto::StreamSession make_session(const RunOptions& options, const RigConfig& rig,
                                  const proto::RecordingHeader& header) {
  proto::StreamSession session;
  for (const char c : std::filesystem::path(options.out_path).stem().string().substr(0, 30)) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_';
    session.id += plain ? c : '_';
  }
  session.id += '-';
  session.id += std::to_string(header.epoch_unix_ns);
  session.metadata = header.facts;
  session.metadata.merge(proto::make_name_metadata(header));
  session.epoch_unix_ns = header.epoch_unix_ns;
  session.live = {options.rig_path, rig.text};
  session.accepts_stop = true;
  return session;
}

// Returns a scenario's commands. Without a motor there is one command of zero, as in recordings.
CommandPlan plan_of(const Scenario& scenario, const RigConfig& rig, double period_s) {
  std::vector<PlannedMotorCommands> motors;
  for (const MotorConfig& motor : rig.motor) motors.push_back({motor.joint, motor.command_unit});
  if (motors.empty()) motors.emplace_back();
  return make_command_plan(scenario, period_s, std::move(motors));
}

proto::Status attach_inputs(proto::RecordingWriter& writer, const RigConfig& rig,
                            const ScenarioConfig& scenario, Nanoseconds period) {
  const auto attach = [&](const char* name, const char* media_type, const std::string& text) {
    return writer.attach({name, media_type, {text.begin(), text.end()}});
  };
  const double period_s = static_cast<double>(period.count()) * 1e-9;
  proto::Status status = attach("rig.textproto", "text/plain", rig.text);
  if (status.ok()) status = attach("scenario.textproto", "text/plain", scenario.text);
  if (status.ok() && scenario.scenario.is_open_loop()) {
    status =
        attach("plan.csv", "text/csv", command_plan_csv(plan_of(scenario.scenario, rig, period_s)));
  }
  return status;
}

using Say = std::function<void(const std::string&)>;

// Destinations of a run.
struct Sinks {
  std::unique_ptr<RecordingSink> recording;
  std::unique_ptr<StreamSink> stream;  // null: no service
};

/// Runs a control loop on its own thread. The thread is stopped and joined even if the caller
/// throws.
class LoopThread {
 public:
  /// @param stop  stop flag of the loop; others may set it too
  LoopThread(ControlLoop& loop, const RealTimeSettings& settings, std::atomic<bool>& stop)
      : stop_(stop), thread_([this, &loop, settings] {
          report_ = enter_real_time(settings);
          ready_.store(true, std::memory_order_release);
          ready_.notify_one();
          loop.run(stop_);
          was_stopped_ = stop_.load();
          ended_.store(true, std::memory_order_release);
        }) {
    ready_.wait(false, std::memory_order_acquire);
  }
  ~LoopThread() { join(); }

  void stop() { stop_.store(true, std::memory_order_relaxed); }
  bool ended() const { return ended_.load(std::memory_order_acquire); }
  void join() {
    stop();
    if (thread_.joinable()) thread_.join();
  }
  const RealTimeReport& report() const { return report_; }
  /// Returns whether a stop was requested. To be called after the loop has ended.
  bool was_stopped() const { return was_stopped_; }

 private:
  std::atomic<bool>& stop_;
  std::atomic<bool> ready_{false};
  std::atomic<bool> ended_{false};
  RealTimeReport report_;
  bool was_stopped_ = false;
  std::thread thread_;
};

// Supervises until the loop has ended; stops the loop if the disk fails, if the rule is met, or if
// a client of the service requests it.
void supervise(LoopThread& thread, Supervisor& supervisor, StreamWatch stream,
               const UntilRule& rule, RunProgress& progress) {
  while (!thread.ended()) {
    std::this_thread::sleep_for(kPollPeriod);
    supervisor.poll();
    stream.look();
    progress.show(supervisor, rule);
    if (supervisor.must_stop() || rule.is_met() || !stream.stop_requested_by().empty()) {
      thread.stop();
    }
  }
  thread.join();
  supervisor.poll();
  if (const std::string& who = stream.stop_requested_by(); !who.empty()) {
    const std::string text = who + " stopped the run through the service.";
    supervisor.report(proto::EventKind::kOperator, "stop", text);
    progress.say(text);
  } else if (rule.is_met() || (rule.has_targets() && !thread.was_stopped())) {
    supervisor.report(proto::EventKind::kScenario, "until", rule.describe_end());
    progress.say(rule.describe_end());
  } else if (thread.was_stopped() && !supervisor.must_stop()) {
    supervisor.report(proto::EventKind::kOperator, "stop", "The operator ended the run.");
  }
}

void print_summary(const ControlLoop& loop, const Supervisor& supervisor, double tick_s,
                   std::optional<std::uint64_t> samples_sent, std::uint64_t lost_on_disk,
                   bool finished, std::ostream& out) {
  const SampleCounts& sample_counts = supervisor.sample_counts();
  out << sample_counts.recorded - lost_on_disk << " samples "
      << (finished ? "recorded, " : "received, ") << sample_counts.lost_on_link
      << " lost on the link, " << sample_counts.lost_in_ring << " dropped by this program";
  if (lost_on_disk > 0) out << ", " << lost_on_disk << " not written to disk";
  if (samples_sent) {
    out << "; the unit sent " << *samples_sent
        << (*samples_sent == sample_counts.sent() ? ": every sample accounted for"
                                                  : ": THE SAMPLE COUNTS DO NOT MATCH");
  }
  const auto print = [&out](const char* name, const TimingHistogram& histogram) {
    out << name << std::llround(histogram.percentile_us(0.99)) << " µs, longest "
        << histogram.max().count() / 1000 << " µs";
  };
  print("\nsample jitter: 99 % below ", loop.arrival_jitter_histogram());
  print("; time from sample to command: 99 % below ", loop.cycle_time_histogram());
  out << '\n';
  const std::string delays = describe_command_delays(loop.command_delay_counts(), tick_s);
  if (!delays.empty()) out << delays << '\n';
  if (const auto rejected = loop.counters().rejected_commands.load(); rejected > 0) {
    out << rejected << " commands were rejected by the unit because they arrived too late\n";
  }
  const std::string output = describe_output_state(loop.output_state(), loop.settings().ttl_ms);
  if (!output.empty()) out << output << '\n';
}

// A reading is due with sample 0 and every `divider` samples.
void print_readings(const RigConfig& rig, const std::array<int, INERTIAL_SENSORS_MAX>& dividers,
                    const Supervisor& supervisor, std::optional<std::uint64_t> samples_sent,
                    std::ostream& out) {
  for (std::size_t i = 0; i < rig.inertial.size(); ++i) {
    out << "inertial sensor " << rig.inertial[i].name << ": "
        << supervisor.inertial_reading_count(i);
    if (samples_sent && *samples_sent > 0) {
      out << " of " << 1 + (*samples_sent - 1) / static_cast<std::uint64_t>(dividers[i]);
    }
    out << " readings recorded\n";
  }
}

// Returns the exit status of a run whose recording is complete on the disk.
ExitCode outcome(const ControlLoop& loop, const Supervisor& supervisor) {
  if (supervisor.sample_counts().lost_in_ring > 0) return ExitCode::kTrouble;
  if (loop.trip() == nullptr) return ExitCode::kDone;
  switch (loop.trip()->cause) {
    case TripCause::kLinkLost:
    case TripCause::kPortClosed:
    case TripCause::kUnitRestarted:
    case TripCause::kRecordingStalled:
    case TripCause::kRingFull:
      return ExitCode::kTrouble;
    default:
      return ExitCode::kTripped;
  }
}

std::string spool_folder(const RunOptions& options) { return options.out_path + ".spool"; }

// Creates the recording, with its attachments.
using OpenRecording = std::function<proto::Result<std::unique_ptr<RecordingSink>>()>;

proto::Result<std::unique_ptr<RecordingSink>> open_recording(const std::string& path,
                                                             const proto::RecordingHeader& header,
                                                             const RigConfig& rig,
                                                             const ScenarioConfig& scenario,
                                                             Nanoseconds period) {
  auto writer = proto::RecordingWriter::create(path, header);
  if (!writer.ok()) return writer.error();
  const proto::Status attached = attach_inputs(writer.value(), rig, scenario, period);
  if (!attached.ok()) return attached.error();
  return std::make_unique<RecordingSink>(std::move(writer.value()));
}

proto::Result<Sinks> open_sinks(const RunOptions& options, const RigConfig& rig,
                                const std::optional<ServiceEndpoint>& service,
                                const proto::RecordingHeader& header, const OpenRecording& open) {
  Sinks sinks;
  if (!service) {
    auto recording = open();
    if (!recording.ok()) return recording.error();
    sinks.recording = std::move(recording.value());
    return sinks;
  }
  auto folder = create_spool_folder(spool_folder(options), make_session(options, rig, header));
  if (!folder.ok()) return folder.error();
  auto recording = open();
  if (!recording.ok()) {
    remove_spool_folder(spool_folder(options));
    return recording.error();
  }
  sinks.recording = std::move(recording.value());
  sinks.stream = std::make_unique<StreamSink>(*service, std::move(folder.value()));
  return sinks;
}

// Calls a function that may wait for a hanging disk; another thread reports if it takes long.
template <typename Work>
auto with_delay_notice(const std::string& path, const RunFlags& flags, const Say& say,
                       const Work& work) {
  const DelayedNotice notice(kDiskPatience, [&] {
    say("The run has ended. The disk does not respond while writing the end of " + path +
        "; waiting. To quit without it, press Ctrl-C " +
        (flags.stop_requested.load() ? "again." : "twice."));
  });
  return work();
}

void finish_stream(std::unique_ptr<StreamSink> stream, const RunOptions& options,
                   const RunFlags& flags, const Say& say) {
  const std::string folder = spool_folder(options);
  const proto::Status marked =
      with_delay_notice(folder, flags, say, [&] { return mark_run_ended(folder); });
  if (!marked.ok()) say("note: " + marked.error().detail);
  stream->end();
  if (!stream->wait(kStreamShortPatience)) {
    say("waiting up to " + std::to_string(kStreamPatience.count()) + " s for " +
        options.service.host_port);
  }
  const bool done = stream->wait(kStreamPatience);
  const std::string problem = stream->latest_problem();
  with_delay_notice(folder, flags, say, [&] {
    stream.reset();
    if (done) remove_spool_folder(folder);
  });
  if (done) {
    say("streamed to " + options.service.host_port);
    return;
  }
  say("note: the service has received only a part of the run" +
      (problem.empty() ? std::string() : " (" + proto::escape_for_terminal(problem) + ")") +
      "; the recording is complete. To send the rest later:\n  rigcal-daq send --spool " + folder +
      " --service " + options.service.host_port);
}

// Checks the targets of --until before anything is driven.
void require_live_estimates(const RunOptions& options, const RigConfig& rig,
                            const std::optional<ServiceEndpoint>& service) {
  if (options.until.empty()) return;
  if (!service) {
    throw proto::InputError(
        "--until needs estimates of a service; give --service, the address of rigcald");
  }
  const std::string problem =
      find_live_problem(*service, {options.rig_path, rig.text}, options.until);
  if (!problem.empty()) throw proto::InputError("--until: " + proto::escape_for_terminal(problem));
}

// Runs from the first sample to the finished recording.
ExitCode drive(const RunOptions& options, const RigConfig& rig, const ScenarioConfig& scenario,
               UnitConnection& session, Sinks& sinks, RunFlags& flags, std::ostream& out) {
  firmware_iface::UnitLink& unit = *session.unit;
  const SafetyLimits limits = fill_in_reading_time_limits(scenario.limits, rig, unit.facts());
  LoopSettings settings = make_loop_settings(rig, unit.facts());
  settings.drive = scenario.scenario.command_peak() > 0.0;
  settings.storage_heartbeat = &sinks.recording->heartbeat();
  const auto loop =
      std::make_unique<ControlLoop>(unit, session.black_box, scenario.scenario, limits, settings);
  RunViewSettings view{scenario.scenario.duration_s(), limits, {}};
  for (const MotorConfig& motor : rig.motor) view.command_units.push_back(motor.command_unit);
  RunProgress progress(out, options.terminal, std::move(view));
  UntilRule rule(options.until);
  const Say say = [&](const std::string& line) { progress.say(line); };
  Supervisor supervisor(*loop, session.black_box, limits, *sinks.recording, sinks.stream.get(),
                        say);
  {
    LoopThread thread(*loop, rig.real_time, flags.stop_loop);
    for (const std::string& sentence : thread.report().refused) say("note: " + sentence);
    supervise(thread, supervisor, StreamWatch(sinks.stream.get(), rule, say), rule, progress);
  }
  std::optional<std::uint64_t> samples_sent;
  const auto ended = unit.stop_stream(
      [&](const firmware_iface::UnitSample& sample) { supervisor.add_late_sample(sample); });
  if (ended.ok()) samples_sent = ended.value().samples_sent;
  supervisor.add_inertial_readings(unit.last_inertial_readings());
  supervisor.finish(samples_sent);
  const proto::Status finished = with_delay_notice(proto::part_file_path(options.out_path), flags,
                                                   say, [&] { return sinks.recording->finish(); });
  flags.unfinished.store(!finished.ok());
  progress.finish();
  print_summary(*loop, supervisor, 1.0 / unit.facts().tick_rate_Hz, samples_sent,
                sinks.recording->lost_sample_count(), finished.ok(), out);
  print_readings(rig, compute_inertial_dividers(rig, unit.facts()), supervisor, samples_sent, out);
  if (!finished.ok()) return fail(finished.error().detail);
  out << "recorded " << options.out_path << '\n';
  if (sinks.stream) {
    finish_stream(std::move(sinks.stream), options, flags,
                  [&out](const std::string& line) { out << line << std::endl; });
  }
  const proto::Status stored = sinks.recording->status();
  if (!stored.ok()) return fail(stored.error().detail);
  return outcome(*loop, supervisor);
}

}  // namespace

RigConfig load_rig(const std::string& rig_path, const std::string& url, RigFilePurpose use) {
  RigConfig rig = load_rig_config(rig_path, use);
  if (!url.empty()) rig.unit_url = url;
  if (!rig.unit_url.empty()) return rig;
  throw proto::InputError(rig_path +
                          ": has no unit URL; write unit { url: \"...\" } or give --url");
}

CommissioningCheck check_commissioning(const RigConfig& rig,
                                       const firmware_iface::UnitDescription& facts,
                                       const std::string& scenario_path, const Scenario& scenario,
                                       bool is_allowed) {
  constexpr double kShareMax = 0.25;
  CommissioningCheck notice{describe_commission_state(commission_state(rig, facts), rig)};
  if (notice.text.empty() || is_allowed) return notice;
  for (std::size_t m = 0; m < rig.motor.size(); ++m) {
    const double peak = scenario.command_peak(m);
    if (peak <= kShareMax * rig.limits.motor[m].command_max) continue;
    notice.refuses = true;
    notice.text += ", and " + scenario_path + " commands up to " + notation::format_number(peak) +
                   " " + rig.motor[m].command_unit + ", more than 25 % of command_max; " +
                   commission_remedy(rig);
    break;
  }
  return notice;
}

ExitCode run_scenario(const RunOptions& options, RunFlags& flags, std::ostream& out) {
  const RigConfig rig = load_rig(options.rig_path, options.url);
  const ScenarioConfig scenario = load_scenario_config(options.scenario_path, rig);
  require_new_file(options.out_path, {".mcap"});
  std::optional<ServiceEndpoint> service;
  if (!options.service.host_port.empty()) service = make_service_endpoint(options.service);
  require_live_estimates(options, rig, service);
  auto session = connect_to_unit(rig, out);
  if (!session.ok()) return fail(session.error().detail);
  firmware_iface::UnitLink& unit = *session.value()->unit;
  const CommissioningCheck notice = check_commissioning(
      rig, unit.facts(), options.scenario_path, scenario.scenario, options.not_commissioned);
  if (notice.refuses) {
    fail(notice.text);
    return ExitCode::kNotCommissioned;
  }
  if (!notice.text.empty()) out << "note: " << notice.text << '\n';
  // Start the stream first: if the line is too slow for it, no empty recording is left behind.
  if (const auto on = unit.start_stream(make_stream_settings(rig, unit.facts())); !on.ok()) {
    return fail(on.error().detail);
  }
  const proto::RecordingHeader header = make_header(rig, scenario, unit.facts());
  auto sinks = open_sinks(options, rig, service, header, [&] {
    return open_recording(options.out_path, header, rig, scenario,
                          compute_sample_period(rig, unit.facts()));
  });
  if (!sinks.ok()) return fail(sinks.error().detail);
  flags.unfinished.store(true);
  return drive(options, rig, scenario, *session.value(), sinks.value(), flags, out);
}

ExitCode plot_scenario(const RunOptions& options, const std::string& path, std::ostream& out) {
  const RigConfig rig = load_rig_config(options.rig_path, RigFilePurpose::kPlan);
  const ScenarioConfig config = load_scenario_config(options.scenario_path, rig);
  const Scenario& scenario = config.scenario;
  require_new_file(path, {".svg", ".csv"});
  if (!scenario.is_open_loop()) {
    throw proto::InputError(
        options.scenario_path + ": the commands of " + scenario.name() +
        " depend on the rig's motion, which a dry run does not simulate; 'rigcal simulate --rig " +
        options.rig_path + " --scenario " + options.scenario_path +
        " --plot motion.svg' simulates and draws commands and motion");
  }
  constexpr double kPlanPeriod_s = 1e-3;  // of a unit with 1 kHz ticks
  const CommandPlan plan = plan_of(scenario, rig, kPlanPeriod_s * rig.divider);
  const bool picture = std::filesystem::path(path).extension() == ".svg";
  proto::write_file(path,
                    picture ? command_plan_svg(plan, scenario.name()) : command_plan_csv(plan));
  out << scenario.name() << ": " << scenario.duration_s() << " s, at most ";
  for (std::size_t m = 0; m < plan.motors.size(); ++m) {
    const PlannedMotorCommands& motor = plan.motors[m];
    out << (m == 0 ? "" : ", ") << scenario.command_peak(m) << ' ' << motor.unit;
    if (plan.motors.size() > 1) out << " at " << motor.joint;
  }
  out << "; plan in " << path << '\n';
  return ExitCode::kDone;
}

}  // namespace daq
