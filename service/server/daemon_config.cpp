#include "proto/daemon.pb.h"
#include "proto/text/files.hpp"
#include "proto/text/input_error.hpp"
#include "proto/text/text_file.hpp"
#include "proto/tls/tls.hpp"
#include "service/server/daemon.hpp"

namespace service {
namespace {

// Takes the field if the message has it. Its range was checked when the text was parsed.
#define TAKE(field, out) \
  if (message.has_##field()) out.field = message.field()

void take_limits(const rigcal::v1::DaemonLimits& message, DaemonConfig& config) {
  TAKE(connections, config.limits);
  TAKE(streaming_sessions, config.limits);
  TAKE(sessions, config.limits);
  TAKE(session_size_bytes, config.limits);
  TAKE(free_space_bytes, config.limits);
  TAKE(queued_jobs, config.limits);
  TAKE(jobs, config.limits);
  TAKE(job_duration_s, config.limits);
  TAKE(job_memory_bytes, config.limits);
  TAKE(unload_after_s, config.limits);
  TAKE(handshake_timeout_s, config);
  TAKE(frame_timeout_s, config);
  TAKE(write_timeout_s, config);
  TAKE(buffer_bytes, config.limits);
  TAKE(index_bytes, config.limits);
}

void take_share(const rigcal::v1::DaemonShare& message, ServiceShare& out) {
  TAKE(connections, out);
  TAKE(streaming_sessions, out);
  TAKE(sessions, out);
  TAKE(disk_bytes, out);
  TAKE(queued_jobs, out);
  TAKE(jobs, out);
  TAKE(running_jobs, out);
  TAKE(buffer_bytes, out);
  TAKE(index_bytes, out);
  TAKE(processor_s, out);
}

}  // namespace

DaemonConfig load_daemon_config(const std::string& path) {
  rigcal::v1::Daemon message;
  proto::TextLocator::Tree tree;
  proto::parse_text(path, proto::read_file(path), message, tree);
  const proto::TextLocator place(path, rigcal::v1::Daemon::descriptor(), &tree);
  DaemonConfig config;
  config.data_folder = message.data_folder();
  config.listen.assign(message.listen().begin(), message.listen().end());
  config.http = message.http();
  const rigcal::v1::Tls& tls = message.tls();
  config.tls = {tls.certificate(), tls.private_key(), tls.client_ca()};
  if (message.has_tls() &&
      (tls.certificate().empty() || tls.private_key().empty() || tls.client_ca().empty())) {
    place.at("tls").fail("tls needs certificate, private_key and client_ca");
  }
  TAKE(workers, config.limits);
  take_limits(message.limits(), config);
  take_share(message.share(), config.limits.share);
  const auto& operators = message.operators();
  config.operators = {{operators.certificate().begin(), operators.certificate().end()},
                      {operators.account().begin(), operators.account().end()}};
  return config;
}

#undef TAKE

void check_daemon_config(const DaemonConfig& config) {
  if (config.data_folder.empty()) {
    throw proto::InputError("no data folder; give --data FOLDER or data_folder in the file");
  }
  if (proto::wants_tls(config.tls) && config.insecure && config.http.empty()) {
    throw proto::InputError("--insecure cannot be combined with TLS, except for --http");
  }
}

}  // namespace service
