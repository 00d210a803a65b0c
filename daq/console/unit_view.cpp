#include "daq/console/unit_view.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numbers>

#include "daq/console/unit_connection.hpp"

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

}  // namespace

UnitView::UnitView(const RigConfig& rig, firmware_iface::UnitLink& unit)
    : rig_(rig),
      unit_(unit),
      scales_(channel_scales(rig)),
      period_(sample_period(rig, unit.facts())),
      inertial_dividers_(inertial_dividers(rig, unit.facts())) {}

bool UnitView::watch(Nanoseconds duration) {
  const Nanoseconds until = unit_.transport().now() + duration;
  UnitSample sample = sample_;
  while (unit_.transport().now() < until) {
    unit_.write_idle();
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
    if (!sample.encoder_is_valid(static_cast<int>(j))) continue;
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
                sample_.encoder_is_valid(static_cast<int>(channel)) ? "good" : "MISSING");
}

// Missing means that two due readings are absent; the last sample's may still be on the way.
std::string UnitView::inertial_line(std::size_t sensor) const {
  constexpr std::uint64_t kReadingsLate = 2;
  const firmware_iface::UnitInertial& reading = readings_[sensor];
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
                         whole(unit_.frame_counters().damaged())));
  lines.push_back(format("  timing   99 %% within %.0f µs of their period, longest %.0f µs",
                         jitter_.percentile_us(0.99),
                         static_cast<double>(jitter_.max().count()) * 1e-3));
  const firmware_iface::ClockFit& fit = unit_.clock().fit();
  lines.push_back(fit.valid ? format("  clock    %+.1f ± %.1f ppm against this computer's",
                                     fit.rate_error_ppm, fit.rate_sigma_ppm)
                            : std::string("  clock    rate not yet determined"));
  return lines;
}

}  // namespace daq
