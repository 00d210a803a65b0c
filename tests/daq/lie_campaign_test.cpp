#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <deque>
#include <functional>
#include <memory>
#include <numbers>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tests/daq/simulated_rig.hpp"
#include "tests/support/seeded_runs.hpp"

// A seeded campaign in virtual time: a unit, a line or a host that misleads, alone or two at once,
// under every kind of excitation. The plant is the judge: its arm leaves the limits of the rig by
// no more than the bound derived below. Ten thousand runs:
//
//   daq_campaign_tests --gtest_filter='*LieCampaign*' --runs=10000

namespace daq {
namespace {

namespace sim = firmware_iface::sim;
using std::chrono::microseconds;
using std::chrono::milliseconds;

constexpr double kAngleMax = 3.0;  // of the arm [rad]
constexpr double kCommandMax = 10.0;

// Bound of the arm's angle beyond its limit while the motor is on.
//
// Encoders that freeze: an arm faster than 3 sqrt(200 rad/s^2 x 1.53 mrad) = 1.66 rad/s trips after
// 0.1 rad. A slower one trips when it has coasted 0.45 rad during the pushes of its motor. Chirps
// are above the stall command for two thirds of the time or more.
//
// The pushes themselves move it by kPushBound more than the last good readings allow, which is
// coasting at their largest speed or the motion of the rig from then on with its motor off. A stall
// limit is 0.5 V (0.65 s)^2/2 = 0.106 V s^2. One volt accelerates the arm by 1.05 rad/s^2 if the
// pendulum follows it rigidly, by 1.81 rad/s^2 if the pendulum swings freely. From rest, one stall
// limit moves the arm by at most 0.19 rad. While the rig moves, up to 1.85 stall limits are
// allowed: 0.21 rad if the pendulum follows, 0.35 rad if it swings freely. It does so in a part of
// such a push only.
constexpr double kPushBound = 0.25;
// In a swing-up the pushes have alternating signs, and half a stall limit of each does not count.
// Of 10 000 runs, the largest motion is 0.29 rad.
constexpr double kSwingUpPushBound = 0.35;
// A multisine is below the stall command half of the time. Dry friction may hold an arm then, so
// that an intact encoder shows the same readings; the arm of this campaign has none and moves.
// In 4000 runs, 4 of 105 frozen arms in multisines moved by more than kPushBound, the farthest by
// 0.37 rad, and none of 438 in other runs, the farthest by 0.21 rad.
constexpr double kMultisinePushBound = 2.0 * kPushBound;
constexpr double kFreezeBound = 1.5 * 0.45 + kPushBound;
// Anything else leaves the angle true but late: by the staleness (15 ms), a sample (1 ms), the
// command's time to live (20 ms) and a tick. The fastest arm of the campaign has 12 rad/s.
constexpr double kDelayBound = 12.0 * (0.015 + 0.001 + 0.020 + 0.001);

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
  kLag              // one encoder is older than the rest of its sample
};
constexpr int kKinds = 25;

struct Lies {
  std::vector<std::function<void(sample_report&)>> samples;
  std::vector<std::function<void(command_request&)>> commands;
};

class LieRun {
 public:
  explicit LieRun(std::uint64_t seed) : random_(seed) {}

  Kind first() const { return kinds_[0]; }
  bool has(Kind kind) const { return kinds_[0] == kind || kinds_[1] == kind; }
  const Trip* trip() const { return rig_->loop().trip(); }
  SimulatedRig& rig() { return *rig_; }
  double farthest() const { return farthest_; }
  bool was_driven() const { return was_driven_; }
  double off_after_s() const { return off_s_ - tripped_s_; }
  bool is_arm_frozen() const { return arm_is_frozen_; }
  /// Returns by how far the frozen arm moved beyond what its last good readings allow [rad].
  double pushed() const { return pushed_rad_; }
  double push_bound() const { return push_bound_; }

  void run() {
    // Frozen encoders let the arm move farthest.
    kinds_[0] = uniform() < 0.25 ? Kind::kFrozen : static_cast<Kind>(random_() % kKinds);
    // A second lie may make a wrong wiring consistent, unless it is a frozen encoder.
    if (uniform() < 0.2 && kinds_[0] != Kind::kWiring) {
      kinds_[1] = static_cast<Kind>(random_() % kKinds);
      if (kinds_[1] == Kind::kWiring && kinds_[0] != Kind::kFrozen) kinds_[1] = Kind::kNone;
    }
    SafetyLimits limits = furuta_limits();
    limits.motor[0].command_max = kCommandMax;
    limits.motion[0].stall_command = kStallShareDefault * kCommandMax;
    limits.joint[0].angle_rad_min = -kAngleMax;
    limits.joint[0].angle_rad_max = kAngleMax;
    limits.unstored_s_max = 0.5;
    LoopSettings settings = furuta_settings();
    settings.host_paced = uniform() < 0.2;
    std::atomic<std::uint64_t> heartbeat{0};
    settings.storage_heartbeat = &heartbeat;
    auto simulation = simulation_settings();
    simulation.unit.clock_error_ppm = between(-500.0, 500.0);
    const Scenario scenario = excitation();
    name_ = scenario.name();
    rig_ = std::make_unique<SimulatedRig>(scenario, settings, simulation, limits);
    // From the start, while the rig is watched, or in the drive, which begins about tick 900.
    const double when = uniform();
    from_tick_ =
        when < 0.15 ? 1 : static_cast<int>(when < 0.3 ? between(2, 900) : between(900, 3000));
    disk_hangs_ = has(Kind::kDiskHang);
    const bool unattended = has(Kind::kSupervisorHang) && from_tick_ < 10'000;
    rig_->line().on_sample = [&](sample_report& report) {
      for (const auto& lie : lies_.samples) lie(report);
    };
    rig_->line().on_command = [&](command_request& request) {
      for (const auto& lie : lies_.commands) lie(request);
    };
    for (const Kind kind : kinds_) begin_at_start(kind);
    rig_->run(
        [&](SimulatedRig& r, int tick) {
          if (tick == from_tick_) {
            for (const Kind kind : kinds_) begin(kind);
          }
          if (!disk_hangs_ || tick < from_tick_) ++heartbeat;
          if (has(Kind::kHostPause) && tick > from_tick_ && uniform() < 0.002) {
            r.abandon(microseconds(static_cast<int>(2e5 * uniform())));
          }
          if (!unattended && tick % 10 == 0) r.poll();
          watch();
        },
        kTicks, 0);
    lies_ = {};
    rig_->line().command_delay = {};
    rig_->line().sample_delay = {};
    if (!has(Kind::kIgnoredTrip)) rig_->poll();
    rig_->finish();
    rig_->abandon(milliseconds(settings.ttl_ms + 20));
  }

  std::string text() const {
    return name_ + ", kinds " + std::to_string(static_cast<int>(kinds_[0])) + " and " +
           std::to_string(static_cast<int>(kinds_[1])) + " from tick " + std::to_string(from_tick_);
  }

 private:
  static constexpr int kTicks = 5000;

  double uniform() { return std::uniform_real_distribution<double>(0.0, 1.0)(random_); }
  double between(double low, double high) { return low + (high - low) * uniform(); }
  double sign() { return uniform() < 0.5 ? -1.0 : 1.0; }

  // Commands above the stall command: below it nothing is promised of a frozen encoder.
  Scenario excitation() {
    const double u = sign() * between(0.6, 4.0);
    // Multisines start too slowly for the check of the first motion, which would find a wrong
    // wiring.
    switch (random_() % (has(Kind::kWiring) ? 3 : 6)) {
      case 0:
        return {"pulse", Pulse{u, 0.05, 3.0}, 60.0};
      case 1:
        // From 1 V on, a sine is above the stall command of 0.5 V for two thirds of the time.
        return {"chirp", Chirp{std::copysign(std::max(std::abs(u), 1.0), u), 0.3, 3.0, 0.0, 6.0},
                60.0};
      case 2:
        push_bound_ = kSwingUpPushBound;
        return {"swing-up",
                SwingUp({.pendulum = 1,
                         .energy_gain = -std::abs(u),
                         .command_max = 6.0,
                         .natural_frequency_Hz = 1.49,
                         .kick_command = 4.0,
                         .kick_time_s = 0.1}),
                60.0};
      case 3: {
        push_bound_ = kMultisinePushBound;
        Multisine sum{.ramp_s = 0.5, .duration_s = 60.0};
        for (const double frequency_Hz : {0.2, 0.5, 0.7, 1.1, 1.7, 2.3, 2.9, 4.1}) {
          sum.tones.push_back(
              {frequency_Hz, 0.5 + 0.2 * std::abs(u), between(0.0, 2.0 * std::numbers::pi)});
        }
        return {"multisine", sum, 60.0};
      }
      default:
        return {"step", Step{u, 0.05}, 60.0};
    }
  }

  // What the arm does, and when the motor went off for good.
  void watch() {
    const auto& unit = rig_->sim_unit();
    const bool on = unit.output_V() != 0.0;
    was_driven_ = was_driven_ || on;
    if (on) farthest_ = std::max(farthest_, std::abs(unit.plant().state().angle_rad[0]));
    const sim::JointState& state = unit.plant().state();
    if (!arm_is_frozen_) {
      last_speeds_[next_speed_++ % last_speeds_.size()] = std::abs(state.speed_rad_s[0]);
      frozen_s_ = rig_->time_s();
      frozen_ = state;
    } else {
      watch_frozen_arm(state.angle_rad[0], on);
    }
    if (trip() != nullptr && tripped_s_ < 0.0) tripped_s_ = rig_->time_s();
    if (on || off_s_ < tripped_s_) off_s_ = rig_->time_s();
  }

  void watch_frozen_arm(double arm_rad, bool on) {
    if (!released_) {
      released_ = std::make_unique<sim::Plant>(
          std::make_unique<sim::FurutaModel>(furuta_parameters()), frozen_);
      released_s_ = frozen_s_;
    }
    const double now_s = rig_->time_s();
    released_->advance(now_s - std::exchange(released_s_, now_s), 0.0);
    if (!on) return;
    const double coasted = *std::ranges::max_element(last_speeds_) * (now_s - frozen_s_);
    const double beyond_coasting = std::abs(arm_rad - frozen_.angle_rad[0]) - coasted;
    const double beyond_release = std::abs(arm_rad - released_->state().angle_rad[0]);
    pushed_rad_ = std::max(pushed_rad_, std::min(beyond_coasting, beyond_release));
  }

  void begin_at_start(Kind kind) {
    if (kind == Kind::kWiring) {
      // A wiring that is wrong twice looks right at first: a commissioning finds it, not a run.
      if (uniform() < 0.5) {
        lies_.samples.emplace_back([](auto& r) { r.encoder_counts[0] = -r.encoder_counts[0]; });
      } else {
        lies_.samples.emplace_back(
            [](auto& r) { std::swap(r.encoder_counts[0], r.encoder_counts[1]); });
      }
    }
    if (kind == Kind::kDrift) {
      const double counts_per_s = sign() * between(20.0, 2000.0);
      const std::size_t k = random_() % 2;
      lies_.samples.emplace_back([=](auto& r) {
        r.encoder_counts[k] += static_cast<std::int32_t>(counts_per_s * 1e-6 * r.tick_us);
      });
    }
  }

  void begin(Kind kind) {
    auto& samples = lies_.samples;
    auto& commands = lies_.commands;
    LyingLine& line = rig_->line();
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
        const Nanoseconds delay = microseconds(static_cast<int>(1e6 * 2.0 * uniform() * uniform()));
        line.command_delay = [=](auto) { return delay; };
        break;
      }
      case Kind::kSampleDelay: {
        const Nanoseconds delay = microseconds(static_cast<int>(1e6 * 0.5 * uniform() * uniform()));
        line.sample_delay = [=](auto) { return delay; };
        break;
      }
      case Kind::kGrowingDelay: {
        const double rate = between(0.02, 1.0);
        line.sample_delay = [=, from = rig_->transport().now()](Nanoseconds now) {
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

  std::mt19937_64 random_;
  std::array<Kind, 2> kinds_{Kind::kNone, Kind::kNone};
  Lies lies_;
  std::unique_ptr<SimulatedRig> rig_;
  std::string name_;
  int from_tick_ = 0;
  bool disk_hangs_ = false;
  double push_bound_ = kPushBound;
  bool was_driven_ = false;
  double farthest_ = 0.0;
  bool arm_is_frozen_ = false;
  std::array<double, 125> last_speeds_{};  // magnitudes, one a millisecond [rad/s]
  std::size_t next_speed_ = 0;
  double frozen_s_ = 0.0;
  sim::JointState frozen_;                // at the last good reading
  std::unique_ptr<sim::Plant> released_;  // the rig from then on, with its motor off
  double released_s_ = 0.0;
  double pushed_rad_ = 0.0;
  double tripped_s_ = -1.0;
  double off_s_ = -1.0;
};

class LieCampaign : public ::testing::TestWithParam<int> {};

constexpr int kLieShards = 10;

TEST_P(LieCampaign, KeepsTheArmWithinItsLimitsAndABound) {
  const int count = std::max(test_support::seeded_runs().count / kLieShards, 1);
  std::array<double, kKinds> farthest{};
  int tripped = 0, driven = 0, frozen = 0, pushed = 0;
  double most_pushed = 0.0;
  for (int k = 0; k < count && !HasFatalFailure(); ++k) {
    const std::uint64_t seed =
        test_support::seeded_runs().first_seed + static_cast<std::uint64_t>(count * GetParam() + k);
    LieRun run(seed);
    run.run();
    SCOPED_TRACE(::testing::Message() << "seed " << seed << ", " << run.text());
    const bool freezes =
        run.has(Kind::kFrozen) || run.has(Kind::kFrozenAWhile) || run.has(Kind::kSaturated);
    if (!run.has(Kind::kIgnoredTrip)) {
      EXPECT_LE(run.farthest(), kAngleMax + (freezes ? kFreezeBound : 0.0) + kDelayBound)
          << (run.trip() ? describe_trip(*run.trip(), furuta_limits()) : "no trip");
      if (run.first() == Kind::kFrozen && run.has(Kind::kNone)) {
        EXPECT_LE(run.pushed(), run.push_bound());
        frozen += run.is_arm_frozen() && run.was_driven();
        pushed += run.pushed() > kPushBound;
        most_pushed = std::max(most_pushed, run.pushed());
      }
      EXPECT_EQ(run.rig().sim_unit().output_V(), 0.0);
      auto& most = farthest[static_cast<std::size_t>(run.first())];
      most = std::max(most, run.farthest());
    }
    tripped += run.trip() != nullptr;
    driven += run.was_driven();
  }
  for (std::size_t k = 0; k < farthest.size(); ++k) {
    RecordProperty("farthest_rad_" + std::to_string(k), std::to_string(farthest[k]));
  }
  std::printf("%d of %d frozen arms moved by more than %.2f rad, the farthest by %.3f rad\n",
              pushed, frozen, kPushBound, most_pushed);
  if (count < 10) return;
  EXPECT_GT(tripped, count / 2);
  EXPECT_GT(driven, count / 2);
}

INSTANTIATE_TEST_SUITE_P(Part, LieCampaign, ::testing::Range(0, kLieShards));

}  // namespace
}  // namespace daq
