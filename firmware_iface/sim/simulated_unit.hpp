#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <random>
#include <span>

#include "firmware_iface/link/frame_decoder.hpp"
#include "firmware_iface/sim/inertial_sensor.hpp"
#include "firmware_iface/sim/plant.hpp"
#include "firmware_iface/transport/transport.hpp"
#include "firmware_iface/wire/command.h"
#include "firmware_iface/wire/configure.h"
#include "firmware_iface/wire/hello.h"
#include "firmware_iface/wire/limits.h"
#include "firmware_iface/wire/sample.h"

namespace firmware_iface::sim {

/// What goes wrong inside the unit, drawn from `seed`. All zero: nothing.
struct UnitFaults {
  std::uint64_t seed = 1;
  double channel_dropout = 0.0;  ///< per tick and channel: it stops being valid for up to
  Nanoseconds dropout_max = std::chrono::milliseconds(50);  ///< this long
  std::uint8_t dropout_channels = 0x02;  ///< bit i: channel i can drop out; the wireless one is 1
  double reset = 0.0;                    ///< per tick: the unit restarts
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

struct UnitSettings {
  std::uint64_t unit_id = 0x5249474341'4C01;
  std::array<std::uint32_t, CHANNELS_MAX> counts_per_turn{4096, 4096, 0, 0};
  std::array<double, CHANNELS_MAX> zero_offset_rad{};  ///< the encoder reads θ − offset
  int tick_rate_Hz = 1000;
  double command_max_V = 10.0;
  int command_bits = 12;  ///< of the converter, over ±command_max_V; 0: all of the wire's 16
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
  std::uint64_t clears = 0;
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
  std::array<std::int64_t, CHANNELS_MAX> encoder_counts{};
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

/// A conversion unit with a rig attached, as a state machine: time and bytes in, frames out. It
/// keeps no clock of its own, so it runs in real and in virtual time alike. Times are those of the
/// world and must not go back. Allocates only when built. Behaviour: firmware_iface/PROTOCOL.md.
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
  bool is_tripped() const noexcept { return fault_flags_ != 0; }
  const UnitCounters& counters() const noexcept { return counters_; }
  const FrameCounters& frame_counters() const noexcept { return decoder_.counters(); }

  /// The rig as of the last tick, trip or release.
  const Plant& plant() const noexcept { return plant_; }
  const UnitSettings& settings() const noexcept { return settings_; }

  /// Faults from now on: a test switches them off to end a run in order.
  void set_faults(const UnitFaults& faults) noexcept;

 private:
  void tick() noexcept;
  void latch() noexcept;
  void send_sample(std::uint64_t unit_time_us) noexcept;
  void send_inertial() noexcept;
  void put_command_in_force() noexcept;
  void handle_message(std::span<const std::uint8_t> message) noexcept;
  void handle_hello(const hello_head& head) noexcept;
  void handle_configure(const configure_request& request) noexcept;
  bool can_do(const configure_request& request) const noexcept;
  void change_stream(const configure_request& request) noexcept;
  void handle_clear(std::span<const std::uint8_t> message) noexcept;
  void handle_command(const command_request& request) noexcept;
  void trip(std::uint8_t cause, std::int32_t detail) noexcept;
  void send(std::span<const std::uint8_t> message) noexcept;
  void end_stream() noexcept;
  void hold_for_stream() noexcept;
  void boot(Nanoseconds at) noexcept;
  void move_plant_to(Nanoseconds time) noexcept;
  std::uint64_t unit_time_us(Nanoseconds time) const noexcept;
  Nanoseconds world_duration(double unit_s) const noexcept;
  Nanoseconds tick_time(std::uint64_t index) const noexcept;
  std::uint64_t unit_time_of_tick_us(std::uint64_t index) const noexcept;
  std::int64_t encoder_counts(int channel) const noexcept;
  std::int16_t converted(std::int16_t command_q15) const noexcept;
  bool happens(double probability) noexcept;

  UnitSettings settings_;
  Plant plant_;
  UnitOutput* output_;
  Nanoseconds now_;
  Nanoseconds attended_at_{0};  // arrival of the last command that may drive
  Nanoseconds plant_time_;

  // Since boot.
  Nanoseconds boot_at_{0};
  std::uint64_t clock_start_us_ = 0;
  std::uint64_t tick_index_ = 0;
  std::array<std::int64_t, CHANNELS_MAX> counts_at_boot_{};
  std::uint8_t fault_flags_ = 0;
  FrameDecoder decoder_;
  std::uint64_t damaged_at_boot_ = 0;
  bool streaming_ = false;
  std::uint8_t stream_flags_ = 0;
  int divider_ = 1;
  std::array<std::uint8_t, INERTIAL_SENSORS_MAX> inertial_divider_{};
  std::uint64_t stream_start_tick_ = 0;
  std::uint32_t stream_samples_ = 0;
  bool session_ = false;  // a HELLO since the boot
  std::optional<configure_request> configured_;
  configure_reply configure_answer_{};
  std::optional<command_request> pending_;
  command_request in_force_{};
  bool command_seen_ = false;
  bool driving_ = false;
  double output_V_ = 0.0;
  std::int16_t output_q15_ = 0;
  std::optional<Nanoseconds> ttl_ends_;
  int ttl_ms_ = 0;
  std::uint16_t clear_token_ = 0;
  std::uint16_t cleared_token_ = 0;
  Nanoseconds clear_until_{0};

  // Kept over resets.
  std::uint32_t samples_of_last_stream_ = 0xFFFFFFFFU;
  std::uint16_t stream_count_ = 0;
  std::uint16_t boot_count_ = 0;
  std::array<Nanoseconds, CHANNELS_MAX> dropout_until_{};
  std::array<std::int64_t, CHANNELS_MAX> latched_counts_{};
  std::optional<Nanoseconds> release_at_;
  std::mt19937_64 random_;
  std::mt19937_64 inertial_random_;
  UnitCounters counters_;
};

}  // namespace firmware_iface::sim
