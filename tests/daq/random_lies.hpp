#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include "tests/daq/lying_line.hpp"

namespace daq {

/// Kind of a lie.
enum class Kind {
  kNone,
  kFrozen,        // encoders keep their counts, or alternate by one
  kFrozenAWhile,  // and come back
  kWiring,        // mirrored or exchanged, from the start
  kDrift,         // counts drift from the start
  kOutput,        // the reported output differs
  kStatus,        // a bit of the status differs
  kFaults,        // fault flags differ
  kEcho,          // the echoed command is an old one, or one never sent
  kCommand,       // the unit receives another command
  kGain,          // commands grow on their way, reports shrink
  kIgnoredTrip,   // a trip reaches the unit as a command
  kCommandDelay,
  kSampleDelay,
  kGrowingDelay,
  kClock,  // the unit's clock changes its rate
  kClockJump,
  kInvalid,         // an encoder is reported invalid
  kHostPause,       // the loop's thread does not run
  kDiskHang,        // nothing is stored any more
  kSupervisorHang,  // nobody empties the ring of records
  kSaturated,       // a counter does not count beyond a value
  kCoarse,          // a counter has lost its lowest bits
  kRepeated,        // one encoder is read in every second sample
  kLag,             // one encoder is older than the rest of its sample
  kLooped,          // the arm's encoder, or all, repeat what they counted before
  kMirrored,        // the arm's encoder counts backwards
  kFlappingStatus   // the status is false in a part of the samples
};
constexpr int kKinds = 28;

/// Lies of a unit or a line, drawn at random.
class RandomLies {
 public:
  using Nanoseconds = firmware_iface::Nanoseconds;

  explicit RandomLies(std::uint64_t seed) : random_(seed) {}

  double uniform() { return std::uniform_real_distribution<double>(0.0, 1.0)(random_); }
  double between(double low, double high) { return low + (high - low) * uniform(); }
  double sign() { return uniform() < 0.5 ? -1.0 : 1.0; }
  std::uint64_t one_of(std::uint64_t count) { return random_() % count; }

  /// Makes the line lie by all lies that have begun.
  void install(LyingLine& line) {
    line.on_sample = [this](sample_report& report) {
      if (!arm_is_misread_)
        recorded_.push_back({report.encoder_counts[0], report.encoder_counts[1]});
      for (const auto& lie : samples_) lie(report);
    };
    line.on_command = [this](command_request& request) {
      for (const auto& lie : commands_) lie(request);
    };
  }
  /// Ends all lies.
  void end(LyingLine& line) {
    samples_.clear();
    commands_.clear();
    line.command_delay = {};
    line.sample_delay = {};
  }
  bool is_arm_frozen() const { return arm_is_frozen_; }
  /// Whether the arm's encoder shows another motion than the arm's.
  bool is_arm_misread() const { return arm_is_misread_; }

  /// Begins a lie that must be there from the start.
  void begin_at_start(Kind kind) {
    if (kind == Kind::kWiring) {
      // A wiring that is wrong twice looks right at first: a commissioning finds it, not a run.
      if (uniform() < 0.5) {
        samples_.emplace_back([](auto& r) { r.encoder_counts[0] = -r.encoder_counts[0]; });
      } else {
        samples_.emplace_back([](auto& r) { std::swap(r.encoder_counts[0], r.encoder_counts[1]); });
      }
    }
    if (kind == Kind::kDrift) {
      const double counts_per_s = sign() * between(20.0, 2000.0);
      const std::size_t k = random_() % 2;
      samples_.emplace_back([=](auto& r) {
        r.encoder_counts[k] += static_cast<std::int32_t>(counts_per_s * 1e-6 * r.tick_us);
      });
    }
  }

  /// Begins a lie in the middle of the run.
  void begin(Kind kind, LyingLine& line) {
    auto& samples = samples_;
    auto& commands = commands_;
    switch (kind) {
      case Kind::kFrozen:
      case Kind::kFrozenAWhile: {
        const unsigned which = 1U + static_cast<unsigned>(random_() % 3);
        const bool alternates = uniform() < 0.3;
        arm_is_frozen_ = arm_is_frozen_ || (which & 1U) != 0;
        const int length = kind == Kind::kFrozen ? 1 << 30 : static_cast<int>(between(5, 400));
        auto held = std::make_shared<std::array<std::int32_t, 2>>();
        samples.emplace_back([=, count = 0](auto& r) mutable {
          if (count++ == 0) std::copy_n(r.encoder_counts, 2, held->begin());
          if (count > length) return;
          for (unsigned k = 0; k < 2; ++k) {
            if (((which >> k) & 1U) != 0) {
              r.encoder_counts[k] = (*held)[k] + (alternates ? count % 2 : 0);
            }
          }
        });
        break;
      }
      case Kind::kLooped: {
        // Forward again and again, or to and fro.
        const std::size_t channels = uniform() < 0.5 ? 1 : 2;
        const auto length = static_cast<std::size_t>(between(10.0, 600.0));
        const bool turns = uniform() < 0.5;
        arm_is_misread_ = true;
        samples.emplace_back([=, this, played = std::size_t{0}](auto& r) mutable {
          const std::size_t most = std::min(length, recorded_.size());
          const std::size_t at = played++ % (turns ? 2 * most : most);
          const std::size_t back = turns && at < most ? at : most - 1 - at % most;
          std::copy_n(recorded_[recorded_.size() - 1 - back].begin(), channels, r.encoder_counts);
        });
        break;
      }
      case Kind::kMirrored: {
        const bool about_zero = uniform() < 0.5;
        arm_is_misread_ = true;
        samples.emplace_back([=, middle = std::optional<std::int32_t>{}](auto& r) mutable {
          if (!middle) middle = about_zero ? 0 : r.encoder_counts[0];
          r.encoder_counts[0] = 2 * *middle - r.encoder_counts[0];
        });
        break;
      }
      case Kind::kFlappingStatus: {
        const auto period = static_cast<int>(between(2.0, 40.0));
        const auto wrong = static_cast<int>(between(1.0, period));
        samples.emplace_back([=, k = 0](auto& r) mutable {
          if (k++ % period >= wrong) return;
          r.status = static_cast<std::uint8_t>(r.status ^ STATUS_DRIVING);
        });
        break;
      }
      case Kind::kSaturated: {
        const std::size_t k = random_() % 2;
        const double side = sign();
        samples.emplace_back([=, most = std::optional<std::int32_t>{}](auto& r) mutable {
          if (!most) most = r.encoder_counts[k];
          if (side * (r.encoder_counts[k] - *most) > 0.0) r.encoder_counts[k] = *most;
        });
        break;
      }
      case Kind::kCoarse: {
        const std::size_t k = random_() % 2;
        const auto lost = static_cast<std::int32_t>(2U << random_() % 4);
        samples.emplace_back(
            [=](auto& r) { r.encoder_counts[k] -= r.encoder_counts[k] & (lost - 1); });
        break;
      }
      case Kind::kRepeated:
      case Kind::kLag: {
        const std::size_t k = random_() % 2;
        const std::size_t lag = 1 + random_() % 15;
        samples.emplace_back([=, read = std::deque<std::int32_t>{}](auto& r) mutable {
          read.push_back(r.encoder_counts[k]);
          if (kind == Kind::kLag && read.size() > lag + 1) read.pop_front();
          if (kind == Kind::kRepeated && read.size() > 2) read.erase(read.begin(), read.end() - 1);
          r.encoder_counts[k] = read.front();
        });
        break;
      }
      case Kind::kOutput: {
        const auto output = static_cast<std::int16_t>(between(-32767.0, 32767.0));
        samples.emplace_back([=](auto& r) { r.command_q15[0] = output; });
        break;
      }
      case Kind::kStatus: {
        const auto bit =
            static_cast<std::uint8_t>(uniform() < 0.5 ? STATUS_DRIVING : STATUS_TRIPPED);
        samples.emplace_back(
            [=](auto& r) { r.status = static_cast<std::uint8_t>(r.status ^ bit); });
        break;
      }
      case Kind::kFaults: {
        const auto flags = static_cast<std::uint8_t>(random_() % 256);
        samples.emplace_back([=](auto& r) { r.fault_flags = flags; });
        break;
      }
      case Kind::kEcho: {
        const auto back = static_cast<int>(between(-1000.0, 1000.0));
        auto old = std::make_shared<int>(-1);
        const bool is_held_by_hand = uniform() < 0.5;
        samples.emplace_back([=](auto& r) {
          if (*old < 0) *old = r.command_sequence;
          r.command_sequence =
              static_cast<std::uint16_t>(is_held_by_hand ? *old : r.command_sequence + back);
        });
        break;
      }
      case Kind::kCommand: {
        const auto output = static_cast<std::int16_t>(between(-32767.0, 32767.0));
        commands.emplace_back([=](auto& c) { c.command_q15[0] = output; });
        break;
      }
      case Kind::kGain: {
        // Up to twice the drive: consistent and wrong, but the angles are true.
        const double factor = between(-1.0, 2.0);
        const auto times = [](std::int16_t value, double by) {
          return static_cast<std::int16_t>(std::clamp(value * by, -32767.0, 32767.0));
        };
        commands.emplace_back([=](auto& c) { c.command_q15[0] = times(c.command_q15[0], factor); });
        samples.emplace_back(
            [=](auto& r) { r.command_q15[0] = times(r.command_q15[0], 1.0 / factor); });
        break;
      }
      case Kind::kIgnoredTrip:
        commands.emplace_back([last = command_request{}](auto& c) mutable {
          if ((c.flags & COMMAND_TRIP) == 0) {
            last = c;
            return;
          }
          c.flags = last.flags;
          c.ttl_ms = last.ttl_ms;
          std::copy_n(last.command_q15, MOTORS_MAX, c.command_q15);
        });
        break;
      case Kind::kCommandDelay: {
        const Nanoseconds delay =
            std::chrono::microseconds(static_cast<int>(1e6 * 2.0 * uniform() * uniform()));
        line.command_delay = [=](auto) { return delay; };
        break;
      }
      case Kind::kSampleDelay: {
        const Nanoseconds delay =
            std::chrono::microseconds(static_cast<int>(1e6 * 0.5 * uniform() * uniform()));
        line.sample_delay = [=](auto) { return delay; };
        break;
      }
      case Kind::kGrowingDelay: {
        const double rate = between(0.02, 1.0);
        line.sample_delay = [=, from = line.now()](Nanoseconds now) {
          return Nanoseconds(
              static_cast<std::int64_t>(rate * static_cast<double>((now - from).count())));
        };
        break;
      }
      case Kind::kClock: {
        const double factor = between(0.3, 3.0);
        samples.emplace_back([=, first = std::uint32_t{0}](auto& r) mutable {
          if (first == 0) first = r.tick_us;
          r.tick_us = first + static_cast<std::uint32_t>(factor * (r.tick_us - first));
        });
        break;
      }
      case Kind::kClockJump: {
        const auto jump = static_cast<std::uint32_t>(1000 * (1 + random_() % 500));
        const auto steps = static_cast<std::uint16_t>(uniform() < 0.5 ? jump / 1000 : 0);
        samples.emplace_back([=](auto& r) {
          r.tick_us += jump;
          r.sequence = static_cast<std::uint16_t>(r.sequence + steps);
        });
        break;
      }
      case Kind::kInvalid: {
        const std::uint16_t bit = uniform() < 0.5 ? 1 : 2;
        samples.emplace_back([=](auto& r) {
          r.encoders_valid = static_cast<std::uint16_t>(r.encoders_valid & ~bit);
        });
        break;
      }
      default:
        break;
    }
  }

 private:
  std::mt19937_64 random_;
  std::vector<std::function<void(sample_report&)>> samples_;
  std::vector<std::function<void(command_request&)>> commands_;
  bool arm_is_frozen_ = false;
  bool arm_is_misread_ = false;
  std::vector<std::array<std::int32_t, 2>> recorded_;  // true counts, until the arm is misread
};

}  // namespace daq
