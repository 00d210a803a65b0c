#include "service/server/daemon.hpp"

#include <google/protobuf/stubs/logging.h>
#include <malloc.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>
#include <asio/post.hpp>
#include <asio/signal_set.hpp>
#include <asio/steady_timer.hpp>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>

#include "proto/daemon.pb.h"
#include "proto/text/files.hpp"
#include "proto/text/host_port.hpp"
#include "proto/text/input_error.hpp"
#include "proto/text/text_file.hpp"
#include "proto/tls/tls.hpp"
#include "service/server/http_server.hpp"
#include "service/server/jobs/cluster_job.hpp"
#include "service/server/jobs/job_store.hpp"
#include "service/server/jobs/live_fit_pool.hpp"
#include "service/server/jobs/worker_pool.hpp"
#include "service/server/listen.hpp"
#include "service/server/listener.hpp"
#include "service/server/sessions/session_store.hpp"
#include "service/server/storage/durable_file.hpp"
#include "service/server/storage/log.hpp"

namespace service {
namespace {

/// Sends a state of this service to systemd, using the datagram protocol of sd_notify(3). Does
/// nothing if NOTIFY_SOCKET is not set.
void notify_service_manager(const std::string& state) {
  const char* path = std::getenv("NOTIFY_SOCKET");
  if (path == nullptr || *path == '\0') return;
  sockaddr_un address{};
  const std::size_t size = std::strlen(path);
  if (size >= sizeof address.sun_path) return;
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path, size);
  if (address.sun_path[0] == '@') address.sun_path[0] = '\0';  // the abstract namespace
  const int socket = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (socket < 0) return;
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + size);
  ::sendto(socket, state.data(), state.size(), MSG_NOSIGNAL,
           reinterpret_cast<const sockaddr*>(&address), length);
  ::close(socket);
}

constexpr std::size_t kStorageThreads = 4;
constexpr int kMaintenanceThreads = 2;
constexpr int kMaintenanceNice = 5;  // after acknowledgements, before jobs
constexpr std::chrono::seconds kTickPeriod(1);
constexpr int kRetryTicks = 10;
constexpr std::chrono::seconds kStuckAfter(30);
constexpr std::chrono::seconds kShutdownMax(15);

std::shared_ptr<const void> take_folder(const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  const auto refuse = [](const std::string& why) {
    throw proto::InputError(why + "; this user must have write permission for the data folder");
  };
  if (error) refuse(folder + ": cannot be created: " + error.message());
  // An earlier release may have made it accessible to everybody.
  std::filesystem::permissions(folder, std::filesystem::perms::others_all,
                               std::filesystem::perm_options::remove, error);
  const auto lock = lock_folder(folder);
  if (lock.ok()) return lock.value();
  if (lock.error().code != proto::ErrorCode::kExists) refuse(lock.error().detail);
  throw proto::InputError(lock.error().detail);
}

// Raises the descriptor limit from the shell's 1024; the service may need two thousand sockets.
void raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

// Returns whether every account of this machine may use a file in this folder.
bool may_all_accounts_enter(const std::filesystem::path& path) {
  using std::filesystem::perms;
  std::error_code error;
  for (auto folder = std::filesystem::absolute(path).parent_path(); folder.has_relative_path();
       folder = folder.parent_path()) {
    const perms allowed = std::filesystem::status(folder, error).permissions();
    if (error || (allowed & perms::others_exec) == perms::none) return false;
  }
  return true;
}

class Daemon {
 public:
  Daemon(const DaemonConfig& config, const std::string& program, const std::string& version)
      : lock_(take_folder(config.data_folder)),
        signals_(io_, SIGTERM, SIGINT),
        tick_(io_),
        shutdown_limit_(io_),
        workers_(io_, program, config.limits.job_memory_bytes),
        live_fits_(io_, context_, program),
        sessions_(
            context_, [this] { jobs_.start_ready_jobs(); },
            [this](const std::string& id) { return jobs_.find_job_using_session(id); }),
        jobs_(context_, sessions_, workers_) {
    if (!config.cluster.empty()) workers_.set_cluster(config.cluster);
    make_context(config, version);
    load();
    listen(config);
  }

  ~Daemon() {
    // The threads finish their tasks before they end, and may still post to the loop. The loop no
    // longer runs those, as they might post to threads that are gone.
    storage_.clear();
    reader_.reset();
    maintenance_.reset();
  }
  Daemon(const Daemon&) = delete;
  Daemon& operator=(const Daemon&) = delete;

  int run() {
    signals_.async_wait([this](const asio::error_code& error, int signal) {
      if (!error) shut_down(signal);
    });
    listener_->start();
    if (http_) http_->start();
    std::string places;
    for (const std::string& place : listener_->listen_addresses()) {
      std::printf("rigcald listens at %s\n", place.c_str());
      places += (places.empty() ? "" : ", ") + place;
    }
    std::fflush(stdout);
    log_event(LogLevel::kInfo, "started",
              {{"version", context_.version}, {"listen", places}, {"data", context_.data_folder}});
    notify_service_manager("READY=1\nSTATUS=listening at " + places);
    tick();
    io_.run();
    log_event(LogLevel::kInfo, "stopped");
    return 0;
  }

 private:
  static OwnedPoster poster(TaskThreads& threads) {
    return
        [&threads](const std::string& owner, Task task) { threads.post(owner, std::move(task)); };
  }

  void make_context(const DaemonConfig& config, const std::string& version) {
    context_.data_folder = config.data_folder;
    context_.version = version;
    context_.limits = config.limits;
    context_.operators = config.operators;
    context_.live_fits = &live_fits_;
    context_.measure_disk_capacity = [this] { return disk_capacity(); };
    context_.main = [this](Task task) { asio::post(io_, std::move(task)); };
    for (std::size_t k = 0; k < kStorageThreads; ++k) {
      storage_.push_back(std::make_unique<TaskThreads>(1, 0));
      context_.storage.push_back(poster(*storage_.back()));
    }
    reader_ = std::make_unique<TaskThreads>(1, 0);
    context_.reader = poster(*reader_);
    maintenance_ = std::make_unique<TaskThreads>(kMaintenanceThreads, kMaintenanceNice);
    context_.maintenance = poster(*maintenance_);
  }

  void load() {
    proto::Status loaded = sessions_.load();
    if (loaded.ok()) loaded = jobs_.load();
    if (!loaded.ok()) throw proto::InputError(loaded.error().detail);
    ::malloc_trim(0);  // loading has freed much memory
    count_use();
  }

  ListenAddress parse(const std::string& text, const DaemonConfig& config, bool tls,
                      const std::string& remedy) {
    ListenAddress place = parse_listen_address(io_, text);
    if (place.loopback || tls || config.insecure) return place;
    throw proto::InputError(text + ": other machines can reach this address, and without TLS " +
                            remedy + ", listen at 127.0.0.1, or allow it with --insecure");
  }

  void listen(const DaemonConfig& config) {
    std::optional<asio::ssl::context> tls;
    if (proto::has_tls_certificate(config.tls)) tls = proto::make_server_tls(config.tls);
    std::vector<std::string> texts = config.listen;
    if (texts.empty()) texts.push_back(proto::account_service_address());
    std::vector<ListenAddress> places;
    for (const std::string& text : texts) {
      places.push_back(
          parse(text, config, tls.has_value(),
                "others could read the traffic; give tls { certificate private_key client_ca }"));
    }
    const bool tls_used = tls.has_value();
    const ConnectionTimeouts timeouts{std::chrono::duration<double>(config.handshake_timeout_s),
                                      std::chrono::duration<double>(config.frame_timeout_s),
                                      std::chrono::duration<double>(config.write_timeout_s)};
    listener_ = std::make_unique<Listener>(io_, context_, sessions_, jobs_, places, std::move(tls),
                                           timeouts);
    if (config.http.empty()) return;
    http_ = std::make_unique<HttpServer>(
        io_, parse(config.http, config, false, "others could read the traffic; use a TLS proxy"),
        HttpServices{context_, sessions_, jobs_, [this] { return format_metrics(); },
                     [this] { return healthy(); }},
        config.http_access, std::ranges::any_of(places, [&](const ListenAddress& place) {
          return place.unix_path.empty() ? !tls_used : may_all_accounts_enter(place.unix_path);
        }));
    log_event(LogLevel::kInfo, "http", {{"port", std::uint64_t{http_->port()}}});
  }

  // Recounts each owner's use and the disk capacity.
  void count_use() {
    IdentityByteUsage disk, index;
    used_bytes_ = sessions_.add_disk_and_memory_usage(disk, index) +
                  jobs_.add_disk_and_memory_usage(disk, index);
    context_.disk = std::move(disk);
    context_.index = std::move(index);
    context_.disk_capacity_bytes = disk_capacity();
  }

  std::uint64_t disk_capacity() const {
    const std::uint64_t free = free_disk_space_bytes(context_.data_folder);
    return used_bytes_ + free - std::min(free, context_.limits.free_space_bytes);
  }

  std::string format_metrics() {
    context_.metrics.sessions = sessions_.count_by_state();
    context_.metrics.jobs = jobs_.count_by_state();
    context_.metrics.free_space_bytes = free_disk_space_bytes(context_.data_folder);
    return context_.metrics.format_prometheus_text();
  }

  // A caller implies that the loop runs; each storage thread must have answered recently.
  bool healthy() const {
    return !stopping_ && std::chrono::steady_clock::now() - storage_seen_ < kStuckAfter;
  }

  // Once a second: pings the storage threads, and feeds the watchdog if all have
  // answered.
  void tick() {
    if (storage_answers_ == storage_.size()) {
      storage_seen_ = std::chrono::steady_clock::now();
      storage_answers_ = 0;
      for (const OwnedPoster& post : context_.storage) {
        post("", [this] { context_.main([this] { ++storage_answers_; }); });
      }
    }
    if (healthy()) notify_service_manager("WATCHDOG=1");
    sessions_.unload_disconnected_sessions();
    count_use();
    if (++tick_count_ % kRetryTicks == 0) sessions_.retry();
    jobs_.start_ready_jobs();
    tick_.expires_after(kTickPeriod);
    tick_.async_wait([this](const asio::error_code& error) {
      if (!error) tick();
    });
  }

  void shut_down(int signal) {
    stopping_ = true;
    log_event(LogLevel::kInfo, "stopping", {{"signal", std::uint64_t(signal)}});
    notify_service_manager("STOPPING=1");
    listener_->shut_down();
    if (http_) http_->shut_down();
    tick_.cancel();
    jobs_.shut_down();
    shutdown_end_ = std::chrono::steady_clock::now() + kShutdownMax;
    wait_for_end();
  }

  // Waits until every connection and worker has ended, up to a time limit.
  void wait_for_end() {
    const bool done = listener_->connection_count() == 0 && workers_.idle();
    if (done || std::chrono::steady_clock::now() > shutdown_end_) {
      workers_.shut_down();
      return io_.stop();
    }
    shutdown_limit_.expires_after(std::chrono::milliseconds(20));
    shutdown_limit_.async_wait([this](const asio::error_code& error) {
      if (!error) wait_for_end();
    });
  }

  std::shared_ptr<const void> lock_;  // on the data folder
  asio::io_context io_{1};
  asio::signal_set signals_;
  asio::steady_timer tick_;
  asio::steady_timer shutdown_limit_;
  ServiceContext context_;
  std::vector<std::unique_ptr<TaskThreads>> storage_;
  std::unique_ptr<TaskThreads> reader_;
  std::unique_ptr<TaskThreads> maintenance_;
  WorkerPool workers_;
  LiveFitPool live_fits_;
  SessionStore sessions_;
  JobStore jobs_;
  std::unique_ptr<Listener> listener_;
  std::unique_ptr<HttpServer> http_;
  std::uint64_t used_bytes_ = 0;  // on disk by sessions and jobs, counted once a second
  bool stopping_ = false;
  int tick_count_ = 0;
  std::size_t storage_answers_ = kStorageThreads;
  std::chrono::steady_clock::time_point storage_seen_ = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point shutdown_end_{};
};

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
  TAKE(live_fits, config.limits);
}

void take_share(const rigcal::v1::DaemonShare& message, IdentityLimits& out) {
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
  TAKE(live_fits, out);
}

void take_http_access(const rigcal::v1::HttpAccess& message, const proto::TextLocator& place,
                      HttpAccessConfig& out) {
  out.hosts.assign(message.host().begin(), message.host().end());
  out.origins.assign(message.origin().begin(), message.origin().end());
  for (int k = 0; k < message.token_size(); ++k) {
    const rigcal::v1::HttpToken& token = message.token(k);
    const bool is_hash = token.sha256().size() == 64 &&
                         token.sha256().find_first_not_of("0123456789abcdef") == std::string::npos;
    const bool has_kind =
        token.identity().starts_with("account:") || token.identity().starts_with("certificate:");
    if (!is_hash || !has_kind) {
      place.at("http_access")
          .at("token", k)
          .fail(
              "a token needs sha256, its SHA-256 as 64 hexadecimal digits (printf %s TOKEN | "
              "sha256sum), and identity, \"account:NAME\" or \"certificate:NAME\"");
    }
    out.tokens.push_back({token.sha256(), token.identity()});
  }
}

}  // namespace

int run_daemon(const DaemonConfig& config, const std::string& program, const std::string& version) {
  check_daemon_config(config);
  google::protobuf::SetLogHandler(nullptr);  // client errors go to our own log
  ::signal(SIGPIPE, SIG_IGN);
  ::signal(SIGXFSZ, SIG_IGN);  // a file-size limit then acts like a full disk
  ::umask(077);                // only the service's account may read its files
  raise_descriptor_limit();
  Daemon daemon(config, program, version);
  return daemon.run();
}

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
  if (message.executor().has_slurm()) {
    // A single space is no setting, but marks a cluster with defaults only.
    config.cluster = " " + message.executor().slurm().ShortDebugString();
  }
  take_http_access(message.http_access(), place, config.http_access);
  return config;
}

#undef TAKE

void check_daemon_config(const DaemonConfig& config) {
  if (!config.cluster.empty()) check_cluster_settings(config.cluster);
  if (config.data_folder.empty()) {
    throw proto::InputError("no data folder; give --data FOLDER or data_folder in the file");
  }
  if (proto::has_tls_certificate(config.tls) && config.insecure && config.http.empty()) {
    throw proto::InputError("--insecure cannot be combined with TLS, except for --http");
  }
}

}  // namespace service
