#include "proto/recording/release.hpp"

#include <limits>

namespace proto {

double find_release(const std::vector<Event>& events) {
  bool awaited = false;
  for (const Event& event : events) {
    if (event.kind != EventKind::kScenario) continue;
    if (event.name == "waiting for hold") awaited = true;
    if (awaited && event.name == "running") return event.timestamp_s;
  }
  return (awaited ? 1.0 : -1.0) * std::numeric_limits<double>::infinity();
}

}  // namespace proto
