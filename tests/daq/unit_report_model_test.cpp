#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <random>
#include <vector>

#include "daq/safety/unit_report_monitor.hpp"

// The monitor of the unit's reports against a model that keeps all samples and commands of a run.
// Random commands, echoes, outputs near the tolerance, flags, delays and clocks. Catches a duration
// that counts from another sample, and an exchanged motor, flag or threshold.

namespace daq {
namespace {

using firmware_iface::ClockFit;
using firmware_iface::UnitSample;

struct ReportedSample {
  UnitSample sample;
  ClockFit clock;
  double time_s = 0.0, driving_for_s = -1.0;
  bool has_fault = false;
};

class UnitReportModel {
 public:
  explicit UnitReportModel(const UnitExpectations& expected) : expected_(expected) {}

  void send(const SentCommand& sent) { sent_.push_back(sent); }

  Trip add(const ReportedSample& report) {
    const UnitSample& sample = report.sample;
    times_s_.push_back(report.time_s);
    if (sample.command_delay_ticks) {
      const double delay_s = *sample.command_delay_ticks * expected_.tick_s;
      delays_s_.push_back(std::min(delay_s, expected_.ttl_s));
    }
    contradicts_flags_.push_back(sample.tripped ? sample.fault_flags == 0
                                                : sample.fault_flags != 0 || report.has_fault);
    if (lasts_too_long(contradicts_flags_, times_s_)) {
      return {TripCause::kFaultMismatch, 0, report.time_s, 1.0 * sample.fault_flags, 0.0};
    }
    Trip trip{TripCause::kCommandMismatch, 0, report.time_s, 0.0, 0.0};
    const bool contradicts = find_contradiction(sample, trip);
    const std::optional<SentCommand> sent = find(sample.command_sequence);
    const bool enabled = sent && sent->enabled;
    // An idle command in the drive is no evidence that others were obeyed.
    if (contradicts || (enabled && !sample.tripped && !sample.command_unknown) ||
        report.driving_for_s < 0.0) {
      output_times_s_.push_back(report.time_s);
      contradicts_output_.push_back(contradicts);
    }
    if (contradicts && lasts_too_long(contradicts_output_, output_times_s_)) return trip;
    if (report.driving_for_s < 0.0) return {};
    unheeded_samples_ = enabled || report.driving_for_s == 0.0 ? 0 : unheeded_samples_ + 1;
    double age_s = std::min(command_age_s(sample), report.driving_for_s);
    if (sent) age_s = std::max(age_s, unheeded_samples_ * expected_.period_s);
    const double oldest_s = expected_.ttl_s + expected_.period_s;
    if (!sample.tripped && age_s > oldest_s) {
      return {TripCause::kStaleCommand, 0, report.time_s, age_s, oldest_s};
    }
    return check_clock(report);
  }

 private:
  /// Whether contradictions add up to more than the reaction time. A consistent sample takes off a
  /// tenth of the time since the sample before it.
  bool lasts_too_long(const std::vector<bool>& contradicts,
                      const std::vector<double>& times_s) const {
    const double delay_s = delays_s_.empty() ? 0.01 : std::ranges::max(delays_s_);
    double total_s = 0.0;
    for (std::size_t k = 0; k < contradicts.size(); ++k) {
      const double since_s = times_s[k] - (k == 0 ? 0.0 : times_s[k - 1]);
      if (!contradicts[k]) {
        total_s = std::max(total_s - 0.1 * since_s, 0.0);
      } else {
        total_s += k > 0 && contradicts[k - 1] ? since_s : expected_.period_s;
      }
    }
    return !contradicts.empty() && contradicts.back() &&
           total_s > delay_s + 0.01 + expected_.period_s;
  }

  std::optional<SentCommand> find(std::uint64_t number) const {
    for (const SentCommand& sent : sent_) {
      if (sent.number == number && number + 1024 > sent_.back().number) return sent;
    }
    return {};
  }

  /// Names the motor whose output differs most, in shares of its range.
  bool find_contradiction(const UnitSample& sample, Trip& trip) const {
    std::optional<SentCommand> sent = find(sample.command_sequence);
    if (sample.command_unknown) sent.reset();
    const bool enabled = sent && sent->enabled && !sample.tripped;
    bool contradicts = sample.driving != enabled || sample.command_unknown;
    std::vector<double> shares;
    for (std::size_t m = 0; m < expected_.motor_count; ++m) {
      const double wanted = enabled ? sent->command[m] : 0.0;
      shares.push_back(std::abs(sample.command[m] - wanted) / expected_.command_range[m]);
      contradicts = contradicts || shares[m] > 0.01;
    }
    const auto m = static_cast<std::size_t>(std::ranges::max_element(shares) - shares.begin());
    trip.joint = static_cast<std::uint8_t>(m);
    trip.value = sample.command[m];
    trip.limit = enabled ? sent->command[m] : 0.0;
    return contradicts;
  }

  double command_age_s(const UnitSample& sample) const {
    const std::optional<SentCommand> sent = find(sample.command_sequence);
    if (!sent) return 1e9;
    return sent->enabled ? 1e-6 * static_cast<double>(sample.unit_time_us - sent->unit_time_us)
                         : 1e-9 * static_cast<double>((sample.received - sent->at).count());
  }

  Trip check_clock(const ReportedSample& report) const {
    const ClockFit& clock = report.clock;
    const double error = std::abs(clock.rate_error_ppm);
    const double least = error - 4.0 * clock.rate_sigma_ppm;
    const bool is_bad = clock.valid && (std::isnan(least) || least > 10'000.0);
    if (is_bad || !clock.valid) {
      return {TripCause::kUnitClock, 0, report.time_s,
              is_bad ? 1e-4 * clock.rate_error_ppm : std::nan(""), 1.0};
    }
    const double host_s =
        1e-9 * static_cast<double>((report.sample.received - clock.host_reference).count());
    const double unit_s =
        1e-6 * static_cast<double>(report.sample.unit_time_us - clock.unit_reference_us);
    const double age_s = host_s - unit_s / (1.0 + 1e-6 * clock.rate_error_ppm);
    if (std::abs(age_s) <= expected_.staleness_s_max) return {};
    return {TripCause::kSampleAge, 0, report.time_s, age_s, expected_.staleness_s_max};
  }

  UnitExpectations expected_;
  std::vector<SentCommand> sent_;
  std::vector<double> times_s_, output_times_s_, delays_s_;
  std::vector<bool> contradicts_flags_, contradicts_output_;
  int unheeded_samples_ = 0;
};

/// Random reports of a unit that obeys with some delay, and lies for a while in one way. It may
/// trip soon after.
class RandomUnit {
 public:
  RandomUnit(std::uint64_t seed, const UnitExpectations& expected)
      : random_(seed),
        expected_(expected),
        lie_(one_of(18)),
        from_(20 + one_of(150)),
        until_(from_ + one_of(60)),
        driven_from_(one_of(2) == 0 ? 30 : 1000),
        trips_from_(one_of(3) == 0 ? from_ + 10 : 1000),
        lag_(1 + one_of(8)) {}

  ReportedSample report(std::size_t k, const std::vector<SentCommand>& sent) {
    const bool lies = k >= from_ && k < until_;
    ReportedSample report;
    UnitSample& sample = report.sample;
    report.time_s = 1e-3 * static_cast<double>(k);
    if (k >= driven_from_) report.driving_for_s = 1e-3 * static_cast<double>(k - driven_from_);
    sample.unit_time_us = static_cast<std::int64_t>(1000 * k);
    sample.received = std::chrono::milliseconds(5000 + k);
    if (one_of(20) == 0) sample.command_delay_ticks = static_cast<int>(one_of(12));
    std::size_t echo = k > lag_ ? k - lag_ : 0;
    if (lies && lie_ == 0) echo = from_ > lag_ ? from_ - lag_ : 0;
    if (lies && lie_ == 1) echo += 3000;
    sample.command_sequence = echo;
    const bool is_known = echo >= 1 && echo <= sent.size();
    sample.driving = is_known && sent[echo - 1].enabled;
    if (sample.driving) sample.command = sent[echo - 1].command;
    for (std::size_t m = 0; m < expected_.motor_count; ++m) {
      if (!lies || lie_ != 2) continue;
      sample.command[m] +=
          (static_cast<double>(one_of(9)) - 4.0) * 4e-3 * expected_.command_range[m];
    }
    if (lies && lie_ == 3) sample.driving = !sample.driving;
    if (lies && lie_ == 13) {
      sample.driving = false;
      sample.command = {};
    }
    if (lies && lie_ == 4) sample.command_unknown = true;
    if (lies && lie_ >= 5 && lie_ <= 7) {
      sample.tripped = one_of(3) > 0 || lie_ == 5;
      sample.fault_flags = lie_ == 6 ? 0x10 : lie_ == 7 && one_of(4) > 0 ? 0x22 : 0;
      report.has_fault = one_of(2) == 0;
      if (sample.tripped) sample.driving = false;
      if (sample.tripped) sample.command = {};
    }
    if (k >= trips_from_) {
      sample.tripped = true;
      sample.driving = false;
      sample.command = {};
      sample.fault_flags = 0x20;
    }
    report.clock = {.rate_error_ppm = 300.0, .rate_sigma_ppm = 5.0};
    report.clock.valid = true;
    report.clock.host_reference = std::chrono::milliseconds(5000);
    if (lies && lie_ == 8) report.clock.valid = false;
    if (lies && lie_ == 14) report.clock.rate_error_ppm = std::nan("");
    if (lies && lie_ == 15) report.clock.rate_sigma_ppm = std::nan("");
    if (lies && lie_ == 16) report.clock.rate_sigma_ppm = 2'420.0 + static_cast<double>(one_of(10));
    if (lies && lie_ == 17) {
      report.clock.rate_error_ppm = 20'000.0;
      report.clock.rate_sigma_ppm = 2'495.0 + static_cast<double>(one_of(10));
    }
    if (lies && lie_ == 9) report.clock.rate_error_ppm = one_of(2) == 0 ? 10'010.0 : -10'030.0;
    if (lies && lie_ == 10)
      sample.received += std::chrono::microseconds(one_of(100'000)) - std::chrono::milliseconds(50);
    if (lies && lie_ == 11) report.clock.unit_reference_us = 200'000;
    return report;
  }

  SentCommand send(std::size_t k) {
    SentCommand sent{.number = k + 1,
                     .unit_time_us = static_cast<std::int64_t>(1000 * k),
                     .at = std::chrono::milliseconds(5000 + k)};
    const bool lies = k >= from_ && k < until_;
    const std::size_t idle = lies && lie_ == 13 ? 5 : 200;
    sent.enabled = k >= driven_from_ && one_of(idle) > 0 && !(lies && lie_ == 12);
    for (std::size_t m = 0; m < expected_.motor_count; ++m) {
      sent.command[m] =
          (static_cast<double>(one_of(201)) - 100.0) * 0.01 * expected_.command_range[m];
    }
    return sent;
  }

 private:
  std::size_t one_of(std::size_t count) { return random_() % count; }

  std::mt19937_64 random_;
  UnitExpectations expected_;
  std::size_t lie_, from_, until_, driven_from_, trips_from_, lag_;
};

TEST(UnitReportModel, AgreesWithTheMonitorInRandomRuns) {
  const UnitExpectations expected{.tick_s = 1e-3,
                                  .period_s = 1e-3,
                                  .ttl_s = 0.02,
                                  .staleness_s_max = 0.03,
                                  .motor_count = 3,
                                  .command_range = {10.0, 2.0, 1.0}};
  std::map<TripCause, int> causes;
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    SCOPED_TRACE(seed);
    UnitReportMonitor monitor;
    monitor.expect(expected);
    UnitReportModel model(expected);
    RandomUnit unit(seed, expected);
    std::vector<SentCommand> sent;
    Trip trip;
    for (std::size_t k = 0; k < 300 && trip.cause == TripCause::kNone; ++k) {
      const ReportedSample report = unit.report(k, sent);
      trip = monitor.add(report.sample, report.clock, report.time_s, report.driving_for_s,
                         report.has_fault);
      const Trip wanted = model.add(report);
      ASSERT_EQ(to_string(trip.cause), to_string(wanted.cause)) << k;
      EXPECT_EQ(trip.joint, wanted.joint);
      EXPECT_EQ(trip.time_s, wanted.time_s);
      EXPECT_TRUE(std::abs(trip.value - wanted.value) < 1e-9 ||
                  (std::isnan(trip.value) && std::isnan(wanted.value)));
      EXPECT_NEAR(trip.limit, wanted.limit, 1e-9);
      sent.push_back(unit.send(k));
      monitor.record_sent_command(sent.back());
      model.send(sent.back());
    }
    ++causes[trip.cause];
  }
  for (const TripCause cause :
       {TripCause::kNone, TripCause::kCommandMismatch, TripCause::kStaleCommand,
        TripCause::kFaultMismatch, TripCause::kSampleAge, TripCause::kUnitClock}) {
    EXPECT_GE(causes[cause], 10) << to_string(cause);
  }
}

}  // namespace
}  // namespace daq
