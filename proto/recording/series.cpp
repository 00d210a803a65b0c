#include "proto/recording/series.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "proto/recording/recording_rules.hpp"

namespace proto {
namespace {

// Returns the median time between consecutive samples on the unit's clock [µs]; 0: none.
double median_period_us(const std::vector<Sample>& samples) {
  std::vector<double> distances;
  for (std::size_t k = 1; k < samples.size(); ++k) {
    if (samples[k].sequence != samples[k - 1].sequence + 1) continue;
    distances.push_back(
        static_cast<double>(samples[k].device_time_us - samples[k - 1].device_time_us));
  }
  if (distances.empty()) return 0.0;
  const auto middle = distances.begin() + static_cast<std::ptrdiff_t>(distances.size() / 2);
  std::nth_element(distances.begin(), middle, distances.end());
  return *middle;
}

// Returns whether `next` is the sample one period after `last`.
bool continues(const Sample& last, const Sample& next, double period_us) {
  const auto distance_us = static_cast<double>(next.device_time_us - last.device_time_us);
  return next.sequence == last.sequence + 1 && std::abs(distance_us - period_us) <= 0.5 * period_us;
}

void append_row(const Sample& sample, SeriesSegment& segment) {
  for (std::size_t c = 0; c < sample.channel_count; ++c) {
    segment.angle_rad.push_back(sample.angle_rad[c]);
  }
  segment.command.insert(segment.command.end(), sample.command.begin(),
                         sample.command.begin() + sample.motor_count);
  ++segment.row_count;
}

}  // namespace

Result<Series> make_series(const Recording& recording) {
  const std::vector<Sample>& samples = recording.samples;
  const double period_us = median_period_us(samples);
  if (period_us <= 0.0) {
    return Error{ErrorCode::kDamaged,
                 "the recording holds no two consecutive samples with increasing time"};
  }
  const double rate_error_ppm =
      recording.clock_fits.empty() ? 0.0 : recording.clock_fits.back().rate_error_ppm;
  const double period_s = 1e-6 * period_us / (1.0 + 1e-6 * rate_error_ppm);

  Series series{recording.header.joints, shape_of(recording.header).commands(), {}};
  for (std::size_t k = 0; k < samples.size();) {
    SeriesSegment segment;
    segment.start_s = samples[k].timestamp_s;
    segment.period_s = period_s;
    segment.first_sequence = samples[k].sequence;
    append_row(samples[k++], segment);
    while (k < samples.size() && continues(samples[k - 1], samples[k], period_us)) {
      append_row(samples[k++], segment);
    }
    if (segment.row_count > 1) series.segments.push_back(std::move(segment));
  }
  return series;
}

}  // namespace proto
