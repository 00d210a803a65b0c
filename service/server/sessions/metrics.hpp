#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>

namespace service {

/// Prometheus histogram of durations [s].
class DurationHistogram {
 public:
  void add(double duration_s);
  /// Appends the histogram's lines in Prometheus' text format to `out`.
  void append_prometheus_text(const std::string& name, const std::string& help,
                              std::string& out) const;

 private:
  static constexpr std::array<double, 12> kBounds_s = {0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025,
                                                       0.05,   0.1,   0.25,   1.0,   10.0, 100.0};
  std::array<std::uint64_t, kBounds_s.size() + 1> counts_{};
  double sum_s_ = 0.0;
};

/// Counters and gauges that the service exports for monitoring. Used by the main thread only.
struct Metrics {
  std::uint64_t connections_total = 0;
  std::map<std::string, std::uint64_t> connections_refused_total;  ///< number by reason
  std::uint64_t connections = 0;
  std::uint64_t protocol_errors_total = 0;
  std::uint64_t received_bytes_total = 0;
  std::uint64_t sent_bytes_total = 0;
  std::uint64_t batches_total = 0;  ///< number of batches made durable
  std::uint64_t samples_total = 0;
  std::uint64_t duplicate_batches_total = 0;
  std::uint64_t storage_errors_total = 0;
  std::uint64_t live_batches_dropped_total = 0;
  std::map<std::string, std::uint64_t> jobs_ended_total;  ///< number of ended jobs by state
  DurationHistogram commit_duration;  ///< time from receiving a batch until it is durable
  DurationHistogram job_duration;

  // Set at the time of rendering.
  std::map<std::string, std::uint64_t> sessions;  ///< number of sessions by state
  std::map<std::string, std::uint64_t> jobs;      ///< number of waiting and running jobs by state
  std::uint64_t free_space_bytes = 0;

  /// Returns all metrics in Prometheus' text format, version 0.0.4.
  std::string format_prometheus_text() const;
};

}  // namespace service
