#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "service/server/byte_use.hpp"
#include "service/server/identity.hpp"
#include "service/server/metrics.hpp"
#include "service/server/processor_use.hpp"
#include "service/server/task_thread.hpp"

namespace service {

/// One identity's share of the limits below. 0: half of the limit.
struct ServiceShare {
  std::uint32_t connections = 0;
  std::uint32_t streaming_sessions = 0;
  std::uint32_t sessions = 0;
  std::uint64_t disk_bytes = 0;  ///< 0: half of the disk capacity
  std::uint32_t queued_jobs = 0;
  std::uint32_t jobs = 0;
  std::uint32_t running_jobs = 0;
  std::uint64_t buffer_bytes = 0;
  std::uint64_t index_bytes = 0;
  double processor_s = 0.0;  ///< of jobs in the last hour; 0: as much as its running jobs can use
};

/// Limits of the service; proto/daemon.proto documents them.
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
  double unload_after_s = 60.0;
  std::uint64_t buffer_bytes = std::uint64_t{256} << 20;
  std::uint64_t index_bytes = std::uint64_t{64} << 20;
  ServiceShare share;           ///< as configured
  double store_retry_s = 10.0;  // after the first failure; doubles each time

  /// The share of one identity, which leaves room for others whatever it does.
  ServiceShare per_identity() const {
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
            .buffer_bytes = figure(share.buffer_bytes, buffer_bytes),
            .index_bytes = figure(share.index_bytes, index_bytes),
            .processor_s = share.processor_s > 0.0 ? share.processor_s
                                                   : ProcessorUsage::kWindow_s * running_jobs};
  }
};

/// Returns a monotonic time [s].
inline double steady_time_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// State shared by the parts of the service; it outlives them. Only the main thread uses the
/// metrics and the members of the parts. Other threads wait for disks.
struct ServiceContext {
  std::string data_folder;
  std::string version;
  ServiceLimits limits;
  Operators operators;
  Metrics metrics;
  ByteUsage buffers;  ///< memory held for clients, by identity
  ByteUsage disk;     ///< stored, by owner; recounted once a second
  ByteUsage index;    ///< memory for its index; recounted likewise
  /// Disk capacity for all owners at the last count; unlimited before the first.
  std::uint64_t disk_capacity_bytes = std::uint64_t{1} << 62;
  /// Measures that capacity now; other programs fill and free the disk, too.
  std::function<std::uint64_t()> measure_disk_capacity;
  std::function<double()> time_s = steady_time_s;
  Poster main;                       ///< posts to the main thread
  std::vector<OwnedPoster> storage;  ///< sessions are distributed over these
  OwnedPoster reader;                ///< reads files for clients
  OwnedPoster maintenance;           ///< low priority: writes recordings, deletes folders

  /// Returns the poster for a session's storage thread, on behalf of its owner.
  Poster storage_poster(const std::string& session_id, const std::string& owner) const {
    const OwnedPoster& post = storage[std::hash<std::string>()(session_id) % storage.size()];
    return [post, owner](Task task) { post(owner, std::move(task)); };
  }

  /// Disk share of one identity [byte].
  std::uint64_t disk_share_bytes() const {
    return limits.share.disk_bytes > 0 ? limits.share.disk_bytes : disk_capacity_bytes / 2;
  }
};

/// Returns the wall-clock time, for people.
inline std::int64_t unix_time_ns() {
  using std::chrono::system_clock;
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             system_clock::now().time_since_epoch())
      .count();
}

}  // namespace service
