#include "daq/commands/run.hpp"

#include <chrono>
#include <filesystem>
#include <iomanip>
#include <memory>
#include <optional>
#include <ostream>
#include <thread>

#include "daq/commands/recording_sink.hpp"
#include "daq/commands/session.hpp"
#include "daq/config/scenario_config.hpp"
#include "daq/loop/supervisor.hpp"
#include "daq/realtime/rt_thread.hpp"
#include "daq/scenario/plan.hpp"
#include "proto/text/files.hpp"
#include "proto/text/input_error.hpp"

namespace daq {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kPollPeriod(10);

void refuse_existing(const std::string& path) {
  if (!std::filesystem::exists(path)) return;
  throw proto::InputError(path + ": exists already; choose another name, nothing is written over");
}

proto::RecordingHeader make_header(const RigConfig& rig, const ScenarioConfig& scenario,
                                   const firmware_iface::UnitFacts& facts) {
  proto::RecordingHeader header;
  for (const ChannelConfig& channel : rig.channel) header.hinges.push_back(channel.hinge);
  header.epoch_unix_ns =
      std::chrono::duration_cast<Nanoseconds>(std::chrono::system_clock::now().time_since_epoch())
          .count();
  header.facts = {{"rig", rig.name},
                  {"scenario", scenario.scenario.name()},
                  {"motor", rig.motor_hinge},
                  {"command_unit", rig.command_unit},
                  {"unit_url", rig.unit_url},
                  {"unit_id", std::to_string(facts.unit_id)},
                  {"configuration_hash", std::to_string(facts.configuration_hash)},
                  {"tick_rate_Hz", std::to_string(facts.tick_rate_Hz)},
                  {"version", RIG_VERSION}};
  return header;
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

// Supervises until the loop has ended; asks it to where the operator or the disk demands.
void supervise(LoopThread& thread, Supervisor& supervisor, const std::atomic<bool>& stop) {
  bool stopping = false;
  while (!thread.ended()) {
    std::this_thread::sleep_for(kPollPeriod);
    supervisor.poll();
    if (stopping) continue;
    stopping = supervisor.wants_stop() || stop.load();
    if (!stopping) continue;
    if (!supervisor.wants_stop()) {
      supervisor.report(proto::EventKind::kOperator, "stop", "The operator ended the run.");
    }
    thread.stop();
  }
  thread.join();
}

void print_delays(const DelayCounts& delays, std::ostream& out) {
  std::int64_t total = 0;
  for (const auto& count : delays) total += count.load();
  if (total == 0) return;
  out << "commands took effect after";
  for (std::size_t k = 0; k < delays.size(); ++k) {
    const double share = 100.0 * static_cast<double>(delays[k].load()) / static_cast<double>(total);
    if (share > 0.0)
      out << ' ' << k << (k + 1 < delays.size() ? "" : " or more") << " ticks ("
          << std::setprecision(4) << share << " %)";
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
  const TimingHistogram& jitter = loop.arrival_jitter();
  const TimingHistogram& cycle = loop.cycle_time();
  out << "\nsample jitter 99 % below " << jitter.percentile_us(0.99) << " µs, longest "
      << static_cast<double>(jitter.max().count()) * 1e-3
      << " µs; from sample to command 99 % below " << cycle.percentile_us(0.99) << " µs, longest "
      << static_cast<double>(cycle.max().count()) * 1e-3 << " µs\n";
  print_delays(loop.command_delays(), out);
}

LoopSettings loop_settings(const RigConfig& rig, const ScenarioConfig& scenario,
                           Nanoseconds period) {
  return {.period = period,
          .host_paced = rig.host_paced,
          .drive = scenario.scenario.command_peak() > 0.0,
          .ttl_ms = rig.ttl_ms,
          .joint_count = rig.channel.size(),
          .channel = channel_scales(rig)};
}

ExitCode outcome(const ControlLoop& loop, const Supervisor& supervisor) {
  if (supervisor.storage_error()) return ExitCode::kTrouble;
  const Trip* trip = loop.trip();
  if (trip == nullptr) return ExitCode::kDone;
  const bool gone = trip->cause == TripCause::kLinkLost || trip->cause == TripCause::kUnitRestarted;
  return gone ? ExitCode::kTrouble : ExitCode::kTripped;
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
  refuse_existing(options.out_path);

  const auto fail = [&](const std::string& detail) {
    out << "rigcal-daq: " << detail << '\n';
    return ExitCode::kTrouble;
  };
  auto opened = open_session(rig, out);
  if (!opened.ok()) return fail(opened.error().detail);
  UnitSession& session = *opened.value();
  firmware_iface::UnitLink& unit = *session.unit;

  // The stream first: a line that cannot carry it must not leave an empty recording behind.
  if (const auto started = unit.start_stream(stream_settings(rig)); !started.ok()) {
    return fail(started.error().detail);
  }
  auto writer =
      proto::RecordingWriter::create(options.out_path, make_header(rig, scenario, unit.facts()));
  if (!writer.ok()) return fail(writer.error().detail);
  RecordingSink recording(std::move(writer.value()));
  const Nanoseconds period = sample_period(rig, unit.facts());
  if (const auto status = attach_inputs(recording, rig, scenario, period); !status.ok()) {
    return fail(status.error().detail);
  }

  const auto loop =
      std::make_unique<ControlLoop>(unit, session.black_box, scenario.scenario, scenario.limits,
                                    loop_settings(rig, scenario, period));
  const auto say = [&](const std::string& line) { out << line << std::endl; };
  Supervisor supervisor(*loop, session.black_box, scenario.limits, recording, nullptr, say);

  LoopThread thread(*loop, rig.real_time);
  for (const std::string& sentence : thread.report().refused) say("note: " + sentence);
  supervise(thread, supervisor, stop);

  std::optional<std::uint64_t> samples_sent;
  const auto ended = unit.stop_stream(
      [&](const firmware_iface::UnitSample& sample) { supervisor.take_late(sample); });
  if (ended.ok()) samples_sent = ended.value().samples_sent;
  supervisor.finish(samples_sent);
  const proto::Status finished = recording.finish();
  print_summary(*loop, supervisor, samples_sent, out);
  if (!finished.ok()) return fail(finished.error().detail);
  out << "recorded " << options.out_path << '\n';
  if (supervisor.storage_error()) return fail(supervisor.storage_error()->detail);
  return outcome(*loop, supervisor);
}

ExitCode plot_scenario(const RunOptions& options, const std::string& path, std::ostream& out) {
  const RigConfig rig = load_rig_config(options.rig_path);
  const ScenarioConfig scenario = load_scenario_config(options.scenario_path, rig);
  refuse_existing(path);
  constexpr double kPlanPeriod_s = 1e-3;  // of a unit that ticks at 1 kHz
  const CommandPlan plan = make_plan(scenario.scenario, kPlanPeriod_s * rig.divider);
  const bool picture = std::filesystem::path(path).extension() == ".svg";
  proto::write_file(
      path, picture ? plan_svg(plan, scenario.scenario.name(), rig.command_unit) : plan_csv(plan));
  out << scenario.scenario.name() << ": " << scenario.scenario.duration_s() << " s, at most "
      << scenario.scenario.command_peak() << ' ' << rig.command_unit << "; plan in " << path
      << '\n';
  if (!scenario.scenario.is_open_loop()) {
    out << "The commands depend on the rig's motion: the plan shows a rig that stays at rest.\n";
  }
  return ExitCode::kDone;
}

}  // namespace daq
