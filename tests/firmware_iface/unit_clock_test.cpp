#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include "firmware_iface/link/sample_tracker.hpp"
#include "firmware_iface/link/unit_clock.hpp"

namespace {

using firmware_iface::ClockFit;
using firmware_iface::EncoderUnwrapper;
using firmware_iface::extend_counter;
using firmware_iface::Nanoseconds;
using firmware_iface::UnitClockEstimator;

/// Feeds `seconds` of 1 kHz samples of a unit whose clock is off by `ppm`. The delay to the host is
/// 0.3 ms plus an exponential share of mean `jitter_s`; one sample in a hundred waits up to 30 ms.
UnitClockEstimator add_sample_times(double ppm, double seconds, double jitter_s, std::uint64_t seed,
                                    std::int64_t unit_start_us = 0) {
  UnitClockEstimator clock;
  std::mt19937_64 random(seed);
  std::exponential_distribution<double> jitter(1.0 / jitter_s);
  std::uniform_real_distribution<double> uniform(0.0, 1.0);
  const auto count = static_cast<std::int64_t>(seconds * 1e3);
  for (std::int64_t k = 0; k < count; ++k) {
    const double true_s = 1e-3 * static_cast<double>(k) / (1.0 + ppm * 1e-6);
    double delay_s = 3e-4 + jitter(random);
    if (uniform(random) < 0.01) delay_s += 0.03 * uniform(random);
    clock.add_sample_times(unit_start_us + 1000 * k,
                           Nanoseconds(std::llround((true_s + delay_s) * 1e9)));
  }
  return clock;
}

// Requirement: recover 200 ppm within 5 ppm after 60 s, with the jitter of an ordinary kernel.
TEST(UnitClockEstimator, RecoversARateErrorWithinFivePpmInAMinute) {
  for (const double ppm : {200.0, -200.0, 0.0, 12'000.0}) {
    SCOPED_TRACE(ppm);
    const ClockFit fit = add_sample_times(ppm, 60.0, 2e-4, 21).fit();
    ASSERT_TRUE(fit.valid);
    EXPECT_NEAR(fit.rate_error_ppm, ppm, 5.0);
  }
}

// The fastest sample of a block counts, so 5 ms of mean jitter do no harm.
TEST(UnitClockEstimator, SurvivesHeavyJitter) {
  const ClockFit fit = add_sample_times(200.0, 60.0, 5e-3, 22).fit();
  EXPECT_NEAR(fit.rate_error_ppm, 200.0, 5.0);
}

// The reported uncertainty must be right: over 40 runs the errors divided by it have a standard
// deviation of about one. A sum of 40 squares has mean 40 and deviation 9. The bounds are 3 of
// these, doubled above, since minima of exponentials are not quite normal.
TEST(UnitClockEstimator, ReportsACorrectUncertainty) {
  double sum_square = 0.0;
  constexpr int kRuns = 40;
  for (std::uint64_t seed = 0; seed < kRuns; ++seed) {
    const ClockFit fit = add_sample_times(200.0, 60.0, 1e-3, 100 + seed).fit();
    const double error = (fit.rate_error_ppm - 200.0) / fit.rate_sigma_ppm;
    sum_square += error * error;
  }
  EXPECT_GT(sum_square / kRuns, 0.3);
  EXPECT_LT(sum_square / kRuns, 3.0);
}

// A host that pauses soon after the start: all samples of the last of few blocks are late, each by
// less than the one before. They must not bend the line, whatever the clock's rate error. The other
// three of four blocks are too few for a fit.
TEST(UnitClockEstimator, RejectsALateBlockAtTheEnd) {
  for (const int blocks : {4, 5, 6, 8}) {
    for (const double ppm : {0.0, 3000.0, -3000.0}) {
      SCOPED_TRACE(::testing::Message() << blocks << " blocks, " << ppm << " ppm");
      UnitClockEstimator clock;
      std::mt19937_64 random(24);
      std::exponential_distribution<double> jitter(1.0 / 1e-4);
      const std::int64_t late_from = 125 * (blocks - 1);
      for (std::int64_t k = 0; k <= 125 * blocks; ++k) {
        const double true_s = 1e-3 * static_cast<double>(k) / (1.0 + ppm * 1e-6);
        double delay_s = jitter(random);
        if (k >= late_from) delay_s += 0.9 - 1e-3 * static_cast<double>(k - late_from);
        clock.add_sample_times(1000 * k, Nanoseconds(std::llround((true_s + delay_s) * 1e9)));
      }
      ASSERT_EQ(clock.fit().valid, blocks > 4);
      if (blocks == 4) continue;
      EXPECT_EQ(clock.fit().blocks_rejected, 1U);
      EXPECT_NEAR(clock.fit().rate_error_ppm, ppm, 500.0);
    }
  }
}

// An interval of only slow or only early samples must not bend the line: two seconds of a host that
// paused and is 50 ms late, or whose clock was wrong by as much the other way, which no delay can
// cause.
TEST(UnitClockEstimator, RejectsAnIntervalOfOutliersOnEitherSide) {
  for (const double off_s : {0.05, -0.05}) {
    SCOPED_TRACE(off_s);
    UnitClockEstimator clock;
    std::mt19937_64 random(23);
    std::exponential_distribution<double> jitter(1.0 / 1e-4);
    for (std::int64_t k = 0; k < 60'000; ++k) {
      const double true_s = 1.0 + 1e-3 * static_cast<double>(k) / (1.0 + 200e-6);
      const double off = k > 55'000 && k < 57'000 ? off_s : 0.0;
      clock.add_sample_times(1000 * k,
                             Nanoseconds(std::llround((true_s + jitter(random) + off) * 1e9)));
    }
    EXPECT_GE(clock.fit().blocks_rejected, 6U);  // 2 s in blocks of 0.25 s, except the ends
    EXPECT_NEAR(clock.fit().rate_error_ppm, 200.0, 1.0);
  }
}

struct Point {
  double unit_s, delay_s;
};

double upper_median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

/// A line through the points that are within three robust standard deviations of it, found in five
/// rounds. A nearly exact line has a standard deviation of 1 µs. Fewer than four points give none.
/// The first round uses the slope known before if the points are closer to it.
struct RobustLine {
  double offset_s = 0.0, slope = 0.0, sum_square = 0.0, spread = 0.0, used_count = 0.0;
  std::vector<bool> used;
  bool exists = true;

  RobustLine(const std::vector<Point>& points, double slope_before) : used(points.size(), true) {
    for (int round = 0; round <= 5 && exists; ++round) {
      fit(points);
      std::vector<double> distances = distances_from(points, slope);
      const std::vector<double> before = distances_from(points, slope_before);
      if (round == 0 && upper_median(before) < upper_median(distances)) distances = before;
      const double limit = 3.0 * std::max(1.4826 * upper_median(distances), 1e-6);
      for (std::size_t k = 0; k < points.size() && round < 5; ++k) used[k] = distances[k] <= limit;
    }
  }

  static std::vector<double> distances_from(const std::vector<Point>& points, double slope) {
    std::vector<double> residuals;
    for (const Point& p : points) residuals.push_back(p.delay_s - slope * p.unit_s);
    const double center = upper_median(residuals);
    for (double& r : residuals) r = std::abs(r - center);
    return residuals;
  }

  void fit(const std::vector<Point>& points) {
    double mean_x = 0.0, mean_y = 0.0, xy = 0.0;
    used_count = static_cast<double>(std::ranges::count(used, true));
    exists = used_count >= 4.0;
    spread = sum_square = 0.0;
    const auto over_used = [&](const auto& add) {
      for (std::size_t k = 0; k < points.size(); ++k) {
        if (used[k]) add(points[k]);
      }
    };
    over_used([&](const Point& p) { mean_x += p.unit_s / used_count; });
    over_used([&](const Point& p) { mean_y += p.delay_s / used_count; });
    over_used([&](const Point& p) { spread += std::pow(p.unit_s - mean_x, 2); });
    over_used([&](const Point& p) { xy += (p.unit_s - mean_x) * (p.delay_s - mean_y); });
    slope = xy / spread;
    offset_s = mean_y - slope * mean_x;
    over_used([&](const Point& p) {
      sum_square += std::pow(p.delay_s - offset_s - slope * p.unit_s, 2);
    });
  }
};

/// The clock's blocks: the sample of each block that is least behind the line. 256 blocks become
/// 128 of twice the length.
struct ClockModel {
  std::vector<Point> blocks;
  std::optional<RobustLine> line;
  std::size_t block_count = 0;  // of the line

  void add(std::int64_t unit_us, Point sample) {
    if (unit_us >= end_us_ && open_) finish();
    while (unit_us >= end_us_) end_us_ += length_us_;
    if (!open_ || is_faster(sample, *open_)) open_ = sample;
  }

 private:
  double slope() const { return line ? line->slope : 0.0; }
  bool is_faster(const Point& a, const Point& b) const {
    return a.delay_s - slope() * a.unit_s < b.delay_s - slope() * b.unit_s;
  }
  void finish() {
    if (blocks.size() == 256) {
      for (std::size_t k = 0; k < 128; ++k) {
        const Point a = blocks[2 * k], b = blocks[2 * k + 1];
        blocks[k] = is_faster(b, a) ? b : a;
      }
      blocks.resize(128);
      length_us_ *= 2;
    }
    blocks.push_back(*std::exchange(open_, std::nullopt));
    if (RobustLine next(blocks, slope()); next.exists) {
      line = next;
      block_count = blocks.size();
    }
  }

  std::optional<Point> open_;
  std::int64_t length_us_ = 125'000, end_us_ = 125'000;
};

// Delays scatter by 0 to 100 µs, some are outliers to either side; clocks differ by up to 1 %. One
// or some samples in a block, blocks without any, and more blocks than fit. Catches an error in the
// choice of samples, of the fit or of its uncertainty.
TEST(UnitClockEstimator, FitsARobustLine) {
  std::size_t rejected = 0, fit_count = 0;
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<double> uniform(-1.0, 1.0);
    const double scatter_s = std::array{0.0, 4e-7, 1e-5, 1e-4}[random() % 4];
    const double rate = 1.0 + 1e-2 * uniform(random);
    const std::int64_t unit_first_us = 7'000'123;
    const Nanoseconds host_first(3'000'000'000);
    const std::int64_t step_us = std::array{2'000, 40'000, 125'000, 130'000}[random() % 4];
    UnitClockEstimator clock;
    ClockModel model;
    const int count = seed % 30 == 0 ? 700 : 4 + static_cast<int>(random() % 60);
    std::int64_t unit_us = 0;
    for (int k = 0; k < count; ++k) {
      double delay_s = scatter_s * uniform(random);
      if (random() % 6 == 0) delay_s += 2e-3 * uniform(random);
      if (random() % 6 == 0) delay_s += 4e-6 * uniform(random);
      if (k == 0) delay_s = 0.0;  // times count from the first sample
      const double unit_s = 1e-6 * static_cast<double>(unit_us);
      const Nanoseconds host(std::llround(1e9 * (unit_s / rate + delay_s)));
      clock.add_sample_times(unit_first_us + unit_us, host_first + host);
      model.add(unit_us, {unit_s, 1e-9 * static_cast<double>(host.count()) - unit_s});
      unit_us += step_us + (random() % 50 == 0 ? static_cast<std::int64_t>(random() % 600'000) : 0);
      if (random() % 2 == 0) unit_us += static_cast<std::int64_t>(random() % 20'000);

      const ClockFit& fit = clock.fit();
      ASSERT_EQ(fit.valid, model.line.has_value());
      if (!model.line) continue;
      const RobustLine& line = *model.line;
      const double n = line.used_count;
      const double variance = std::max(line.sum_square / (n - 2.0), 1e-12 / 12.0);
      ASSERT_EQ(static_cast<double>(fit.blocks_used), n);
      ASSERT_EQ(fit.blocks_rejected, model.block_count - fit.blocks_used);
      ASSERT_NEAR(fit.rate_error_ppm, 1e6 * (1.0 / (1.0 + line.slope) - 1.0), 1e-3);
      ASSERT_NEAR(fit.rate_sigma_ppm,
                  1e6 * std::sqrt(variance / line.spread) / std::pow(1.0 + line.slope, 2),
                  1e-6 + 1e-6 * fit.rate_sigma_ppm);
      ASSERT_NEAR(fit.residual_rms_us, 1e6 * std::sqrt(line.sum_square / n),
                  1e-5 + 1e-7 * fit.residual_rms_us);
      ASSERT_EQ(fit.unit_reference_us, unit_first_us);
      ASSERT_NEAR(static_cast<double>((fit.host_reference - host_first).count()),
                  1e9 * line.offset_s, 2.0);
      rejected += fit.blocks_rejected;
      ++fit_count;
    }
  }
  EXPECT_GT(fit_count, 3'000U);
  EXPECT_GT(rejected, fit_count);
}

// Clocks that stand still, run backward or jump give no usable line. The fit reports that instead
// of returning infinities.
TEST(UnitClockEstimator, NeverReturnsNaN) {
  const auto check = [](const char* what, const auto& host_ns_of) {
    SCOPED_TRACE(what);
    UnitClockEstimator clock;
    for (std::int64_t k = 0; k < 5'000; ++k) {
      clock.add_sample_times(1000 * k, Nanoseconds(host_ns_of(k)));
      const ClockFit& fit = clock.fit();
      ASSERT_TRUE(std::isfinite(fit.rate_error_ppm) && std::isfinite(fit.rate_sigma_ppm) &&
                  std::isfinite(fit.residual_rms_us));
      ASSERT_TRUE(!fit.valid || fit.rate_error_ppm > -1e6) << "a clock runs forwards";
    }
  };
  check("the host's stands still", [](std::int64_t) { return std::int64_t{7}; });
  check("the host's runs backwards", [](std::int64_t k) { return -1'000'000 * k; });
  check("the unit's runs a million times too fast", [](std::int64_t k) { return k; });
  check("the host's jumps by a year each second",
        [](std::int64_t k) { return 1'000'000 * k + k / 1000 * 31'536'000'000'000'000; });
}

// Memory is fixed: after an hour the blocks are longer, and the fit spans the hour.
TEST(UnitClockEstimator, SpansALongSessionInFixedMemory) {
  const UnitClockEstimator clock = add_sample_times(37.0, 3600.0, 1e-3, 24);
  EXPECT_LE(clock.fit().blocks_used + clock.fit().blocks_rejected, UnitClockEstimator::kBlocksMax);
  EXPECT_NEAR(clock.fit().rate_error_ppm, 37.0, 0.05);
}

TEST(ExtendCounter, FindsTheNearestValueWithThoseLowBits) {
  EXPECT_EQ(extend_counter(0, 0xFFFF, 16), -1);
  EXPECT_EQ(extend_counter(65'535, 0, 16), 65'536);
  EXPECT_EQ(extend_counter(65'536, 0xFFFF, 16), 65'535);
  EXPECT_EQ(extend_counter(4'294'967'295, 5, 32), 4'294'967'301);
  EXPECT_EQ(extend_counter(1'000'000'000'000, 1'000'000'000'000 & 0xFFFFFFFF, 32),
            1'000'000'000'000);
}

// A wrap in either direction, at both widths, must not appear as a jump of the angle.
TEST(EncoderUnwrapper, FollowsThroughWraps) {
  for (const int bits : {24, 32}) {
    SCOPED_TRACE(bits);
    EncoderUnwrapper unwrap(0, bits);
    const std::int64_t modulus = std::int64_t{1} << bits;
    std::int64_t truth = modulus / 2 - 500;
    for (int k = 0; k < 1000; ++k, truth += k < 500 ? 7 : -7) {
      std::int64_t low = truth & (modulus - 1);
      if (low >= modulus / 2) low -= modulus;
      EXPECT_TRUE(unwrap.update(static_cast<std::int32_t>(low)));
      EXPECT_EQ(unwrap.counts(), truth);
    }
  }
}

// Counters of 16 and 24 bits, and an absolute encoder with an odd number of positions: each
// continues past its modulus both ways, in the bits of either format.
TEST(EncoderUnwrapper, ContinuesPastAnyModulus) {
  for (const std::uint32_t modulus : {65'536U, 1U << 24, 4096U, 1000U, 3U}) {
    for (const int bits : {24, 32}) {
      SCOPED_TRACE(::testing::Message() << modulus << " in " << bits << " bits");
      EncoderUnwrapper unwrap(modulus, bits);
      std::int64_t truth = modulus - 2;
      for (int k = 0; k < 4000; ++k, truth += k < 2000 ? 1 : -1) {
        std::int64_t sent = truth % modulus;
        if (sent < 0) sent += modulus;
        if (bits == 24 && sent >= 1 << 23) sent -= 1 << 24;  // 24 bits are sign extended
        ASSERT_TRUE(unwrap.update(static_cast<std::int32_t>(sent)));
        ASSERT_EQ(unwrap.counts(), truth) << k;
      }
    }
  }
}

// A count beyond the modulus is no reading: the last valid one stays.
TEST(EncoderUnwrapper, RejectsCountsBeyondItsModulus) {
  EncoderUnwrapper unwrap(1000, 32);
  EXPECT_TRUE(unwrap.update(999));
  EXPECT_FALSE(unwrap.update(1000));
  EXPECT_FALSE(unwrap.update(-1));
  EXPECT_EQ(unwrap.counts(), 999);
  EXPECT_TRUE(unwrap.update(0));
  EXPECT_EQ(unwrap.counts(), 1000);
}

}  // namespace
