#pragma once

#include <iosfwd>
#include <memory>
#include <string>

#include "daq/console/exit_code.hpp"
#include "daq/realtime/periodic_timer.hpp"
#include "daq/realtime/rt_thread.hpp"
#include "daq/realtime/timing_histogram.hpp"

namespace daq {

/// Rating of the delay with which a computer wakes up a sleeping thread, as in LinuxCNC's latency
/// test.
enum class LatencyVerdict { kExcellent, kGood, kUsable, kUnusable };

/// Returns the rating for the longest wake-up latency: excellent below 20 µs, good below 100 µs,
/// usable below half a period, else unusable. If usable, samples stay in order and single commands
/// act one tick late.
LatencyVerdict judge_latency(Nanoseconds longest, Nanoseconds period);

struct LatencyOptions {
  Nanoseconds period{1'000'000};
  Nanoseconds duration{10'000'000'000};
  RealTimeSettings real_time;
};

struct LatencyResult {
  RealTimeReport real_time;
  std::unique_ptr<TimingHistogram> histogram;  ///< distribution of wake-up time minus deadline
  std::int64_t skipped_periods = 0;
};

/// Returns the rating in words: "too slow for 1 kHz: 2 of 3000 periods missed", "good for 1 kHz: at
/// most 87 µs late".
std::string describe_verdict(const LatencyResult& result, Nanoseconds period);

/// Measures how late a thread with the given settings wakes up after sleeping until absolute
/// deadlines.
LatencyResult measure_latency(const LatencyOptions& options);

/// Measures the wake-up latency and prints the granted thread settings, the distribution and a
/// rating.
/// @return kTrouble if the rating is unusable
ExitCode run_latency(const LatencyOptions& options, std::ostream& out);

}  // namespace daq
