#include "daq/safety/unit_report_monitor.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace daq {
namespace {

using firmware_iface::ClockFit;
using firmware_iface::UnitSample;

// For a converter with at least 7 bits: its rounding error is below this share of its range.
constexpr double kRoundingShare = 0.01;
constexpr double kRateSigmas = 4.0;
// Duration of earlier contradictions that a consistent report forgives, as a share of its own.
constexpr double kForgivenShare = 0.1;

}  // namespace

ClockVerdict UnitReportMonitor::judge(const ClockFit& clock) noexcept {
  const double error = std::abs(clock.rate_error_ppm);
  const double uncertainty = kRateSigmas * clock.rate_sigma_ppm;
  if (!clock.valid) return ClockVerdict::kUnknown;
  if (error + uncertainty <= kClockErrorMax_ppm) return ClockVerdict::kGood;
  return error - uncertainty <= kClockErrorMax_ppm ? ClockVerdict::kUnknown : ClockVerdict::kBad;
}

Trip UnitReportMonitor::make_clock_trip(const ClockFit& clock, double time_s) noexcept {
  constexpr double kPpmPerPercent = 1e4;
  const bool is_known = judge(clock) == ClockVerdict::kBad;
  return {
      TripCause::kUnitClock, 0, time_s,
      is_known ? clock.rate_error_ppm / kPpmPerPercent : std::numeric_limits<double>::quiet_NaN(),
      kClockErrorMax_ppm / kPpmPerPercent};
}

bool UnitReportMonitor::is_output_off(const UnitSample& sample) noexcept {
  return sample.tripped && !sample.driving &&
         std::all_of(sample.command.begin(), sample.command.end(),
                     [](double command) { return command == 0.0; });
}

const SentCommand* UnitReportMonitor::find(std::uint64_t number) const noexcept {
  const SentCommand& sent = history_[number % kHistory];
  return number != 0 && sent.number == number ? &sent : nullptr;
}

// Contradictions add up. Otherwise a status that is wrong in every second sample would never be
// found.
bool UnitReportMonitor::exceeds_reaction_time(Contradictions& contradictions, bool contradicts,
                                              double time_s) const noexcept {
  const double since_s = time_s - contradictions.last_s;
  if (contradicts) {
    contradictions.total_s += contradictions.lasts ? since_s : expected_.period_s;
  } else {
    contradictions.total_s = std::max(contradictions.total_s - kForgivenShare * since_s, 0.0);
  }
  contradictions.lasts = contradicts;
  contradictions.last_s = time_s;
  return contradicts && !(contradictions.total_s <= reaction_time_s());
}

// Each sample names the command in effect, so the two can be compared although later commands are
// on their way. After a command that this run did not send, the output should be off.
//
// After a missing sample the loop sends an idle command. Then a unit that drives and always reports
// that it does not is right for a sample, which proves nothing about the others.
Trip UnitReportMonitor::check_output(const UnitSample& sample, double time_s,
                                     double driving_for_s) noexcept {
  const SentCommand* sent = sample.command_unknown ? nullptr : find(sample.command_sequence);
  const bool enabled = sent != nullptr && sent->enabled && !sample.tripped;
  bool contradicts = sample.driving != enabled || sample.command_unknown;
  Trip trip{TripCause::kCommandMismatch, 0, time_s, 0.0, 0.0};
  double largest = -1.0;
  for (std::size_t m = 0; m < expected_.motor_count; ++m) {
    const double wanted = enabled ? sent->command[m] : 0.0;
    const double share = std::abs(sample.command[m] - wanted) / expected_.command_range[m];
    contradicts = contradicts || !(share <= kRoundingShare);
    if (share <= largest) continue;
    largest = share;
    trip.joint = static_cast<std::uint8_t>(m);
    trip.value = sample.command[m];
    trip.limit = wanted;
  }
  const bool is_idle = !enabled && driving_for_s >= 0.0;
  if (is_idle && !contradicts) return {};
  return exceeds_reaction_time(output_, contradicts, time_s) ? trip : Trip{};
}

// The age of an enabling command counts from the sample that it answers, of any other command from
// when it was sent. For commands of earlier runs it counts from when the run started to drive.
//
// If only idle commands reach the unit, each of them is recent. Samples that show them in effect
// then add up. Lost samples do not count, because without samples only idle commands are sent.
Trip UnitReportMonitor::check_command_age(const UnitSample& sample, double time_s,
                                          double driving_for_s) noexcept {
  const SentCommand* sent = find(sample.command_sequence);
  const bool is_heeded = driving_for_s <= 0.0 || (sent != nullptr && sent->enabled);
  unheeded_samples_ = is_heeded ? 0 : unheeded_samples_ + 1;
  double age_s = driving_for_s;
  if (sent != nullptr) {
    const double own_s = sent->enabled
                             ? static_cast<double>(sample.unit_time_us - sent->unit_time_us) * 1e-6
                             : static_cast<double>((sample.received - sent->at).count()) * 1e-9;
    age_s = std::max(std::min(age_s, own_s), unheeded_samples_ * expected_.period_s);
  }
  const double limit_s = expected_.ttl_s + expected_.period_s;
  if (sample.tripped || age_s <= limit_s) return {};
  return {TripCause::kStaleCommand, 0, time_s, age_s, limit_s};
}

// A command must not rely on a sample that is too old. A sample that arrives before it can have
// been latched shows that the clock has jumped ahead, so that no age is known.
Trip UnitReportMonitor::check_clock(const UnitSample& sample, const ClockFit& clock,
                                    double time_s) const noexcept {
  if (!clock.valid || judge(clock) == ClockVerdict::kBad) return make_clock_trip(clock, time_s);
  const double host_s =
      static_cast<double>((sample.received - clock.host_reference).count()) * 1e-9;
  const double unit_s = static_cast<double>(sample.unit_time_us - clock.unit_reference_us) * 1e-6;
  const double age_s = host_s - unit_s / (1.0 + clock.rate_error_ppm * 1e-6);
  if (std::abs(age_s) <= expected_.staleness_s_max) return {};
  return {TripCause::kSampleAge, 0, time_s, age_s, expected_.staleness_s_max};
}

Trip UnitReportMonitor::add(const UnitSample& sample, const ClockFit& clock, double time_s,
                            double driving_for_s, bool has_fault) noexcept {
  if (sample.command_delay_ticks) {
    const double delay_s =
        std::min(*sample.command_delay_ticks * expected_.tick_s, expected_.ttl_s);
    delay_s_ = is_measured_ ? std::max(delay_s_, delay_s) : delay_s;
    is_measured_ = true;
  }
  const bool contradicts =
      sample.tripped != (sample.fault_flags != 0) || (has_fault && !sample.tripped);
  if (exceeds_reaction_time(faults_, contradicts, time_s)) {
    return {TripCause::kFaultMismatch, 0, time_s, static_cast<double>(sample.fault_flags), 0.0};
  }
  Trip trip = check_output(sample, time_s, driving_for_s);
  if (trip.cause != TripCause::kNone || driving_for_s < 0.0) return trip;
  trip = check_command_age(sample, time_s, driving_for_s);
  return trip.cause != TripCause::kNone ? trip : check_clock(sample, clock, time_s);
}

}  // namespace daq
