#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "daq/safety/safety_limits.hpp"
#include "firmware_iface/link/unit_clock.hpp"
#include "firmware_iface/link/unit_sample.hpp"

namespace daq {

/// Expected properties of the conversion unit and of the line to the unit.
struct UnitExpectations {
  double tick_s = 0.0;           ///< tick period of the unit
  double period_s = 0.0;         ///< between samples
  double ttl_s = 0.0;            ///< time to live of a command, from the sample that it answers
  double staleness_s_max = 0.0;  ///< longest time from a sample's latch to its arrival
  std::size_t motor_count = 0;
  MotorCommands command_range{};  ///< output range of the unit's converters, magnitude
};

/// A command that was sent to the unit.
struct SentCommand {
  std::uint64_t number = 0;           ///< from 1, counting all commands of the link
  std::int64_t unit_time_us = 0;      ///< of the sample that it answers
  firmware_iface::Nanoseconds at{0};  ///< host clock
  bool enabled = false;
  MotorCommands command{};
};

/// Assessment of the rate of the unit's clock.
enum class ClockVerdict : std::uint8_t { kUnknown, kGood, kBad };

/// Checks whether the reports of the conversion unit are consistent with the sent commands and with
/// this computer's clock. Real-time safe: no allocation, no exceptions. A NaN fails each check.
class UnitReportMonitor {
 public:
  /// Largest relative error of the unit's clock rate [ppm]. Speeds and the unit's time to live have
  /// the same relative error. A ceramic resonator errs by 5000 ppm.
  static constexpr double kClockErrorMax_ppm = 10'000.0;

  void expect(const UnitExpectations& expected) noexcept { expected_ = expected; }

  void record_sent_command(const SentCommand& sent) noexcept {
    history_[sent.number % kHistory] = sent;
  }

  /// Adds a sample. Returns a trip for the first check that fails, with cause kNone if none fails.
  /// @param clock          fit of the unit's clock to this computer's
  /// @param time_s         since the run started
  /// @param driving_for_s  time since the run started to send enabling commands; negative if it
  ///     does not send any
  /// @param has_fault      the unit sent a FAULT since then
  Trip add(const firmware_iface::UnitSample& sample, const firmware_iface::ClockFit& clock,
           double time_s, double driving_for_s, bool has_fault) noexcept;

  /// Returns the longest time that the unit may take to obey a command [s]: the longest measured
  /// delay plus a margin.
  double reaction_time_s() const noexcept { return delay_s_ + kMargin_s + expected_.period_s; }

  static ClockVerdict judge(const firmware_iface::ClockFit& clock) noexcept;

  /// Returns the trip for a unit's clock whose rate is wrong or unknown. The trip's value is the
  /// rate error [%], NaN if unknown.
  static Trip make_clock_trip(const firmware_iface::ClockFit& clock, double time_s) noexcept;

  /// Returns whether a sample reports that the motor output is off and locked.
  static bool is_output_off(const firmware_iface::UnitSample& sample) noexcept;

 private:
  static constexpr std::size_t kHistory =
      1024;  // one second at 1 kHz, longer than any time to live
  static constexpr double kMargin_s = 0.01;

  struct Contradictions {
    bool lasts = false;    // in the last sample
    double last_s = 0.0;   // time of that sample
    double total_s = 0.0;  // their duration, less what consistent samples forgave
  };

  Trip check_output(const firmware_iface::UnitSample& sample, double time_s,
                    double driving_for_s) noexcept;
  Trip check_command_age(const firmware_iface::UnitSample& sample, double time_s,
                         double driving_for_s) noexcept;
  Trip check_clock(const firmware_iface::UnitSample& sample, const firmware_iface::ClockFit& clock,
                   double time_s) const noexcept;
  const SentCommand* find(std::uint64_t number) const noexcept;
  bool exceeds_reaction_time(Contradictions& contradictions, bool contradicts,
                             double time_s) const noexcept;

  UnitExpectations expected_;
  std::array<SentCommand, kHistory> history_{};
  double delay_s_ = 0.01;  // until it is measured
  bool is_measured_ = false;
  Contradictions output_;
  Contradictions faults_;
  int unheeded_samples_ = 0;  // in the drive, since an enabling command was last in effect
};

}  // namespace daq
