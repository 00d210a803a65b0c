#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>

namespace service {

/// A Prometheus histogram of durations in seconds.
class DurationHistogram {
 public:
  void add(double duration_s);
  /// Appends the lines of the metric.
  void render(const std::string& name, const std::string& help, std::string& out) const;

 private:
  static constexpr std::array<double, 12> kBounds_s = {0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025,
                                                       0.05,   0.1,   0.25,   1.0,   10.0, 100.0};
  std::array<std::uint64_t, kBounds_s.size() + 1> counts_{};
  double sum_s_ = 0.0;
};

/// Counters of the service. Used by the main thread only.
struct Metrics {
  std::uint64_t connections_total = 0;
  std::map<std::string, std::uint64_t> connections_refused_total;  ///< by reason
  std::uint64_t connections = 0;
  std::uint64_t protocol_errors_total = 0;
  std::uint64_t received_bytes_total = 0;
  std::uint64_t sent_bytes_total = 0;
  std::uint64_t batches_total = 0;  ///< made durable
  std::uint64_t samples_total = 0;
  std::uint64_t duplicate_batches_total = 0;
  std::uint64_t storage_errors_total = 0;
  std::uint64_t live_batches_dropped_total = 0;
  std::map<std::string, std::uint64_t> jobs_ended_total;  ///< by state
  DurationHistogram commit_duration;  ///< from receiving a batch to its durability
  DurationHistogram job_duration;

  // Set at the time of rendering.
  std::map<std::string, std::uint64_t> sessions;  ///< by state
  std::map<std::string, std::uint64_t> jobs;      ///< waiting and running, by state
  std::uint64_t free_space_bytes = 0;

  /// Returns Prometheus' text format, version 0.0.4.
  std::string render() const;
};

}  // namespace service
