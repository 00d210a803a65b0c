#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include "firmware_iface/link/frame_decoder.hpp"
#include "tests/firmware_iface/unit_model.hpp"

// The unit's core in random sessions against a model of PROTOCOL.md that keeps the whole history.

namespace {

using firmware_iface::UnitModel;
using test_support::message_of;
using test_support::WireBytes;

constexpr std::uint32_t kNever = 0xFFFFFFFF;

/// A core and its model, which get the same events. After each event their messages, outputs and
/// states are compared.
class CoreAndModel {
 public:
  explicit CoreAndModel(std::uint64_t seed) : random_(seed) {
    board_.unit_id = 0x1234;
    board_.tick_rate_Hz = one_of(2) == 0 ? 1000 : 3000;
    board_.ttl_max_ms = static_cast<std::uint8_t>(5 + one_of(30));
    board_.capabilities = static_cast<std::uint8_t>(one_of(4) == 0 ? one_of(8) : 7);
    board_.encoder_count = static_cast<std::uint8_t>(1 + one_of(5));
    board_.motor_count = static_cast<std::uint8_t>(one_of(2) == 0 ? 1 : 1 + one_of(MOTORS_MAX));
    board_.inertial_count = static_cast<std::uint8_t>(one_of(INERTIAL_SENSORS_MAX + 1));
    board_.command_bits = static_cast<std::uint8_t>(std::array{0, 4, 12, 16, 20}[one_of(5)]);
    for (std::uint8_t& ticks : board_.inertial_ticks) {
      ticks = static_cast<std::uint8_t>(one_of(4));
    }
    for (std::uint32_t k = 0; k < ENCODERS_MAX; ++k) board_.encoder[k] = {1, 2, 1000 + k, k};
    for (std::uint32_t k = 0; k < MOTORS_MAX; ++k) board_.motor[k] = {2, 0, 500 + k, 0};
    const unit_memory memory{static_cast<std::uint16_t>(one_of(100)), 0, kNever};
    // The unit's 32-bit times wrap in some runs.
    now_ = one_of(2) == 0 ? one_of(1000) : 0xFFFF'0000ULL + one_of(0x10000);
    std::memset(&*place_, 0xA5, sizeof(*place_));  // as memory may be after power-up
    unit_init(core_, &board_, &memory, static_cast<std::uint32_t>(one_of(3)), now_);
    EXPECT_EQ(place_->behind[0], 0xA5);
    model_.emplace(board_, static_cast<std::uint16_t>(memory.boot_count + 1));
    model_->next_tick_us = now_;
  }

  void step() {
    switch (one_of(12)) {
      case 0:
        return change_session();
      case 1:
        return clear();
      case 2:
      case 3:
      case 4:
        return command();
      case 5:
        return disturb();
      default:
        return tick();
    }
  }

  std::uint64_t driven_count() const { return driven_count_; }
  const UnitModel& model() const { return *model_; }

 private:
  std::uint64_t one_of(std::uint64_t count) { return random_() % count; }

  void receive(const WireBytes& message) {
    for (const std::uint8_t byte : test_support::frame_of(message)) {
      unit_receive(core_, byte, now_);
    }
  }

  void tick() {
    now_ = model_->next_tick_us;
    if (one_of(200) == 0) now_ += std::uint64_t{1} << 32;  // a pause in which the clock wraps
    unit_tick(core_, now_);
    model_->tick(now_);
    compare();
    send_sample();
  }

  void send_sample() {
    ASSERT_EQ(unit_sample_is_due(core_), model_->sample_is_due);
    if (!model_->sample_is_due) return;
    ASSERT_EQ(unit_inertial_due(core_), model_->inertial_due());
    unit_latch latch{};
    for (std::int32_t& counts : latch.encoder_counts) {
      counts = static_cast<std::int32_t>(one_of(1U << 24)) - (1 << 23);
    }
    latch.encoders_valid = static_cast<std::uint16_t>(one_of(1U << board_.encoder_count));
    latch.index_passed = static_cast<std::uint16_t>(random_());
    latch.home_closed = static_cast<std::uint16_t>(random_());
    latch.inertial_read = static_cast<std::uint8_t>(one_of(1U << INERTIAL_SENSORS_MAX));
    for (auto& sensor : latch.inertial) {
      for (std::int16_t& counts : sensor) counts = static_cast<std::int16_t>(random_());
    }
    unit_send_sample(core_, &latch, now_);
    model_->sample(latch, damaged_count_, now_);
    compare();
    unit_send_sample(core_, &latch, now_);  // none is due
    compare();
  }

  void change_session() {
    advance_within_tick();
    if (one_of(8) == 0) {
      const auto nonce = static_cast<std::uint16_t>(random_());
      receive(message_of(hello_head{PROTOCOL_VERSION, LAYOUT_HASH, nonce}));
      model_->hello(nonce, now_);
    } else if (one_of(4) == 0) {
      const describe_request ask{static_cast<std::uint8_t>(one_of(3)),
                                 static_cast<std::uint8_t>(one_of(ENCODERS_MAX + 1))};
      receive(message_of(ask));
      model_->describe(ask.part, ask.index);
    } else if (one_of(3) != 0) {
      configure_request ask{configure_sequence_, STREAM_ON, 1, 10, {}};
      if (one_of(4) != 0) ask.sequence = ++configure_sequence_;
      if (one_of(4) == 0) ask.flags = static_cast<std::uint8_t>(one_of(one_of(8) == 0 ? 256 : 16));
      if (one_of(2) == 0) ask.divider = static_cast<std::uint8_t>(one_of(5));
      if (one_of(2) == 0) ask.command_age_ticks = static_cast<std::uint8_t>(one_of(8));
      for (std::size_t k = 0; k < INERTIAL_SENSORS_MAX; ++k) {
        if (one_of(6) == 0 || (k < board_.inertial_count && one_of(2) == 0)) {
          ask.inertial_divider[k] = static_cast<std::uint8_t>(one_of(7));
        }
      }
      receive(message_of(ask));
      model_->configure(ask, now_);
    }
    compare();
  }

  void clear() {
    if (one_of(3) == 0) core_->causes_present = one_of(3) == 0 ? FAULT_AMPLIFIER : 0;
    model_->causes_present = core_->causes_present;
    if (one_of(40) == 0) now_ += 1000 * (CLEAR_WINDOW_MS - 1) + one_of(2000);
    const bool is_first = token_ == 0 || one_of(3) == 0;
    clear_request ask{static_cast<std::uint8_t>(is_first ? 1 : 2),
                      is_first ? std::uint16_t{0} : token_};
    if (one_of(10) == 0) ask.step = static_cast<std::uint8_t>(one_of(5));
    if (one_of(10) == 0) ask.token = static_cast<std::uint16_t>(one_of(2) == 0 ? 0 : random_());
    receive(message_of(ask));
    if (ask.step == 1) {
      ASSERT_NE(core_->clear_token, 0);
      if (token_ != 0) EXPECT_NE(core_->clear_token, token_);
      token_ = core_->clear_token;
    }
    model_->clear(ask.step, ask.token, token_, now_);
    compare();
  }

  void command() {
    advance_within_tick();
    const auto newest = static_cast<std::uint32_t>(model_->samples()) - 1;
    command_request ask{++command_sequence_, newest, COMMAND_ENABLE, 5, {}};
    if (one_of(3) == 0) ask.answers = newest - static_cast<std::uint32_t>(one_of(12));
    if (one_of(20) == 0) ask.answers = newest - 250 - static_cast<std::uint32_t>(one_of(12));
    if (one_of(20) == 0) ask.answers = static_cast<std::uint32_t>(random_());
    if (one_of(5) == 0) ask.flags = static_cast<std::uint8_t>(one_of(4));
    if (one_of(2) == 0) {
      ask.ttl_ms = static_cast<std::uint8_t>(one_of(10) == 0
                                                 ? std::array{0, board_.ttl_max_ms + 1}[one_of(2)]
                                                 : 1 + one_of(board_.ttl_max_ms));
    }
    for (std::size_t m = 0; m < board_.motor_count; ++m) {
      ask.command_q15[m] = static_cast<std::int16_t>(
          std::array{32767, -32767, 0, static_cast<int>(one_of(65535)) - 32767}[one_of(4)]);
    }
    const bool compact = one_of(3) == 0;
    const WireBytes message =
        compact ? test_support::compact_message_of(ask) : message_of(ask, board_.motor_count);
    if (compact) ASSERT_TRUE(command_compact_decode(message.data(), message.size(), &ask));
    receive(message);
    model_->command(ask, compact, now_);
    compare();
    if (one_of(2) == 0) send_sample();  // else at the next tick
  }

  /// A damaged frame, a message of the unit itself, or a cause on the board.
  void disturb() {
    const std::uint64_t kind = one_of(9);
    if (kind == 8) {
      skip_samples();
    } else if (kind < 4) {
      WireBytes frame = test_support::frame_of(message_of(clear_request{1, 0}));
      frame[1 + one_of(3)] ^= 0x55;
      for (const std::uint8_t byte : frame) unit_receive(core_, byte, now_);
      ++damaged_count_;
    } else if (kind < 7) {
      receive(message_of(clear_reply{1, CLEAR_DONE, 7, 0}));
    } else if (one_of(4) == 0) {
      const auto detail = static_cast<std::int32_t>(random_());
      unit_trip(core_, FAULT_AMPLIFIER, detail, now_);
      model_->trip(FAULT_AMPLIFIER, detail, now_);
    }
    compare();
  }

  /// Lets the stream's 32-bit number of samples come close to its wrap.
  void skip_samples() {
    constexpr std::uint64_t kWrap = std::uint64_t{1} << 32;
    if (one_of(2) != 0 || model_->samples() > kWrap / 2) return;
    const std::uint64_t count = kWrap - one_of(one_of(2) == 0 ? 100 : 4) - model_->samples();
    model_->skip_samples(count);
    core_->stream_samples += static_cast<std::uint32_t>(count);
    core_->memory.samples_of_last_stream = core_->stream_samples;
    core_->answerable_count = 0;
    core_->has_answered = false;
  }

  void advance_within_tick() {
    if (now_ + 1 < model_->next_tick_us) now_ += one_of(model_->next_tick_us - now_);
  }

  void compare() {
    std::array<std::uint8_t, UNIT_TRANSMIT_SIZE_BYTES> bytes{};
    std::vector<WireBytes> messages;
    while (const std::size_t size = unit_transmit(core_, bytes.data(), 1 + one_of(40))) {
      for (std::size_t k = 0; k < size; ++k) {
        if (!decoder_.push(bytes[k])) continue;
        const auto message = decoder_.message();
        messages.emplace_back(message.begin(), message.end());
      }
    }
    const auto expected = std::exchange(model_->sent, {});
    ASSERT_EQ(messages.size(), expected.size());
    for (std::size_t k = 0; k < messages.size(); ++k) {
      WireBytes padded = messages[k];  // some encoders return their longest size
      padded.resize(expected[k].size());
      ASSERT_EQ(padded, expected[k]) << "message type " << int{messages[k].at(0)};
    }
    ASSERT_EQ(core_->fault_flags, model_->faults);
    ASSERT_EQ(core_->output.is_enabled, model_->in_force.has_value());
    for (std::size_t m = 0; m < MOTORS_MAX; ++m) {
      ASSERT_EQ(core_->output.command_q15[m],
                model_->in_force ? model_->in_force->command_q15[m] : 0);
    }
    driven_count_ += core_->output.is_enabled;
    ASSERT_EQ(core_->counters.commands_rejected, model_->rejected_count);
    ASSERT_EQ(core_->counters.clears, model_->clear_count);
    ASSERT_EQ(core_->counters.frames_damaged, damaged_count_);
    ASSERT_EQ(core_->counters.frames_dropped, 0U);
    for (unsigned bit = 0; bit < 8; ++bit) {
      ASSERT_EQ(core_->counters.trips[bit], model_->trips[static_cast<std::uint8_t>(1U << bit)]);
    }
  }

  std::mt19937_64 random_;
  unit_description board_{};
  struct Place {
    unit core;
    std::array<std::uint8_t, 8> behind;
  };
  std::unique_ptr<Place> place_ = std::make_unique<Place>();
  unit* core_ = &place_->core;
  std::optional<UnitModel> model_;
  firmware_iface::FrameDecoder decoder_;
  std::uint64_t now_ = 0;
  std::uint64_t driven_count_ = 0;
  std::uint32_t damaged_count_ = 0;
  std::uint16_t configure_sequence_ = 0, command_sequence_ = 0, token_ = 0;
};

TEST(UnitCoreModel, AgreesWithTheProtocolInRandomSessions) {
  std::uint64_t driven_count = 0;
  std::map<std::uint8_t, std::uint32_t> trips;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(seed);
    CoreAndModel both(seed);
    for (int step = 0; step < 1500; ++step) {
      both.step();
      if (::testing::Test::HasFatalFailure()) return;
    }
    driven_count += both.driven_count();
    for (const auto& [cause, count] : both.model().trips) trips[cause] += count;
  }
  EXPECT_GT(driven_count, 10'000U);
  for (const std::uint8_t cause :
       {FAULT_TTL, FAULT_SESSION, FAULT_COMMAND, FAULT_HOST, FAULT_AMPLIFIER}) {
    EXPECT_GT(trips[cause], 100U) << int{cause};
  }
}

// Tokens are hard to guess: they follow from Marsaglia's generator, whose first numbers from 1 are
// known. A token of zero would match a request without a token.
TEST(UnitCoreModel, GivesRandomTokensOtherThanZero) {
  unit_description board{};
  board.tick_rate_Hz = 1000;
  const auto core = std::make_unique<unit>();
  const unit_memory memory{};
  unit_init(core.get(), &board, &memory, 1, 0);
  const WireBytes frame = test_support::frame_of(message_of(clear_request{1, 0}));
  for (const std::uint32_t number : {270'369U, 67'634'689U, 2'647'435'461U, 307'599'695U}) {
    for (const std::uint8_t byte : frame) unit_receive(core.get(), byte, 0);
    ASSERT_EQ(core->clear_token, 1 + number % 0xFFFF);
  }
  for (int k = 0; k < 400'000; ++k) {
    for (const std::uint8_t byte : frame) unit_receive(core.get(), byte, 0);
    ASSERT_NE(core->clear_token, 0) << k;
  }
}

// If the line takes no bytes, whole frames are dropped and counted; those that were queued arrive.
TEST(UnitCoreModel, DropsWholeFramesIfTheLineIsFull) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    std::mt19937_64 random(seed);
    unit_description board{};
    board.tick_rate_Hz = 1000;
    board.encoder_count = static_cast<std::uint8_t>(1 + random() % ENCODERS_MAX);
    const auto core = std::make_unique<unit>();
    const unit_memory memory{};
    unit_init(core.get(), &board, &memory, 1, 0);
    firmware_iface::FrameDecoder decoder;
    std::uint32_t arrived = 0, asked = 0;
    std::size_t queued_max = 0;
    for (int round = 0; round < 20; ++round) {
      for (std::uint64_t k = random() % 30; k > 0; --k) {
        const bool is_clear = random() % 2 == 0;
        const WireBytes message = is_clear
                                      ? message_of(clear_request{3, 7})
                                      : message_of(hello_head{PROTOCOL_VERSION, LAYOUT_HASH, 1});
        for (const std::uint8_t byte : test_support::frame_of(message)) {
          unit_receive(core.get(), byte, 0);
        }
        ++asked;
        queued_max = std::max(queued_max, core->transmit_size);
      }
      std::array<std::uint8_t, UNIT_TRANSMIT_SIZE_BYTES> bytes{};
      const std::size_t size =
          unit_transmit(core.get(), bytes.data(), random() % (bytes.size() + 1));
      for (std::size_t k = 0; k < size; ++k) arrived += decoder.push(bytes[k]);
    }
    std::array<std::uint8_t, UNIT_TRANSMIT_SIZE_BYTES> bytes{};
    const std::size_t size = unit_transmit(core.get(), bytes.data(), bytes.size());
    for (std::size_t k = 0; k < size; ++k) arrived += decoder.push(bytes[k]);
    EXPECT_EQ(arrived + core->counters.frames_dropped, asked);
    EXPECT_GT(core->counters.frames_dropped, 0U);
    EXPECT_EQ(decoder.counters().damaged_count(), 0U);
    EXPECT_GT(queued_max, UNIT_TRANSMIT_SIZE_BYTES - 20U) << "frames of 10 bytes fill the rest";
    EXPECT_LE(queued_max, std::size_t{UNIT_TRANSMIT_SIZE_BYTES});
  }
}

}  // namespace
