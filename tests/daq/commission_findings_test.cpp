#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <vector>

#include "daq/commission/commissioning.hpp"

// Conclusions from counts and pulses, without a rig: each threshold is tested on both sides.

namespace daq {
namespace {

constexpr double kTurn = 4096.0;
constexpr double kQuarter = kTurn / 4;

EncoderCounts track_of(double change, std::uint64_t missing = 0) {
  EncoderCounts track;
  track.last = change;
  track.lowest = static_cast<std::int64_t>(std::min(0.0, change));
  track.highest = static_cast<std::int64_t>(std::max(0.0, change));
  track.sample_count = 1000;
  track.missing_count = missing;
  return track;
}

HandMotionResult turn_of(const std::vector<double>& changes, std::size_t own = 0,
                         double tolerance = 1.3) {
  std::vector<EncoderCounts> tracks;
  for (const double change : changes) tracks.push_back(track_of(change));
  return assess_hand_motion(tracks, own, kQuarter, tolerance);
}

JointLimits limits(double range_rad, bool slides = false) {
  return {.joint = "1",
          .angle_rad_min = -0.5 * range_rad,
          .angle_rad_max = 0.5 * range_rad,
          .slides = slides};
}

// --- Encoders ---

TEST(RestJudgement, DistinguishesDriftFromMotionAndFlicker) {
  EXPECT_EQ(assess_rest(track_of(2.0)), RestVerdict::kStill);
  EXPECT_EQ(assess_rest(track_of(3.0)), RestVerdict::kDrifts);
  EXPECT_EQ(assess_rest(track_of(-3.0)), RestVerdict::kDrifts);
  EncoderCounts swings = track_of(74.0);
  swings.highest = 100;
  EXPECT_EQ(assess_rest(swings), RestVerdict::kMoves);
  swings.last = 76.0;
  EXPECT_EQ(assess_rest(swings), RestVerdict::kDrifts);
  EXPECT_EQ(assess_rest(track_of(0.0, 1000)), RestVerdict::kMissing);
  EXPECT_EQ(assess_rest(track_of(0.0, 999)), RestVerdict::kStill);
}

// A turn by hand is accurate to 30 %: the scale is confirmed within that, and not beyond.
TEST(TurnJudgement, ConfirmsTheScaleWithinTheToleranceOfAHand) {
  for (const double sign : {1.0, -1.0}) {
    EXPECT_EQ(turn_of({sign * kQuarter * 1.29, 0}).verdict, HandMotionVerdict::kRight);
    EXPECT_EQ(turn_of({sign * kQuarter * 1.31, 0}).verdict, HandMotionVerdict::kUncertain);
    EXPECT_EQ(turn_of({sign * kQuarter / 1.29, 0}).verdict, HandMotionVerdict::kRight);
    EXPECT_EQ(turn_of({sign * kQuarter / 1.31, 0}).verdict, HandMotionVerdict::kUncertain);
    EXPECT_EQ(turn_of({sign * kQuarter, 0}).counts, sign * kQuarter);
  }
  EXPECT_EQ(turn_of({kQuarter * 1.09, 0}, 0, 1.1).verdict, HandMotionVerdict::kRight);
  EXPECT_EQ(turn_of({kQuarter * 1.11, 0}, 0, 1.1).verdict, HandMotionVerdict::kUncertain);
}

// Each usual scale factor is still identified, and no other, when the hand is 20 % off.
TEST(TurnJudgement, ReportsTheFactor) {
  for (const double factor : {1.0 / 64, 1.0 / 16, 1.0 / 8, 0.25, 0.5, 2.0, 4.0, 8.0, 16.0, 64.0}) {
    for (const double hand : {0.8, 1.0, 1.2}) {
      const HandMotionResult turn = turn_of({kQuarter * factor * hand, 0});
      EXPECT_EQ(turn.verdict, HandMotionVerdict::kFactor) << factor << ' ' << hand;
      EXPECT_EQ(turn.factor, factor);
    }
  }
  EXPECT_EQ(turn_of({kQuarter * 30, 0}).verdict, HandMotionVerdict::kUncertain);
}

// An encoder that counts a hundredth of the expected value, or three counts, has not moved.
TEST(TurnJudgement, DistinguishesDeadFromShakenEncoder) {
  EXPECT_EQ(turn_of({0.009 * kQuarter, 0}).verdict, HandMotionVerdict::kNothing);
  EXPECT_NE(turn_of({0.011 * kQuarter, 0}).verdict, HandMotionVerdict::kNothing);
  const std::vector<EncoderCounts> coarse = {track_of(2.0)};
  EXPECT_EQ(assess_hand_motion(coarse, 0, 2.0, 1.3).verdict, HandMotionVerdict::kNothing);
  EXPECT_EQ(turn_of({0.0}).encoder, 0U);
}

// If another joint's encoder counts instead, it belongs to this joint. One that moves along by
// reaction does not.
TEST(TurnJudgement, FindsTheEncoderThatCountsInstead) {
  const HandMotionResult turn = turn_of({3.0, -kQuarter, 0.0});
  EXPECT_EQ(turn.verdict, HandMotionVerdict::kOtherEncoder);
  EXPECT_EQ(turn.encoder, 1U);
  EXPECT_EQ(turn.counts, -kQuarter);
  EXPECT_EQ(turn_of({0.0, 0.41 * kQuarter}).verdict, HandMotionVerdict::kOtherEncoder);
  EXPECT_EQ(turn_of({0.0, 0.39 * kQuarter}).verdict, HandMotionVerdict::kNothing);
  EXPECT_EQ(turn_of({0.49 * kQuarter, kQuarter}).verdict, HandMotionVerdict::kOtherEncoder);
  EXPECT_EQ(turn_of({0.51 * kQuarter, kQuarter}).verdict, HandMotionVerdict::kTwoEncoders);
  EXPECT_EQ(turn_of({kQuarter, 0.51 * kQuarter}).verdict, HandMotionVerdict::kTwoEncoders);
  EXPECT_EQ(turn_of({kQuarter, 0.49 * kQuarter}).verdict, HandMotionVerdict::kRight);
  // Too few counts by a factor of 16, beside a pendulum that swings by 30 degrees.
  EXPECT_EQ(turn_of({kQuarter / 16, 0.33 * kQuarter}).verdict, HandMotionVerdict::kFactor);
}

TEST(TurnJudgement, FindsJumpsThatNoHandMakes) {
  EncoderCounts track;
  track.step_max = -204;
  EXPECT_EQ(find_count_jump(track, kTurn), 0);
  track.step_max = -205;
  EXPECT_EQ(find_count_jump(track, kTurn), -205);
  track.step_max = 100;
  EXPECT_EQ(find_count_jump(track, 256.0), 0);
  track.step_max = 101;
  EXPECT_EQ(find_count_jump(track, 256.0), 101);
  for (const int bits : {8, 10, 12, 13, 14, 16, 17, 18, 20, 24}) {
    const std::int64_t modulus = std::int64_t{1} << bits;
    for (const std::int64_t sign : {1, -1}) {
      EXPECT_EQ(guess_counter_modulus(sign * modulus), modulus);
      EXPECT_EQ(guess_counter_modulus(sign * modulus * 983 / 1000), modulus);
      EXPECT_EQ(guess_counter_modulus(sign * modulus * 1017 / 1000), modulus);
      EXPECT_EQ(guess_counter_modulus(sign * modulus * 970 / 1000), 0U);
      EXPECT_EQ(guess_counter_modulus(sign * modulus * 1030 / 1000), 0U);
    }
  }
}

TEST(HandMotions, TakeHalfOfTheRangeAtMost) {
  constexpr double kPi = std::numbers::pi;
  EXPECT_EQ(choose_hand_motion(limits(1.01 * kPi)).amount, 0.25);
  EXPECT_EQ(choose_hand_motion(limits(0.99 * kPi)).amount, 1.0 / 12);
  EXPECT_EQ(choose_hand_motion(limits(0.99 * kPi / 3)).amount, 1.0 / 36);
  EXPECT_EQ(choose_hand_motion(limits(0.1)).amount, 1.0 / 36);
  EXPECT_EQ(choose_hand_motion(limits(0.21, true)).amount, 0.1);
  EXPECT_EQ(choose_hand_motion(limits(0.19, true)).amount, 0.02);
  EXPECT_FALSE(choose_full_turn(limits(2.1 * kPi)).has_value());
  EXPECT_TRUE(choose_full_turn(limits(2.3 * kPi)).has_value());
  EXPECT_FALSE(choose_full_turn(limits(10.0, true)).has_value());
}

// The angle, sign · counts · 2π / counts_per_turn + offset, must be zero at the mark.
TEST(ZeroJudgement, FindsTheOffset) {
  ChannelConfig channel{.joint = "1", .counts_per_turn = kTurn};
  EXPECT_NEAR(assess_zero(1024.0, channel).offset, -std::numbers::pi / 2, 1e-12);
  channel.inverted = true;
  EXPECT_NEAR(assess_zero(1024.0, channel).offset, std::numbers::pi / 2, 1e-12);
  channel.offset_rad = 1.53;  // the file's offset is confirmed within 0.05 rad and kept
  EXPECT_TRUE(assess_zero(1024.0, channel).confirmed);
  EXPECT_EQ(assess_zero(1024.0, channel).offset, 1.53);
  EXPECT_NEAR(assess_zero(1024.0, channel).present_offset, std::numbers::pi / 2, 1e-12);
  channel.offset_rad = 1.51;
  EXPECT_FALSE(assess_zero(1024.0, channel).confirmed);
  // One full turn further is the same mark.
  const ZeroResult turned = assess_zero(1024.0 + kTurn, channel);
  EXPECT_NEAR(turned.offset, std::numbers::pi / 2, 1e-12);
  EXPECT_EQ(turned.whole_turns, 1);
  EXPECT_NEAR(turned.present_offset, 2.5 * std::numbers::pi, 1e-12);
  // Turns count from the mark as the file has it, whatever its offset.
  for (const double offset_rad : {0.0, 3.5, -3.5}) {
    for (const int turns : {-2, -1, 0, 1, 2}) {
      const double present_rad = offset_rad + turns * 2.0 * std::numbers::pi + 0.01;
      const ChannelConfig moved{
          .joint = "1", .counts_per_turn = kTurn, .inverted = true, .offset_rad = offset_rad};
      const ZeroResult zero = assess_zero(present_rad * kTurn / (2.0 * std::numbers::pi), moved);
      EXPECT_TRUE(zero.confirmed) << offset_rad;
      EXPECT_EQ(zero.whole_turns, turns) << offset_rad;
      EXPECT_NEAR(zero.present_offset, present_rad, 1e-12);
    }
  }
}

TEST(ZeroJudgement, FindsTheOffsetOfAPrismaticJoint) {
  const ChannelConfig channel{.joint = "1", .slides = true, .counts_per_turn = 20'000.0};
  EXPECT_DOUBLE_EQ(assess_zero(100.0, channel).offset, -5e-3);
  EXPECT_TRUE(assess_zero(19.0, channel).confirmed);
  EXPECT_FALSE(assess_zero(21.0, channel).confirmed);
}

// --- Motors ---

TEST(TestPushLimits, StayBelowTheRangeOfTheJoint) {
  const double count = 2.0 * std::numbers::pi / kTurn;
  const TestPushLimits fine = compute_test_push_limits(limits(20.0), count);
  EXPECT_DOUBLE_EQ(fine.detectable_motion_rad, 4 * count);
  EXPECT_DOUBLE_EQ(fine.end_motion_rad, 0.05);
  EXPECT_DOUBLE_EQ(compute_test_push_limits(limits(20.0), 16 * count).end_motion_rad, 0.2);
  EXPECT_DOUBLE_EQ(compute_test_push_limits(limits(20.0), 6 * count).end_motion_rad, 96 * count);
  EXPECT_DOUBLE_EQ(compute_test_push_limits(limits(0.4), count).end_motion_rad, 0.02);
  EXPECT_DOUBLE_EQ(compute_test_push_limits(limits(20.0), 1e-6).detectable_motion_rad, 2e-3);
  EXPECT_DOUBLE_EQ(compute_test_push_limits(limits(1.0, true), 1e-5).end_motion_rad, 5e-3);
}

/// Samples of a joint that rests until breakaway, for a command given as a function of time.
template <typename Command>
std::vector<TestPushSample> motion_under(const Command& command, double kappa, double dead_band,
                                         double duration_s, double count = 0.0) {
  constexpr double kPeriod_s = 1e-3;
  std::vector<TestPushSample> samples;
  double angle = 0.3, speed = 0.0;
  for (double t = 0.0; t < duration_s; t += kPeriod_s) {
    const double u = command(t);
    const double shown = count > 0.0 ? std::round(angle / count) * count : angle;
    samples.push_back({t, u, shown});
    const double drive = std::abs(u) > dead_band ? u - std::copysign(dead_band, u) : 0.0;
    const double acceleration = kappa * drive;
    angle += speed * kPeriod_s + 0.5 * acceleration * kPeriod_s * kPeriod_s;
    speed += acceleration * kPeriod_s;
  }
  return samples;
}

// A constant push from rest, then braking, which must not be evaluated. A single sample without a
// command, as after a late command, does not end the push.
TEST(PulseJudgement, FindsTheAcceleration) {
  const auto push = [](double t) { return t < 0.1 ? 0.0 : t < 0.4 ? 0.5 : -0.5; };
  std::vector<TestPushSample> samples = motion_under(push, -2.0, 0.1, 0.7);
  TestPushResult finding = evaluate_pulse(samples, 0.006);
  EXPECT_TRUE(finding.moved);
  EXPECT_NEAR(finding.acceleration, -0.8, 0.01);
  EXPECT_NEAR(finding.motion_rad, -0.5 * 0.8 * 0.09, 5e-4);
  samples[200].command = 0.0;
  finding = evaluate_pulse(samples, 0.006);
  EXPECT_NEAR(finding.acceleration, -0.8, 0.01);
}

TEST(PulseJudgement, DetectsMotionAboveItsThreshold) {
  const auto push = [](double t) { return t < 0.1 ? 0.5 : 0.0; };
  const std::vector<TestPushSample> samples = motion_under(push, 1.0, 0.0, 0.2);
  const double motion = 0.5 * 0.5 * 0.01;
  EXPECT_TRUE(evaluate_pulse(samples, 0.99 * motion).moved);
  EXPECT_FALSE(evaluate_pulse(samples, 1.02 * motion).moved);
  EXPECT_FALSE(evaluate_pulse({}, 0.006).moved);
  EXPECT_FALSE(evaluate_pulse(motion_under([](double) { return 0.0; }, 1.0, 0.0, 0.1), 0.0).moved);
}

// After breakaway at the dead band the angle grows with time cubed: the encoder shows it late.
TEST(RampJudgement, FindsTheDeadBand) {
  const double count = 2.0 * std::numbers::pi / kTurn;
  for (const double sign : {1.0, -1.0}) {
    for (const double dead_band : {0.02, 0.1, 0.3}) {
      const auto ramp = [sign](double t) { return sign * 0.25 * t; };
      std::vector<TestPushSample> samples = motion_under(ramp, 1.2, dead_band, 2.0, count);
      std::size_t end = 0;
      while (end < samples.size() && std::abs(samples[end].angle_rad - samples[0].angle_rad) < 0.05)
        ++end;
      samples.resize(end);
      const TestPushResult finding = evaluate_ramp(samples, 4 * count);
      ASSERT_TRUE(finding.moved);
      EXPECT_NEAR(finding.onset_command, sign * dead_band, 0.02) << dead_band;
    }
  }
  EXPECT_FALSE(
      evaluate_ramp(motion_under([](double t) { return 0.1 * t; }, 1.0, 1.0, 1.0), 1e-3).moved);
}

TEST(MotorFiguresOf, BothDirections) {
  TestPushResult positive{.moved = true, .acceleration = -0.9};
  TestPushResult negative{.moved = true, .acceleration = 0.7};
  const TestPushResult rise{.moved = true, .onset_command = 0.1};
  const TestPushResult fall{.moved = true, .onset_command = -0.3};
  const MotorProperties figures = compute_motor_properties(1.0, positive, negative, rise, fall);
  EXPECT_DOUBLE_EQ(figures.dead_band, 0.3);
  EXPECT_DOUBLE_EQ(figures.acceleration, -1.0);  // -0.8 / (1 - 0.2)
}

// A command limit below the dead band trips while friction holds the joint. Too short a time trips
// while the joint starts to move. Too long a time lets it move too far.
TEST(StallLimitsOf, SuitTheMotor) {
  const double count = 2.0 * std::numbers::pi / kTurn;
  const MotorProperties figures{.level = 1.0, .dead_band = 0.5, .acceleration = -2.0};
  const auto suit = [&](double command, double time_s) {
    return are_stall_limits_suitable({command, time_s}, figures, count, false);
  };
  EXPECT_TRUE(suit(0.61, 0.5));
  EXPECT_FALSE(suit(0.59, 0.5));
  EXPECT_TRUE(suit(1.0, 0.499));  // moves 0.249 rad
  EXPECT_FALSE(suit(1.0, 0.501));
  const double least_s = std::sqrt(4.0 * count / 0.5);
  EXPECT_TRUE(suit(1.0, 1.01 * least_s));
  EXPECT_FALSE(suit(1.0, 0.99 * least_s));
  EXPECT_FALSE(are_stall_limits_suitable({1.0, 0.2}, figures, 0.1 * count, true));  // moves 40 mm
}

TEST(StallLimitsOf, AreProposedJustAboveTheDeadBand) {
  const double count = 2.0 * std::numbers::pi / kTurn;
  const MotorProperties figures{.level = 1.0, .dead_band = 0.5, .acceleration = 2.0};
  const StallLimits fine = propose_stall_limits(figures, 10.0, count, false);
  EXPECT_DOUBLE_EQ(fine.command, 0.75);
  EXPECT_NEAR(compute_undetected_motion(figures, fine), 0.1, 1e-12);
  EXPECT_TRUE(are_stall_limits_suitable(fine, figures, count, false));
  // A coarse encoder needs longer: eight counts of motion beyond friction.
  const StallLimits coarse = propose_stall_limits(figures, 10.0, 8 * count, false);
  EXPECT_NEAR(0.5 * 2.0 * 0.25 * coarse.time_s * coarse.time_s, 64 * count, 1e-12);
  EXPECT_NEAR(compute_undetected_motion(figures, propose_stall_limits(figures, 10.0, 1e-5, true)),
              0.01, 1e-12);
  EXPECT_DOUBLE_EQ(
      propose_stall_limits({.dead_band = 0.01, .acceleration = 1.0}, 10.0, count, false).command,
      0.21);
  EXPECT_LE(
      propose_stall_limits({.dead_band = 0.9, .acceleration = 1.0}, 1.0, count, false).command,
      1.0);
}

// --- Count tracking ---

TEST(EncoderRecorder, SkipsGapsAndMissingReadings) {
  EncoderRecorder watch;
  firmware_iface::UnitSample sample;
  sample.encoder_count = 1;
  const auto add = [&](std::int64_t time_ms, std::int64_t counts, bool valid = true,
                       std::uint64_t lost = 0) {
    sample.unit_time_us = 1000 * time_ms;
    sample.encoder_counts[0] = counts;
    sample.encoders_valid = valid ? 1 : 0;
    sample.lost_before = lost;
    watch.add(sample);
  };
  add(0, 10);
  add(1, 12);
  add(2, 12, false);
  add(3, 500);  // the neighbouring sample was not read
  add(4, 497);
  add(9, 900, true, 4);  // samples are missing in between
  const EncoderCounts track = watch.track(0);
  EXPECT_EQ(track.step_max, -3);
  EXPECT_EQ(track.first, 10.0);
  EXPECT_EQ(track.lowest, 10);
  EXPECT_EQ(track.highest, 900);
  EXPECT_EQ(track.missing_count, 1U);
  EXPECT_EQ(track.sample_count, 6U);
}

TEST(EncoderRecorder, IsStillAfterHalfASecondWithoutCounts) {
  for (const std::int64_t sign : {1, -1}) {
    EncoderRecorder watch;
    firmware_iface::UnitSample sample;
    sample.encoder_count = 1;
    sample.encoders_valid = 1;
    for (int k = 0; k <= 1200; ++k) {
      sample.unit_time_us = 1000 * k;
      sample.encoder_counts[0] = sign * (k < 600 ? k : 600 + k % 3);
      watch.add(sample);
      if (k == 400 || k == 1050) EXPECT_FALSE(watch.is_still(0)) << k;
    }
    EXPECT_TRUE(watch.is_still(0));
    EXPECT_EQ(watch.track(0).recent_span, 2);
    EXPECT_NEAR(watch.track(0).last, static_cast<double>(sign) * 601.0, 0.1);
  }
}

// The last count is the mean of 0.1 s, and the span is that of 0.5 s, of a joint that still moves.
TEST(EncoderRecorder, KeepsTheRecentPast) {
  EncoderRecorder watch;
  firmware_iface::UnitSample sample;
  sample.encoder_count = 2;
  sample.encoders_valid = 3;
  for (int ms = 0; ms <= 2000; ++ms) {
    sample.unit_time_us = 1000 * ms;
    sample.encoder_counts[0] = 10 * ms;
    sample.encoder_counts[1] = -ms;
    watch.add(sample);
  }
  EXPECT_EQ(watch.track(0).last, 19'500.0);
  EXPECT_EQ(watch.track(0).recent_span, 5'000);
  EXPECT_EQ(watch.track(1).last, -1'950.0);
  EXPECT_EQ(watch.track(1).recent_span, 500);
  EXPECT_EQ(watch.track(1).lowest, -2'000);
}

}  // namespace
}  // namespace daq
