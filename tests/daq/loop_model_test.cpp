#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <utility>

#include "daq/loop/control_loop.hpp"
#include "firmware_iface/wire/fault.h"
#include "tests/firmware_iface/scripted_unit.hpp"

// The control loop in random runs against a model of a few lines. Samples arrive when the test
// wants it. The unit obeys, refuses to clear its trip, trips by itself or ignores a trip command.

namespace daq {
namespace {

using firmware_iface::ClearTripState;
using scripted_unit::ScriptedUnit;

constexpr std::int64_t kTick_ns = 1'000'000;
constexpr double kRange_V = 10.0;

double to_seconds(std::int64_t ns) { return static_cast<double>(ns) * 1e-9; }

class LoopModel {
 public:
  explicit LoopModel(std::uint64_t seed) : random_(seed) {
    divider_ = pick({1, 1, 2});
    period_ns_ = divider_ * kTick_ns;
    settings_.period = Nanoseconds(period_ns_);
    settings_.drive = pick({1, 1, 1, 0}) != 0;
    settings_.ttl_ms = pick({20, 50});
    settings_.settle_s = pick({125, 625, 800}) * 1e-3;
    settings_.clock_s_max = pick({5000, 5000, 5000, 250}) * 1e-3;
    settings_.arm_s_max = pick({500, 125, 5000}) * 1e-3;
    // Some limits are equal to times of silence and to differences of sample times.
    settings_.after_trip_s = pick({0, 1}) != 0 ? 0.125 : silence_s(29);
    settings_.joint_count = 2;
    for (std::size_t j = 0; j < 2; ++j) {
      settings_.channel[j] = {1e-3 * (1.0 + static_cast<double>(j)) * (j == 0 ? -1.0 : 1.0),
                              0.5 * static_cast<double>(j)};
    }
    limits_ = {
        .motor = {{"arm", 8.0, 1e12}},
        .staleness_s_max = silence_s(3),
        .joint = {{"arm", -1e9, 1e9, 1e12, 1e9, 1e9}, {"pendulum", -1e9, 1e9, 1e12, 1e9, 1e9}}};
    start_s_ = 1e-3 * static_cast<double>(random_() % 100);
    duration_s_ = 0.2 + 1e-3 * static_cast<double>(random_() % 600);
    amplitude_V_ = 0.5 + static_cast<double>(random_() % 7);
    lost_clear_requests_ = pick({0, 0, 0, 1, 2, 100});
    refused_flags_ = static_cast<std::uint8_t>(pick({0, 0, 0, 0, FAULT_AMPLIFIER, FAULT_INTERNAL}));
    ignored_trip_ticks_ = pick({0, 0, 5, 60});
    trips_itself_ = pick({0, 1}) != 0;
    misses_ = pick({0, 1, 1}) != 0;
    lies_ = pick({0, 0, 1}) != 0;
    reports_faults_ = pick({0, 1}) != 0;
    hidden_echo_ticks_ = pick({0, 0, 5});
    disturbs_line_ = pick({0, 0, 1}) != 0;

    if (pick({0, 0, 1}) != 0) faults_ = 0;  // cleared by an earlier program
    unit_.facts.encoder_count = 2;
    unit_.on_clear = [this](const clear_request& ask) { answer_clear(ask); };
    unit_.wait_until(std::chrono::seconds(1));
    loop_ = std::make_unique<ControlLoop>(
        link_, black_box_,
        Scenario("step", Step{.amplitude = amplitude_V_, .start_s = start_s_}, duration_s_),
        limits_, settings_);
  }

  void run() {
    ASSERT_TRUE(link_.connect().ok());
    ASSERT_TRUE(link_.start_stream({.divider = divider_}).ok());
    start_ = unit_.now();
    // The unit's clock counts from the start of the stream, as that of the host does from 0.
    bool goes_on = true;
    while (goes_on && number_ < 8000) {
      const int missing =
          !misses_ || number_ == 0 || random_() % (trip_ ? 20 : 150) != 0 ? 0 : pick({1, 3, 4, 50});
      for (int k = 0; k < missing && goes_on; ++k) goes_on = miss();
      if (::testing::Test::HasFatalFailure()) return;
      if (goes_on) goes_on = take();
      if (::testing::Test::HasFatalFailure()) return;
    }
    ASSERT_LT(number_, 8000);
  }

  std::optional<TripCause> cause() const {
    return trip_ ? std::optional(trip_->cause) : std::nullopt;
  }
  OutputState output_state() const { return output_; }
  RunPhase phase() const { return phase_; }

 private:
  int pick(std::initializer_list<int> values) { return values.begin()[random_() % values.size()]; }
  /// Returns the time without a sample after so many periods beyond the first one.
  double silence_s(std::int64_t periods) const {
    return to_seconds(period_ns_ * 18 / 10 + periods * period_ns_);
  }

  // --- The unit

  void answer_clear(const clear_request& ask) {
    if (lost_clear_requests_-- > 0) return;  // a lost request is repeated
    if (ask.step == 2) faults_ = refused_flags_;
    const std::uint8_t result = ask.step == 2 && faults_ != 0 ? CLEAR_CAUSE_PRESENT : CLEAR_DONE;
    unit_.send(clear_reply{ask.step, result, 7, faults_});
  }

  /// Carries out the commands that arrived since the last sample.
  void obey() {
    for (; obeyed_ < unit_.commands.size(); ++obeyed_) {
      const command_request& command = unit_.commands[obeyed_];
      in_effect_.command_sequence = command.sequence;
      in_effect_.status = STATUS_COMMAND_SEEN;
      if (command.flags == COMMAND_TRIP && is_driving_ && ignored_trip_ticks_-- > 0) continue;
      is_driving_ = command.flags == COMMAND_ENABLE && faults_ == 0;
      if (command.flags == COMMAND_TRIP) faults_ |= FAULT_HOST;
      in_effect_.command_q15[0] = is_driving_ ? command.command_q15[0] : std::int16_t{0};
    }
  }

  // --- Events

  bool take() {
    ++number_;
    obey();
    if (trips_itself_ && random_() % (phase_ == RunPhase::kArming ? 4 : 200) == 0) {
      faults_ |= FAULT_AMPLIFIER;
      is_driving_ = false;
      in_effect_.command_q15[0] = 0;
    }
    sample_report report = in_effect_;
    report.sequence = static_cast<std::uint16_t>(number_ - 1);
    report.tick_us = static_cast<std::uint32_t>((number_ - 1) * period_ns_ / 1000);
    report.encoders_valid = static_cast<std::uint16_t>(pick({3, 3, 3, 1, 2, 0}));
    is_lying_ = is_lying_ || (lies_ && drives() && random_() % 100 == 0);
    report.fault_flags = is_lying_ && faults_ == 0 ? FAULT_TTL : faults_;
    if (hidden_echo_ticks_ > 0) {
      if (drives()) --hidden_echo_ticks_;
      report.status = 0;
      report.command_sequence = 0;
    }
    if (faults_ != 0) report.status |= STATUS_TRIPPED;
    if (is_driving_) report.status |= STATUS_DRIVING;
    if (random_() % 20 == 0) report.status |= STATUS_COMMAND_REJECTED;
    rejected_count_ += (report.status & STATUS_COMMAND_REJECTED) != 0;
    for (std::size_t j = 0; j < 2; ++j) {
      counts_[j] += pick({-3, 0, 1});
      report.encoder_counts[j] = counts_[j];
      if ((report.encoders_valid >> j & 1) == 0) continue;
      angles_[j] =
          settings_.channel[j].rad_per_count * counts_[j] + settings_.channel[j].offset_rad;
    }
    const Nanoseconds arrival = start_ + Nanoseconds(number_ * period_ns_) +
                                std::chrono::microseconds(pick({0, 0, 0, 100, 200}));
    unit_.wait_until(arrival);
    // A FAULT from before the drive, also one that is read with the sample that begins it.
    if (reports_faults_ && phase_ <= RunPhase::kArming) {
      unit_.send(test_support::message_of(fault_report{FAULT_AMPLIFIER, FAULT_AMPLIFIER, 0, 0, 0}));
    }
    if (disturbs_line_ && random_() % 10 == 0) {
      unit_.send_damaged_frame();
      ++damaged_count_;
    }
    unit_.send(report);
    // The next write is this sample's command, except while the unit's trip is cleared.
    is_refused_ = disturbs_line_ && phase_ == RunPhase::kRunning && random_() % 50 == 0;
    unit_.refuses_next_write = is_refused_;
    refused_count_ += is_refused_;

    // What the loop must do with it:
    const Nanoseconds before = received_;
    received_ = arrival;
    if (number_ == 1) first_ = arrival;
    if (number_ > 1) jitter_.add(std::chrono::abs(arrival - before - settings_.period));
    time_s_ = static_cast<double>(report.tick_us) / 1e6;
    if ((report.status & STATUS_COMMAND_SEEN) != 0) count_delay();
    last_number_ = number_;
    const bool goes_on = loop_->tick();
    advance(report);
    requested_V_ = 0.0;
    if (phase_ == RunPhase::kRunning && !trip_) {
      const double t = std::round((time_s_ - scenario_start_s_) * 1e6) / 1e6;
      if (!(t < duration_s_)) phase_ = RunPhase::kFinished;
      if (t < duration_s_ && t >= start_s_) requested_V_ = amplitude_V_;
    }
    // The last check, after the scenario.
    const double gap_s = time_s_ - std::exchange(last_time_s_, time_s_);
    if (number_ > 1 && gap_s > limits_.staleness_s_max) {
      trip(TripCause::kStaleSample, gap_s, limits_.staleness_s_max);
    }
    if (trip_) {
      phase_ = RunPhase::kTripped;
      output_ = is_off(report)                                ? OutputState::kOff
                : time_s_ - trip_->time_s > reaction_time_s() ? OutputState::kStillDrives
                                                              : OutputState::kTripSent;
    }
    expect_record(report);
    expect_command();
    expect_state();
    const bool is_over =
        trip_ ? time_s_ - trip_->time_s > settings_.after_trip_s && output_ == OutputState::kOff
              : phase_ == RunPhase::kFinished;
    EXPECT_EQ(goes_on, !is_over);
    return goes_on;
  }

  bool miss() {
    ++number_;
    obey();
    const bool goes_on = loop_->tick();
    ++timeouts_;
    const double silent_s = to_seconds((unit_.now() - received_).count());
    EXPECT_EQ(silent_s, silence_s(number_ - last_number_ - 1));
    if (silent_s > limits_.staleness_s_max) {
      trip(TripCause::kLinkLost, silent_s, limits_.staleness_s_max);
    }
    const bool is_over = trip_ && silent_s > settings_.after_trip_s;
    if (trip_ && (is_over || silent_s > limits_.staleness_s_max) && output_ != OutputState::kOff) {
      output_ = OutputState::kUnconfirmed;
    }
    EXPECT_EQ(unit_.commands.back().flags, trip_ ? COMMAND_TRIP : 0);
    expect_state();
    EXPECT_EQ(goes_on, !is_over);
    return goes_on;
  }

  // --- What the loop must do

  void trip(TripCause cause, double value, double limit) {
    if (!trip_) trip_ = Trip{.cause = cause, .time_s = time_s_, .value = value, .limit = limit};
  }

  bool is_off(const sample_report& report) const {
    return faults_ != 0 && !is_driving_ && report.command_q15[0] == 0;
  }

  double reaction_time_s() const { return delay_s_ + 0.01 + to_seconds(period_ns_); }

  /// The delay of each command counts once, from the sample that it answers.
  void count_delay() {
    if (std::exchange(counted_, obeyed_) == obeyed_) return;
    const std::int64_t answered = unit_.commands[obeyed_ - 1].answers + std::int64_t{1};
    const auto ticks = static_cast<int>((number_ - answered) * divider_);
    ++delays_[std::min(ticks, 7)];
    const double delay_s = std::min(1e-3 * ticks, 1e-3 * settings_.ttl_ms);
    delay_s_ = is_delay_known_ ? std::max(delay_s_, delay_s) : delay_s;
    is_delay_known_ = true;
  }

  void advance(const sample_report& report) {
    const firmware_iface::ClockFit& fit = link_.clock().fit();
    if (phase_ == RunPhase::kSettling && time_s_ >= settings_.settle_s) {
      const ClockVerdict verdict = UnitReportMonitor::judge(fit);
      const double waited_s = to_seconds((received_ - first_).count());
      if (!settings_.drive || verdict == ClockVerdict::kGood) {
        phase_ = RunPhase::kArming;
        arming_since_s_ = time_s_;
      } else if (waited_s > settings_.clock_s_max) {
        trip(TripCause::kUnitClock, std::nan(""), 1.0);
      }
    }
    if (phase_ == RunPhase::kArming) {
      const ClearTripState state = link_.trip_clear_state();
      if (!settings_.drive || (state == ClearTripState::kDone && report.fault_flags == 0)) {
        phase_ = RunPhase::kRunning;
        scenario_start_s_ = time_s_;
      } else if (state == ClearTripState::kRefused || state == ClearTripState::kNoReply ||
                 time_s_ - arming_since_s_ > settings_.arm_s_max) {
        trip(TripCause::kClearRefused, link_.fault_flags_after_clear(), 0.0);
      }
    }
    if (drives() && faults_ != 0) {
      trip(TripCause::kUnitTripped, report.fault_flags, 0.0);
    }
    const bool contradicts = is_lying_ && faults_ == 0;
    const double since_s = time_s_ - last_report_s_;
    if (contradicts) {
      lying_s_ += was_lying_ ? since_s : to_seconds(period_ns_);
    } else {
      lying_s_ = std::max(lying_s_ - 0.1 * since_s, 0.0);
    }
    was_lying_ = contradicts;
    last_report_s_ = time_s_;
    if (contradicts && lying_s_ > reaction_time_s()) {
      trip(TripCause::kFaultMismatch, FAULT_TTL, 0.0);
    }
    if (fit.valid && time_s_ >= next_fit_s_) {
      next_fit_s_ = time_s_ + 1.0;
      ++fit_count_;
    }
  }

  void expect_record(const sample_report& report) {
    LoopRecord record;
    ASSERT_TRUE(loop_->records().try_pop(record));
    EXPECT_EQ(record.sample.sequence, static_cast<std::uint64_t>(number_ - 1));
    EXPECT_EQ(record.observation.time_s, time_s_);
    for (std::size_t j = 0; j < 2; ++j) {
      EXPECT_EQ(record.observation.joint[j].valid, (report.encoders_valid >> j & 1) != 0);
      EXPECT_EQ(record.observation.joint[j].angle_rad, angles_[j]);
      const double speed = record.observation.joint[j].speed_rad_per_s;
      if (!record.observation.joint[j].valid) EXPECT_EQ(speed, speeds_[j]);
      speeds_[j] = speed;
    }
    ASSERT_EQ(record.phase, phase_) << time_s_;
    EXPECT_EQ(record.enabled, drives());
    EXPECT_EQ(record.requested[0], requested_V_);
    EXPECT_EQ(record.sent[0], trip_ ? 0.0 : requested_V_);
    EXPECT_EQ(record.command_number,
              unit_.commands.size() + static_cast<std::size_t>(refused_count_));
    ASSERT_FALSE(loop_->records().try_pop(record));
    for (firmware_iface::ClockFit fit; loop_->clock_fits().try_pop(fit);) --fit_count_;
    EXPECT_EQ(fit_count_, 0);
  }

  bool drives() const { return phase_ == RunPhase::kRunning && settings_.drive; }

  void expect_command() {
    if (is_refused_) return;
    const command_request& command = unit_.commands.back();
    EXPECT_EQ(command.flags, trip_ ? COMMAND_TRIP : drives() ? COMMAND_ENABLE : 0);
    EXPECT_EQ(command.answers, number_ - 1);
    if (drives()) {
      EXPECT_EQ(command.ttl_ms, settings_.ttl_ms);
      EXPECT_EQ(command.command_q15[0], std::lround(requested_V_ / kRange_V * 32767.0));
    }
  }

  void expect_state() {
    const Trip* found = loop_->trip();
    ASSERT_EQ(found != nullptr, trip_.has_value()) << time_s_ << to_string(found->cause);
    if (trip_) {
      ASSERT_EQ(found->cause, trip_->cause) << time_s_;
      EXPECT_EQ(found->time_s, trip_->time_s);
      EXPECT_EQ(found->limit, trip_->limit);
      if (!std::isnan(trip_->value)) EXPECT_EQ(found->value, trip_->value);
      EXPECT_EQ(std::isnan(found->value), std::isnan(trip_->value));
    }
    ASSERT_EQ(loop_->output_state(), output_) << time_s_;
    const LoopCounters& counters = loop_->counters();
    EXPECT_EQ(counters.timeouts.load(), timeouts_);
    EXPECT_EQ(counters.samples.load(), number_ - timeouts_);
    EXPECT_EQ(counters.rejected_commands.load(), rejected_count_);
    EXPECT_EQ(counters.unsent_commands.load(), refused_count_);
    EXPECT_EQ(counters.damaged_frames.load(), damaged_count_);
    EXPECT_EQ(loop_->arrival_jitter_histogram().mean(), jitter_.mean());
    EXPECT_EQ(loop_->arrival_jitter_histogram().count(), jitter_.count());
    EXPECT_EQ(loop_->cycle_time_histogram().count(), number_ - timeouts_);
    EXPECT_EQ(loop_->cycle_time_histogram().max().count(), 0) << "commands take no virtual time";
    for (std::size_t k = 0; k < 8; ++k) {
      EXPECT_EQ(loop_->command_delay_counts()[k].load(), delays_[static_cast<int>(k)]);
    }
  }

  std::mt19937_64 random_;
  ScriptedUnit unit_;
  BlackBox black_box_;
  firmware_iface::UnitLink link_{unit_, &black_box_};
  LoopSettings settings_;
  SafetyLimits limits_;
  std::unique_ptr<ControlLoop> loop_;
  Nanoseconds start_{0};

  // The unit
  int divider_ = 1, lost_clear_requests_ = 0, ignored_trip_ticks_ = 0, hidden_echo_ticks_ = 0;
  bool trips_itself_ = false, misses_ = false, lies_ = false, is_lying_ = false;
  bool reports_faults_ = false, is_driving_ = false, disturbs_line_ = false, is_refused_ = false;
  std::uint8_t faults_ = FAULT_BOOT, refused_flags_ = 0;
  std::size_t obeyed_ = 0, counted_ = 0;
  sample_report in_effect_{};
  std::array<std::int32_t, 2> counts_{};

  // The model
  std::int64_t period_ns_ = 0, number_ = 0, last_number_ = 0;
  std::int64_t timeouts_ = 0, rejected_count_ = 0, fit_count_ = 0;
  std::int64_t refused_count_ = 0, damaged_count_ = 0;
  double start_s_ = 0.0, duration_s_ = 0.0, amplitude_V_ = 0.0, requested_V_ = 0.0;
  double time_s_ = 0.0, last_time_s_ = 0.0, arming_since_s_ = 0.0, scenario_start_s_ = 0.0;
  double delay_s_ = 0.01, next_fit_s_ = 1.0;
  double lying_s_ = 0.0, last_report_s_ = 0.0;  // contradictions, less a tenth of the rest
  bool was_lying_ = false;
  bool is_delay_known_ = false;
  Nanoseconds first_{0}, received_{0};
  RunPhase phase_ = RunPhase::kSettling;
  OutputState output_ = OutputState::kInUse;
  std::optional<Trip> trip_;
  std::array<double, 2> angles_{}, speeds_{};
  TimingHistogram jitter_;
  std::map<int, std::int64_t> delays_;
};

// Catches an error in the order of phases, their times and limits, in the commands, records and
// counters, in the cause and values of a trip, and in what is known of the output after it.
TEST(LoopModelTest, RunsEndAsTheModelDoes) {
  std::map<std::optional<TripCause>, int> causes;
  std::map<OutputState, int> outputs;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    SCOPED_TRACE(seed);
    const auto model = std::make_unique<LoopModel>(seed);
    model->run();
    ASSERT_FALSE(::testing::Test::HasFailure());
    ++causes[model->cause()];
    ++outputs[model->output_state()];
  }
  EXPECT_EQ(causes.size(), 7U);
  for (const auto& [cause, count] : causes) EXPECT_GT(count, 5) << (cause ? to_string(*cause) : "");
  EXPECT_EQ(outputs.size(), 3U) << "in use, off and unconfirmed";
}

}  // namespace
}  // namespace daq
