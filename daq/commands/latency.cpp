#include "daq/commands/commands.hpp"

#include <cmath>
#include <iomanip>
#include <ostream>
#include <sstream>
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

LatencyRating assess_latency(Nanoseconds longest, Nanoseconds period) {
  if (longest < std::chrono::microseconds(20)) return LatencyRating::kExcellent;
  if (longest < std::chrono::microseconds(100)) return LatencyRating::kGood;
  if (longest < period / 2) return LatencyRating::kUsable;
  return LatencyRating::kUnusable;
}

std::string describe_latency(const LatencyResult& result, Nanoseconds period) {
  constexpr const char* kWords[] = {"excellent", "good", "usable", "too slow"};
  const Nanoseconds longest = result.histogram->max();
  const auto verdict = static_cast<std::size_t>(assess_latency(longest, period));
  std::ostringstream text;
  text << kWords[verdict] << " for " << 1e3 / microseconds(period) << " kHz: ";
  if (result.skipped_periods > 0) {
    text << result.skipped_periods << " of " << result.histogram->count() + result.skipped_periods
         << " periods missed";
  } else {
    text << "at most " << std::ceil(microseconds(longest)) << " µs late";
  }
  return text.str();
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

ExitCode print_latency_report(const LatencyOptions& options, std::ostream& out) {
  out << "Measuring wake-up latency for " << microseconds(options.duration) * 1e-6 << " s at "
      << microseconds(options.period) << " µs ...\n";
  const LatencyResult result = measure_latency(options);
  const TimingHistogram& histogram = *result.histogram;
  print_grants(result, out);
  out << histogram.text_chart() << std::fixed << std::setprecision(1) << "mean "
      << microseconds(histogram.mean()) << " µs, 99 % below " << histogram.percentile_us(0.99)
      << " µs, 99.99 % below " << histogram.percentile_us(0.9999) << " µs, longest "
      << microseconds(histogram.max()) << " µs\n";
  out << "verdict: " << describe_latency(result, options.period) << '\n';
  const LatencyRating verdict = assess_latency(histogram.max(), options.period);
  return verdict == LatencyRating::kUnusable ? ExitCode::kTrouble : ExitCode::kDone;
}

}  // namespace daq
