#include "service/server/daemon_config.hpp"

#include "proto/daemon.pb.h"
#include "proto/text/files.hpp"
#include "proto/text/input_error.hpp"
#include "proto/text/text_file.hpp"
#include "proto/tls/tls.hpp"

namespace service {
namespace {

constexpr std::uint32_t kCountMax = 1'000'000;
constexpr std::uint64_t kSizeMax = std::uint64_t{1} << 50;
constexpr double kDurationMax = 1e7;

// Numbers of a message, each within its range, where they are given.
class Numbers {
 public:
  explicit Numbers(const proto::TextLocator& place) : place_(place) {}

  template <typename Number>
  void take(bool given, Number value, Number lowest, Number highest, const char* field,
            Number& out) const {
    if (!given) return;
    if (!(value >= lowest && value <= highest)) {
      place_.at(field).fail(std::string(field) + " must lie between " + std::to_string(lowest) +
                            " and " + std::to_string(highest));
    }
    out = value;
  }
  void count(bool given, std::uint32_t value, const char* field, std::uint32_t& out) const {
    take<std::uint32_t>(given, value, 1, kCountMax, field, out);
  }
  void size(bool given, std::uint64_t value, const char* field, std::uint64_t& out) const {
    take<std::uint64_t>(given, value, 0, kSizeMax, field, out);
  }
  void share(bool given, std::uint64_t value, const char* field, std::uint64_t& out) const {
    take<std::uint64_t>(given, value, 1, kSizeMax, field, out);
  }
  void duration(bool given, double value, const char* field, double& out) const {
    take<double>(given, value, 0.01, kDurationMax, field, out);
  }

 private:
  const proto::TextLocator& place_;
};

// Takes the field where the message has it.
#define TAKE(kind, field, out) \
  numbers.kind(message.has_##field(), message.field(), #field, out.field)

void take_limits(const rigcal::v1::DaemonLimits& message, const proto::TextLocator& place,
                 DaemonConfig& config) {
  const Numbers numbers(place);
  TAKE(count, connections, config.limits);
  TAKE(count, streaming_sessions, config.limits);
  TAKE(count, sessions, config.limits);
  TAKE(size, session_size_bytes, config.limits);
  TAKE(size, free_space_bytes, config.limits);
  TAKE(count, queued_jobs, config.limits);
  TAKE(count, jobs, config.limits);
  TAKE(duration, job_duration_s, config.limits);
  TAKE(size, job_memory_bytes, config.limits);
  TAKE(duration, unload_after_s, config.limits);
  TAKE(duration, handshake_timeout_s, config);
  TAKE(duration, frame_timeout_s, config);
  TAKE(duration, write_timeout_s, config);
  // One reply and one message must find room.
  constexpr std::uint64_t kBufferMin = 32u << 20;
  numbers.take<std::uint64_t>(message.has_buffer_bytes(), message.buffer_bytes(), kBufferMin,
                              kSizeMax, "buffer_bytes", config.limits.buffer_bytes);
  TAKE(share, index_bytes, config.limits);
}

void take_share(const rigcal::v1::DaemonShare& message, const proto::TextLocator& place,
                ServiceShare& out) {
  const Numbers numbers(place);
  TAKE(count, connections, out);
  TAKE(count, streaming_sessions, out);
  TAKE(count, sessions, out);
  TAKE(share, disk_bytes, out);
  TAKE(count, queued_jobs, out);
  TAKE(count, jobs, out);
  TAKE(count, running_jobs, out);
  TAKE(share, buffer_bytes, out);
  TAKE(share, index_bytes, out);
}

#undef TAKE

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
  Numbers(place).take<std::uint32_t>(message.has_workers(), message.workers(), 1, 64, "workers",
                                     config.limits.workers);
  if (message.has_limits()) take_limits(message.limits(), place.at("limits"), config);
  if (message.has_share()) take_share(message.share(), place.at("share"), config.limits.share);
  const auto& operators = message.operators();
  config.operators = {{operators.certificate().begin(), operators.certificate().end()},
                      {operators.account().begin(), operators.account().end()}};
  return config;
}

void check_daemon_config(const DaemonConfig& config) {
  if (config.data_folder.empty()) {
    throw proto::InputError("no data folder; give --data FOLDER or data_folder in the file");
  }
  if (proto::wants_tls(config.tls) && config.insecure && config.http.empty()) {
    throw proto::InputError("--insecure and TLS exclude each other, but for --http");
  }
}

}  // namespace service
