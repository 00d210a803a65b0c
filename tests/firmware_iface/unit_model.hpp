#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <optional>
#include <vector>

#include "firmware_iface/firmware/core/unit.h"
#include "firmware_iface/wire/fault.h"
#include "firmware_iface/wire/inertial.h"
#include "firmware_iface/wire/message_type.h"
#include "tests/support/wire_messages.hpp"

namespace firmware_iface {

/// What a unit must do, by PROTOCOL.md. Times in microseconds of the unit's clock.
class UnitModel {
 public:
  UnitModel(const unit_description& board, std::uint16_t boots) : board_(board), boots_(boots) {}

  std::vector<test_support::WireBytes> sent;  // the caller empties it
  std::uint8_t faults = FAULT_BOOT;
  std::uint8_t causes_present = 0;
  std::optional<command_request> in_force;  // enabled, with the converter's commands
  bool sample_is_due = false;
  std::uint32_t rejected_count = 0, clear_count = 0;
  std::map<std::uint8_t, std::uint32_t> trips = {{FAULT_BOOT, 1}};

  void trip(std::uint8_t cause, std::int32_t detail, std::uint64_t now) {
    in_force.reset();
    ttl_end_.reset();
    if (pending_) pending_->flags = 0;
    if ((faults & cause) != 0) return;
    faults |= cause;
    ++trips[cause];
    sent.push_back(test_support::message_of(fault_report{faults, cause,
                                                         static_cast<std::uint16_t>(samples_ - 1),
                                                         static_cast<std::uint32_t>(now), detail}));
  }

  void hello(std::uint16_t nonce, std::uint64_t now) {
    if (in_force || ttl_end_) trip(FAULT_SESSION, 0, now);
    is_streaming_ = sample_is_due = false;
    has_session_ = true;
    configured_.reset();
    hello_reply reply{};
    reply.protocol_version = PROTOCOL_VERSION;
    reply.layout_hash = LAYOUT_HASH;
    reply.nonce = nonce;
    reply.unit_id = board_.unit_id;
    reply.boot_count = boots_;
    reply.tick_rate_Hz = board_.tick_rate_Hz;
    reply.ttl_max_ms = board_.ttl_max_ms;
    reply.capabilities = board_.capabilities;
    reply.fault_flags = faults;
    reply.stream_count = stream_count_;
    reply.samples_sent = samples_of_last_stream_;
    reply.encoder_count = board_.encoder_count;
    reply.motor_count = board_.motor_count;
    reply.inertial_count = board_.inertial_count;
    std::ranges::copy(board_.inertial_ticks, reply.inertial_ticks);
    reply.configuration_hash = unit_configuration_hash(&reply, board_.encoder, board_.motor);
    sent.push_back(test_support::message_of(reply));
  }

  void describe(std::uint8_t part, std::uint8_t index) {
    describe_reply reply{part, index, {PART_MISSING, 0, 0, 0}};
    if (part == PART_ENCODER && index < board_.encoder_count) {
      reply.description = board_.encoder[index];
    }
    if (part == PART_MOTOR && index < board_.motor_count) reply.description = board_.motor[index];
    sent.push_back(test_support::message_of(reply));
  }

  void configure(const configure_request& ask, std::uint64_t now) {
    configure_reply reply{ask.sequence, CONFIGURE_DONE, flags_, divider_, 0, 0, stream_count_};
    if (configured_ && configured_->sequence == ask.sequence) {
      reply = *configured_;
    } else if (!has_session_) {
      reply.result = CONFIGURE_NO_SESSION;
    } else if (!can_stream(ask)) {
      reply.result = CONFIGURE_UNSUPPORTED;
    } else {
      if (in_force || ttl_end_) trip(FAULT_SESSION, 0, now);
      if (is_streaming_) reply.samples_sent = static_cast<std::uint32_t>(samples_);
      is_streaming_ = (ask.flags & STREAM_ON) != 0;
      sample_is_due = false;
      flags_ = reply.flags = ask.flags;
      divider_ = reply.divider = ask.divider;
      age_ticks_ = ask.command_age_ticks;
      std::ranges::copy(ask.inertial_divider, inertial_divider_);
      reply.start_tick_us = static_cast<std::uint32_t>(next_tick_us);
      if (is_streaming_) {
        reply.stream_count = ++stream_count_;
        samples_ = samples_of_last_stream_ = 0U;
        latches_.clear();
        first_ = 0;
        ticks_ = 0;
        pending_.reset();
        seen_ = rejected_ = false;
        newest_answered_.reset();
      }
      configured_ = reply;
    }
    sent.push_back(test_support::message_of(reply));
  }

  /// @param token  that the unit gives out
  void clear(std::uint8_t step, std::uint16_t asked, std::uint16_t token, std::uint64_t now) {
    clear_reply reply{step, CLEAR_DONE, asked, 0};
    if (step == 1) {
      token_ = reply.token = token;
      token_end_ = now + 1000 * CLEAR_WINDOW_MS;
    } else if (step != 2) {
      reply.result = CLEAR_WRONG_STEP;
    } else if (token_ && asked == *token_ && now <= token_end_) {
      faults = causes_present;
      if (faults == 0) cleared_ = token_;
      clear_count += faults == 0;
      if (faults != 0) reply.result = CLEAR_CAUSE_PRESENT;
      token_.reset();
    } else if (!cleared_ || asked != *cleared_ || faults != 0) {
      reply.result = CLEAR_WRONG_TOKEN;
    }
    reply.fault_flags = faults;
    sent.push_back(test_support::message_of(reply));
  }

  void command(const command_request& ask, bool compact, std::uint64_t now) {
    if (compact && board_.motor_count != 1) return;
    if (is_streaming_ && (flags_ & STREAM_HOST_PACED) != 0) sample_is_due = true;
    const bool enables = (ask.flags & COMMAND_ENABLE) != 0;
    if ((ask.flags & COMMAND_TRIP) != 0) {
      trip(FAULT_HOST, ask.sequence, now);
    } else if (enables && (ask.ttl_ms == 0 || ask.ttl_ms > board_.ttl_max_ms)) {
      return trip(FAULT_COMMAND, ask.ttl_ms, now);
    }
    if (enables) {
      const std::uint32_t mask = compact ? 0xFFFFFF : 0xFFFFFFFF;
      std::optional<std::uint64_t> answered;
      for (std::uint64_t k = samples_; is_streaming_ && k-- > first_ && samples_ - k <= 256;) {
        if (((ask.answers ^ k) & mask) == 0) answered = k;
      }
      const auto is_recent = [&] {
        if (!answered || (newest_answered_ && *answered < *newest_answered_)) return false;
        const std::uint64_t latch = latches_[*answered - first_];
        // Latches are rounded to microseconds.
        const std::uint64_t age = latches_.back() - latch;
        const double age_ticks = 1e-6 * static_cast<double>(age - (age > 0)) * board_.tick_rate_Hz;
        return age_ticks <= age_ticks_ && now - latch < 1000U * ask.ttl_ms;
      };
      if (!is_recent()) {
        rejected_ = true;
        ++rejected_count;
        return;
      }
      newest_answered_ = answered;
    }
    ttl_end_.reset();
    pending_ = ask;
    if (faults != 0) pending_->flags = 0;
    if ((pending_->flags & COMMAND_ENABLE) == 0) return;
    ttl_ms_ = ask.ttl_ms;
    ttl_end_ = latches_[*newest_answered_ - first_] + 1000U * ask.ttl_ms;
  }

  void tick(std::uint64_t now) {
    next_tick_us = now + 1'000'000 / board_.tick_rate_Hz;
    if (ttl_end_ && now >= *ttl_end_) trip(FAULT_TTL, ttl_ms_, now);
    activate();
    if (!is_streaming_ || (flags_ & STREAM_HOST_PACED) != 0) return;
    if (ticks_++ % divider_ == 0) sample_is_due = true;
  }

  void sample(const unit_latch& latch, std::uint32_t damaged_count, std::uint64_t now) {
    if (!sample_is_due) return;
    sample_is_due = false;
    activate();
    sample_report report{};
    report.sequence = static_cast<std::uint16_t>(samples_);
    report.tick_us = static_cast<std::uint32_t>(now);
    report.command_sequence = command_sequence_;
    report.encoders_valid = latch.encoders_valid;
    if (faults != 0) report.status |= STATUS_TRIPPED;
    if (in_force) report.status |= STATUS_DRIVING;
    if (seen_) report.status |= STATUS_COMMAND_SEEN;
    if (rejected_) report.status |= STATUS_COMMAND_REJECTED;
    report.fault_flags = faults;
    report.error_count = static_cast<std::uint8_t>(damaged_count);
    if (in_force) std::ranges::copy(in_force->command_q15, report.command_q15);
    std::ranges::copy(latch.encoder_counts, report.encoder_counts);
    report.index_passed = latch.index_passed;
    report.home_closed = latch.home_closed;
    rejected_ = false;
    const sample_shape shape{board_.encoder_count, board_.motor_count,
                             (flags_ & STREAM_MARKS) != 0};
    sent.push_back((flags_ & STREAM_COMPACT) != 0 ? test_support::compact_message_of(report, shape)
                                                  : test_support::message_of(report, shape));
    inertial_report inertial{};
    inertial.sequence = report.sequence;
    inertial.sensors = inertial_due() & latch.inertial_read;
    for (std::size_t k = 0; k < INERTIAL_SENSORS_MAX; ++k) {
      std::ranges::copy(latch.inertial[k], inertial.counts[k]);
    }
    if (inertial.sensors != 0) sent.push_back(test_support::message_of(inertial));
    latches_.push_back(now);
    samples_of_last_stream_ = static_cast<std::uint32_t>(++samples_);
  }

  /// Goes on as after this many more samples, whose latches_ nobody remembers.
  void skip_samples(std::uint64_t count) {
    first_ = samples_ += count;
    samples_of_last_stream_ = static_cast<std::uint32_t>(samples_);
    latches_.clear();
    newest_answered_.reset();
  }

  std::uint64_t samples() const { return samples_; }

  std::uint8_t inertial_due() const {
    std::uint8_t due = 0;
    for (unsigned k = 0; k < board_.inertial_count; ++k) {
      const std::uint8_t divider = inertial_divider_[k];
      if (divider != 0 && static_cast<std::uint32_t>(samples_) % divider == 0) due |= 1U << k;
    }
    return due;
  }

  std::uint64_t next_tick_us = 0;

 private:
  bool can_stream(const configure_request& ask) const {
    const std::map<unsigned, unsigned> needed = {{STREAM_COMPACT, UNIT_CAN_COMPACT},
                                                 {STREAM_HOST_PACED, UNIT_CAN_HOST_PACED},
                                                 {STREAM_MARKS, UNIT_CAN_MARKS}};
    unsigned unknown = ask.flags & ~unsigned{STREAM_ON};
    for (const auto& [flag, capability] : needed) {
      if ((ask.flags & flag) != 0 && (board_.capabilities & capability) == 0) return false;
      unknown &= ~flag;
    }
    if (unknown != 0 || ask.divider == 0 || ask.command_age_ticks == 0) return false;
    const bool is_small =
        board_.motor_count == 1 && board_.encoder_count <= 4 && (ask.flags & STREAM_MARKS) == 0;
    if ((ask.flags & STREAM_COMPACT) != 0 && !is_small) return false;
    for (std::size_t k = 0; k < INERTIAL_SENSORS_MAX; ++k) {
      if (ask.inertial_divider[k] == 0) continue;
      if (k >= board_.inertial_count || board_.inertial_ticks[k] == 0) return false;
      if (ask.inertial_divider[k] * ask.divider % board_.inertial_ticks[k] != 0) return false;
    }
    return true;
  }

  void activate() {
    if (!pending_) return;
    seen_ = true;
    command_sequence_ = pending_->sequence;
    in_force.reset();
    if (faults == 0 && (pending_->flags & COMMAND_ENABLE) != 0) in_force = pending_;
    pending_.reset();
    if (!in_force) return;
    for (std::size_t m = 0; m < MOTORS_MAX; ++m) {
      std::int16_t& command = in_force->command_q15[m];
      if (m >= board_.motor_count) command = 0;
      if (board_.command_bits == 0 || board_.command_bits >= 16) continue;
      const int step = 1 << (16 - board_.command_bits), most = (1 << (board_.command_bits - 1)) - 1;
      const int steps = std::min((std::abs(int{command}) + step / 2) / step, most);
      command = static_cast<std::int16_t>(command < 0 ? -steps * step : steps * step);
    }
  }

  unit_description board_;
  std::uint16_t boots_, stream_count_ = 0;
  std::uint64_t samples_ = 0, first_ = 0;
  std::vector<std::uint64_t> latches_;  // of the stream's samples from first_ on
  std::uint32_t samples_of_last_stream_ = 0xFFFFFFFF;
  bool has_session_ = false, is_streaming_ = false, seen_ = false, rejected_ = false;
  std::optional<configure_reply> configured_;
  std::uint8_t flags_ = 0, divider_ = 0, age_ticks_ = 0, ttl_ms_ = 0;
  std::uint8_t inertial_divider_[INERTIAL_SENSORS_MAX] = {};
  std::uint64_t ticks_ = 0, token_end_ = 0;
  std::optional<std::uint16_t> token_, cleared_;
  std::optional<command_request> pending_;
  std::optional<std::uint64_t> ttl_end_;
  std::optional<std::uint64_t> newest_answered_;
  std::uint16_t command_sequence_ = 0;
};

}  // namespace firmware_iface
