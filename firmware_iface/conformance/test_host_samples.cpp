// ParameterEvaluation of samples in TestHost.

#include <fmt/core.h>

#include <algorithm>

#include "firmware_iface/conformance/test_host.hpp"
#include "firmware_iface/wire/message_type.h"
#include "firmware_iface/wire/sample.h"

namespace firmware_iface::conformance {
namespace {

using namespace std::chrono_literals;

constexpr Nanoseconds kSamplePatience = 1s;
constexpr std::uint64_t kSamplesMax = 200'000;  // per check; ends a check that waits in vain

/// Returns the shorter of the two differences from the wrapped counter `before` to `after`.
std::int64_t wrapped_difference(std::uint32_t after, std::uint32_t before, int bits) {
  const std::uint64_t mask = (std::uint64_t{1} << bits) - 1;
  const std::uint64_t forward = (std::uint64_t{after} - std::uint64_t{before}) & mask;
  const bool is_back = forward > mask / 2;
  return static_cast<std::int64_t>(forward) - (is_back ? std::int64_t{1} << bits : 0);
}

std::string names(unsigned bits, std::initializer_list<std::pair<unsigned, const char*>> table) {
  std::string text;
  for (const auto& [bit, name] : table) {
    if ((bits & bit) == 0) continue;
    text += (text.empty() ? "" : ", ") + std::string(name);
    bits &= ~bit;
  }
  if (bits != 0) text += (text.empty() ? "" : ", ") + fmt::format("{:#x}", bits);
  return text.empty() ? "none" : text;
}

}  // namespace

std::string fault_names(unsigned fault_flags) {
  return names(fault_flags, {{FAULT_BOOT, "FAULT_BOOT"},
                             {FAULT_TTL, "FAULT_TTL"},
                             {FAULT_SESSION, "FAULT_SESSION"},
                             {FAULT_COMMAND, "FAULT_COMMAND"},
                             {FAULT_HOST, "FAULT_HOST"},
                             {FAULT_AMPLIFIER, "FAULT_AMPLIFIER"},
                             {FAULT_INTERNAL, "FAULT_INTERNAL"}});
}

std::string status_names(unsigned status) {
  return names(status, {{STATUS_TRIPPED, "STATUS_TRIPPED"},
                        {STATUS_DRIVING, "STATUS_DRIVING"},
                        {STATUS_COMMAND_SEEN, "STATUS_COMMAND_SEEN"},
                        {STATUS_COMMAND_REJECTED, "STATUS_COMMAND_REJECTED"}});
}

sample_shape TestHost::shape() const {
  return {static_cast<std::uint8_t>(std::min<int>(facts_.encoder_count, ENCODERS_MAX)),
          static_cast<std::uint8_t>(motor_count()), (stream_flags_ & STREAM_MARKS) != 0};
}

void TestHost::process_sample(const Bytes& message, Nanoseconds at) {
  const bool is_compact = (stream_flags_ & STREAM_COMPACT) != 0;
  ReceivedSample sample;
  const bool is_good =
      is_compact ? sample_compact_decode(message.data(), message.size(), shape(), &sample.report)
                 : sample_report_decode(message.data(), message.size(), shape(), &sample.report);
  if (!is_good) {
    record_violation("F9", fmt::format("a sample of type {:#x} with {} bytes is not of the format "
                                       "that CONFIGURE requested",
                                       message.front(), message.size()));
    return;
  }
  const sample_report& report = sample.report;
  sample.number = report.sequence;
  sample.time_us = report.tick_us;
  if (last_) {
    sample.number = last_->number + wrapped_difference(report.sequence, last_->report.sequence,
                                                       is_compact ? 8 : 16);
    sample.time_us = last_->time_us + wrapped_difference(report.tick_us, last_->report.tick_us,
                                                         is_compact ? 24 : 32);
  }
  const Nanoseconds delay = at - std::chrono::microseconds(sample.time_us);
  least_delay_ = std::min(delay, least_delay_.value_or(delay));
  lateness_ = std::max(lateness_, delay - *least_delay_);
  last_ = sample;
  ++samples_received_;
  check_sample(sample, is_compact);
}

void TestHost::check_sample(const ReceivedSample& sample, bool is_compact) {
  const sample_report& report = sample.report;
  constexpr unsigned kStatusBits =
      STATUS_TRIPPED | STATUS_DRIVING | STATUS_COMMAND_SEEN | STATUS_COMMAND_REJECTED;
  if ((report.status & ~kStatusBits) != 0 || (report.fault_flags & 0x80U) != 0) {
    record_violation(
        "M2b", fmt::format("status {:#x}, fault_flags {:#x}", report.status, report.fault_flags));
  }
  if (sample.is_tripped() != (report.fault_flags != 0)) {
    record_violation("T8a", "status " + status_names(report.status) + " with fault_flags " +
                                fault_names(report.fault_flags));
  }
  for (int k = 0; k < motor_count(); ++k) {
    if (sample.is_driving() || report.command_q15[k] == 0) continue;
    record_violation("T6", fmt::format("motor {} has command_q15 {} with status {}", k,
                                       report.command_q15[k], status_names(report.status)));
  }
  for (std::size_t k = 0; k < valid_samples_.size(); ++k) {
    valid_samples_[k] += (static_cast<unsigned>(report.encoders_valid) >> k) & 1U;
  }
  if ((static_cast<unsigned>(report.encoders_valid) >> shape().encoder_count) != 0) {
    record_violation("E2a", fmt::format("encoders_valid is {:#x}, the unit has {} encoders",
                                        report.encoders_valid, shape().encoder_count));
  }
  for (std::size_t k = 0; k < shape().encoder_count && is_described_ && !is_compact; ++k) {
    const std::uint32_t modulus = encoders_[k].modulus;
    const auto counts = static_cast<std::uint32_t>(report.encoder_counts[k]);
    const bool is_valid = ((static_cast<unsigned>(report.encoders_valid) >> k) & 1U) != 0;
    if (!is_valid || modulus == 0 || counts < modulus) continue;
    record_violation("E1", fmt::format("encoder {} is valid with {} counts, its modulus is {}", k,
                                       report.encoder_counts[k], modulus));
  }
}

ReceivedSample TestHost::next_sample() {
  const std::uint64_t before = samples_received_;
  const Nanoseconds deadline = now() + std::max(kSamplePatience, ticks(4.0 * divider_));
  while (samples_received_ == before) {
    if (!next(deadline)) throw CheckFailed{"no SAMPLE comes within 1 s"};
  }
  if (samples_received_ - samples_before_ > kSamplesMax) {
    throw CheckFailed{"after " + std::to_string(kSamplesMax) + " samples this is still undecided"};
  }
  return *last_;
}

void TestHost::skip_samples(int count) {
  for (int k = 0; k < count; ++k) next_sample();
}

std::vector<ReceivedSample> TestHost::read_samples_for(Nanoseconds duration) {
  std::vector<ReceivedSample> samples;
  const Nanoseconds until = now() + duration;
  for (std::uint64_t before = samples_received_; next(until); before = samples_received_) {
    if (samples_received_ != before) samples.push_back(*last_);
  }
  return samples;
}

ReceivedSample TestHost::read_sample_until(
    const std::function<bool(const ReceivedSample&)>& condition, const std::string& expected,
    int samples_max) {
  for (int k = 0; k < samples_max; ++k) {
    const ReceivedSample sample = next_sample();
    if (condition(sample)) return sample;
  }
  throw CheckFailed{fmt::format("expected that {}; {} samples later: {}, faults {}", expected,
                                samples_max, status_names(last_->report.status),
                                fault_names(last_->report.fault_flags))};
}

}  // namespace firmware_iface::conformance
