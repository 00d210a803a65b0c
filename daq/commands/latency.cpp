#include "daq/commands/latency.hpp"

#include <iomanip>
#include <ostream>
#include <thread>

namespace daq {
namespace {

void print_grants(const LatencyResult& result, std::ostream& out) {
  const auto word = [](bool granted) { return granted ? "granted" : "not granted"; };
  out << "real-time priority " << word(result.real_time.fifo) << ", locked memory "
      << word(result.real_time.memory_locked) << '\n';
  for (const std::string& sentence : result.real_time.refused) out << "  " << sentence << '\n';
}

}  // namespace

LatencyVerdict judge_latency(Nanoseconds longest, Nanoseconds period) {
  if (longest < std::chrono::microseconds(20)) return LatencyVerdict::kExcellent;
  if (longest < std::chrono::microseconds(100)) return LatencyVerdict::kGood;
  if (longest < period / 2) return LatencyVerdict::kUsable;
  return LatencyVerdict::kUnusable;
}

std::string_view to_string(LatencyVerdict verdict) {
  switch (verdict) {
    case LatencyVerdict::kExcellent:
      return "excellent";
    case LatencyVerdict::kGood:
      return "good";
    case LatencyVerdict::kUsable:
      return "usable";
    case LatencyVerdict::kUnusable:
      return "unusable for control at this period";
  }
  return "";
}

LatencyResult measure_latency(const LatencyOptions& options) {
  LatencyResult result{.real_time = {}, .histogram = std::make_unique<TimingHistogram>()};
  std::jthread([&] {
    result.real_time = enter_real_time(options.real_time);
    PeriodicTimer timer(options.period);
    const Nanoseconds end = monotonic_now() + options.duration;
    while (timer.deadline() < end) {
      result.skipped_periods += timer.wait();
      result.histogram->add(monotonic_now() - timer.deadline());
    }
  }).join();
  return result;
}

ExitCode run_latency(const LatencyOptions& options, std::ostream& out) {
  out << "Measuring wake-up latency for " << microseconds(options.duration) * 1e-6 << " s at "
      << microseconds(options.period) << " µs ...\n";
  const LatencyResult result = measure_latency(options);
  const TimingHistogram& histogram = *result.histogram;
  print_grants(result, out);
  out << histogram.picture() << std::fixed << std::setprecision(1) << "mean "
      << microseconds(histogram.mean()) << " µs, 99 % below " << histogram.percentile_us(0.99)
      << " µs, 99.99 % below " << histogram.percentile_us(0.9999) << " µs, longest "
      << microseconds(histogram.max()) << " µs; " << result.skipped_periods
      << " periods skipped in " << histogram.count() + result.skipped_periods << '\n';
  const LatencyVerdict verdict = judge_latency(histogram.max(), options.period);
  out << "verdict: " << to_string(verdict) << '\n';
  return verdict == LatencyVerdict::kUnusable ? ExitCode::kTrouble : ExitCode::kDone;
}

}  // namespace daq
