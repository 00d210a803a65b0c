#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <span>

#include "firmware_iface/firmware/core/unit.h"
#include "firmware_iface/sim/inertial_sensor.hpp"
#include "firmware_iface/sim/plant.hpp"
#include "firmware_iface/transport/transport.hpp"
#include "firmware_iface/wire/limits.h"

namespace firmware_iface::sim {

/// Probabilities of random faults inside the simulated unit. The random faults are generated from
/// `seed`. With all probabilities 0 there are no faults.
struct UnitFaults {
  std::uint64_t seed = 1;
  double channel_dropout = 0.0;  ///< probability per tick that a channel becomes invalid
  Nanoseconds dropout_max = std::chrono::milliseconds(50);  ///< longest duration of a dropout
  std::uint16_t dropout_channels =
      0x02;            ///< bit i: channel i can have dropouts; the wireless one is 1
  double reset = 0.0;  ///< probability per tick that the unit restarts
};

/// Settings of the simulated hand that holds the rig in a release experiment.
struct HandSettings {
  enum class ReleaseTime {
    kFree,               ///< no hand: the rig moves from the start
    kAfterStreamStart,   ///< held from the start of each stream, released hold_time after it
    kAfterFirstCommand,  ///< held likewise, released hold_time after the first COMMAND of the
                         ///< stream
  };
  ReleaseTime release = ReleaseTime::kFree;
  Nanoseconds hold_time = std::chrono::seconds(3);
};

struct EncoderSettings {
  std::uint32_t counts_per_turn = 4096;
  double zero_offset_rad = 0.0;  ///< the encoder reads θ − offset
  std::uint32_t modulus = 0;     ///< counts run from 0 to modulus − 1; 0: signed, 32 bits
  bool absolute = false;         ///< keeps its zero after a reset
  bool index = false;            ///< has an index pulse where its angle reads 0, once a turn
  double counts_per_rad = 0.0;   ///< or per metre, without a whole number per turn; 0: does not
                                 ///< apply. The unit's description then has no counts per turn

  // Simulated wiring errors, which the unit's description does not show.
  int joint = -1;             ///< joint that it is connected to; negative: its own
  double count_factor = 1.0;  ///< counts / described counts; 0: it does not count
  double drift_counts_per_s = 0.0;
};

struct MotorSettings {
  int kind = MOTOR_VOLT;      ///< MOTOR_*, the unit of the command
  double command_max = 10.0;  ///< range to either side, in that unit
};

struct UnitSettings {
  std::uint64_t unit_id = 0x5249474341'4C01;
  std::array<EncoderSettings, kJointsMax> encoder{};
  int tick_rate_Hz = 1000;
  int motor_count = 1;
  std::array<MotorSettings, MOTORS_MAX> motor{};
  int command_bits = 12;  ///< of the converter, over ±command_max; 0: all of the wire's 16
  int ttl_max_ms = 100;
  double clock_error_ppm = 0.0;      ///< positive: the unit's clock is fast
  std::uint64_t clock_start_us = 0;  ///< unit clock at its first boot
  Nanoseconds boot_time =
      std::chrono::milliseconds(50);  ///< time without communication after a reset
  int inertial_count = 0;
  std::array<InertialSensorSettings, INERTIAL_SENSORS_MAX> inertial{};
  UnitFaults faults;
  HandSettings hand;
};

/// Counters since construction; exact.
struct UnitCounters {
  std::uint64_t ticks = 0;
  std::uint64_t samples_sent = 0;
  std::uint64_t streams = 0;
  std::uint64_t hellos = 0;
  std::uint64_t commands = 0;
  std::uint64_t commands_rejected = 0;  ///< answered samples that were too old
  std::uint64_t clears = 0;
  std::uint64_t frames_damaged = 0;
  std::uint64_t resets = 0;
  std::uint64_t dropouts = 0;
  std::uint64_t releases = 0;
  std::array<std::uint64_t, 8> trips{};       ///< by bit of fault_flags
  Nanoseconds longest_unrefreshed_output{0};  ///< longest nonzero output without a new command
};

/// True state of the simulated unit and rig at one tick, as written to the truth file.
struct TrueState {
  Nanoseconds time{0};  ///< true time
  std::uint64_t unit_time_us = 0;
  std::optional<std::uint32_t> sample_sequence;  ///< of the SAMPLE sent at this tick
  JointState state;
  std::array<std::int64_t, kJointsMax> encoder_counts{};
  MotorArray command{};  ///< in effect from this tick on [units of the motors]
  bool tripped = true;
  bool held = false;
};

/// Interface that receives the frames and true states of a SimulatedUnit. Called within the
/// functions advance_to and receive.
class UnitOutputListener {
 public:
  UnitOutputListener() = default;
  UnitOutputListener(const UnitOutputListener&) = delete;
  UnitOutputListener& operator=(const UnitOutputListener&) = delete;
  virtual ~UnitOutputListener() = default;
  virtual void on_frame(std::span<const std::uint8_t> frame, Nanoseconds at) noexcept = 0;
  virtual void on_true_state(const TrueState& /*truth*/) noexcept {}
};

/// Simulated conversion unit with a rig: runs the core of the firmware (firmware/core/unit.h) on a
/// simulated board. Its input are bytes and times, its output are frames. It has no clock, so it
/// runs in real and in virtual time. Times are true times and must not decrease. Allocates only in
/// the constructor.
class SimulatedUnit {
 public:
  SimulatedUnit(const UnitSettings& settings, std::unique_ptr<UnitPlant> plant,
                UnitOutputListener& output, Nanoseconds start = Nanoseconds(0));

  /// Adds bytes that reach the unit at `now`.
  void receive(std::span<const std::uint8_t> bytes, Nanoseconds now) noexcept;

  /// Advances unit and rig to a time.
  void advance_to(Nanoseconds now) noexcept;

  /// Returns the time of the next event inside the simulated unit.
  Nanoseconds next_event_time() const noexcept;

  /// Restarts the unit, as after a watchdog reset or a loss of power.
  void reset(Nanoseconds now) noexcept;

  /// Returns the output of a motor in the unit of its command.
  double output_V(std::size_t motor = 0) const noexcept { return motor_output_[motor]; }
  bool is_tripped() const noexcept { return unit_is_tripped(&core_); }
  UnitCounters counters() const noexcept;

  /// Turns a joint smoothly to an angle by hand, and holds the rig until release_rig().
  void turn_by_hand(int joint, double angle_rad, Nanoseconds duration, Nanoseconds now) noexcept;
  void release_rig(Nanoseconds now) noexcept;

  /// Returns the rig's state at the last tick, trip or release.
  const UnitPlant& plant() const noexcept { return *plant_; }
  const UnitSettings& settings() const noexcept { return settings_; }

  /// Replaces the fault probabilities from now on, e.g. so that a test ends without faults.
  void set_faults(const UnitFaults& faults) noexcept;

 private:
  void tick() noexcept;
  void latch() noexcept;
  void send_sample(std::uint64_t unit_time_us) noexcept;
  void apply_output() noexcept;
  void send_frames() noexcept;
  void count_received_frames(const unit_counters& before) noexcept;
  void hold_rig_for_stream() noexcept;
  void boot(Nanoseconds at) noexcept;
  void advance_plant_to(Nanoseconds time) noexcept;
  std::uint64_t unit_time_us(Nanoseconds time) const noexcept;
  Nanoseconds true_duration(double unit_s) const noexcept;
  Nanoseconds tick_time(std::uint64_t index) const noexcept;
  std::uint64_t unit_time_of_tick_us(std::uint64_t index) const noexcept;
  std::int64_t encoder_counts(int channel) const noexcept;
  bool draw_random_event(double probability) noexcept;

  UnitSettings settings_;
  std::unique_ptr<UnitPlant> plant_;
  UnitOutputListener* output_;
  Nanoseconds now_;
  Nanoseconds last_enabling_command_at_{0};  // arrival of the last enabling command
  Nanoseconds plant_time_;
  unit_description description_{};
  unit core_{};
  MotorArray motor_output_{};  // [units of the motors]

  // Since the last boot:
  Nanoseconds boot_at_{0};
  std::uint64_t clock_start_us_ = 0;
  std::uint64_t tick_index_ = 0;
  std::array<std::int64_t, kJointsMax> counts_at_boot_{};

  // Kept after a reset:
  std::array<Nanoseconds, kJointsMax> dropout_until_{};
  std::array<std::int64_t, kJointsMax> latched_counts_{};
  unit_latch latch_{};
  std::optional<Nanoseconds> release_at_;
  struct {
    int joint = -1;  // negative: the hand moves no joint
    double from_rad = 0.0, to_rad = 0.0;
    Nanoseconds begin{0}, duration{0};
  } hand_motion_;
  std::mt19937_64 random_;
  std::mt19937_64 inertial_random_;
  UnitCounters counters_;  // of earlier boots, and counters that the core does not have
};

}  // namespace firmware_iface::sim
