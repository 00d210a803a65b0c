#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "proto/service.pb.h"
#include "proto/text/printable.hpp"
#include "service/server/sessions/identity.hpp"
#include "service/server/sessions/metrics.hpp"
#include "service/server/sessions/processor_use.hpp"
#include "service/server/sessions/task_thread.hpp"

namespace service {

class LiveFits;

/// Maximum number of sessions or jobs in a list reply.
inline constexpr int kListCountMax = 1000;

/// The reply to a client's request, or the error that prevents it.
template <typename Reply>
using ReplyOrError = std::variant<Reply, rigcal::v1::ServiceError>;

/// Largest size of the text of an error, and of the reason for a job's failure [byte].
inline constexpr std::size_t kErrorTextSizeMax = 4096;

inline rigcal::v1::ServiceError make_service_error(rigcal::v1::ServiceError::Code code,
                                                   const std::string& text) {
  rigcal::v1::ServiceError fault;
  fault.set_code(code);
  fault.set_text(proto::to_utf8(text, kErrorTextSizeMax));
  return fault;
}

/// Number of bytes that each client identity uses, and the total over all identities.
class IdentityByteUsage {
 public:
  void add(const std::string& identity, std::uint64_t bytes) {
    if (bytes == 0) return;
    bytes_[identity] += bytes;
    total_ += bytes;
  }

  void remove(const std::string& identity, std::uint64_t bytes) {
    const auto found = bytes_.find(identity);
    if (found == bytes_.end()) return;
    const std::uint64_t gone = std::min(bytes, found->second);
    total_ -= gone;
    found->second -= gone;
    if (found->second == 0) bytes_.erase(found);
  }

  std::uint64_t of(const std::string& identity) const {
    const auto found = bytes_.find(identity);
    return found == bytes_.end() ? 0 : found->second;
  }
  std::uint64_t total() const { return total_; }

  /// Returns whether `identity` may use `bytes` more: the total stays within `limit`, and the
  /// identity's own use stays within `share`.
  bool is_within_limits(const std::string& identity, std::uint64_t bytes, std::uint64_t limit,
                        std::uint64_t share) const {
    return bytes <= limit && total_ <= limit - bytes && bytes <= share &&
           of(identity) <= share - bytes;
  }

 private:
  std::map<std::string, std::uint64_t> bytes_;
  std::uint64_t total_ = 0;
};

/// Part of each service limit that one client identity may use. A value of 0 means half of the
/// limit.
struct IdentityLimits {
  std::uint32_t connections = 0;
  std::uint32_t streaming_sessions = 0;
  std::uint32_t sessions = 0;
  std::uint64_t disk_bytes = 0;  ///< [byte]; 0: half of the disk capacity
  std::uint32_t queued_jobs = 0;
  std::uint32_t jobs = 0;
  std::uint32_t running_jobs = 0;
  std::uint32_t live_fits = 0;
  std::uint64_t buffer_bytes = 0;
  std::uint64_t index_bytes = 0;
  double processor_s = 0.0;  ///< of jobs in the last hour [s]; 0: as much as `running_jobs` can use
};

/// Limits of the service for all clients together; proto/daemon.proto documents each limit.
struct ServiceLimits {
  std::uint32_t connections = 512;
  std::uint32_t streaming_sessions = 128;
  std::uint32_t sessions = 10'000;
  std::uint64_t session_size_bytes = std::uint64_t{4} << 30;
  std::uint64_t free_space_bytes = std::uint64_t{256} << 20;
  std::uint32_t queued_jobs = 128;
  std::uint32_t jobs = 10'000;
  double job_duration_s = 3600.0;
  std::uint64_t job_memory_bytes = std::uint64_t{4} << 30;
  std::uint32_t workers = 1;
  std::uint32_t live_fits = 2;
  double unload_after_s = 60.0;
  std::uint64_t buffer_bytes = std::uint64_t{256} << 20;
  std::uint64_t index_bytes = std::uint64_t{64} << 20;
  IdentityLimits share;         ///< share of one identity as configured
  double store_retry_s = 10.0;  // after the first failure; doubles each time

  /// Returns the part of each limit that one identity may use, with defaults for unset values. By
  /// default, one identity cannot use up a limit.
  IdentityLimits limits_per_identity() const {
    const auto figure = []<typename Number>(Number set, Number limit) {
      return set > 0 ? std::min(set, limit) : static_cast<Number>(limit / 2 + limit % 2);
    };
    const std::uint32_t running_jobs = figure(share.running_jobs, workers);
    return {.connections = figure(share.connections, connections),
            .streaming_sessions = figure(share.streaming_sessions, streaming_sessions),
            .sessions = figure(share.sessions, sessions),
            .disk_bytes = share.disk_bytes,
            .queued_jobs = figure(share.queued_jobs, queued_jobs),
            .jobs = figure(share.jobs, jobs),
            .running_jobs = running_jobs,
            .live_fits = figure(share.live_fits, live_fits),
            .buffer_bytes = figure(share.buffer_bytes, buffer_bytes),
            .index_bytes = figure(share.index_bytes, index_bytes),
            .processor_s = share.processor_s > 0.0 ? share.processor_s
                                                   : ProcessorUsage::kWindow_s * running_jobs};
  }
};

/// Returns the present time of a monotonic clock [s].
inline double steady_time_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Settings, limits, metrics and threads that all components of the service share. The context
/// exists longer than the components. Only the main thread uses the metrics and the components'
/// data; other threads access the disk.
struct ServiceContext {
  std::string data_folder;
  std::string version;
  ServiceLimits limits;
  OperatorNames operators;
  Metrics metrics;
  IdentityByteUsage buffers;  ///< memory for clients' data, by identity [byte]
  IdentityByteUsage disk;     ///< disk space by owner, recounted once a second [byte]
  IdentityByteUsage
      index;  ///< memory for session and job info by owner, recounted once a second [byte]
  /// Disk capacity for all owners at the last count [byte]; unlimited before the first count.
  std::uint64_t disk_capacity_bytes = std::uint64_t{1} << 62;
  /// Measures the disk capacity for all owners now [byte]. Other programs also fill and free the
  /// disk.
  std::function<std::uint64_t()> measure_disk_capacity;
  std::function<double()> time_s = steady_time_s;
  Poster main;                       ///< runs tasks on the main thread
  std::vector<OwnedPoster> storage;  ///< run tasks on the storage threads
  OwnedPoster reader;                ///< runs tasks that read files for clients
  LiveFits* live_fits = nullptr;     ///< null: no estimates during sessions
  OwnedPoster maintenance;  ///< runs low-priority tasks: writes recordings, deletes folders

  /// Returns a function that runs tasks on the storage thread of a session, on behalf of its owner.
  Poster make_storage_poster(const std::string& session_id, const std::string& owner) const {
    const OwnedPoster& post = storage[std::hash<std::string>()(session_id) % storage.size()];
    return [post, owner](Task task) { post(owner, std::move(task)); };
  }

  /// Returns the disk space that one identity may use [byte].
  std::uint64_t disk_share_bytes() const {
    return limits.share.disk_bytes > 0 ? limits.share.disk_bytes : disk_capacity_bytes / 2;
  }
};

/// Returns the wall-clock time as nanoseconds since 1970, for display only.
inline std::int64_t unix_time_ns() {
  using std::chrono::system_clock;
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             system_clock::now().time_since_epoch())
      .count();
}

}  // namespace service
