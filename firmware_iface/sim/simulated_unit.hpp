#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <random>
#include <span>

#include "firmware_iface/firmware/core/unit.h"
#include "firmware_iface/sim/inertial_sensor.hpp"
#include "firmware_iface/sim/plant.hpp"
#include "firmware_iface/transport/transport.hpp"
#include "firmware_iface/wire/limits.h"

namespace firmware_iface::sim {

/// What goes wrong inside the unit, drawn from `seed`. All zero: nothing.
struct UnitFaults {
  std::uint64_t seed = 1;
  double channel_dropout = 0.0;  ///< per tick and channel: it stops being valid for up to
  Nanoseconds dropout_max = std::chrono::milliseconds(50);  ///< this long
  std::uint16_t dropout_channels = 0x02;  ///< bit i: channel i can drop out; the wireless one is 1
  double reset = 0.0;                     ///< per tick: the unit restarts
};

/// The hand that holds the rig for a release experiment.
struct OperatorSettings {
  enum class Release {
    kFree,               ///< no hand: the rig moves from the start
    kAfterStreamStart,   ///< held from the start of each stream, let go hold_time after it
    kAfterFirstCommand,  ///< held likewise, let go hold_time after the first COMMAND of the stream
  };
  Release release = Release::kFree;
  Nanoseconds hold_time = std::chrono::seconds(3);
};

struct EncoderSettings {
  std::uint32_t counts_per_turn = 4096;
  double zero_offset_rad = 0.0;  ///< the encoder reads θ − offset
  std::uint32_t modulus = 0;     ///< counts run from 0 to modulus − 1; 0: all 32 bits, signed
  bool absolute = false;         ///< keeps its zero over resets
  bool index = false;            ///< passes an index pulse where its angle reads 0, once a turn

  // Mistakes of wiring, which the unit's description does not show.
  int joint = -1;             ///< that it is connected to; negative: its own
  double count_factor = 1.0;  ///< counts so many times as often as described; 0: is dead
  double drift_counts_per_s = 0.0;
};

struct UnitSettings {
  std::uint64_t unit_id = 0x5249474341'4C01;
  std::array<EncoderSettings, kJointsMax> encoder{};
  int tick_rate_Hz = 1000;
  int motor_kind = MOTOR_VOLT;  ///< MOTOR_*, the unit of the plant's command
  double command_max_V = 10.0;  ///< in that unit
  int command_bits = 12;        ///< of the converter, over ±command_max_V; 0: all of the wire's 16
  int ttl_max_ms = 100;
  double clock_error_ppm = 0.0;                           ///< positive: the unit's clock is fast
  std::uint64_t clock_start_us = 0;                       ///< unit clock at its first boot
  Nanoseconds boot_time = std::chrono::milliseconds(50);  ///< silent for so long after a reset
  int inertial_count = 0;
  std::array<InertialSettings, INERTIAL_SENSORS_MAX> inertial{};
  UnitFaults faults;
  OperatorSettings hand;
};

/// Exact counts since construction.
struct UnitCounters {
  std::uint64_t ticks = 0;
  std::uint64_t samples_sent = 0;
  std::uint64_t streams = 0;
  std::uint64_t hellos = 0;
  std::uint64_t commands = 0;
  std::uint64_t commands_rejected = 0;  ///< answered a sample that was too old
  std::uint64_t clears = 0;
  std::uint64_t frames_damaged = 0;
  std::uint64_t resets = 0;
  std::uint64_t dropouts = 0;
  std::uint64_t releases = 0;
  std::array<std::uint64_t, 8> trips{};  ///< by bit of fault_flags
  Nanoseconds unattended_max{0};         ///< longest output other than zero without a new command
};

/// What is true at a tick, for the file of the truth.
struct Truth {
  Nanoseconds time{0};  ///< true time
  std::uint64_t unit_time_us = 0;
  std::optional<std::uint32_t> sample_sequence;  ///< of the SAMPLE sent at this tick
  JointState state;
  std::array<std::int64_t, kJointsMax> encoder_counts{};
  double command_V = 0.0;  ///< in force from this tick on
  bool tripped = true;
  bool held = false;
};

/// Receives what the unit puts out. Called from within advance_to and receive.
class UnitOutput {
 public:
  UnitOutput() = default;
  UnitOutput(const UnitOutput&) = delete;
  UnitOutput& operator=(const UnitOutput&) = delete;
  virtual ~UnitOutput() = default;
  virtual void on_frame(std::span<const std::uint8_t> frame, Nanoseconds at) noexcept = 0;
  virtual void on_truth(const Truth& /*truth*/) noexcept {}
};

/// A conversion unit with a rig attached: the firmware's core (firmware/core/unit.h) on a simulated
/// board. Time and bytes in, frames out; it keeps no clock of its own, so it runs in real and in
/// virtual time alike. Times are those of the world and must not go back. Allocates only when
/// built.
class SimulatedUnit {
 public:
  SimulatedUnit(const UnitSettings& settings, Plant plant, UnitOutput& output,
                Nanoseconds start = Nanoseconds(0));

  /// Bytes that reach the unit at `now`.
  void receive(std::span<const std::uint8_t> bytes, Nanoseconds now) noexcept;

  /// Lets time pass.
  void advance_to(Nanoseconds now) noexcept;

  /// When something happens next of itself.
  Nanoseconds next_event() const noexcept;

  /// Restarts the unit, as its watchdog or a loss of power would.
  void reset(Nanoseconds now) noexcept;

  double output_V() const noexcept { return output_V_; }
  bool is_tripped() const noexcept { return unit_is_tripped(&core_); }
  UnitCounters counters() const noexcept;

  /// A hand turns a joint to an angle, smoothly, and holds the rig until let_go().
  void turn_by_hand(int joint, double angle_rad, Nanoseconds duration, Nanoseconds now) noexcept;
  void let_go(Nanoseconds now) noexcept;

  /// The rig as of the last tick, trip or release.
  const Plant& plant() const noexcept { return plant_; }
  const UnitSettings& settings() const noexcept { return settings_; }

  /// Faults from now on: a test switches them off to end a run in order.
  void set_faults(const UnitFaults& faults) noexcept;

 private:
  void tick() noexcept;
  void latch() noexcept;
  void send_sample(std::uint64_t unit_time_us) noexcept;
  void apply_output() noexcept;
  void send_frames() noexcept;
  void note_received(const unit_counters& before) noexcept;
  void hold_for_stream() noexcept;
  void boot(Nanoseconds at) noexcept;
  void move_plant_to(Nanoseconds time) noexcept;
  std::uint64_t unit_time_us(Nanoseconds time) const noexcept;
  Nanoseconds world_duration(double unit_s) const noexcept;
  Nanoseconds tick_time(std::uint64_t index) const noexcept;
  std::uint64_t unit_time_of_tick_us(std::uint64_t index) const noexcept;
  std::int64_t encoder_counts(int channel) const noexcept;
  bool happens(double probability) noexcept;

  UnitSettings settings_;
  Plant plant_;
  UnitOutput* output_;
  Nanoseconds now_;
  Nanoseconds attended_at_{0};  // arrival of the last command that may drive
  Nanoseconds plant_time_;
  unit_description description_{};
  unit core_{};
  double output_V_ = 0.0;

  // Since boot.
  Nanoseconds boot_at_{0};
  std::uint64_t clock_start_us_ = 0;
  std::uint64_t tick_index_ = 0;
  std::array<std::int64_t, kJointsMax> counts_at_boot_{};

  // Kept over resets.
  std::array<Nanoseconds, kJointsMax> dropout_until_{};
  std::array<std::int64_t, kJointsMax> latched_counts_{};
  unit_latch latch_{};
  std::optional<Nanoseconds> release_at_;
  struct {
    int joint = -1;  // negative: the hand moves none
    double from_rad = 0.0, to_rad = 0.0;
    Nanoseconds begin{0}, duration{0};
  } hand_motion_;
  std::mt19937_64 random_;
  std::mt19937_64 inertial_random_;
  UnitCounters counters_;  // of the boots before this one, and what the core does not count
};

}  // namespace firmware_iface::sim
