#include "firmware_iface/link/unit_link.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "firmware_iface/wire/command.h"
#include "firmware_iface/wire/fault.h"
#include "firmware_iface/wire/inertial.h"
#include "firmware_iface/wire/message_type.h"
#include "firmware_iface/wire/sample.h"
#include "firmware_iface/wire/session.h"

// Functions called at the sampling rate. Sessions start and end in unit_session.cpp.

namespace firmware_iface {
namespace {

using std::chrono::milliseconds;

// With this many contradicting reports in a row, the unit counts from another origin.
constexpr int kImplausibleMax = 8;

constexpr int kClearAttemptsMax = 20;
constexpr Nanoseconds kClearRepeat = milliseconds(50);

}  // namespace

ReadStatus UnitLink::read_sample(Nanoseconds deadline, UnitSample& sample) noexcept {
  continue_trip_clear();
  for (;;) {
    switch (read_message(deadline)) {
      case IoStatus::kTimeout:
        return ReadStatus::kTimeout;
      case IoStatus::kClosed:
        return ReadStatus::kClosed;
      case IoStatus::kOk:
        break;
    }
    switch (decoder_.message()[0]) {
      case MESSAGE_SAMPLE:
      case MESSAGE_SAMPLE_COMPACT:
        if (process_sample(sample)) return ReadStatus::kSample;
        if (implausible_in_a_row_ >= kImplausibleMax) return ReadStatus::kInconsistent;
        break;
      case MESSAGE_INERTIAL:
        process_inertial();
        break;
      case MESSAGE_FAULT:
        process_fault();
        break;
      case MESSAGE_CLEAR_REPLY:
        process_clear_reply();
        break;
      default:
        ++counters_.messages_unexpected;
    }
    // A unit that sends other messages without end must not block the caller.
    if (received_begin_ == received_end_ && received_at_ >= deadline) return ReadStatus::kTimeout;
  }
}

// Reads until a good message is complete. Reads at least once, and at most until the deadline, so
// that a line full of garbage cannot block the caller.
IoStatus UnitLink::read_message(Nanoseconds deadline) noexcept {
  for (bool past_deadline = false;;) {
    while (received_begin_ < received_end_) {
      if (!decoder_.push(received_[received_begin_++])) continue;
      if (tap_ != nullptr) tap_->on_message(Direction::kToHost, decoder_.message(), received_at_);
      return IoStatus::kOk;
    }
    if (past_deadline) return IoStatus::kTimeout;
    const IoResult result = transport_->read_some(received_, deadline);
    if (result.size_bytes == 0) return result.status;
    received_at_ = transport_->now();
    received_begin_ = 0;
    received_end_ = result.size_bytes;
    counters_.bytes_received += result.size_bytes;
    past_deadline = received_at_ >= deadline;
  }
}

bool UnitLink::process_sample(UnitSample& sample) noexcept {
  sample_report report;
  const std::span<const std::uint8_t> message = decoder_.message();
  const auto decode = stream_.compact ? sample_compact_decode : sample_report_decode;
  if (!streaming_ || !decode(message.data(), message.size(), shape(), &report)) {
    ++counters_.messages_unexpected;
    return false;
  }
  switch (tracker_.process_sample_report(report, received_at_, sample)) {
    case SampleTracker::ReportVerdict::kRepeated:
      ++counters_.samples_repeated;
      return false;
    case SampleTracker::ReportVerdict::kImplausible:
      ++counters_.samples_implausible;
      ++implausible_in_a_row_;
      return false;
    case SampleTracker::ReportVerdict::kNext:
      break;
  }
  implausible_in_a_row_ = 0;
  ++counters_.samples_received;
  counters_.samples_lost += sample.lost_before;
  if (sample.lost_before > 0) ++counters_.gaps;
  clock_.add_sample_times(sample.unit_time_us, sample.received);

  if (sample_seen_) {
    unit_error_count_ += static_cast<std::uint8_t>(report.error_count - unit_errors_seen_);
  }
  unit_errors_seen_ = report.error_count;
  sample_seen_ = true;
  last_unit_time_us_ = sample.unit_time_us;

  sample.motor_count = facts_.motor_count;
  for (std::size_t k = 0; k < MOTORS_MAX; ++k) {
    sample.command[k] = report.command_q15[k] * facts_.motor[k].command_max / 32767.0;
  }
  sample.index_passed = report.index_passed;
  sample.home_closed = report.home_closed;
  sample.tripped = (report.status & STATUS_TRIPPED) != 0;
  sample.driving = (report.status & STATUS_DRIVING) != 0;
  sample.command_rejected = (report.status & STATUS_COMMAND_REJECTED) != 0;
  sample.fault_flags = report.fault_flags;
  sample.unit_error_count = unit_error_count_;
  sample.inertial = inertial_;
  inertial_.sensors = 0;
  process_command_echo(report, sample);
  return true;
}

// Readings of inertial sensors follow the sample of their latch. Without that sample their time is
// unknown, so they are dropped.
void UnitLink::process_inertial() noexcept {
  inertial_report report;
  const std::span<const std::uint8_t> message = decoder_.message();
  if (!streaming_ || !inertial_report_decode(message.data(), message.size(), &report) ||
      (report.sensors >> facts_.inertial_count) != 0) {
    ++counters_.messages_unexpected;
    return;
  }
  ++counters_.inertial_received;
  const std::uint64_t sequence = tracker_.next_sequence() - 1;
  if (!sample_seen_ || (sequence & 0xFFFFU) != report.sequence) {
    ++counters_.inertial_unmatched;
    return;
  }
  inertial_.sequence = sequence;
  inertial_.unit_time_us = last_unit_time_us_;
  inertial_.sensors = report.sensors;
  for (std::size_t k = 0; k < inertial_.counts.size(); ++k) {
    std::copy(std::begin(report.counts[k]), std::end(report.counts[k]),
              inertial_.counts[k].begin());
  }
}

// The echo contains the low bits of a command's sequence, which identify one of the last commands.
// At its first occurrence, the round-trip time of the command is measured in unit time.
void UnitLink::process_command_echo(const sample_report& report, UnitSample& sample) noexcept {
  sample.command_delay_ticks.reset();
  sample.command_sequence = echoed_command_;
  sample.command_unknown = false;
  if ((report.status & STATUS_COMMAND_SEEN) == 0) return;
  const std::uint64_t mask = stream_.compact ? 0xFFU : 0xFFFFU;
  if (echoed_command_ != 0 && (echoed_command_ & mask) == report.command_sequence) return;
  const std::uint64_t age = (command_sequence_ - report.command_sequence) & mask;
  sample.command_unknown = age >= command_sequence_;
  if (sample.command_unknown) return;
  echoed_command_ = command_sequence_ - age;
  sample.command_sequence = echoed_command_;

  const SentCommand& sent = commands_[echoed_command_ % kCommandHistory];
  if (sent.sequence != echoed_command_ || !sent.sample_seen) return;
  const double delay_ticks =
      static_cast<double>(sample.unit_time_us - sent.unit_time_us) * 1e-6 * facts_.tick_rate_Hz;
  const int ticks = static_cast<int>(std::lround(delay_ticks));
  const bool first = counters_.command_delays++ == 0;
  counters_.command_delay_ticks_min =
      first ? ticks : std::min(counters_.command_delay_ticks_min, ticks);
  counters_.command_delay_ticks_max =
      first ? ticks : std::max(counters_.command_delay_ticks_max, ticks);
  sample.command_delay_ticks = ticks;
}

void UnitLink::process_fault() noexcept {
  fault_report report;
  const std::span<const std::uint8_t> message = decoder_.message();
  if (!fault_report_decode(message.data(), message.size(), &report)) return;
  last_fault_ = UnitFault{report.fault_flags, report.cause,  report.sample_sequence,
                          report.tick_us,     report.detail, received_at_};
}

bool UnitLink::write_message(std::span<const std::uint8_t> message) noexcept {
  std::array<std::uint8_t, FRAME_SIZE_BYTES_MAX> frame;
  const std::size_t size_bytes =
      frame_encode(message.data(), message.size(), frame.data(), frame.size());
  assert(size_bytes > 0);
  if (tap_ != nullptr) tap_->on_message(Direction::kToUnit, message, transport_->now());
  return transport_->write({frame.data(), size_bytes}).status == IoStatus::kOk;
}

bool UnitLink::write_command(std::span<const double> command, int ttl_ms) noexcept {
  command_request request{};
  request.flags = COMMAND_ENABLE;
  request.ttl_ms = static_cast<std::uint8_t>(std::clamp(ttl_ms, 1, facts_.ttl_max_ms));
  const auto motor_count = static_cast<std::size_t>(facts_.motor_count);
  for (std::size_t k = 0; k < std::min(command.size(), motor_count); ++k) {
    const double share = std::clamp(command[k] / facts_.motor[k].command_max, -1.0, 1.0);
    if (!std::isfinite(command[k])) {
      write_trip_command();
      return false;
    }
    request.command_q15[k] = static_cast<std::int16_t>(std::lround(share * 32767.0));
  }
  return write_command_message(request);
}

bool UnitLink::write_idle_command() noexcept { return write_command_message({.ttl_ms = 1}); }

bool UnitLink::write_trip_command() noexcept {
  if (clear_state_ == ClearTripState::kPending) clear_state_ = ClearTripState::kIdle;
  return write_command_message({.flags = COMMAND_TRIP, .ttl_ms = 1});
}

bool UnitLink::write_command_message(command_request request) noexcept {
  ++command_sequence_;
  commands_[command_sequence_ % kCommandHistory] = {command_sequence_, last_unit_time_us_,
                                                    sample_seen_};
  request.sequence = static_cast<std::uint16_t>(command_sequence_ & 0xFFFFU);
  if (sample_seen_) {
    request.answers = static_cast<std::uint32_t>((tracker_.next_sequence() - 1) & 0xFFFFFFFFU);
  }
  std::array<std::uint8_t, COMMAND_SIZE_BYTES_MAX> message;
  const std::size_t size_bytes =
      stream_.compact
          ? command_compact_encode(&request, message.data())
          : command_request_encode(&request, static_cast<std::uint8_t>(facts_.motor_count),
                                   message.data());
  const bool sent = write_message({message.data(), size_bytes});
  ++(sent ? counters_.commands_sent : counters_.commands_not_sent);
  return sent;
}

void UnitLink::request_trip_clear() noexcept {
  clear_state_ = ClearTripState::kPending;
  clear_step_ = 1;
  clear_token_ = 0;
  clear_attempts_ = 0;
  write_clear_request();
}

void UnitLink::write_clear_request() noexcept {
  const clear_request request{clear_step_, clear_token_};
  std::array<std::uint8_t, CLEAR_SIZE_BYTES> message;
  clear_request_encode(&request, message.data());
  write_message(message);
  ++clear_attempts_;
  clear_repeat_at_ = transport_->now() + kClearRepeat;
}

void UnitLink::continue_trip_clear() noexcept {
  if (clear_state_ != ClearTripState::kPending || transport_->now() < clear_repeat_at_) return;
  if (clear_attempts_ >= kClearAttemptsMax) {
    clear_state_ = ClearTripState::kNoReply;
  } else {
    write_clear_request();
  }
}

void UnitLink::process_clear_reply() noexcept {
  clear_reply reply;
  const std::span<const std::uint8_t> message = decoder_.message();
  if (!clear_reply_decode(message.data(), message.size(), &reply)) return;
  if (clear_state_ != ClearTripState::kPending || reply.step != clear_step_) {
    ++counters_.messages_unexpected;  // reply to a repeated request
    return;
  }
  clear_fault_flags_ = reply.fault_flags;
  if (reply.result == CLEAR_DONE && clear_step_ == 2) {
    clear_state_ = ClearTripState::kDone;
  } else if (reply.result == CLEAR_DONE) {
    clear_step_ = 2;
    clear_token_ = reply.token;
    write_clear_request();
  } else if (reply.result == CLEAR_WRONG_TOKEN && clear_attempts_ < kClearAttemptsMax) {
    clear_step_ = 1;  // the token was superseded or has expired: request another
    clear_token_ = 0;
    write_clear_request();
  } else {
    clear_state_ = ClearTripState::kRefused;
  }
}

}  // namespace firmware_iface
