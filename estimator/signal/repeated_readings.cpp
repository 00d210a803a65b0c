#include "estimator/signal/repeated_readings.hpp"

#include <algorithm>
#include <cmath>

namespace estimator {
namespace {

constexpr std::size_t kRepeatsMin = 20;  // runs of equal readings between large changes
constexpr double kLargeChange = 1.5;     // quantization steps; smaller: a slow joint repeats
constexpr double kRegularShare = 0.95;   // least share of runs with n or n + 1 rows
/// Least number of rows per reading. A moving joint rarely repeats readings, at turning points.
constexpr double kRowsPerReadingMin = 1.2;

/// Successive observed rows with equal readings.
struct EqualReadings {
  double reading = 0.0;
  std::vector<int> rows;
};

std::vector<EqualReadings> runs_of_equal_readings(
    const Eigen::Ref<const Eigen::VectorXd>& readings) {
  std::vector<EqualReadings> runs;
  for (Eigen::Index k = 0; k < readings.size(); ++k) {
    if (std::isnan(readings[k])) continue;
    if (runs.empty() || readings[k] != runs.back().reading) runs.push_back({readings[k], {}});
    runs.back().rows.push_back(static_cast<int>(k));
  }
  return runs;
}

}  // namespace

double find_rows_per_reading(const std::vector<Eigen::VectorXd>& segments, double quantum) {
  std::vector<double> counts;  // of rows, of the runs between two large changes
  for (const Eigen::VectorXd& segment : segments) {
    const std::vector<EqualReadings> runs = runs_of_equal_readings(segment);
    const auto is_large = [&](std::size_t k) {
      return std::abs(runs[k].reading - runs[k - 1].reading) > kLargeChange * quantum;
    };
    for (std::size_t k = 1; k + 1 < runs.size(); ++k) {
      if (is_large(k) && is_large(k + 1))
        counts.push_back(static_cast<double>(runs[k].rows.size()));
    }
  }
  if (counts.size() < kRepeatsMin) return 1.0;
  const auto shortest =
      counts.begin() +
      static_cast<std::ptrdiff_t>((1.0 - kRegularShare) * static_cast<double>(counts.size()));
  std::ranges::nth_element(counts, shortest);
  const double least = *shortest;
  double rows = 0.0, regular = 0.0;
  for (const double count : counts) {
    if (count != least && count != least + 1.0) continue;
    rows += count;
    regular += 1.0;
  }
  const bool is_regular = regular >= kRegularShare * static_cast<double>(counts.size());
  return is_regular && rows >= kRowsPerReadingMin * regular ? rows / regular : 1.0;
}

std::vector<int> find_repeated_rows(const Eigen::Ref<const Eigen::VectorXd>& readings,
                                    double rows_per_reading) {
  std::vector<int> repeated;
  for (const EqualReadings& run : runs_of_equal_readings(readings)) {
    // A run at rest is longer: it has a new reading, equal to the last one, in some of its rows.
    double fresh = 0.0;
    for (std::size_t k = 0; k < run.rows.size(); ++k) {
      if (static_cast<double>(k) + 0.5 >= fresh * rows_per_reading) {
        fresh += 1.0;
      } else {
        repeated.push_back(run.rows[k]);
      }
    }
  }
  return repeated;
}

}  // namespace estimator
