#include "service/server/sessions/metrics.hpp"

#include <algorithm>
#include <cstdio>

namespace service {
namespace {

std::string metric_text(double number) {
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", number);
  return text;
}

void head(const std::string& name, const char* type, const std::string& help, std::string& out) {
  out += "# HELP " + name + ' ' + help + "\n# TYPE " + name + ' ' + type + '\n';
}

void value(const char* type, const std::string& name, const std::string& help, std::uint64_t number,
           std::string& out) {
  head(name, type, help, out);
  out += name + ' ' + std::to_string(number) + '\n';
}

// Label values are our own constants, never client text: few, and nothing to escape.
void labelled(const char* type, const std::string& name, const std::string& help,
              const std::string& label, const std::map<std::string, std::uint64_t>& numbers,
              std::string& out) {
  head(name, type, help, out);
  for (const auto& [key, number] : numbers) {
    out += name + '{' + label + "=\"" + key + "\"} " + std::to_string(number) + '\n';
  }
}

}  // namespace

void DurationHistogram::add(double duration_s) {
  const auto bound = std::lower_bound(kBounds_s.begin(), kBounds_s.end(), duration_s);
  ++counts_[static_cast<std::size_t>(bound - kBounds_s.begin())];
  sum_s_ += duration_s;
}

void DurationHistogram::append_prometheus_text(const std::string& name, const std::string& help,
                                               std::string& out) const {
  head(name, "histogram", help, out);
  std::uint64_t below = 0;
  for (std::size_t k = 0; k < counts_.size(); ++k) {
    below += counts_[k];
    const std::string bound = k < kBounds_s.size() ? metric_text(kBounds_s[k]) : "+Inf";
    out += name + "_bucket{le=\"" + bound + "\"} " + std::to_string(below) + '\n';
  }
  out += name + "_sum " + metric_text(sum_s_) + '\n';
  out += name + "_count " + std::to_string(below) + '\n';
}

std::string Metrics::format_prometheus_text() const {
  std::string out;
  const auto counter = [&](const std::string& name, const std::string& help, std::uint64_t number) {
    value("counter", "rigcald_" + name, help, number, out);
  };
  const auto gauge = [&](const std::string& name, const std::string& help, std::uint64_t number) {
    value("gauge", "rigcald_" + name, help, number, out);
  };
  gauge("connections", "Open connections.", connections);
  counter("connections_total", "Connections accepted.", connections_total);
  labelled("counter", "rigcald_connections_refused_total", "Connections refused or cut off.",
           "reason", connections_refused_total, out);
  counter("protocol_errors_total", "Messages that violated the protocol.", protocol_errors_total);
  counter("received_bytes_total", "Bytes received.", received_bytes_total);
  counter("sent_bytes_total", "Bytes sent.", sent_bytes_total);
  counter("batches_total", "Batches stored durably.", batches_total);
  counter("samples_total", "Samples stored durably.", samples_total);
  counter("duplicate_batches_total", "Batches received more than once.", duplicate_batches_total);
  counter("storage_errors_total", "Failed storage operations.", storage_errors_total);
  counter("live_batches_dropped_total", "Batches dropped because live subscribers were too slow.",
          live_batches_dropped_total);
  labelled("counter", "rigcald_jobs_ended_total", "Jobs that ended.", "state", jobs_ended_total,
           out);
  labelled("gauge", "rigcald_sessions", "Sessions on disk.", "state", sessions, out);
  labelled("gauge", "rigcald_jobs", "Jobs on disk.", "state", jobs, out);
  gauge("free_space_bytes", "Free space on the file system of the data folder.", free_space_bytes);
  commit_duration.append_prometheus_text("rigcald_commit_duration_seconds",
                                         "Time from receiving a batch to storing it durably.", out);
  job_duration.append_prometheus_text("rigcald_job_duration_seconds",
                                      "Running time of jobs that ended.", out);
  return out;
}

}  // namespace service
