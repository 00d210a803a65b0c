#include "daq/commands/commands.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numbers>
#include <ostream>
#include <utility>

#include "daq/console/unit_connection.hpp"
#include "daq/scenario/joint_tracker.hpp"
#include "proto/text/command_line/standard_streams.hpp"

namespace daq {
namespace {

using firmware_iface::ReadStatus;
using firmware_iface::UnitSample;

template <typename... Values>
std::string format(const char* pattern, Values... values) {
  char text[256];
  std::snprintf(text, sizeof text, pattern, values...);
  return text;
}

unsigned long long whole(std::uint64_t value) { return value; }

/// Shows the present state of a unit as lines of text. Reads the unit's samples and answers each
/// with a command that keeps the output off. A host-paced unit sends samples only in reply to
/// commands.
class UnitView {
 public:
  /// `unit` must outlive the view; its stream must be running.
  UnitView(const RigConfig& rig, firmware_iface::UnitLink& unit);

  /// Reads samples for the given duration. Returns false if the connection was closed or the unit
  /// has restarted.
  bool watch(Nanoseconds duration);

  /// Returns the view as lines of text, whose number does not change.
  std::vector<std::string> lines() const;

 private:
  void take(const firmware_iface::UnitSample& sample);
  std::string joint_line(std::size_t channel) const;
  std::string inertial_line(std::size_t sensor) const;

  const RigConfig& rig_;
  firmware_iface::UnitLink& unit_;
  std::array<ChannelScale, kJointsMax> scales_;
  Nanoseconds period_;
  firmware_iface::UnitSample sample_;  // the last one
  std::array<double, kJointsMax> angle_rad_{};
  std::array<JointTracker, kJointsMax> trackers_{};
  std::array<int, INERTIAL_SENSORS_MAX> inertial_dividers_;
  std::array<firmware_iface::InertialReadings, INERTIAL_SENSORS_MAX>
      readings_{};  // last reading of each sensor
  TimingHistogram jitter_;
};

UnitView::UnitView(const RigConfig& rig, firmware_iface::UnitLink& unit)
    : rig_(rig),
      unit_(unit),
      scales_(compute_channel_scales(rig)),
      period_(compute_sample_period(rig, unit.facts())),
      inertial_dividers_(compute_inertial_dividers(rig, unit.facts())) {}

bool UnitView::watch(Nanoseconds duration) {
  const Nanoseconds until = unit_.transport().now() + duration;
  UnitSample sample = sample_;
  while (unit_.transport().now() < until) {
    unit_.write_idle_command();
    const ReadStatus status = unit_.read_sample(unit_.transport().now() + period_ * 2, sample);
    if (status == ReadStatus::kClosed || status == ReadStatus::kInconsistent) return false;
    if (status == ReadStatus::kSample) take(sample);
  }
  return true;
}

void UnitView::take(const UnitSample& sample) {
  if (sample_.received.count() > 0 && sample.lost_before == 0) {
    jitter_.add(std::chrono::abs(sample.received - sample_.received - period_));
  }
  sample_ = sample;
  for (std::size_t i = 0; i < rig_.inertial.size(); ++i) {
    if (sample.inertial.has(static_cast<int>(i))) readings_[i] = sample.inertial;
  }
  const double time_s = static_cast<double>(sample.unit_time_us) * 1e-6;
  for (std::size_t j = 0; j < rig_.channel.size(); ++j) {
    if (!sample.is_encoder_valid(static_cast<int>(j))) continue;
    angle_rad_[j] = scales_[j].rad_per_count * static_cast<double>(sample.encoder_counts[j]) +
                    scales_[j].offset_rad;
    trackers_[j].add(time_s, angle_rad_[j]);
  }
}

std::string UnitView::joint_line(std::size_t channel) const {
  const double fine = rig_.channel[channel].slides ? 1e3 : 180.0 / std::numbers::pi;
  return format("  %-14s %12.5f %12.2f %12.2f %11lld   %s", rig_.channel[channel].joint.c_str(),
                angle_rad_[channel], angle_rad_[channel] * fine,
                trackers_[channel].speed_rad_per_s(),
                static_cast<long long>(sample_.encoder_counts[channel]),
                sample_.is_encoder_valid(static_cast<int>(channel)) ? "good" : "MISSING");
}

// Missing means that two due readings are absent; the last sample's may still be on the way.
std::string UnitView::inertial_line(std::size_t sensor) const {
  constexpr std::uint64_t kReadingsLate = 2;
  const firmware_iface::InertialReadings& reading = readings_[sensor];
  const InertialScale& scale = rig_.inertial[sensor].scale;
  const char* name = rig_.inertial[sensor].name.c_str();
  if (reading.sensors == 0) return format("  %-14s no reading yet", name);
  std::array<double, INERTIAL_AXES> values{};
  bool saturated = false;
  for (std::size_t axis = 0; axis < values.size(); ++axis) {
    const int counts = reading.counts[sensor][axis];
    const bool is_read = counts != INERTIAL_NOT_READ && scale.si_per_count[axis] > 0.0;
    values[axis] = is_read ? scale.si_per_count[axis] * counts : NAN;
    saturated = saturated || (is_read && std::abs(counts) >= scale.counts_max[axis]);
  }
  const auto late = kReadingsLate * static_cast<std::uint64_t>(inertial_dividers_[sensor]) + 1;
  const bool missing = sample_.sequence > reading.sequence + late;
  return format("  %-14s %8.3f %8.3f %8.3f rad/s %9.3f %8.3f %8.3f m/s²   %s", name, values[0],
                values[1], values[2], values[3], values[4], values[5],
                missing     ? "MISSING"
                : saturated ? "SATURATED"
                            : "good");
}

std::vector<std::string> UnitView::lines() const {
  const bool any_slides = std::ranges::any_of(rig_.channel, &ChannelConfig::slides);
  std::vector<std::string> lines = {
      any_slides ? format("  %-14s %12s %12s %12s %11s   %s", "joint", "[rad or m]", "[deg or mm]",
                          "[rad|m per s]", "counts", "reading")
                 : format("  %-14s %12s %12s %12s %11s   %s", "joint", "angle [rad]", "angle [deg]",
                          "[rad/s]", "counts", "reading")};
  for (std::size_t j = 0; j < rig_.channel.size(); ++j) lines.push_back(joint_line(j));
  for (std::size_t i = 0; i < rig_.inertial.size(); ++i) lines.push_back(inertial_line(i));
  const char* state = sample_.tripped ? "tripped: " : sample_.driving ? "driving" : "ready";
  std::string output = "  output   ";
  for (std::size_t m = 0; m < rig_.motor.size(); ++m) {
    output += format("%+.3f %s, ", sample_.command[m], rig_.motor[m].command_unit.c_str());
  }
  lines.push_back(output + state +
                  (sample_.tripped ? describe_fault_flags(sample_.fault_flags) : std::string()));
  const firmware_iface::LinkCounters& counters = unit_.counters();
  lines.push_back(format("  samples  %llu received, %llu lost, %llu damaged frames",
                         whole(counters.samples_received), whole(counters.samples_lost),
                         whole(unit_.frame_counters().damaged_count())));
  lines.push_back(format("  timing   99 %% within %.0f µs of their period, longest %.0f µs",
                         jitter_.percentile_us(0.99),
                         static_cast<double>(jitter_.max().count()) * 1e-3));
  const firmware_iface::ClockFit& fit = unit_.clock().fit();
  lines.push_back(fit.valid ? format("  clock    %+.1f ± %.1f ppm against this computer's",
                                     fit.rate_error_ppm, fit.rate_sigma_ppm)
                            : std::string("  clock    rate not yet determined"));
  return lines;
}

constexpr Nanoseconds kProbeTime = std::chrono::seconds(1);
constexpr Nanoseconds kViewPeriod = std::chrono::milliseconds(100);

// Overwrites the previous view, if any. Each line erases the rest of a longer one.
void print_in_place(const std::vector<std::string>& lines, bool first, std::ostream& out) {
  const std::string up = "\x1b[" + std::to_string(lines.size()) + "A";
  if (!first) out << proto::TerminalCodes{up};
  for (const std::string& line : lines) out << line << proto::TerminalCodes{"\x1b[K"} << '\n';
  out << std::flush;
}

// Connects to the unit and starts its sample stream.
firmware_iface::Result<std::unique_ptr<UnitConnection>> open_stream(const RigConfig& rig,
                                                                    std::ostream& out) {
  auto opened = connect_to_unit(rig, out);
  if (!opened.ok()) return opened;
  firmware_iface::UnitLink& unit = *opened.value()->unit;
  const auto started = unit.start_stream(make_stream_settings(rig, unit.facts()));
  if (!started.ok()) return started.error();
  return opened;
}

}  // namespace

ExitCode probe_unit(const RigConfig& rig, std::ostream& out) {
  const auto opened = open_stream(rig, out);
  if (!opened.ok()) return fail(opened.error().detail);
  firmware_iface::UnitLink& unit = *opened.value()->unit;
  UnitView view(rig, unit);
  const bool there = view.watch(kProbeTime);
  for (const std::string& line : view.lines()) out << line << '\n';
  if (!there) return fail("the connection to the unit is lost");
  if (const auto ended = unit.stop_stream(); !ended.ok()) return fail(ended.error().detail);
  return unit.counters().samples_received > 0 ? ExitCode::kDone
                                              : fail("the unit responds but sends no samples");
}

ExitCode monitor_unit(const RigConfig& rig, const std::atomic<bool>& stop, bool in_place,
                      std::ostream& out) {
  const auto opened = open_stream(rig, out);
  if (!opened.ok()) return fail(opened.error().detail);
  firmware_iface::UnitLink& unit = *opened.value()->unit;
  UnitView view(rig, unit);
  out << "Ctrl-C ends." << std::endl;
  bool first = true;
  do {
    const bool there = view.watch(kViewPeriod);
    if (in_place) print_in_place(view.lines(), std::exchange(first, false), out);
    if (!there) return fail("the connection to the unit is lost");
  } while (!stop.load());
  if (!in_place) {
    for (const std::string& line : view.lines()) out << line << '\n';
  }
  const auto ended = unit.stop_stream();
  return ended.ok() ? ExitCode::kDone : fail(ended.error().detail);
}

}  // namespace daq
