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

/// What one identity may have of the limits below. 0: half of the limit.
struct ServiceShare {
  std::uint32_t connections = 0;
  std::uint32_t streaming_sessions = 0;
  std::uint32_t sessions = 0;
  std::uint64_t disk_bytes = 0;  ///< 0: half of what all could have together
  std::uint32_t queued_jobs = 0;
  std::uint32_t jobs = 0;
  std::uint32_t running_jobs = 0;
  std::uint64_t buffer_bytes = 0;
  std::uint64_t index_bytes = 0;
  double processor_s = 0.0;  ///< of jobs, in the last hour; 0: all that its running jobs could have
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
  ServiceShare share;           ///< as it was set
  double store_retry_s = 10.0;  // after the first failed try; then twice as long each time

  /// What one identity may have: its mistakes leave the others room.
  ServiceShare of_one() const {
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
                                                   : ProcessorUse::kWindow_s * running_jobs};
  }
};

/// A time that only goes on [s].
inline double steady_time_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// What the parts of the service share. Everything in it outlives them. The main thread alone
/// touches the metrics and everything the parts hold; disks are waited for elsewhere.
struct ServiceContext {
  std::string data_folder;
  std::string version;
  ServiceLimits limits;
  Operators operators;
  Metrics metrics;
  ByteUse buffers;  ///< held for clients, by who they are
  ByteUse disk;     ///< kept, by who owns it; counted anew once a second
  ByteUse index;    ///< in memory of that, counted likewise
  /// What all could keep together, as of then; before, no limit.
  std::uint64_t disk_capacity_bytes = std::uint64_t{1} << 62;
  /// The same as of now: others fill and free the disk as well.
  std::function<std::uint64_t()> measure_disk_capacity;
  std::function<double()> time_s = steady_time_s;
  Poster main;                       ///< back to the main thread
  std::vector<OwnedPoster> storage;  ///< sessions are spread over these
  OwnedPoster reader;                ///< reads files for clients
  OwnedPoster maintenance;           ///< low priority: writes recordings, deletes folders

  /// The storage thread of a session, on behalf of its owner.
  Poster storage_of(const std::string& session_id, const std::string& owner) const {
    const OwnedPoster& post = storage[std::hash<std::string>()(session_id) % storage.size()];
    return [post, owner](Task task) { post(owner, std::move(task)); };
  }

  /// What one identity may keep on the disk [byte].
  std::uint64_t disk_share_bytes() const {
    return limits.share.disk_bytes > 0 ? limits.share.disk_bytes : disk_capacity_bytes / 2;
  }
};

/// Host time, for people.
inline std::int64_t unix_time_ns() {
  using std::chrono::system_clock;
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             system_clock::now().time_since_epoch())
      .count();
}

}  // namespace service
