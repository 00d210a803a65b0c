#include "daq/commission/hand_motion.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <numbers>

namespace daq {
namespace {

constexpr std::int64_t kRecent_us = 500'000;
constexpr std::int64_t kMean_us = 100'000;

constexpr double kTurn_rad = 2.0 * std::numbers::pi;

// Usual wrong factors: decoders that evaluate one, two or all four edges, and encoders that are
// often confused. Neighbouring factors differ by more than the tolerance of a hand.
constexpr std::array kFactors = {1.0 / 64, 1.0 / 16, 1.0 / 8, 0.25, 0.5, 2.0, 4.0, 8.0, 16.0, 64.0};

constexpr double kMovedShare = 0.01;  // share of the expected counts; a factor of 1/64 gives 0.016
constexpr double kMovedCounts = 3.0;
constexpr double kOtherShare = 0.4;  // below this share another encoder may just have been shaken

constexpr double kHandAccuracy_rad = 0.05;  // of a joint moved to a mark
constexpr double kHandAccuracy_m = 1e-3;

bool is_within(double factor, double of, double tolerance) {
  return std::abs(std::log(factor / of)) <= std::log(tolerance);
}

}  // namespace

void EncoderRecorder::add(const firmware_iface::UnitSample& sample) {
  if (recent_.empty()) first_time_us_ = sample.unit_time_us;
  encoder_count_ = sample.encoder_count;
  const RecentSample* before = recent_.empty() ? nullptr : &recent_.back();
  for (int e = 0; e < sample.encoder_count; ++e) {
    const auto encoder = static_cast<std::size_t>(e);
    EncoderCounts& track = tracks_[encoder];
    ++track.sample_count;
    if (!sample.is_encoder_valid(e)) {
      ++track.missing_count;
      continue;
    }
    const std::int64_t counts = sample.encoder_counts[encoder];
    if (!seen_[encoder]) {
      track.first = static_cast<double>(counts);
      track.lowest = track.highest = counts;
      seen_[encoder] = true;
    }
    track.lowest = std::min(track.lowest, counts);
    track.highest = std::max(track.highest, counts);
    const bool follows =
        before != nullptr && sample.lost_before == 0 && ((before->valid >> encoder) & 1) != 0;
    if (!follows) continue;
    const std::int64_t step = counts - before->counts[encoder];
    if (std::abs(step) > std::abs(track.step_max)) track.step_max = step;
  }
  recent_.push_back({sample.unit_time_us, sample.encoders_valid, sample.encoder_counts});
  while (sample.unit_time_us - recent_.front().unit_time_us > kRecent_us) recent_.pop_front();
}

EncoderCounts EncoderRecorder::track(std::size_t encoder) const {
  EncoderCounts track = tracks_[encoder];
  track.last = track.first;
  double sum = 0.0;
  int count = 0;
  std::int64_t lowest = 0, highest = 0;
  bool seen = false;
  for (const RecentSample& recent : recent_) {
    if (((recent.valid >> encoder) & 1) == 0) continue;
    const std::int64_t counts = recent.counts[encoder];
    lowest = seen ? std::min(lowest, counts) : counts;
    highest = seen ? std::max(highest, counts) : counts;
    seen = true;
    if (recent_.back().unit_time_us - recent.unit_time_us > kMean_us) continue;
    sum += static_cast<double>(counts);
    ++count;
  }
  if (count > 0) track.last = sum / count;
  track.recent_span = highest - lowest;
  return track;
}

double EncoderRecorder::duration_s() const {
  if (recent_.empty()) return 0.0;
  return static_cast<double>(recent_.back().unit_time_us - first_time_us_) * 1e-6;
}

bool EncoderRecorder::is_still(std::size_t encoder) const {
  constexpr double kTimerSlack_s = 0.01;
  return duration_s() > kRecent_us * 1e-6 - kTimerSlack_s &&
         track(encoder).recent_span <= kFlickerCounts;
}

HandMotion choose_hand_motion(const JointLimits& limits) {
  constexpr std::array kTurns = {HandMotion{0.25, "a quarter turn", 1.3},
                                 HandMotion{1.0 / 12, "30 degrees", 1.3},
                                 HandMotion{1.0 / 36, "10 degrees", 1.3}};
  constexpr std::array kSlides = {HandMotion{0.1, "100 mm", 1.2}, HandMotion{0.02, "20 mm", 1.3},
                                  HandMotion{0.005, "5 mm", 1.3}};
  const double whole = limits.slides ? 1.0 : kTurn_rad;
  const double room = 0.5 * (limits.angle_rad_max - limits.angle_rad_min) / whole;
  const auto& motions = limits.slides ? kSlides : kTurns;
  const auto found = std::ranges::find_if(
      motions, [&](const HandMotion& motion) { return motion.amount <= room; });
  return found == motions.end() ? motions.back() : *found;
}

std::optional<HandMotion> choose_full_turn(const JointLimits& limits) {
  if (limits.slides || !(limits.angle_rad_max - limits.angle_rad_min > 1.1 * kTurn_rad)) return {};
  return HandMotion{1.0, "a whole turn", 1.1};
}

RestVerdict assess_rest(const EncoderCounts& track) {
  constexpr double kSteadyShare = 0.75;
  if (track.missing_count == track.sample_count) return RestVerdict::kMissing;
  if (track.span() <= kFlickerCounts) return RestVerdict::kStill;
  const bool is_steady =
      std::abs(track.total_change()) >= kSteadyShare * static_cast<double>(track.span());
  return is_steady ? RestVerdict::kDrifts : RestVerdict::kMoves;
}

HandMotionResult assess_hand_motion(std::span<const EncoderCounts> tracks, std::size_t own,
                                    double expected, double tolerance) {
  HandMotionResult finding{.encoder = own, .expected = expected};
  const auto share = [&](std::size_t e) { return std::abs(tracks[e].total_change()) / expected; };
  const auto has_moved = [&](std::size_t e) {
    return share(e) >= kMovedShare && std::abs(tracks[e].total_change()) >= kMovedCounts;
  };
  std::size_t other = own;
  for (std::size_t e = 0; e < tracks.size(); ++e) {
    if (e != own && (other == own || share(e) > share(other))) other = e;
  }
  finding.other = other;
  finding.counts = tracks[own].total_change();
  if (other != own && share(other) >= kOtherShare) {
    if (share(other) >= 2.0 * share(own)) {
      finding.verdict = HandMotionVerdict::kOtherEncoder;
      finding.encoder = other;
      finding.counts = tracks[other].total_change();
      return finding;
    }
    if (share(own) < 2.0 * share(other)) {
      finding.verdict = HandMotionVerdict::kTwoEncoders;
      return finding;
    }
  }
  if (!has_moved(own)) return finding;
  const double counted = share(own);
  if (is_within(counted, 1.0, tolerance)) {
    finding.verdict = HandMotionVerdict::kRight;
    return finding;
  }
  const auto factor = std::ranges::find_if(
      kFactors, [&](double usual) { return is_within(counted, usual, tolerance); });
  finding.verdict =
      factor == kFactors.end() ? HandMotionVerdict::kUncertain : HandMotionVerdict::kFactor;
  if (factor != kFactors.end()) finding.factor = *factor;
  return finding;
}

std::int64_t find_count_jump(const EncoderCounts& track, double counts_per_turn) {
  constexpr double kJumpTurns = 0.05;  // in one sample: 50 turns per second at 1 kHz
  constexpr std::int64_t kJumpCounts = 100;
  const auto least = static_cast<std::int64_t>(kJumpTurns * counts_per_turn);
  return std::abs(track.step_max) > std::max(kJumpCounts, least) ? track.step_max : 0;
}

std::uint32_t guess_counter_modulus(std::int64_t jump) {
  constexpr double kNear = 0.02;
  const auto size = static_cast<double>(std::abs(jump));
  for (const int bits : {8, 10, 12, 13, 14, 16, 17, 18, 20, 24}) {
    const double modulus = std::ldexp(1.0, bits);
    if (std::abs(size - modulus) <= kNear * modulus) return std::uint32_t{1} << bits;
  }
  return 0;
}

ZeroResult assess_zero(double counts, const ChannelConfig& channel) {
  const double whole = channel.slides ? 1.0 : kTurn_rad;
  const double sign = channel.inverted ? -1.0 : 1.0;
  const double exact = -sign * counts * whole / channel.counts_per_turn;
  ZeroResult finding{.present_offset = exact};
  const double from_file = exact - channel.offset_rad;
  const double rest = channel.slides ? from_file : std::remainder(from_file, kTurn_rad);
  finding.whole_turns =
      channel.slides ? 0 : static_cast<int>(std::lround((from_file - rest) / kTurn_rad));
  finding.confirmed = std::abs(rest) <= (channel.slides ? kHandAccuracy_m : kHandAccuracy_rad);
  finding.offset = finding.confirmed ? channel.offset_rad
                   : channel.slides  ? exact
                                     : std::remainder(exact, kTurn_rad);
  return finding;
}

}  // namespace daq
