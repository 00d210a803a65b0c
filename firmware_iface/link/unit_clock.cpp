#include "firmware_iface/link/unit_clock.hpp"

#include <algorithm>
#include <cmath>

namespace firmware_iface {
namespace {

constexpr std::size_t kBlocksMin = 4;  // with fewer there are too few residuals to assess the line
constexpr int kRejectionRounds = 5;
constexpr double kRejectionSigmas = 3.0;
constexpr double kRobustSigmaPerMad = 1.4826;  // of a normal distribution
constexpr double kResidualFloorS = 1e-6;       // the unit's clock counts microseconds
constexpr double kPpm = 1e-6;

double median(std::span<double> values) noexcept {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

void UnitClockEstimator::add_sample_times(std::int64_t unit_us, Nanoseconds host) noexcept {
  if (!started_) {
    started_ = true;
    unit_first_us_ = unit_us;
    host_first_ = host;
    block_end_us_ = unit_us + block_length_us_;
  }
  if (unit_us >= block_end_us_) {
    if (block_open_) finish_block();
    const std::int64_t behind = unit_us - block_end_us_;
    block_end_us_ += (behind / block_length_us_ + 1) * block_length_us_;
  }
  const double unit_s = static_cast<double>(unit_us - unit_first_us_) * 1e-6;
  const double host_s = static_cast<double>((host - host_first_).count()) * 1e-9;
  const FastestSample candidate{unit_s, host_s - unit_s};
  // "Fastest" refers to the present line. With a large rate error, the first or last sample of
  // every block would win otherwise.
  if (!block_open_ || lateness(candidate) < lateness(current_)) current_ = candidate;
  block_open_ = true;
}

double UnitClockEstimator::present_slope() const noexcept {
  return 1.0 / (1.0 + fit_.rate_error_ppm * kPpm) - 1.0;
}

double UnitClockEstimator::lateness(const FastestSample& sample) const noexcept {
  return residual(sample, present_slope());
}

void UnitClockEstimator::finish_block() noexcept {
  if (block_count_ == kBlocksMax) merge_blocks();
  blocks_[block_count_++] = current_;
  block_open_ = false;
  refit();
}

// Keeps the faster one of each pair of neighbours.
void UnitClockEstimator::merge_blocks() noexcept {
  for (std::size_t k = 0; k < kBlocksMax / 2; ++k) {
    const FastestSample& a = blocks_[2 * k];
    const FastestSample& b = blocks_[2 * k + 1];
    blocks_[k] = lateness(a) <= lateness(b) ? a : b;
  }
  block_count_ = kBlocksMax / 2;
  block_length_us_ *= 2;
}

void UnitClockEstimator::refit() noexcept {
  for (FastestSample& block : blocks()) block.is_used = true;
  std::optional<Line> line = fit_line();
  for (int round = 0; round < kRejectionRounds && line; ++round) {
    // Among few blocks, one late block at the end turns the line so far that no block stands out.
    // The rate known so far, or at first the host's own, then describes the other blocks better.
    const bool is_turned =
        round == 0 && median_distance(present_slope()) < median_distance(line->slope);
    reject_outliers(is_turned ? present_slope() : line->slope);
    line = fit_line();
  }
  if (!line) return;

  double sum_square = 0.0;
  for (const FastestSample& block : blocks()) {
    if (!block.is_used) continue;
    const double residual = block.delay_s - line->offset - line->slope * block.unit_s;
    sum_square += residual * residual;
  }
  // The scatter cannot be smaller than the rounding of a clock that counts microseconds, even if
  // the residuals happen to be.
  const double rounding = 1e-6 / std::sqrt(12.0);
  const double variance =
      std::max(sum_square / static_cast<double>(line->count - 2), rounding * rounding);
  if (!(line->slope > -1.0)) {
    fit_ = ClockFit();  // samples read all at once, or a host clock that runs backwards
    return;
  }

  const double rate = 1.0 / (1.0 + line->slope);
  fit_.valid = true;
  fit_.rate_error_ppm = (rate - 1.0) / kPpm;
  fit_.rate_sigma_ppm = std::sqrt(variance / line->spread) * rate * rate / kPpm;
  fit_.residual_rms_us = std::sqrt(sum_square / static_cast<double>(line->count)) * 1e6;
  fit_.unit_reference_us = unit_first_us_;
  fit_.host_reference =
      host_first_ + Nanoseconds(static_cast<std::int64_t>(std::llround(line->offset * 1e9)));
  fit_.blocks_used = line->count;
  fit_.blocks_rejected = block_count_ - line->count;
}

// Fits a line to the used blocks; returns nullopt below kBlocksMin.
std::optional<UnitClockEstimator::Line> UnitClockEstimator::fit_line() noexcept {
  double mean_x = 0.0;
  double mean_y = 0.0;
  std::size_t count = 0;
  for (const FastestSample& block : blocks()) {
    if (!block.is_used) continue;
    mean_x += block.unit_s;
    mean_y += block.delay_s;
    ++count;
  }
  if (count < kBlocksMin) return std::nullopt;
  mean_x /= static_cast<double>(count);
  mean_y /= static_cast<double>(count);
  double xx = 0.0;
  double xy = 0.0;
  for (const FastestSample& block : blocks()) {
    if (!block.is_used) continue;
    const double dx = block.unit_s - mean_x;
    xx += dx * dx;
    xy += dx * (block.delay_s - mean_y);
  }
  const double slope = xy / xx;
  return Line{mean_y - slope * mean_x, slope, xx, count};
}

// Returns the median residual about a slope, on which the line's offset has no effect.
double UnitClockEstimator::median_residual(double slope) noexcept {
  const std::span<double> scratch = std::span(scratch_).first(block_count_);
  std::ranges::transform(blocks(), scratch.begin(),
                         [slope](const FastestSample& block) { return residual(block, slope); });
  return median(scratch);
}

// Returns the median distance from the median residual.
double UnitClockEstimator::median_distance(double slope) noexcept {
  const double center = median_residual(slope);
  const std::span<double> scratch = std::span(scratch_).first(block_count_);
  std::ranges::transform(blocks(), scratch.begin(), [=](const FastestSample& block) {
    return std::abs(residual(block, slope) - center);
  });
  return median(scratch);
}

// Selects the used blocks again by their distance from the median residual. The number of rounds is
// constant, and so is their time.
void UnitClockEstimator::reject_outliers(double slope) noexcept {
  const double center = median_residual(slope);
  const double limit =
      kRejectionSigmas * std::max(kRobustSigmaPerMad * median_distance(slope), kResidualFloorS);
  for (FastestSample& block : blocks()) {
    block.is_used = std::abs(residual(block, slope) - center) <= limit;
  }
}

}  // namespace firmware_iface
