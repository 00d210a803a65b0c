#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>

#include "daq/realtime/spsc_ring.hpp"
#include "daq/realtime/timing_histogram.hpp"
#include "daq/safety/black_box.hpp"
#include "daq/safety/joint_tracker.hpp"
#include "daq/safety/plausibility.hpp"
#include "daq/safety/safety_limits.hpp"
#include "daq/safety/unit_plausibility.hpp"
#include "daq/scenario/catalog.hpp"
#include "firmware_iface/link/unit_link.hpp"

namespace daq {

/// From counts to the hinge angle of the rig file: angle = rad_per_count · counts + offset. Of a
/// joint that slides read m for rad.
struct ChannelScale {
  double rad_per_count = 0.0;  ///< negative for an inverted encoder
  double offset_rad = 0.0;
};

struct LoopSettings {
  Nanoseconds period{1'000'000};  ///< between samples
  bool host_paced = false;        ///< the unit answers commands instead of sending by its own timer
  bool drive = true;              ///< false: the unit's output is never enabled
  int ttl_ms = 100;               ///< the unit switches off when no command follows for this long
  double settle_s = 0.1;          ///< watched without driving before the unit is cleared
  double clock_s_max = 5.0;       ///< longest time to find the rate of the unit's clock
  double arm_s_max = 2.0;         ///< longest time for the unit to be cleared
  double after_trip_s = 2.0;      ///< the recording goes on this long after a trip
  std::size_t joint_count = 0;
  std::array<ChannelScale, kJointsMax> channel{};
  std::size_t inertial_count = 0;
  std::array<InertialScale, INERTIAL_SENSORS_MAX> inertial{};
  /// Goes up while the thread that writes to the disk gets on; null: nobody watches the disk.
  const std::atomic<std::uint64_t>* storage_heartbeat = nullptr;
};

/// How far a run has come.
enum class RunPhase : std::uint8_t {
  kSettling,           ///< watching: angles must lie within the limits before anything is driven
  kArming,             ///< clearing the unit's trip
  kWaitingForHold,     ///< the operator is to bring the hinge to the stated angle
  kWaitingForRelease,  ///< the operator is to let go
  kRunning,
  kTripped,  ///< output off, still recording
  kFinished,
};

/// What is known of the unit's output after a trip.
enum class OutputState : std::uint8_t {
  kInUse,        ///< no trip
  kTripSent,     ///< the unit was told to trip and has not answered yet
  kOff,          ///< the last sample shows it tripped, with a zero output
  kStillDrives,  ///< samples show otherwise, longer than a command takes to act
  kUnconfirmed,  ///< no sample came; the unit switches off by itself within its ttl
};

/// One tick as it goes to the recording.
struct LoopRecord {
  firmware_iface::UnitSample sample{};
  Observation observation{};         ///< time from the first sample on
  MotorCommands requested{};         ///< by the scenario [unit of the control signal]
  MotorCommands sent{};              ///< after the limits [unit of the control signal]
  bool enabled = false;              ///< the command enables the unit's output
  std::uint64_t command_number = 0;  ///< of the command that answers this sample
  RunPhase phase = RunPhase::kSettling;
};

/// Counts kept by the real-time thread; any thread may read them.
struct LoopCounters {
  std::atomic<std::int64_t> samples{0};
  std::atomic<std::int64_t> timeouts{0};           ///< periods without a sample
  std::atomic<std::int64_t> dropped_records{0};    ///< ring full: the run has tripped
  std::atomic<std::int64_t> unsent_commands{0};    ///< the transport did not take them
  std::atomic<std::int64_t> rejected_commands{0};  ///< samples that say so: they came too late
  std::atomic<std::int64_t> skipped_periods{0};    ///< host-paced only
  std::atomic<std::int64_t> damaged_frames{0};     ///< from the unit: bad checksum or length
  /// Faults that each inertial sensor has had, a bit of InertialFault each.
  std::array<std::atomic<std::uint8_t>, INERTIAL_SENSORS_MAX> inertial_faults{};
};

/// Number of commands that took effect after so many samples; the last entry takes all longer ones.
using DelayCounts = std::array<std::atomic<std::int64_t>, 8>;

/// The loop of the real-time thread: read, decide, write, publish. What it does is a function of
/// the samples alone, so that a run can be replayed in the virtual time of a simulated transport.
/// In `run`: no allocation, no locks, no logging, no exceptions, no unbounded loops; faults are
/// counted here and reported by the supervisor's thread.
///
/// The stream must have been started. Its first samples are watched only; then the unit's trip is
/// cleared, and the scenario runs on a time of its own that starts there.
class ControlLoop {
 public:
  using Ring = SpscRing<LoopRecord, 8192>;  // eight seconds at 1 kHz

  /// `black_box` is the tap of `unit`. All references outlive the loop.
  ControlLoop(firmware_iface::UnitLink& unit, BlackBox& black_box, Scenario scenario,
              const SafetyLimits& limits, const LoopSettings& settings);

  /// Ticks until the scenario has finished, a trip has been recorded, the unit is gone, or `stop`
  /// is set. Leaves the rig unpowered however it ends.
  void run(const std::atomic<bool>& stop) noexcept;

  /// One period. False when the run is over.
  bool tick() noexcept;

  // For the supervisor's thread.
  Ring& records() noexcept { return records_; }
  /// The fit of the unit's clock, once a second.
  SpscRing<firmware_iface::ClockFit, 16>& clock_fits() noexcept { return clock_fits_; }
  /// Angles and validity of a sample, by the channels' scales. Leaves time and speeds alone.
  void convert_angles(const firmware_iface::UnitSample& sample,
                      Observation& observation) const noexcept;
  const LoopSettings& settings() const noexcept { return settings_; }
  /// The joint that the scenario asks an operator to hold. It does not change during a run.
  std::optional<HeldJoint> held_joint() const { return scenario_.held_joint(); }
  /// Time of a latch by the unit's clock, from the first sample on.
  double time_of(std::int64_t unit_time_us) const noexcept {
    return static_cast<double>(unit_time_us - start_unit_time_us_) / 1e6;
  }
  double period_s() const noexcept { return static_cast<double>(settings_.period.count()) * 1e-9; }
  const LoopCounters& counters() const noexcept { return counters_; }
  const DelayCounts& command_delays() const noexcept { return command_delays_; }
  /// From the arrival of a sample to the command having been written.
  const TimingHistogram& cycle_time() const noexcept { return cycle_time_; }
  /// Magnitude of the difference between the time from sample to sample and the period.
  const TimingHistogram& arrival_jitter() const noexcept { return arrival_jitter_; }
  /// Whether the output is off after a trip.
  OutputState output_state() const noexcept {
    return output_state_.load(std::memory_order_acquire);
  }
  /// The trip of the run, or nullptr.
  const Trip* trip() const noexcept {
    return trip_published_.load(std::memory_order_acquire) ? &published_trip_ : nullptr;
  }

 private:
  firmware_iface::ReadStatus read(Nanoseconds until, firmware_iface::UnitSample& sample) noexcept;
  void watch_host(Nanoseconds expected) noexcept;
  bool miss(firmware_iface::ReadStatus status) noexcept;
  void take(const firmware_iface::UnitSample& sample) noexcept;
  void measure(const firmware_iface::UnitSample& sample) noexcept;
  Observation observe(const firmware_iface::UnitSample& sample) noexcept;
  void watch_inertial(const firmware_iface::UnitSample& sample, const Observation& now) noexcept;
  void check_plausibility(const firmware_iface::UnitSample& sample,
                          const Observation& now) noexcept;
  void expect_unit() noexcept;
  MotionPhase motion_phase() const noexcept;
  bool is_settled() noexcept;
  void watch_output(const firmware_iface::UnitSample& sample) noexcept;
  MotorCommands decide(const firmware_iface::UnitSample& sample, const Observation& now,
                       MotorCommands& requested) noexcept;
  void advance_phase(const firmware_iface::UnitSample& sample) noexcept;
  MotorCommands ask_scenario(Observation now) noexcept;
  void send(const MotorCommands& commands) noexcept;
  void power_off() noexcept;
  void publish_clock() noexcept;
  void publish_trip() noexcept;
  bool is_over() const noexcept;
  bool is_driving() const noexcept;

  firmware_iface::UnitLink& unit_;
  BlackBox& black_box_;
  Scenario scenario_;
  SafetyMonitor safety_;
  InertialMonitor inertial_;
  MotionPlausibility motion_;
  UnitPlausibility unit_check_;
  LoopSettings settings_;
  double staleness_s_max_;

  RunPhase phase_ = RunPhase::kSettling;
  bool started_ = false;
  std::int64_t start_unit_time_us_ = 0;
  Nanoseconds last_received_{0};
  Nanoseconds deadline_{0};  // host-paced: end of this period
  Nanoseconds looked_{0};    // when this thread was last seen to run
  Nanoseconds stored_{0};  // when the heartbeat was last seen to go up, later by what paused since
  std::uint64_t heartbeat_ = 0;
  double time_s_ = 0.0;
  double arming_since_s_ = 0.0;
  double scenario_start_s_ = 0.0;
  bool sample_missed_ = false;  // the last period brought none: nothing to answer
  Nanoseconds first_received_{0};
  Nanoseconds armed_at_{0};           // host clock, when the scenario began
  std::int64_t unit_time_us_ = 0;     // of the last sample
  MotorCommands pending_commands_{};  // host-paced: decided, sent at the next deadline
  std::array<JointTracker, kJointsMax> trackers_{};
  Observation observation_;  // of the last sample; a missing channel keeps its last angle

  Ring records_;
  SpscRing<firmware_iface::ClockFit, 16> clock_fits_;
  double next_clock_fit_s_ = 1.0;
  LoopCounters counters_;
  DelayCounts command_delays_{};
  TimingHistogram cycle_time_;
  TimingHistogram arrival_jitter_;
  std::atomic<OutputState> output_state_{OutputState::kInUse};
  Trip published_trip_;
  std::atomic<bool> trip_published_{false};
};

}  // namespace daq
