#include "proto/recording/recording_info.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <numeric>
#include <utility>

#include "proto/notation/number_format.hpp"
#include "proto/recording/mcap/file.hpp"
#include "proto/recording/recording_recover.hpp"
#include "proto/recording/recording_rules.hpp"
#include "proto/text/printable.hpp"

namespace proto {
namespace {

constexpr std::size_t kEventsShown = 100;
constexpr std::size_t kLineMax_bytes = 511;  // of untrusted text

constexpr std::array<const char*, kGapCauseCount> kCauseNames = {
    "for an unknown reason",
    "lost on the link",
    "dropped because the recorder was late",
    "lost while the unit reset",
    "not written to disk",
    "not streamed",
    "missing for an unrecorded reason"};

class Inspector final : public RecordingVisitor {
 public:
  explicit Inspector(RecordingInfo& info) : info_(info) {}

  void on_header(const RecordingHeader& header) override {
    constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();
    info_.header = header;
    info_.channels.resize(header.joints.size(), {0, kNothing, kNothing});
    info_.inertial.resize(header.inertial_sensors.size());
    info_.motors.resize(recording_shape(header).commands());
  }

  void on_inertial(const InertialReading& reading) override {
    RecordingInfo::InertialSummary& sensor = info_.inertial[reading.sensor];
    const auto magnitude = [&](std::size_t first) {
      return std::hypot(reading.value[first], reading.value[first + 1], reading.value[first + 2]);
    };
    ++sensor.reading_count;
    if (reading.saturated != 0) ++sensor.saturated_count;
    sensor.rate_max = std::fmax(sensor.rate_max, magnitude(0));
    sensor.force_max = std::fmax(sensor.force_max, magnitude(3));
  }

  void on_sample(const Sample& sample) override {
    if (first_) {
      info_.first_s = sample.timestamp_s;
      for (std::size_t m = 0; m < info_.motors.size(); ++m) {
        info_.motors[m] = {sample.command[m], sample.command[m]};
      }
      first_ = false;
    }
    info_.last_s = sample.timestamp_s;
    for (std::size_t m = 0; m < info_.motors.size(); ++m) {
      RecordingInfo::MotorSummary& motor = info_.motors[m];
      motor.command_min = std::min(motor.command_min, sample.command[m]);
      motor.command_max = std::max(motor.command_max, sample.command[m]);
    }
    for (std::size_t c = 0; c < sample.channel_count; ++c) {
      RecordingInfo::ChannelSummary& channel = info_.channels[c];
      if (!sample.valid[c]) {
        ++channel.invalid_count;
        continue;
      }
      // fmin and fmax prefer a number to the initial NaN.
      channel.angle_rad_min = std::fmin(channel.angle_rad_min, sample.angle_rad[c]);
      channel.angle_rad_max = std::fmax(channel.angle_rad_max, sample.angle_rad[c]);
    }
  }

  void on_gap(const Gap& gap) override {
    ++info_.gap_count;
    info_.missing_counts[static_cast<std::size_t>(gap.cause)] += gap.sample_count;
  }

  void on_event(const Event& event) override {
    ++info_.event_count;
    if (event.name == kInterruptedEvent) info_.interrupted = true;
    if (info_.events.size() == kEventsShown) return;
    info_.events.push_back(event);
    info_.events.back().last_frames.clear();
  }

  void on_clock_fit(const ClockFit& fit) override { info_.clock = fit; }

  void on_loop_stats(const LoopStats& stats) override { info_.loop = stats; }

  void on_attachment(const Attachment& attachment) override {
    info_.attachments.push_back(attachment.name);
  }

 private:
  RecordingInfo& info_;
  bool first_ = true;
};

template <typename... Args>
void append_line(std::string& text, fmt::format_string<Args...> format, Args&&... args) {
  const std::string line = fmt::format(format, std::forward<Args>(args)...);
  text.append(escape_for_terminal(line.substr(0, kLineMax_bytes))).append("\n");
}

// UTC, to the second.
std::string format_date(std::int64_t unix_ns) {
  const auto seconds = static_cast<std::time_t>(unix_ns / 1'000'000'000);
  std::tm parts{};
  std::array<char, 64> text{};
  if (::gmtime_r(&seconds, &parts) == nullptr) return "unknown";
  std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S UTC", &parts);
  return text.data();
}

void append_facts(const RecordingInfo& info, std::string& text) {
  append_line(text, "started     {}", format_date(info.header.epoch_unix_ns));
  for (const auto& [name, value] : info.header.facts) append_line(text, "{:<11} {}", name, value);
  append_line(text, "samples     {} in {:.3f} s, {:.1f} kB", info.scan.sample_count,
              info.last_s - info.first_s, 1e-3 * static_cast<double>(info.size_bytes));
  for (std::size_t m = 0; m < info.motors.size(); ++m) {
    const bool named = m < info.header.motors.size();
    append_line(text, "command     {:.3f} to {:.3f} {}{}", info.motors[m].command_min,
                info.motors[m].command_max, command_unit(info.header, m),
                named ? " at " + info.header.motors[m] : "");
  }
  for (std::size_t c = 0; c < info.channels.size(); ++c) {
    const RecordingInfo::ChannelSummary& channel = info.channels[c];
    append_line(text, "{:<11} {:.4f} to {:.4f} {}, {} samples without a reading",
                info.header.joints[c], channel.angle_rad_min, channel.angle_rad_max,
                channel_unit(info.header, c), channel.invalid_count);
  }
  for (std::size_t i = 0; i < info.inertial.size(); ++i) {
    const RecordingInfo::InertialSummary& sensor = info.inertial[i];
    append_line(text, "{:<11} up to {} rad/s and {} m/s², {} readings, {} saturated",
                info.header.inertial_sensors[i], notation::format_number(sensor.rate_max),
                notation::format_number(sensor.force_max), sensor.reading_count,
                sensor.saturated_count);
  }
}

void append_quality(const RecordingInfo& info, std::string& text) {
  if (info.clock) {
    append_line(text, "clock       unit {:+.2f} ± {:.2f} ppm against the host",
                info.clock->rate_error_ppm, info.clock->rate_error_ppm_sd);
  }
  append_line(text, "missing     {} samples in {} gaps", info.missing_sample_count(),
              info.gap_count);
  for (std::size_t cause = 0; cause < info.missing_counts.size(); ++cause) {
    if (info.missing_counts[cause] == 0) continue;
    append_line(text, "            {} {}", info.missing_counts[cause], kCauseNames[cause]);
  }
  if (info.loop) {
    append_line(text,
                "loop        sample jitter 99 % below {:.0f} µs, longest {:.0f} µs; "
                "{} periods without a sample, {} skipped",
                info.loop->wakeup_us_p99, info.loop->wakeup_us_max, info.loop->link_timeouts,
                info.loop->skipped_periods);
  }
  for (const Event& event : info.events) {
    append_line(text, "{:10.3f} s {}: {}", event.timestamp_s, event.name, event.text);
  }
  if (info.event_count > info.events.size()) {
    append_line(text, "            and {} more events", info.event_count - info.events.size());
  }
  for (const std::string& name : info.attachments) append_line(text, "attached    {}", name);
}

void append_condition(const RecordingInfo& info, std::string& text) {
  if (info.interrupted)
    append_line(text, "ending      interrupted: the recording program ended early");
  const McapScan& container = info.scan.container;
  if (container.intact() && info.scan.unreadable_count == 0) {
    append_line(text, "condition   complete, all checksums correct");
    return;
  }
  append_line(text, "condition   {}; {} chunks damaged, {} bytes skipped, {} messages rejected",
              container.finished ? "complete" : "incomplete: repair it with 'rigcal recover'",
              container.damaged_chunk_count, container.skipped_bytes, info.scan.unreadable_count);
  if (!info.scan.first_violation.empty()) {
    append_line(text, "            {}", info.scan.first_violation);
  }
  for (const std::string& problem : container.problems)
    append_line(text, "            {}", problem);
}

}  // namespace

std::uint64_t RecordingInfo::missing_sample_count() const {
  return std::accumulate(missing_counts.begin(), missing_counts.end(), std::uint64_t{0});
}

Result<RecordingInfo> inspect_recording(const std::string& path) {
  auto file = open_input_file(path);
  if (!file.ok()) return file.error();
  RecordingInfo info;
  info.size_bytes = file.value()->size_bytes();
  Inspector inspector(info);
  auto scan = scan_recording(*file.value(), inspector);
  if (!scan.ok()) return Error{scan.error().code, path + ": " + scan.error().detail};
  info.scan = std::move(scan.value());
  return info;
}

std::string to_text(const RecordingInfo& info) {
  std::string text;
  append_facts(info, text);
  append_quality(info, text);
  append_condition(info, text);
  return text;
}

}  // namespace proto
