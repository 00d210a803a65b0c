#include "daq/commands/probe.hpp"

#include <cstdio>
#include <ostream>
#include <string>

#include "daq/commands/session.hpp"
#include "daq/loop/control_loop.hpp"

namespace daq {
namespace {

using firmware_iface::ReadStatus;
using firmware_iface::UnitLink;
using firmware_iface::UnitSample;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Nanoseconds kProbeTime = seconds(1);
constexpr Nanoseconds kViewPeriod = milliseconds(100);

template <typename... Values>
std::string format(const char* pattern, Values... values) {
  char text[200];
  std::snprintf(text, sizeof text, pattern, values...);
  return text;
}

ExitCode fail(const firmware_iface::Error& error, std::ostream& out) {
  out << "rigcal-daq: " << error.detail << '\n';
  return ExitCode::kTrouble;
}

std::string table(const RigConfig& rig, const UnitSample& sample) {
  const auto scales = channel_scales(rig);
  std::string text = "  hinge            counts      angle [rad]   valid\n";
  for (std::size_t j = 0; j < rig.channel.size(); ++j) {
    const auto counts = static_cast<long long>(sample.encoder_counts[j]);
    const double angle_rad =
        scales[j].rad_per_count * static_cast<double>(counts) + scales[j].offset_rad;
    text += format("  %-14s %8lld   %14.5f   %s\n", rig.channel[j].hinge.c_str(), counts, angle_rad,
                   sample.channel_is_valid(static_cast<int>(j)) ? "yes" : "NO");
  }
  text += format("  output %.3f %s, %s, fault flags 0x%02x\n", sample.command_V,
                 rig.command_unit.c_str(), sample.tripped ? "tripped" : "ready",
                 static_cast<unsigned>(sample.fault_flags));
  return text;
}

std::string counts_line(const UnitLink& unit) {
  const firmware_iface::LinkCounters& counters = unit.counters();
  std::string text = format("  %llu samples received, %llu lost, %llu damaged frames",
                            static_cast<unsigned long long>(counters.samples_received),
                            static_cast<unsigned long long>(counters.samples_lost),
                            static_cast<unsigned long long>(unit.frame_counters().damaged()));
  if (const firmware_iface::ClockFit& fit = unit.clock().fit(); fit.valid) {
    text += format("; unit clock %+.1f ± %.1f ppm", fit.rate_error_ppm, fit.rate_sigma_ppm);
  }
  return text + '\n';
}

// Reads until `until`; answers each sample with "output off", which also serves a unit that the
// host paces.
ReadStatus watch(UnitLink& unit, Nanoseconds until, UnitSample& last, TimingHistogram& jitter,
                 Nanoseconds period) {
  ReadStatus status = ReadStatus::kTimeout;
  while (unit.transport().now() < until) {
    unit.write_idle();
    const Nanoseconds before = last.received;
    status = unit.read_sample(unit.transport().now() + period * 2, last);
    if (status == ReadStatus::kClosed || status == ReadStatus::kInconsistent) return status;
    if (status == ReadStatus::kSample && before.count() > 0) {
      jitter.add(std::chrono::abs(last.received - before - period));
    }
  }
  return status;
}

}  // namespace

ExitCode probe_unit(const RigConfig& rig, std::ostream& out) {
  auto opened = open_session(rig, out);
  if (!opened.ok()) return fail(opened.error(), out);
  UnitLink& unit = *opened.value()->unit;
  if (const auto started = unit.start_stream(stream_settings(rig)); !started.ok()) {
    return fail(started.error(), out);
  }
  UnitSample sample;
  TimingHistogram jitter;
  watch(unit, unit.transport().now() + kProbeTime, sample, jitter,
        sample_period(rig, unit.facts()));
  if (const auto ended = unit.stop_stream(); !ended.ok()) return fail(ended.error(), out);
  out << table(rig, sample) << counts_line(unit);
  return unit.counters().samples_received > 0 ? ExitCode::kDone : ExitCode::kTrouble;
}

ExitCode monitor_unit(const RigConfig& rig, const std::atomic<bool>& stop, std::ostream& out) {
  auto opened = open_session(rig, out);
  if (!opened.ok()) return fail(opened.error(), out);
  UnitLink& unit = *opened.value()->unit;
  if (const auto started = unit.start_stream(stream_settings(rig)); !started.ok()) {
    return fail(started.error(), out);
  }
  UnitSample sample;
  TimingHistogram jitter;
  const Nanoseconds period = sample_period(rig, unit.facts());
  const std::size_t lines = rig.channel.size() + 4;
  for (bool first = true; !stop.load(); first = false) {
    const ReadStatus status =
        watch(unit, unit.transport().now() + kViewPeriod, sample, jitter, period);
    if (!first) out << "\x1b[" << lines << 'A';  // back over the view before
    out << table(rig, sample) << counts_line(unit)
        << format("  arrival jitter 99 %% below %.0f µs, longest %.0f µs\x1b[K\n",
                  jitter.percentile_us(0.99), static_cast<double>(jitter.max().count()) * 1e-3)
        << std::flush;
    if (status == ReadStatus::kClosed || status == ReadStatus::kInconsistent) {
      out << "rigcal-daq: the unit is gone\n";
      return ExitCode::kTrouble;
    }
  }
  const auto ended = unit.stop_stream();
  return ended.ok() ? ExitCode::kDone : fail(ended.error(), out);
}

}  // namespace daq
