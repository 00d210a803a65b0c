#include "service/server/sessions/processor_use.hpp"

#include <algorithm>
#include <cmath>

namespace service {
namespace {

constexpr double kMinute_s = 60.0;
constexpr auto kMinutes = static_cast<std::int64_t>(ProcessorUsage::kWindow_s / kMinute_s);

std::int64_t minute_of(double time_s) {
  return static_cast<std::int64_t>(std::floor(time_s / kMinute_s));
}

}  // namespace

void ProcessorUsage::add(const std::string& identity, double from_s, double to_s,
                         double processor_s) {
  if (!(processor_s > 0.0)) return;
  Minutes& minutes = used_[identity];
  // Use outside the window never counts; this bounds the loop over minutes.
  const double since_s = std::max(from_s, to_s - 2.0 * kWindow_s);
  if (!(to_s > from_s)) {
    minutes[minute_of(to_s)] += processor_s;
    return;
  }
  const double rate = processor_s / (to_s - from_s);
  for (std::int64_t minute = minute_of(since_s); minute <= minute_of(to_s); ++minute) {
    const double begin_s = std::max(since_s, static_cast<double>(minute) * kMinute_s);
    const double end_s = std::min(to_s, static_cast<double>(minute + 1) * kMinute_s);
    minutes[minute] += rate * std::max(0.0, end_s - begin_s);
  }
}

double ProcessorUsage::of(const std::string& identity, double now_s) const {
  const auto found = used_.find(identity);
  if (found == used_.end()) return 0.0;
  double sum_s = 0.0;
  for (auto minute = found->second.upper_bound(minute_of(now_s) - kMinutes);
       minute != found->second.end(); ++minute) {
    sum_s += minute->second;
  }
  return sum_s;
}

void ProcessorUsage::discard_entries_before(double now_s) {
  for (auto identity = used_.begin(); identity != used_.end();) {
    Minutes& minutes = identity->second;
    minutes.erase(minutes.begin(), minutes.upper_bound(minute_of(now_s) - kMinutes));
    identity = minutes.empty() ? used_.erase(identity) : std::next(identity);
  }
}

}  // namespace service
