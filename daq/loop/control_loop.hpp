#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>

#include "daq/realtime/spsc_ring.hpp"
#include "daq/realtime/timing.hpp"
#include "daq/safety/black_box.hpp"
#include "daq/safety/encoder_motion_monitor.hpp"
#include "daq/safety/safety_limits.hpp"
#include "daq/safety/unit_report_monitor.hpp"
#include "daq/scenario/catalog.hpp"
#include "daq/scenario/joint_tracker.hpp"
#include "firmware_iface/link/unit_link.hpp"

namespace daq {

/// Scale from encoder counts to the joint angle: angle = rad_per_count · counts + offset_rad. For a
/// sliding joint the unit is m instead of rad.
struct ChannelScale {
  double rad_per_count = 0.0;  ///< negative for an inverted encoder
  double offset_rad = 0.0;
};

struct LoopSettings {
  Nanoseconds period{1'000'000};  ///< between samples
  bool host_paced = false;        ///< the unit answers commands instead of sending by its own timer
  bool drive = true;              ///< false: the unit's output is never enabled
  int ttl_ms = 100;               ///< the unit switches off if no command follows for this long
  double settle_s = 0.1;          ///< time without drive before the unit's trip is cleared
  double clock_s_max = 5.0;       ///< longest time to determine the rate of the unit's clock
  double arm_s_max = 2.0;         ///< longest time to clear the unit's trip
  double after_trip_s = 2.0;      ///< recording time after a trip
  std::size_t joint_count = 0;
  std::array<ChannelScale, kJointsMax> channel{};
  std::size_t inertial_count = 0;
  std::array<InertialScale, INERTIAL_SENSORS_MAX> inertial{};
  /// Counter that increases while the recording thread makes progress; null if storage is not
  /// monitored.
  const std::atomic<std::uint64_t>* storage_heartbeat = nullptr;
};

/// Phase of a run.
enum class RunPhase : std::uint8_t {
  kSettling,           ///< no drive: angles must lie within the limits before driving
  kArming,             ///< clearing the unit's trip
  kWaitingForHold,     ///< the operator must bring the joint to the given angle
  kWaitingForRelease,  ///< the operator must let go
  kRunning,
  kTripped,  ///< output off, still recording
  kFinished,
};

/// Known state of the unit's output after a trip.
enum class OutputState : std::uint8_t {
  kInUse,        ///< no trip
  kTripSent,     ///< a trip was sent and the unit has not answered yet
  kOff,          ///< the last sample shows a trip and zero output
  kStillDrives,  ///< samples show an active output, longer than a command takes to act
  kUnconfirmed,  ///< no sample arrived; the unit switches off when the command's ttl expires
};

/// Data of one period of the control loop, as passed to the recording.
struct LoopRecord {
  firmware_iface::UnitSample sample{};
  Observation observation{};         ///< time since the first sample
  MotorCommands requested{};         ///< requested by the scenario [unit of the control signal]
  MotorCommands sent{};              ///< after the limits [unit of the control signal]
  bool enabled = false;              ///< the command enables the unit's output
  std::uint64_t command_number = 0;  ///< of the command that answers this sample; 0: none was sent
  RunPhase phase = RunPhase::kSettling;
};

/// Event counters of the real-time thread. Any thread may read them.
struct LoopCounters {
  std::atomic<std::int64_t> samples{0};
  std::atomic<std::int64_t> timeouts{0};           ///< periods without a sample
  std::atomic<std::int64_t> dropped_records{0};    ///< lost because the ring was full, a trip
  std::atomic<std::int64_t> unsent_commands{0};    ///< not accepted by the transport
  std::atomic<std::int64_t> rejected_commands{0};  ///< too late, as reported by samples
  std::atomic<std::int64_t> skipped_periods{0};    ///< of a host-paced unit
  std::atomic<std::int64_t> damaged_frames{0};     ///< from the unit: bad checksum or length
  /// Faults of each inertial sensor since the start of the run, one bit per InertialFault.
  std::array<std::atomic<std::uint8_t>, INERTIAL_SENSORS_MAX> inertial_faults{};
};

/// Histogram of command delays. Entry k is the number of commands that took effect after k samples;
/// the last entry includes longer delays.
using DelayCounts = std::array<std::atomic<std::int64_t>, 8>;

/// Control loop of the real-time thread. In each period it reads a sample, computes and sends the
/// commands, and passes a record to the supervisor. The loop depends on the samples alone, so that
/// a run can be repeated in the virtual time of a simulated transport. `run` has no allocation,
/// locks, logging, exceptions or unbounded loops. Faults are counted here and reported by the
/// supervisor's thread.
///
/// The sample stream must have been started. The loop observes the first samples without driving.
/// It then clears the unit's trip and starts the scenario, whose time begins at 0.
class ControlLoop {
 public:
  using Ring = SpscRing<LoopRecord, 8192>;  // eight seconds at 1 kHz

  /// Creates a loop. `black_box` receives the messages of `unit`. All references must outlive the
  /// loop.
  ControlLoop(firmware_iface::UnitLink& unit, BlackBox& black_box, Scenario scenario,
              const SafetyLimits& limits, const LoopSettings& settings);

  /// Runs the loop until the scenario has finished, a trip has been recorded, the connection to the
  /// unit is lost, or `stop` is set. The motors are always off at the end.
  void run(const std::atomic<bool>& stop) noexcept;

  /// Runs one period of the loop. Returns false when the run is over.
  bool tick() noexcept;

  // For the supervisor's thread:
  Ring& records() noexcept { return records_; }
  /// Returns the queue of fits between the unit's clock and the host's clock, one fit per second.
  SpscRing<firmware_iface::ClockFit, 16>& clock_fits() noexcept { return clock_fits_; }
  /// Converts a sample's encoder counts to joint angles and writes angles and validity into
  /// `observation`. Its time and speeds do not change.
  void convert_angles(const firmware_iface::UnitSample& sample,
                      Observation& observation) const noexcept;
  const LoopSettings& settings() const noexcept { return settings_; }
  /// Returns the joint that the operator must hold, the same joint during the whole run; nullopt if
  /// there is none.
  std::optional<HeldJoint> held_joint() const { return scenario_.held_joint(); }
  /// Returns the time from the first sample of the run to a given time of the unit's clock [s].
  double seconds_since_start(std::int64_t unit_time_us) const noexcept {
    return static_cast<double>(unit_time_us - start_unit_time_us_) / 1e6;
  }
  double period_s() const noexcept { return static_cast<double>(settings_.period.count()) * 1e-9; }
  const LoopCounters& counters() const noexcept { return counters_; }
  const DelayCounts& command_delay_counts() const noexcept { return command_delays_; }
  /// Returns the histogram of the times from the arrival of a sample to the writing of its command.
  const TimingHistogram& cycle_time_histogram() const noexcept { return cycle_time_; }
  /// Returns the histogram of sample jitter: the magnitude of the time between two samples minus
  /// the period.
  const TimingHistogram& arrival_jitter_histogram() const noexcept { return arrival_jitter_; }
  /// Returns the known state of the unit's motor output after a trip.
  OutputState output_state() const noexcept {
    return output_state_.load(std::memory_order_acquire);
  }
  /// Returns the trip of the run; nullptr if it has not tripped.
  const Trip* trip() const noexcept {
    return trip_published_.load(std::memory_order_acquire) ? &published_trip_ : nullptr;
  }

 private:
  firmware_iface::ReadStatus read(Nanoseconds until, firmware_iface::UnitSample& sample) noexcept;
  void check_host_timing(Nanoseconds waited_until) noexcept;
  bool handle_missing_sample(firmware_iface::ReadStatus status) noexcept;
  LoopRecord take(const firmware_iface::UnitSample& sample) noexcept;
  void pass_on(const LoopRecord& record) noexcept;
  void measure_timing(const firmware_iface::UnitSample& sample) noexcept;
  Observation update_observation(const firmware_iface::UnitSample& sample) noexcept;
  void check_inertial_sensors(const firmware_iface::UnitSample& sample,
                              const Observation& now) noexcept;
  void check_plausibility(const firmware_iface::UnitSample& sample,
                          const Observation& now) noexcept;
  void set_unit_expectations() noexcept;
  MotionPhase motion_phase() const noexcept;
  bool is_settled() noexcept;
  void update_output_state(const firmware_iface::UnitSample& sample) noexcept;
  MotorCommands decide_commands(const firmware_iface::UnitSample& sample, const Observation& now,
                                MotorCommands& requested) noexcept;
  void advance_run_phase(const firmware_iface::UnitSample& sample) noexcept;
  MotorCommands evaluate_scenario(Observation now) noexcept;
  void send(const MotorCommands& commands) noexcept;
  void switch_output_off() noexcept;
  void publish_clock_fit() noexcept;
  void publish_trip() noexcept;
  bool is_run_over() const noexcept;
  bool is_driving() const noexcept;

  firmware_iface::UnitLink& unit_;
  BlackBox& black_box_;
  Scenario scenario_;
  SafetyMonitor safety_;
  InertialMonitor inertial_;
  EncoderMotionMonitor motion_;
  UnitReportMonitor unit_check_;
  LoopSettings settings_;
  double staleness_s_max_;

  RunPhase phase_ = RunPhase::kSettling;
  bool started_ = false;
  std::int64_t start_unit_time_us_ = 0;
  Nanoseconds last_received_{0};
  Nanoseconds deadline_{0};        // host-paced: end of this period
  Nanoseconds last_run_at_{0};     // last time at which this thread ran
  Nanoseconds last_stored_at_{0};  // last change of the heartbeat, moved by later pauses
  std::uint64_t heartbeat_ = 0;
  double time_s_ = 0.0;
  double arming_since_s_ = 0.0;
  double scenario_start_s_ = 0.0;
  bool sample_missed_ = false;  // the last period had no sample: nothing to answer
  Nanoseconds first_received_{0};
  Nanoseconds armed_at_{0};           // host clock, when the scenario began
  std::int64_t unit_time_us_ = 0;     // of the last sample
  MotorCommands pending_commands_{};  // host-paced: computed, sent at the next deadline
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
