#include "firmware_iface/link/sample_tracker.hpp"

#include <algorithm>
#include <cmath>

namespace firmware_iface {
namespace {

// Largest deviation of a latch from the time given by its sequence, in periods. Sequence errors are
// whole periods; the timer jitter of a working unit is much smaller.
constexpr double kPeriodTolerance = 0.25;

// Tolerance of the rule that no sample arrives before its time. The host's clock was read before
// the stream was requested, so this covers only a drift between two samples.
constexpr std::int64_t kEarlyMaxUs = 1'000'000;

// Clocks may drift apart by 1 part in this many; crystals drift by 1 in 10 000.
constexpr std::int64_t kDriftShare = 50;

}  // namespace

SampleTracker::SampleTracker(CounterBits bits, std::uint32_t start_tick_us, double period_us,
                             Nanoseconds asked, const UnitDescription& facts) noexcept
    : bits_(bits),
      period_us_(period_us),
      encoder_count_(facts.encoder_count),
      last_time_us_(std::int64_t{start_tick_us} - std::llround(period_us)),
      host_minus_unit_us_(asked.count() / 1000 - std::int64_t{start_tick_us}) {
  for (std::size_t k = 0; k < unwrap_.size(); ++k) {
    unwrap_[k] = EncoderUnwrapper(facts.encoder[k].modulus, bits.encoder_counts);
  }
}

SampleTracker::ReportVerdict SampleTracker::process_sample_report(const sample_report& report,
                                                                  Nanoseconds received,
                                                                  UnitSample& sample) noexcept {
  // Choose the wrap of the unit's clock: the latest one that is not ahead of the host's clock. A
  // sample may have waited in a buffer for up to nearly a whole wrap, but it cannot arrive early.
  const std::int64_t received_us = received.count() / 1000;
  const std::int64_t latest_us = received_us - host_minus_unit_us_ + kEarlyMaxUs;
  const std::int64_t half_wrap_us = std::int64_t{1} << (bits_.tick_us - 1);
  const std::int64_t time_us =
      extend_counter(latest_us - half_wrap_us, report.tick_us, bits_.tick_us);
  const std::int64_t elapsed_us = time_us - last_time_us_;
  const std::uint64_t mask = (std::uint64_t{1} << bits_.sequence) - 1;
  if (elapsed_us <= 0) {
    return is_repeated_sample(report.sequence, elapsed_us, mask) ? ReportVerdict::kRepeated
                                                                 : ReportVerdict::kImplausible;
  }

  std::uint64_t steps = 0;  // from the last sample to this one
  if (period_us_ > 0.0) {
    const double periods = static_cast<double>(elapsed_us) / period_us_;
    steps = static_cast<std::uint64_t>(std::llround(periods));
    if (std::abs(periods - static_cast<double>(steps)) > kPeriodTolerance || steps == 0 ||
        ((next_sequence_ + steps - 1 - report.sequence) & mask) != 0) {
      return ReportVerdict::kImplausible;
    }
  } else {
    steps = ((report.sequence - next_sequence_) & mask) + 1;
  }

  sample.sequence = next_sequence_ + steps - 1;
  sample.lost_before = steps - 1;
  sample.unit_time_us = time_us;
  sample.received = received;
  sample.encoder_count = encoder_count_;
  sample.encoders_valid = 0;
  for (int k = 0; k < encoder_count_; ++k) {
    const auto encoder = static_cast<std::size_t>(k);
    const unsigned bit = 1U << k;
    if ((report.encoders_valid & bit) != 0 &&
        unwrap_[encoder].update(report.encoder_counts[encoder])) {
      sample.encoders_valid = static_cast<std::uint16_t>(sample.encoders_valid | bit);
    }
    sample.encoder_counts[encoder] = unwrap_[encoder].counts();
  }
  next_sequence_ += steps;
  last_time_us_ = time_us;
  host_minus_unit_us_ =
      std::min(received_us - time_us, host_minus_unit_us_ + elapsed_us / kDriftShare);
  return ReportVerdict::kNext;
}

// Returns whether a report that is not newer than the last sample has the sequence of an earlier
// one. After a jump of the clock back, the sequence would continue with new numbers.
bool SampleTracker::is_repeated_sample(std::uint64_t sequence, std::int64_t elapsed_us,
                                       std::uint64_t mask) const noexcept {
  const std::uint64_t back = (next_sequence_ - 1 - sequence) & mask;
  if (!(period_us_ > 0.0)) return back <= mask / 2;
  const double periods = std::round(static_cast<double>(-elapsed_us) / period_us_);
  return (static_cast<std::uint64_t>(periods) & mask) == back;
}

}  // namespace firmware_iface
