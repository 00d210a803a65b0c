#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "daq/safety/safety_limits.hpp"
#include "firmware_iface/link/unit_clock.hpp"
#include "firmware_iface/link/unit_sample.hpp"

namespace daq {

/// What the unit and its line are expected to be.
struct UnitExpectations {
  double tick_s = 0.0;           ///< of the unit
  double period_s = 0.0;         ///< between samples
  double ttl_s = 0.0;            ///< of a command, from the sample that it answers
  double staleness_s_max = 0.0;  ///< longest time from latch to host
  std::size_t motor_count = 0;
  MotorCommands command_range{};  ///< of the unit's converters, magnitude
};

/// A command as it was sent.
struct SentCommand {
  std::uint64_t number = 0;           ///< from 1, counting all of the link
  std::int64_t unit_time_us = 0;      ///< of the sample that it answers
  firmware_iface::Nanoseconds at{0};  ///< host clock
  bool enabled = false;
  MotorCommands command{};
};

/// Whether the unit's clock can be trusted.
enum class ClockVerdict : std::uint8_t { kUnknown, kGood, kBad };

/// Judges what the unit reports against what it was sent and against this computer's clock.
/// Real-time safe: no allocation, no exceptions. A number that is NaN fails each check.
class UnitPlausibility {
 public:
  /// Largest difference of the unit's clock rate from this computer's [ppm]: it errs speeds, and
  /// the unit's time to live, by as much. A ceramic resonator errs by 5000 ppm.
  static constexpr double kClockErrorMax_ppm = 10'000.0;

  void expect(const UnitExpectations& expected) noexcept { expected_ = expected; }

  void note_sent(const SentCommand& sent) noexcept { history_[sent.number % kHistory] = sent; }

  /// Adds a sample. Returns the first check that fails, cause kNone when all hold.
  /// @param clock          of the unit against this computer's
  /// @param time_s         since the run started
  /// @param driving_for_s  since when the run has sent commands that enable; negative: it does not
  /// @param has_fault      the unit sent a FAULT since then
  Trip add(const firmware_iface::UnitSample& sample, const firmware_iface::ClockFit& clock,
           double time_s, double driving_for_s, bool has_fault) noexcept;

  /// How long the unit may take to do what was sent [s]: the longest delay measured, and a margin.
  double reaction_s() const noexcept { return delay_s_ + kMargin_s + expected_.period_s; }

  static ClockVerdict judge(const firmware_iface::ClockFit& clock) noexcept;

  /// The trip for a clock that is not good; its value [%] is NaN where the rate is unknown.
  static Trip clock_trip(const firmware_iface::ClockFit& clock, double time_s) noexcept;

  /// Whether the sample says that the output is off for good.
  static bool is_off(const firmware_iface::UnitSample& sample) noexcept;

 private:
  static constexpr std::size_t kHistory = 1024;  // a second at 1 kHz: longer than any time to live
  static constexpr double kMargin_s = 0.01;

  struct Contradiction {
    bool lasts = false;
    double since_s = 0.0;
  };

  Trip check_output(const firmware_iface::UnitSample& sample, double time_s) noexcept;
  Trip check_age_of_command(const firmware_iface::UnitSample& sample, double time_s,
                            double driving_for_s) const noexcept;
  Trip check_clock(const firmware_iface::UnitSample& sample, const firmware_iface::ClockFit& clock,
                   double time_s) const noexcept;
  const SentCommand* find(std::uint64_t number) const noexcept;
  bool lasts_too_long(Contradiction& contradiction, bool contradicts, double time_s) const noexcept;

  UnitExpectations expected_;
  std::array<SentCommand, kHistory> history_{};
  double delay_s_ = 0.01;  // until it is measured
  bool is_measured_ = false;
  Contradiction output_;
  Contradiction faults_;
};

}  // namespace daq
