#include <signal.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "tests/integration/daq_process.hpp"
#include "tests/integration/line_relay.hpp"
#include "tests/support/texts.hpp"
#include "tests/support/wire_messages.hpp"

// rigcal-daq and rigcal-sim with a line between them whose frames are valid and false. The truth of
// the simulation judges: the motor is off before the arm has moved too far, and the operator reads
// the cause.

namespace {

using namespace test_support;
using std::chrono::milliseconds;

/// Progress of one run, by the samples that passed the line.
struct Progress {
  int samples = 0;
  int driven = 0;            // samples that report a driving unit
  int since_trip = 0;        // samples from the first one after the drive that reports a trip
  long lies_from = -1;       // number of the first false sample or command's sample; -1: none yet
  std::uint32_t newest = 0;  // number of the newest sample

  void add(const sample_report& sample) {
    ++samples;
    newest = sample.sequence;
    driven += (sample.status & STATUS_DRIVING) != 0;
    since_trip += since_trip > 0 || (driven > 0 && (sample.status & STATUS_TRIPPED) != 0);
  }
  /// Returns whether the lie has begun, and notes its first sample.
  bool begun(int from_driven) {
    if (driven < from_driven) return false;
    if (lies_from < 0) lies_from = newest;
    return true;
  }
};

using SampleLie = std::function<void(sample_report&)>;

/// Bound of a lie that leaves the arm's readings true: its limits apply.
constexpr double kWithinLimits = std::numeric_limits<double>::infinity();

/// A lie, the words that name its cause, and the arm's largest motion while the motor is on.
struct LyingLine {
  std::string name;
  double volts;
  int from_driven;  // 0: from the start
  std::function<LineLies(Progress&, int from_driven)> lies;
  std::vector<std::string> causes;
  double moved_rad_max;  // beyond the motion at the arm's speed when the lie began
  double clock_error_ppm = 0.0;
  bool is_host_paced = false;

  friend std::ostream& operator<<(std::ostream& out, const LyingLine& line) {
    return out << line.name;
  }
};

/// A lie about samples alone.
std::function<LineLies(Progress&, int)> in_samples(const std::function<SampleLie()>& make) {
  return [make](Progress& progress, int from_driven) {
    LineLies lies;
    lies.sample = [&progress, from_driven, lie = make()](sample_report& sample) {
      progress.add(sample);
      if (progress.begun(from_driven)) lie(sample);
    };
    return lies;
  };
}

/// The same lies on a line that delivers five samples at once, every 5 ms. The host then finds
/// samples missing and sends idle commands in between.
std::function<LineLies(Progress&, int)> on_unsteady_line(
    const std::function<LineLies(Progress&, int)>& make) {
  return [=](Progress& progress, int from_driven) {
    LineLies lies = make(progress, from_driven);
    lies.sample_delay = [&progress] { return milliseconds(4 - progress.samples % 5); };
    return lies;
  };
}

/// Delays, as a function of the time since they began.
using Delay = std::function<std::chrono::nanoseconds(std::chrono::nanoseconds since)>;

std::function<LineLies(Progress&, int)> with_delay(bool of_samples, const Delay& delay) {
  return [=](Progress& progress, int from_driven) {
    LineLies lies;
    lies.sample = [&progress](sample_report& sample) { progress.add(sample); };
    const auto held = [&progress, from_driven, delay,
                       from = std::chrono::steady_clock::time_point()]() mutable {
      const auto now = std::chrono::steady_clock::now();
      if (!progress.begun(from_driven)) return std::chrono::nanoseconds(0);
      if (from.time_since_epoch().count() == 0) from = now;
      return delay(now - from);
    };
    (of_samples ? lies.sample_delay : lies.command_delay) = held;
    return lies;
  };
}

Delay constant(int delay_ms) {
  return [=](auto) { return milliseconds(delay_ms); };
}

/// @param encoders  bit i: encoder i
/// @param period    0: frozen for good; else frozen in every second period of so many samples
std::function<SampleLie()> frozen(unsigned encoders, int period = 0) {
  return [=] {
    return [=, held = std::vector<std::int32_t>(), count = 0](sample_report& sample) mutable {
      const bool starts = period == 0 ? count == 0 : count % (2 * period) == 0;
      if (starts) held.assign(sample.encoder_counts, sample.encoder_counts + 2);
      const bool is_frozen = period == 0 || count % (2 * period) < period;
      ++count;
      for (unsigned k = 0; is_frozen && k < 2; ++k) {
        if ((encoders >> k & 1U) != 0) sample.encoder_counts[k] = held[k];
      }
    };
  };
}

std::function<SampleLie()> always(const SampleLie& lie) {
  return [=] { return lie; };
}

/// Motors pushed an encoder that does not count. The words differ with the motion before.
const std::vector<std::string> kNotCounting = {"did not count", "stopped counting"};
/// The arm may reach its limit first.
const std::vector<std::string> kNotCountingOrLimit = {"did not count", "stopped counting",
                                                      "jumped by", "arm: angle"};

/// Trips that a delay causes, or a computer that has no time for these programs.
const std::vector<std::string> kBusyComputer = {"this computer paused", "switched off",
                                                "after it was taken", "without a sample",
                                                "cannot be determined"};

std::vector<LyingLine> frozen_encoders() {
  std::vector<LyingLine> lies;
  const char* const names[] = {"", "Arm", "Rod", "All"};
  for (const unsigned encoders : {1U, 2U, 3U}) {
    for (const int from : {0, 300, 900}) {
      for (const int volts : {1, 3}) {
        if (volts == 3 && from == 900) continue;  // beyond the limits by then
        const bool arm = (encoders & 1U) != 0;
        lies.push_back({std::string("Frozen") + names[encoders] + "From" + std::to_string(from) +
                            "At" + std::to_string(volts) + "V",
                        static_cast<double>(volts), from, in_samples(frozen(encoders)),
                        arm ? kNotCounting : kNotCountingOrLimit, arm ? 0.25 : kWithinLimits});
      }
    }
  }
  const auto now_and_then = in_samples(frozen(1, 150));
  lies.push_back({"FrozenNowAndThen", 1.0, 300, now_and_then, kNotCountingOrLimit, kWithinLimits});
  return lies;
}

SampleLie drift(double counts_per_s) {
  return [counts_per_s, start_us = std::optional<std::uint32_t>()](sample_report& sample) mutable {
    if (!start_us) start_us = sample.tick_us;
    sample.encoder_counts[0] +=
        static_cast<std::int32_t>(counts_per_s * 1e-6 * (sample.tick_us - *start_us));
  };
}

/// Repeats the last 300 samples again and again from the beginning of the lie.
/// @param encoders  that repeat, from the first one on
std::function<LineLies(Progress&, int)> looped(std::size_t encoders) {
  return [=](Progress& progress, int from_driven) {
    LineLies lies;
    lies.sample = [=, &progress, played = std::size_t{0},
                   recorded = std::vector<std::array<std::int32_t, 2>>()](auto& sample) mutable {
      progress.add(sample);
      if (!progress.begun(from_driven)) {
        recorded.push_back({sample.encoder_counts[0], sample.encoder_counts[1]});
        return;
      }
      const std::size_t length = std::min<std::size_t>(300, recorded.size());
      const auto& counts = recorded[recorded.size() - length + played++ % length];
      std::copy_n(counts.begin(), encoders, sample.encoder_counts);
    };
    return lies;
  };
}

/// The arm's encoder counts backwards from its present angle.
SampleLie reversed() {
  return [middle = std::optional<std::int32_t>()](sample_report& sample) mutable {
    if (!middle) middle = sample.encoder_counts[0];
    sample.encoder_counts[0] = 2 * *middle - sample.encoder_counts[0];
  };
}

std::vector<LyingLine> wrong_encoders() {
  const std::vector<std::string> against = {"against its motor"};
  const std::vector<std::string> creep = {"although nothing is driven"};
  const std::vector<std::string> jumps = {"jumped by", "at once, against its motor"};
  const auto sixteenth = [](sample_report& sample) { sample.encoder_counts[0] /= 16; };
  const auto swapped = [](sample_report& sample) {
    std::swap(sample.encoder_counts[0], sample.encoder_counts[1]);
  };
  const auto mirrored = [](sample_report& sample) {
    sample.encoder_counts[0] = -sample.encoder_counts[0];
  };
  const auto invalid = [] {
    return [n = 0](sample_report& sample) mutable {
      if (n++ % 200 < 100) sample.encoders_valid = 2;
    };
  };
  return {
      {"SixteenthOfTheCounts", 1.0, 0, in_samples(always(sixteenth)), kNotCounting, 0.25},
      {"SwappedChannels", 1.0, 0, in_samples(always(swapped)), against, 0.25},
      {"MirroredCounts", 1.0, 0, in_samples(always(mirrored)), against, 0.25},
      {"SlowDrift", 1.0, 0, in_samples(always(drift(23.0))), creep, 0.0},
      {"FastDrift",
       1.0,
       0,
       in_samples(always(drift(1000.0))),
       {"although nothing is driven", "arm: angle"},
       0.0},
      {"InvalidNowAndThen", 1.0, 300, in_samples(invalid), {"without a valid angle"}, 0.25},
      {"LoopedArm", 1.0, 300, looped(1), jumps, 0.25},
      {"LoopedCounts", 1.0, 300, looped(2), jumps, 0.25},
      {"LoopedCountsAt3V", 3.0, 300, looped(2), jumps, 0.25},
      {"ReversedInTheDrive", 3.0, 600, in_samples(reversed), {"at once, against its motor"}, 0.25},
  };
}

std::vector<LyingLine> report_lies() {
  const std::vector<std::string> output = {"reports an output of", "reports the output that"};
  const std::vector<std::string> contradiction = {"contradict each other"};
  const auto full_range = [](sample_report& sample) {
    sample.command_q15[0] = 32767;
    sample.status |= STATUS_DRIVING;
  };
  const auto idle = [](sample_report& sample) {
    sample.status = static_cast<std::uint8_t>(sample.status & ~STATUS_DRIVING);
    sample.command_q15[0] = 0;
  };
  const auto flapping = [] {
    return [k = 0](sample_report& sample) mutable {
      if (++k % 3 == 0) sample.status ^= STATUS_DRIVING;
    };
  };
  const auto fault = [](sample_report& sample) { sample.fault_flags |= FAULT_AMPLIFIER; };
  const auto no_fault = [](sample_report& sample) { sample.fault_flags = 0; };
  const auto stale = [] {
    return [old = -1, q15 = std::int16_t{0}](sample_report& sample) mutable {
      if (old < 0) {
        old = sample.command_sequence;
        q15 = sample.command_q15[0];
      }
      sample.command_sequence = static_cast<std::uint16_t>(old);
      sample.command_q15[0] = q15;
    };
  };
  const std::vector<std::string> stale_causes = {"the command in effect is"};
  const auto foreign = [](sample_report& sample) {
    sample.command_sequence = static_cast<std::uint16_t>(sample.command_sequence + 1000);
  };
  return {
      {"FullRangeWhileNothingWasSent", 1.0, 0, in_samples(always(full_range)), output, 0.0},
      {"FullRangeInTheDrive", 1.0, 300, in_samples(always(full_range)), output, 0.25},
      {"NotDriving", 1.0, 300, in_samples(always(idle)), output, 0.25},
      {"NotDrivingFromTheStart", 1.0, 0, in_samples(always(idle)), output, 0.25},
      {"NotDrivingOnAnUnsteadyLine", 1.0, 300, on_unsteady_line(in_samples(always(idle))), output,
       0.25},
      {"StatusFlaps", 1.0, 300, in_samples(flapping), output, 0.25},
      {"FaultWithoutTrip", 1.0, 300, in_samples(always(fault)), contradiction, 0.25},
      {"TripWithoutFault", 1.0, 0, in_samples(always(no_fault)), contradiction, 0.0},
      {"StaleEcho", 1.0, 300, in_samples(stale), stale_causes, 0.25},
      {"ForeignEcho", 1.0, 300, in_samples(always(foreign)), output, 0.25},
  };
}

std::vector<LyingLine> late_lies() {
  std::vector<std::string> late = kBusyComputer;
  late.insert(late.end(), {"command in effect is", "cannot be unlocked", "clock is slow"});
  std::vector<LyingLine> lies;
  for (const int delay_ms : {50, 500, 2000}) {
    for (const int from : {0, 300}) {
      const std::string when = std::to_string(delay_ms) + "From" + std::to_string(from);
      lies.push_back({"CommandsDelayedBy" + when, 1.0, from, with_delay(false, constant(delay_ms)),
                      late, from == 0 ? 0.0 : 0.25});
      lies.push_back({"SamplesDelayedBy" + when, 1.0, from, with_delay(true, constant(delay_ms)),
                      late, from == 0 ? 0.0 : 0.25});
    }
  }
  lies.push_back({"CommandsDelayedBy50OnAnUnsteadyLine", 1.0, 300,
                  on_unsteady_line(with_delay(false, constant(50))), late, 0.25});
  for (const int from : {0, 300}) {
    lies.push_back({"SamplesDelayedByAFifthFrom" + std::to_string(from), 1.0, from,
                    with_delay(true, [](auto since) { return since / 5; }), late,
                    from == 0 ? 0.0 : 0.25});
  }
  const auto honest = always([](sample_report&) {});
  for (const double ppm : {15'000.0, -15'000.0}) {
    lies.push_back({ppm > 0 ? "FastClock" : "SlowClock",
                    1.0,
                    0,
                    in_samples(honest),
                    {"the unit's clock is"},
                    0.0,
                    ppm});
  }
  const auto fast = [] {
    return [start_us = std::optional<std::uint32_t>()](sample_report& sample) mutable {
      if (!start_us) start_us = sample.tick_us;
      sample.tick_us = *start_us + 20 * (sample.tick_us - *start_us);
    };
  };
  lies.push_back({"ClockTwentyTimesFast",
                  1.0,
                  0,
                  in_samples(fast),
                  {"the unit's clock is fast"},
                  0.0,
                  0.0,
                  /*is_host_paced=*/true});
  return lies;
}

std::vector<LyingLine> all_lies() {
  std::vector<LyingLine> all = {
      {"Honest", 1.0, 0, in_samples(always([](sample_report&) {})), {"arm: angle"}, kWithinLimits}};
  all.push_back({"HonestOnAnUnsteadyLine",
                 1.0,
                 0,
                 on_unsteady_line(in_samples(always([](sample_report&) {}))),
                 {"arm: angle"},
                 kWithinLimits});
  for (const auto& group : {frozen_encoders(), wrong_encoders(), report_lies(), late_lies()}) {
    all.insert(all.end(), group.begin(), group.end());
  }
  return all;
}

constexpr double kAngleMax_rad = 3.0;

class DaqOnALyingLine : public DaqProcess {
 protected:
  DaqOnALyingLine() {
    edit("rig.textproto", "angle_rad_min: -900 angle_rad_max: 900",
         "angle_rad_min: -3 angle_rad_max: 3");
    edit("rig.textproto", "staleness_ms_max: 2000", "staleness_ms_max: 250");
  }

  /// Runs rigcal-daq until it ends. Repeats a run that ended early because this computer was busy.
  /// @param stop_when_warned  presses Ctrl-C if the unit is reported to drive after a trip
  void run(const LyingLine& line, Progress& progress, bool stop_when_warned = false) {
    write("step.textproto", "name: \"step\" duration_s: 60 step { motor: \"arm\" command: " +
                                std::to_string(line.volts) + " }");
    write("clock.textproto",
          replaced(kSimulationFile, "unit {",
                   "unit { clock_error_ppm: " + std::to_string(line.clock_error_ppm)));
    if (line.is_host_paced) edit("rig.textproto", "ttl_ms: 250", "ttl_ms: 250 host_paced: true");
    for (int attempt = 0; attempt < 5; ++attempt) {
      for (const char* name : {"truth.csv", "truth.csv.textproto", "run.mcap", "sim.txt"}) {
        std::filesystem::remove(path(name));
      }
      progress = {};
      ASSERT_NO_FATAL_FAILURE(start_sim_of("--config", "clock.textproto", /*on_tcp=*/true));
      LineRelay relay(sim_port(), line.lies(progress, line.from_driven));
      start_daq("step.textproto", relay.url(), {"--not-commissioned"});
      if (stop_when_warned &&
          eventually(
              [&] { return daq_->wait(0.0).has_value() || daq_->says("THE UNIT STILL DRIVES"); },
              kPatience_s)) {
        daq_->send_signal(SIGINT);
      }
      exit_code_ = daq_exit_code();
      stop_sim_with_output_off();
      if (names_a_cause(line) || !says_any(kBusyComputer)) return;
    }
  }

  bool says_any(const std::vector<std::string>& parts) const {
    const std::string text = trip_text();
    return std::ranges::any_of(
        parts, [&](const std::string& part) { return text.find(part) != std::string::npos; });
  }
  bool names_a_cause(const LyingLine& line) const { return says_any(line.causes); }

  /// Returns the first trip's sentence.
  std::string trip_text() const {
    const std::string output = daq_->output();
    const std::size_t at = output.find("TRIP: ");
    return at == std::string::npos ? "" : output.substr(at, output.find('\n', at) - at);
  }

  /// Motion of the arm while the motor is on.
  struct Motion {
    double farthest_rad = 0.0;  // largest distance from zero
    double moved_rad = 0.0;     // beyond the motion at the speed when the lie began
    double off_after_s = 0.0;   // from the beginning of the lie
  };

  Motion motion(const Progress& progress) const {
    Motion motion;
    double from_s = 0.0, angle = 0.0, speed = 0.0;
    for (const TruthRow& row : truth()) {
      if (row.size() < 10) continue;  // the last one, cut off
      const double time_s = std::stod(row.at("time_s"));
      const double at = std::stod(row.at("theta1_rad"));
      const bool on = std::stod(row.at("command_V")) != 0.0;
      const std::string& number = row.at("sample_sequence");
      if (on) motion.farthest_rad = std::max(motion.farthest_rad, std::abs(at));
      if (!number.empty() && std::stol(number) <= progress.lies_from) {
        from_s = time_s;
        angle = at;
        speed = std::stod(row.at("omega1_rad_s"));
      } else if (on) {
        const double coasted = speed * (time_s - from_s);
        motion.moved_rad = std::max(motion.moved_rad, std::abs(at - angle - coasted));
        motion.off_after_s = time_s - from_s;
      }
    }
    return motion;
  }

  int exit_code_ = -1;
};

class ALyingLine : public DaqOnALyingLine, public ::testing::WithParamInterface<LyingLine> {};

TEST_P(ALyingLine, EndsWithTheMotorOffAndItsCause) {
  const LyingLine& line = GetParam();
  Progress progress;
  ASSERT_NO_FATAL_FAILURE(run(line, progress, /*stop_when_warned=*/true));
  EXPECT_TRUE(names_a_cause(line)) << daq_->output();
  EXPECT_NE(exit_code_, 0) << daq_->output();
  const Motion moved = motion(progress);
  EXPECT_LE(moved.moved_rad, line.moved_rad_max) << daq_->output();
  EXPECT_LE(moved.farthest_rad, kAngleMax_rad + 0.25) << daq_->output();
  RecordProperty("exit_code", exit_code_);
  RecordProperty("moved_rad", std::to_string(moved.moved_rad));
  RecordProperty("farthest_rad", std::to_string(moved.farthest_rad));
  RecordProperty("off_after_s", std::to_string(moved.off_after_s));
  RecordProperty("trip", trip_text());
}

INSTANTIATE_TEST_SUITE_P(Of, ALyingLine, ::testing::ValuesIn(all_lies()),
                         [](const auto& line) { return line.param.name; });

// The unit goes on driving although it was asked to trip. The operator is warned until a sample
// shows that it obeys.
TEST_F(DaqOnALyingLine, WarnsWhileTheUnitIgnoresATrip) {
  const auto ignore = [](Progress& progress, int) {
    LineLies lies;
    lies.sample = [&progress](sample_report& sample) { progress.add(sample); };
    lies.command = [&progress, last = command_request{}, ignored = 0](auto& command) mutable {
      if ((command.flags & COMMAND_TRIP) == 0) {
        last = command;
      } else if (++ignored < 2500) {
        command.flags = last.flags;
        command.ttl_ms = last.ttl_ms;
        command.command_q15[0] = last.command_q15[0];
        command.answers = progress.newest;
      }
    };
    return lies;
  };
  Progress progress;
  ASSERT_NO_FATAL_FAILURE(run({"", 1.0, 0, ignore, {"arm: angle"}, 0.0}, progress));
  EXPECT_EQ(exit_code_, 3);
  expect_parts(daq_->output(), {"TRIP: arm: angle", "THE UNIT STILL DRIVES: switch off the supply",
                                "The unit reports that its output is off."});
  expect_absent(daq_->output(), {"Tripped: the output is off"});
}

// The unit obeys the trip, and reports later that it drives again.
TEST_F(DaqOnALyingLine, WarnsWhenTheUnitDrivesAgainAfterATrip) {
  const auto again = [](Progress& progress, int) {
    LineLies lies;
    lies.sample = [&progress](sample_report& sample) {
      progress.add(sample);
      if (progress.since_trip < 300 || progress.since_trip > 3000) return;
      sample.status = STATUS_DRIVING | STATUS_COMMAND_SEEN;
      sample.fault_flags = 0;
      sample.command_q15[0] = 3277;
    };
    return lies;
  };
  Progress progress;
  ASSERT_NO_FATAL_FAILURE(run({"", 1.0, 0, again, {"arm: angle"}, 0.0}, progress));
  EXPECT_EQ(exit_code_, 3);
  expect_parts(daq_->output(), {"TRIP: arm: angle", "THE UNIT STILL DRIVES: switch off the supply",
                                "The unit reports that its output is off."});
}

}  // namespace
