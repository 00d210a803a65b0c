#pragma once

#include <iosfwd>
#include <memory>
#include <string>

#include "daq/commands/exit_code.hpp"
#include "daq/realtime/periodic_timer.hpp"
#include "daq/realtime/rt_thread.hpp"
#include "daq/realtime/timing_histogram.hpp"

namespace daq {

/// What a machine's wake-up latency allows, in the manner of LinuxCNC's latency test.
enum class LatencyVerdict { kExcellent, kGood, kUsable, kUnusable };

/// By the longest latency seen: below 20 µs excellent, below 100 µs good, below half a period
/// usable (samples stay in order, single commands take effect a tick late), else unusable.
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

/// "too slow for 1 kHz: 2 of 3000 periods missed", "good for 1 kHz: at most 87 µs late".
std::string describe_verdict(const LatencyResult& result, Nanoseconds period);

/// Sleeps to absolute deadlines on a thread with the given settings, as the loop does, and measures
/// how late it wakes.
LatencyResult measure_latency(const LatencyOptions& options);

/// Runs the measurement and prints what was granted, the distribution and a verdict.
/// @return kTrouble where the verdict is that the machine cannot be used
ExitCode run_latency(const LatencyOptions& options, std::ostream& out);

}  // namespace daq
