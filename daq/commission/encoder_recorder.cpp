#include "daq/commission/encoder_recorder.hpp"

#include <algorithm>
#include <cstdlib>

namespace daq {
namespace {

constexpr std::int64_t kRecent_us = 500'000;
constexpr std::int64_t kMean_us = 100'000;

}  // namespace

void EncoderRecorder::add(const firmware_iface::UnitSample& sample) {
  if (recent_.empty()) first_time_us_ = sample.unit_time_us;
  encoder_count_ = sample.encoder_count;
  const Recent* before = recent_.empty() ? nullptr : &recent_.back();
  for (int e = 0; e < sample.encoder_count; ++e) {
    const auto encoder = static_cast<std::size_t>(e);
    EncoderCounts& track = tracks_[encoder];
    ++track.sample_count;
    if (!sample.encoder_is_valid(e)) {
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
  for (const Recent& recent : recent_) {
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

}  // namespace daq
