#include "service/server/daemon_config.hpp"

#include <cmath>

#include "proto/daemon.pb.h"
#include "proto/text/files.hpp"
#include "proto/text/input_error.hpp"
#include "proto/text/text_file.hpp"
#include "proto/tls/tls.hpp"

namespace service {
namespace {

template <typename Number>
void take(bool present, Number value, Number lowest, Number highest, const char* field,
          const proto::TextLocator& limits, Number& out) {
  if (!present) return;
  if (!(value >= lowest && value <= highest)) {
    limits.at(field).fail(std::string(field) + " must lie between " + std::to_string(lowest) +
                          " and " + std::to_string(highest));
  }
  out = value;
}

void take_limits(const rigcal::v1::DaemonLimits& message, const proto::TextLocator& place,
                 DaemonConfig& config) {
  ServiceLimits& limits = config.limits;
  constexpr std::uint32_t kCountMax = 1'000'000;
  constexpr std::uint64_t kSizeMax = std::uint64_t{1} << 50;
  constexpr double kDurationMax = 1e7;
  const auto count = [&](bool present, std::uint32_t value, const char* field, std::uint32_t& out) {
    take<std::uint32_t>(present, value, 1, kCountMax, field, place, out);
  };
  const auto size = [&](bool present, std::uint64_t value, const char* field, std::uint64_t& out) {
    take<std::uint64_t>(present, value, 0, kSizeMax, field, place, out);
  };
  const auto duration = [&](bool present, double value, const char* field, double& out) {
    take<double>(present, value, 0.01, kDurationMax, field, place, out);
  };
  count(message.has_connections(), message.connections(), "connections", limits.connections);
  count(message.has_streaming_sessions(), message.streaming_sessions(), "streaming_sessions",
        limits.streaming_sessions);
  count(message.has_sessions(), message.sessions(), "sessions", limits.sessions);
  size(message.has_session_size_bytes(), message.session_size_bytes(), "session_size_bytes",
       limits.session_size_bytes);
  size(message.has_free_space_bytes(), message.free_space_bytes(), "free_space_bytes",
       limits.free_space_bytes);
  count(message.has_queued_jobs(), message.queued_jobs(), "queued_jobs", limits.queued_jobs);
  count(message.has_jobs(), message.jobs(), "jobs", limits.jobs);
  duration(message.has_job_duration_s(), message.job_duration_s(), "job_duration_s",
           limits.job_duration_s);
  size(message.has_job_memory_bytes(), message.job_memory_bytes(), "job_memory_bytes",
       limits.job_memory_bytes);
  duration(message.has_unload_after_s(), message.unload_after_s(), "unload_after_s",
           limits.unload_after_s);
  duration(message.has_handshake_timeout_s(), message.handshake_timeout_s(), "handshake_timeout_s",
           config.handshake_timeout_s);
  duration(message.has_frame_timeout_s(), message.frame_timeout_s(), "frame_timeout_s",
           config.frame_timeout_s);
  duration(message.has_write_timeout_s(), message.write_timeout_s(), "write_timeout_s",
           config.write_timeout_s);
}

}  // namespace

DaemonConfig load_daemon_config(const std::string& path) {
  rigcal::v1::Daemon message;
  proto::TextLocator::Tree tree;
  proto::parse_text(path, proto::read_file(path), message, tree);
  const proto::TextLocator place(path, rigcal::v1::Daemon::descriptor(), &tree);
  DaemonConfig config;
  config.data_folder = message.data_folder();
  if (!message.listen().empty()) config.listen = message.listen();
  config.http = message.http();
  const rigcal::v1::Tls& tls = message.tls();
  config.tls = {tls.certificate(), tls.private_key(), tls.client_ca()};
  if (message.has_tls() &&
      (tls.certificate().empty() || tls.private_key().empty() || tls.client_ca().empty())) {
    place.at("tls").fail("tls needs certificate, private_key and client_ca");
  }
  take<std::uint32_t>(message.has_workers(), message.workers(), 1, 64, "workers", place,
                      config.limits.workers);
  if (message.has_limits()) take_limits(message.limits(), place.at("limits"), config);
  return config;
}

void check_daemon_config(const DaemonConfig& config) {
  if (config.data_folder.empty()) {
    throw proto::InputError("no data folder; give --data FOLDER or data_folder in the file");
  }
  if (proto::wants_tls(config.tls) && config.insecure) {
    throw proto::InputError("--insecure and TLS exclude each other");
  }
}

}  // namespace service
