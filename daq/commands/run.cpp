#include "daq/commands/run.hpp"

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <ostream>
#include <sstream>
#include <thread>
#include <vector>

#include "daq/commands/recording_sink.hpp"
#include "daq/commands/run_progress.hpp"
#include "daq/commands/session.hpp"
#include "daq/config/scenario_config.hpp"
#include "daq/loop/supervisor.hpp"
#include "daq/realtime/rt_thread.hpp"
#include "daq/scenario/plan.hpp"
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
constexpr milliseconds kStreamShortPatience(300);
constexpr std::chrono::seconds kStreamPatience(5);

// A name for a new file: with that ending, in a folder that exists, not taken.
void require_new_file(const std::string& path, const std::vector<std::string>& extensions) {
  const std::filesystem::path file(path);
  proto::check_ending(path, extensions);
  if (file.has_parent_path() && !std::filesystem::is_directory(file.parent_path())) {
    throw proto::InputError(path + ": there is no folder " + file.parent_path().string() +
                            "; make it first");
  }
  if (!std::filesystem::exists(file)) return;
  throw proto::InputError(path + ": exists already; choose another name, nothing is written over");
}

std::string hexadecimal(std::uint64_t value, int digits) {
  std::ostringstream text;
  text << std::hex << std::setw(digits) << std::setfill('0') << value;
  return text.str();
}

proto::RecordingHeader make_header(const RigConfig& rig, const ScenarioConfig& scenario,
                                   const firmware_iface::UnitFacts& facts) {
  proto::RecordingHeader header;
  for (const ChannelConfig& channel : rig.channel) {
    header.hinges.push_back(channel.hinge);
    if (channel.slides) header.slides.push_back(channel.hinge);
  }
  for (const InertialConfig& sensor : rig.inertial) header.inertial_sensors.push_back(sensor.name);
  header.epoch_unix_ns =
      std::chrono::duration_cast<Nanoseconds>(std::chrono::system_clock::now().time_since_epoch())
          .count();
  header.facts = {{"rig", rig.name},
                  {"scenario", scenario.scenario.name()},
                  {"motor", rig.motor_hinge},
                  {"command_unit", rig.command_unit},
                  {"unit_url", rig.unit_url},
                  {"unit_id", hexadecimal(facts.unit_id, 16)},
                  {"configuration_hash", hexadecimal(facts.configuration_hash, 8)},
                  {"tick_rate_Hz", std::to_string(std::lround(facts.tick_rate_Hz))},
                  {"ttl_ms", std::to_string(rig.ttl_ms)},
                  {"version", RIGCAL_VERSION}};
  return header;
}

// The file's name and the time make the id unique; a session id has no other characters.
proto::StreamSession make_session(const RunOptions& options, const proto::RecordingHeader& header) {
  proto::StreamSession session;
  for (const char c : std::filesystem::path(options.out_path).stem().string().substr(0, 30)) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_';
    session.id += plain ? c : '_';
  }
  session.id += '-';
  session.id += std::to_string(header.epoch_unix_ns);
  session.metadata = header.facts;
  session.metadata.merge(proto::named_in(header));
  session.epoch_unix_ns = header.epoch_unix_ns;
  return session;
}

proto::Status attach_inputs(RecordingSink& sink, const RigConfig& rig,
                            const ScenarioConfig& scenario, Nanoseconds period) {
  const double period_s = static_cast<double>(period.count()) * 1e-9;
  proto::Status status = sink.attach("rig.textproto", "text/plain", rig.text);
  if (status.ok()) status = sink.attach("scenario.textproto", "text/plain", scenario.text);
  if (status.ok() && scenario.scenario.is_open_loop()) {
    status = sink.attach("plan.csv", "text/csv", plan_csv(make_plan(scenario.scenario, period_s)));
  }
  return status;
}

// The loop on its thread. Ends the thread whatever happens to the caller.
class LoopThread {
 public:
  LoopThread(ControlLoop& loop, const RealTimeSettings& settings)
      : thread_([this, &loop, settings] {
          report_ = enter_real_time(settings);
          ready_.store(true, std::memory_order_release);
          ready_.notify_one();
          loop.run(stop_);
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

 private:
  std::atomic<bool> stop_{false};
  std::atomic<bool> ready_{false};
  std::atomic<bool> ended_{false};
  RealTimeReport report_;
  std::thread thread_;
};

using Say = std::function<void(const std::string&)>;

// Where a run goes.
struct Sinks {
  std::unique_ptr<RecordingSink> recording;
  std::unique_ptr<StreamSink> stream;  // null without a service
};

// Says when the service is away and when it is back.
class StreamWatch {
 public:
  StreamWatch(const StreamSink* stream, Say say) : stream_(stream), say_(std::move(say)) {}

  void look() {
    if (stream_ == nullptr) return;
    const std::string problem = stream_->problem();
    if (problem.empty() == problem_.empty()) return;
    problem_ = problem;
    say_(problem.empty()
             ? "note: streaming again"
             : "note: " + proto::printable(problem) + "; what is to be streamed waits on the disk");
  }

 private:
  const StreamSink* stream_;
  Say say_;
  std::string problem_;
};

// Supervises until the loop has ended; asks it to where the operator or the disk demands.
void supervise(LoopThread& thread, Supervisor& supervisor, StreamWatch stream,
               RunProgress& progress, const std::atomic<bool>& stop) {
  bool stopping = false;
  while (!thread.ended()) {
    std::this_thread::sleep_for(kPollPeriod);
    supervisor.poll();
    stream.look();
    progress.show(supervisor);
    if (stopping) continue;
    stopping = supervisor.wants_stop() || stop.load();
    if (!stopping) continue;
    if (!supervisor.wants_stop()) {
      supervisor.report(proto::EventKind::kOperator, "stop", "The operator ended the run.");
    }
    thread.stop();
  }
  thread.join();
  supervisor.poll();  // samples that stopping the stream brings in come after these
}

void print_delays(const DelayCounts& delays, std::ostream& out) {
  std::int64_t total = 0;
  for (const auto& count : delays) total += count.load();
  if (total == 0) return;
  out << "commands took effect after";
  for (std::size_t k = 0; k < delays.size(); ++k) {
    const double share = 100.0 * static_cast<double>(delays[k].load()) / static_cast<double>(total);
    if (share == 0.0) continue;
    out << ' ' << k << (k + 1 < delays.size() ? "" : " or more")
        << (k == 1 ? " tick (" : " ticks (") << notation::format_number(share) << " %)";
  }
  out << '\n';
}

void print_summary(const ControlLoop& loop, const Supervisor& supervisor,
                   std::optional<std::uint64_t> samples_sent, std::ostream& out) {
  const SampleAccounts& accounts = supervisor.accounts();
  out << accounts.recorded << " samples recorded, " << accounts.lost_on_link
      << " lost on the link, " << accounts.lost_in_ring << " lost in this process";
  if (samples_sent) {
    out << "; the unit sent " << *samples_sent
        << (*samples_sent == accounts.sent() ? ": every sample accounted for"
                                             : ": THE ACCOUNTS DO NOT BALANCE");
  }
  const auto print = [&out](const char* name, const TimingHistogram& histogram) {
    out << name << std::llround(histogram.percentile_us(0.99)) << " µs, longest "
        << histogram.max().count() / 1000 << " µs";
  };
  print("\nsample jitter 99 % below ", loop.arrival_jitter());
  print("; from sample to command 99 % below ", loop.cycle_time());
  out << '\n';
  print_delays(loop.command_delays(), out);
}

// With sample 0 and every so many after it a reading is due.
void print_readings(const RigConfig& rig, const std::array<int, INERTIAL_SENSORS_MAX>& dividers,
                    const Supervisor& supervisor, std::optional<std::uint64_t> samples_sent,
                    std::ostream& out) {
  for (std::size_t i = 0; i < rig.inertial.size(); ++i) {
    out << "inertial sensor " << rig.inertial[i].name << ": " << supervisor.reading_count(i);
    if (samples_sent && *samples_sent > 0) {
      out << " of " << 1 + (*samples_sent - 1) / static_cast<std::uint64_t>(dividers[i]);
    }
    out << " readings recorded\n";
  }
}

LoopSettings loop_settings(const RigConfig& rig, const ScenarioConfig& scenario,
                           Nanoseconds period) {
  return {.period = period,
          .host_paced = rig.host_paced,
          .drive = scenario.scenario.command_peak() > 0.0,
          .ttl_ms = rig.ttl_ms,
          .joint_count = rig.channel.size(),
          .channel = channel_scales(rig),
          .inertial_count = rig.inertial.size(),
          .inertial = inertial_scales(rig)};
}

ExitCode outcome(const ControlLoop& loop, const Supervisor& supervisor) {
  if (supervisor.storage_error()) return ExitCode::kTrouble;
  const Trip* trip = loop.trip();
  if (trip == nullptr) return ExitCode::kDone;
  const bool gone = trip->cause == TripCause::kLinkLost || trip->cause == TripCause::kPortClosed ||
                    trip->cause == TripCause::kUnitRestarted;
  return gone ? ExitCode::kTrouble : ExitCode::kTripped;
}

std::string spool_folder(const RunOptions& options) { return options.out_path + ".spool"; }

proto::Result<std::unique_ptr<RecordingSink>> open_recording(const std::string& path,
                                                             const proto::RecordingHeader& header) {
  auto writer = proto::RecordingWriter::create(path, header);
  if (!writer.ok()) return writer.error();
  return std::make_unique<RecordingSink>(std::move(writer.value()));
}

proto::Result<Sinks> open_sinks(const RunOptions& options,
                                const std::optional<ServiceEndpoint>& service,
                                const proto::RecordingHeader& header) {
  Sinks sinks;
  if (!service) {
    auto recording = open_recording(options.out_path, header);
    if (!recording.ok()) return recording.error();
    sinks.recording = std::move(recording.value());
    return sinks;
  }
  auto folder = create_spool_folder(spool_folder(options), make_session(options, header));
  if (!folder.ok()) return folder.error();
  auto recording = open_recording(options.out_path, header);
  if (!recording.ok()) {
    remove_spool_folder(spool_folder(options));
    return recording.error();
  }
  sinks.recording = std::move(recording.value());
  sinks.stream = std::make_unique<StreamSink>(*service, std::move(folder.value()));
  return sinks;
}

void finish_stream(std::unique_ptr<StreamSink> stream, const RunOptions& options, const Say& say) {
  if (const auto marked = mark_ended(spool_folder(options)); !marked.ok()) {
    say("note: " + marked.error().detail);
  }
  stream->end();
  if (!stream->wait(kStreamShortPatience)) {
    say("waiting up to " + std::to_string(kStreamPatience.count()) + " s for " +
        options.service.host_port);
  }
  const bool done = stream->wait(kStreamPatience);
  const std::string problem = stream->problem();
  stream.reset();
  if (done) {
    remove_spool_folder(spool_folder(options));
    say("streamed to " + options.service.host_port);
    return;
  }
  say("note: the service does not have the whole run" +
      (problem.empty() ? std::string() : " (" + proto::printable(problem) + ")") +
      "; the recording does. To send the rest later:\n  rigcal-daq send --spool " +
      spool_folder(options) + " --service " + options.service.host_port);
}

// From the first sample to the finished recording.
ExitCode drive(const RunOptions& options, const RigConfig& rig, const ScenarioConfig& scenario,
               UnitSession& session, Sinks& sinks, const std::atomic<bool>& stop,
               std::ostream& out) {
  firmware_iface::UnitLink& unit = *session.unit;
  const Nanoseconds period = sample_period(rig, unit.facts());
  if (const auto status = attach_inputs(*sinks.recording, rig, scenario, period); !status.ok()) {
    return fail(status.error().detail);
  }
  const SafetyLimits limits = with_reading_times(scenario.limits, rig, unit.facts());
  const auto loop = std::make_unique<ControlLoop>(unit, session.black_box, scenario.scenario,
                                                  limits, loop_settings(rig, scenario, period));
  RunProgress progress(out, options.terminal, scenario.scenario.duration_s());
  const Say say = [&](const std::string& line) { progress.say(line); };
  Supervisor supervisor(*loop, session.black_box, limits, *sinks.recording, sinks.stream.get(),
                        say);
  {
    LoopThread thread(*loop, rig.real_time);
    for (const std::string& sentence : thread.report().refused) say("note: " + sentence);
    supervise(thread, supervisor, StreamWatch(sinks.stream.get(), say), progress, stop);
  }
  progress.clear();
  std::optional<std::uint64_t> samples_sent;
  const auto ended = unit.stop_stream(
      [&](const firmware_iface::UnitSample& sample) { supervisor.take_late(sample); });
  if (ended.ok()) samples_sent = ended.value().samples_sent;
  supervisor.take_inertial(unit.pending_inertial());
  supervisor.finish(samples_sent);
  const proto::Status finished = sinks.recording->finish();
  print_summary(*loop, supervisor, samples_sent, out);
  print_readings(rig, inertial_dividers(rig, unit.facts()), supervisor, samples_sent, out);
  if (!finished.ok()) return fail(finished.error().detail);
  out << "recorded " << options.out_path << '\n';
  if (sinks.stream) finish_stream(std::move(sinks.stream), options, say);
  if (supervisor.storage_error()) return fail(supervisor.storage_error()->detail);
  return outcome(*loop, supervisor);
}

}  // namespace

RigConfig load_rig(const std::string& rig_path, const std::string& url) {
  RigConfig rig = load_rig_config(rig_path);
  if (!url.empty()) rig.unit_url = url;
  if (!rig.unit_url.empty()) return rig;
  throw proto::InputError(rig_path + ": names no unit; write unit { url: \"...\" } or give --url");
}

ExitCode run_scenario(const RunOptions& options, const std::atomic<bool>& stop, std::ostream& out) {
  const RigConfig rig = load_rig(options.rig_path, options.url);
  const ScenarioConfig scenario = load_scenario_config(options.scenario_path, rig);
  require_new_file(options.out_path, {".mcap"});
  std::optional<ServiceEndpoint> service;
  if (!options.service.host_port.empty()) service = make_service_endpoint(options.service);
  auto session = open_session(rig, out);
  if (!session.ok()) return fail(session.error().detail);
  // The stream first: a line that cannot carry it must not leave an empty recording behind.
  if (const auto on =
          session.value()->unit->start_stream(stream_settings(rig, session.value()->unit->facts()));
      !on.ok()) {
    return fail(on.error().detail);
  }
  const proto::RecordingHeader header = make_header(rig, scenario, session.value()->unit->facts());
  auto sinks = open_sinks(options, service, header);
  if (!sinks.ok()) return fail(sinks.error().detail);
  return drive(options, rig, scenario, *session.value(), sinks.value(), stop, out);
}

ExitCode plot_scenario(const RunOptions& options, const std::string& path, std::ostream& out) {
  const RigConfig rig = load_rig_config_for_plan(options.rig_path);
  const ScenarioConfig config = load_scenario_config(options.scenario_path, rig);
  const Scenario& scenario = config.scenario;
  require_new_file(path, {".svg", ".csv"});
  if (!scenario.is_open_loop()) {
    throw proto::InputError(options.scenario_path + ": the commands of " + scenario.name() +
                            " depend on the rig's motion, which a dry run does not know; 'rigcal "
                            "simulate --rig " +
                            options.rig_path + " --scenario " + options.scenario_path +
                            " --plot motion.svg' draws both on the rig file's model");
  }
  constexpr double kPlanPeriod_s = 1e-3;  // of a unit that ticks at 1 kHz
  const CommandPlan plan = make_plan(scenario, kPlanPeriod_s * rig.divider);
  const bool picture = std::filesystem::path(path).extension() == ".svg";
  proto::write_file(path,
                    picture ? plan_svg(plan, scenario.name(), rig.command_unit) : plan_csv(plan));
  out << scenario.name() << ": " << scenario.duration_s() << " s, at most "
      << scenario.command_peak() << ' ' << rig.command_unit << "; plan in " << path << '\n';
  return ExitCode::kDone;
}

}  // namespace daq
