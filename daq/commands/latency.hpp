#pragma once

#include <iosfwd>
#include <memory>
#include <string>

#include "daq/commands/exit_code.hpp"
#include "daq/realtime/periodic_timer.hpp"
#include "daq/realtime/rt_thread.hpp"
#include "daq/realtime/timing_histogram.hpp"

namespace daq {

/// Assessment of a computer's wake-up latency, as in LinuxCNC's latency test.
enum class LatencyVerdict { kExcellent, kGood, kUsable, kUnusable };

/// Rates the longest latency: below 20 µs excellent, below 100 µs good, below half a period usable
/// (samples stay in order, single commands act a tick late), else unusable.
LatencyVerdict judge_latency(Nanoseconds longest, Nanoseconds period);

struct LatencyOptions {
  Nanoseconds period{1'000'000};
  Nanoseconds duration{10'000'000'000};
  RealTimeSettings real_time;
};

struct LatencyResult {
  RealTimeReport real_time;
  std::unique_ptr<TimingHistogram> histogram;  ///< wake-up time minus deadline
  std::int64_t skipped_periods = 0;
};

/// Returns "too slow for 1 kHz: 2 of 3000 periods missed", "good for 1 kHz: at most 87 µs late".
std::string describe_verdict(const LatencyResult& result, Nanoseconds period);

/// Measures the delays of sleeping to absolute deadlines, on a thread with the given settings.
LatencyResult measure_latency(const LatencyOptions& options);

/// Runs the measurement and prints the granted settings, the distribution and a rating.
/// @return kTrouble if the computer is unusable
ExitCode run_latency(const LatencyOptions& options, std::ostream& out);

}  // namespace daq
