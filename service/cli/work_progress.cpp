#include "service/cli/work_progress.hpp"

#include <algorithm>
#include <cmath>
#include <thread>

namespace service {
namespace {

/// Formats a duration as text, e.g. "2 h 5 min", "40 s".
std::string duration_text(double seconds) {
  const long whole = std::lround(seconds);
  if (whole >= 3600) {
    return std::to_string(whole / 3600) + " h " + std::to_string(whole % 3600 / 60) + " min";
  }
  if (whole >= 60) return std::to_string(whole / 60) + " min " + std::to_string(whole % 60) + " s";
  return std::to_string(whole) + " s";
}

}  // namespace

std::string format_work_progress(const std::string& item, const WorkProgress& progress) {
  std::string text =
      item + " " + std::to_string(progress.done) + " of " + std::to_string(progress.total);
  if (progress.kept > 0) text += " (" + std::to_string(progress.kept) + " done before)";
  if (progress.time_left >= 0.0 && progress.done < progress.total) {
    text += ", " + duration_text(progress.time_left) + " left";
  }
  return text;
}

int count_threads(int threads) {
  return threads > 0 ? threads : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

}  // namespace service
