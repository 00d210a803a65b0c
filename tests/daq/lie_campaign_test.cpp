#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <functional>
#include <memory>
#include <numbers>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/daq/random_lies.hpp"
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
// The pushes themselves move it farther than the last good readings allow. They allow coasting at
// their largest speed, or the motion of the rig from then on with commands below the stall command
// alone: dry friction may hold an intact arm against those, the arm of this campaign has none. One
// volt accelerates the arm by 1.05 rad/s² if the pendulum follows it rigidly, by 1.81 rad/s² if the
// pendulum swings freely. The pushes count from rest until they reach a stall limit, 0.5 V
// (0.65 s)²/2 = 0.106 V s², which moves the arm by at most 0.19 rad.
constexpr double kPushBound = 0.25;
// If the pendulum swings when the push begins, its torque may hold an intact arm for 1.85 stall
// limits, in honest swing-ups for up to 1.66. A shorter limit would trip those.
constexpr double kAcceleration = 1.81;  // [rad/s² per V]
constexpr double kMovingPushBound = kAcceleration * 1.85 * 0.5 * 0.5 * 0.65 * 0.65;
constexpr double kFreezeBound = 1.5 * 0.45 + kPushBound;
// A repetition is found in the second period, or later if a period has hardly more than the eight
// counts of a motion.
constexpr double kLoopTime_s = 2.0 * 2.0 * 0.6 + 1.0;
// Anything else leaves the angle true but late: by the staleness (15 ms), a sample (1 ms), the
// command's time to live (20 ms) and a tick. The fastest arm of the campaign has 12 rad/s.
constexpr double kDelayBound = 12.0 * (0.015 + 0.001 + 0.020 + 0.001);

class LieRun {
 public:
  /// @param is_honest  nothing lies, and the rig has dry friction
  explicit LieRun(std::uint64_t seed, bool is_honest = false)
      : lies_(seed), is_honest_(is_honest) {}

  Kind first() const { return kinds_[0]; }
  bool has(Kind kind) const { return kinds_[0] == kind || kinds_[1] == kind; }
  const Trip* trip() const { return rig_->loop().trip(); }
  SimulatedRig& rig() { return *rig_; }
  double farthest() const { return farthest_; }
  bool was_driven() const { return was_driven_; }
  double off_after_s() const { return off_s_ - tripped_s_; }
  bool is_arm_frozen() const { return lies_.is_arm_frozen(); }
  /// Returns by how far the frozen arm moved beyond what its last good readings allow [rad].
  double pushed() const { return pushed_rad_; }
  double push_bound() const { return push_bound_; }
  /// Returns the angle at the last good reading [rad].
  double misread_rad() const { return frozen_.angle_rad[0]; }
  /// Returns for how long the motor was on after it [s].
  double misread_for_s() const { return off_s_ - frozen_s_; }

  void run() {
    // Frozen encoders let the arm move farthest.
    kinds_[0] = uniform() < 0.25 ? Kind::kFrozen : static_cast<Kind>(lies_.one_of(kKinds));
    // A second lie may make a wrong wiring consistent, unless it is a frozen encoder.
    if (uniform() < 0.2 && kinds_[0] != Kind::kWiring) {
      kinds_[1] = static_cast<Kind>(lies_.one_of(kKinds));
      if (kinds_[1] == Kind::kWiring && kinds_[0] != Kind::kFrozen) kinds_[1] = Kind::kNone;
    }
    if (is_honest_) kinds_ = {Kind::kNone, Kind::kNone};
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
    rig_ = std::make_unique<SimulatedRig>(scenario, settings, simulation, limits, nullptr,
                                          is_honest_ ? rig_with_friction() : furuta_parameters());
    // From the start, while the rig is watched, or in the drive, which begins about tick 900.
    const double when = uniform();
    from_tick_ =
        when < 0.15 ? 1 : static_cast<int>(when < 0.3 ? between(2, 900) : between(900, 3000));
    disk_hangs_ = has(Kind::kDiskHang);
    const bool unattended = has(Kind::kSupervisorHang) && from_tick_ < 10'000;
    lies_.install(rig_->line());
    for (const Kind kind : kinds_) lies_.begin_at_start(kind);
    rig_->run(
        [&](SimulatedRig& r, int tick) {
          if (tick == from_tick_) {
            for (const Kind kind : kinds_) lies_.begin(kind, rig_->line());
          }
          if (!disk_hangs_ || tick < from_tick_) ++heartbeat;
          if (has(Kind::kHostPause) && tick > from_tick_ && uniform() < 0.002) {
            r.abandon(microseconds(static_cast<int>(2e5 * uniform())));
          }
          if (!unattended && tick % 10 == 0) r.poll();
          watch();
        },
        kTicks, 0);
    lies_.end(rig_->line());
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

  double uniform() { return lies_.uniform(); }
  double between(double low, double high) { return lies_.between(low, high); }
  double sign() { return lies_.sign(); }

  // The stall command moves the arm against its dry friction.
  sim::FurutaParameters rig_with_friction() {
    sim::FurutaParameters furuta = shipped_furuta();
    furuta.arm_friction.coulomb =
        between(0.0, 0.7) * furuta.motor_gain * kStallShareDefault * kCommandMax;
    furuta.arm_friction.viscous *= between(0.1, 3.0);
    furuta.pendulum_friction.coulomb *= between(0.1, 2.0);
    furuta.pendulum_friction.viscous *= between(0.1, 3.0);
    return furuta;
  }

  // Commands above the stall command: below it nothing is promised of a frozen encoder.
  Scenario excitation() {
    const double u = sign() * between(0.6, 4.0);
    // Multisines start too slowly for the check of the first motion, which would find a wrong
    // wiring.
    switch (lies_.one_of(has(Kind::kWiring) ? 3 : 6)) {
      case 0:
        return {"pulse", Pulse{u, 0.05, 3.0}, 60.0};
      case 1:
        // From 1 V on, a sine is above the stall command of 0.5 V for two thirds of the time.
        return {"chirp", Chirp{std::copysign(std::max(std::abs(u), 1.0), u), 0.3, 3.0, 0.0, 6.0},
                60.0};
      case 2:
        push_bound_ = kMovingPushBound;
        return {"swing-up",
                SwingUp({.pendulum = 1,
                         .energy_gain = -std::abs(u),
                         .command_max = 6.0,
                         .natural_frequency_Hz = 1.49,
                         .kick_command = 4.0,
                         .kick_time_s = 0.1}),
                60.0};
      case 3: {
        push_bound_ = kMovingPushBound;
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
    if (!lies_.is_arm_frozen() && !lies_.is_arm_misread()) {
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
      weakly_driven_ = std::make_unique<sim::Plant>(
          std::make_unique<sim::FurutaModel>(furuta_parameters()), frozen_);
      released_s_ = frozen_s_;
    }
    const double now_s = rig_->time_s(), since_s = now_s - std::exchange(released_s_, now_s);
    const double u = rig_->sim_unit().output_V();
    released_->advance(since_s, 0.0);
    weakly_driven_->advance(since_s, std::abs(u) < kStallShareDefault * kCommandMax ? u : 0.0);
    if (!on) return;
    const double coasted = *std::ranges::max_element(last_speeds_) * (now_s - frozen_s_);
    const double beyond_coasting = std::abs(arm_rad - frozen_.angle_rad[0]) - coasted;
    const double beyond_release = std::abs(arm_rad - released_->state().angle_rad[0]);
    const double beyond_weak = std::abs(arm_rad - weakly_driven_->state().angle_rad[0]);
    pushed_rad_ = std::max(pushed_rad_, std::min({beyond_coasting, beyond_release, beyond_weak}));
  }

  std::array<Kind, 2> kinds_{Kind::kNone, Kind::kNone};
  RandomLies lies_;
  bool is_honest_;
  std::unique_ptr<SimulatedRig> rig_;
  std::string name_;
  int from_tick_ = 0;
  bool disk_hangs_ = false;
  double push_bound_ = kPushBound;
  bool was_driven_ = false;
  double farthest_ = 0.0;
  std::array<double, 125> last_speeds_{};  // magnitudes, one a millisecond [rad/s]
  std::size_t next_speed_ = 0;
  double frozen_s_ = 0.0;
  sim::JointState frozen_;                // at the last good reading
  std::unique_ptr<sim::Plant> released_;  // the rig from then on, with its motor off
  std::unique_ptr<sim::Plant> weakly_driven_;  // the same with commands below the stall command
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
    const bool freezes = run.has(Kind::kLooped) || run.has(Kind::kFrozen) ||
                         run.has(Kind::kFrozenAWhile) || run.has(Kind::kSaturated);
    if (!run.has(Kind::kIgnoredTrip)) {
      // Mirrored about an angle in the middle of the run, the angle a reads 2 c - a.
      const double mirrored = run.has(Kind::kMirrored) ? 2.0 * std::abs(run.misread_rad()) : 0.0;
      EXPECT_LE(run.farthest(), kAngleMax + (freezes ? kFreezeBound : 0.0) + mirrored + kDelayBound)
          << (run.trip() ? describe_trip(*run.trip(), furuta_limits()) : "no trip");
      if (run.first() == Kind::kFrozen && run.has(Kind::kNone)) {
        EXPECT_LE(run.pushed(), run.push_bound());
        frozen += run.is_arm_frozen() && run.was_driven();
        pushed += run.pushed() > kPushBound;
        most_pushed = std::max(most_pushed, run.pushed());
      }
      // At rest a repetition is a frozen encoder.
      if (run.first() == Kind::kLooped && run.has(Kind::kNone) &&
          std::abs(run.misread_rad()) > 0.1) {
        EXPECT_LE(run.misread_for_s(), kLoopTime_s);
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

class HonestCampaign : public ::testing::TestWithParam<int> {};

// The same excitations on sound rigs with dry friction. They may reach a limit of the rig, but no
// check of plausibility may trip.
TEST_P(HonestCampaign, TripsNoCheckOfPlausibility) {
  const int count = std::max(test_support::seeded_runs().count / kLieShards, 1);
  for (int k = 0; k < count; ++k) {
    const std::uint64_t seed =
        test_support::seeded_runs().first_seed + static_cast<std::uint64_t>(count * GetParam() + k);
    LieRun run(seed, /*is_honest=*/true);
    run.run();
    SCOPED_TRACE(::testing::Message() << "seed " << seed << ", " << run.text());
    EXPECT_TRUE(run.was_driven());
    if (run.trip() == nullptr) continue;
    EXPECT_TRUE(run.trip()->cause == TripCause::kAngle || run.trip()->cause == TripCause::kSpeed)
        << describe_trip(*run.trip(), furuta_limits());
  }
}

INSTANTIATE_TEST_SUITE_P(Part, HonestCampaign, ::testing::Range(0, kLieShards));

}  // namespace
}  // namespace daq
