#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "service/server/metrics.hpp"
#include "service/server/task_thread.hpp"

namespace service {

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
  double store_retry_s = 10.0;  // after the first failed try; then twice as long each time

  /// What one address may have of connections, streaming sessions and waiting jobs: its mistakes
  /// leave the others room.
  static std::uint32_t share(std::uint32_t limit) { return (limit + 1) / 2; }
};

/// What the parts of the service share. Everything in it outlives them. The main thread alone
/// touches the metrics and everything the parts hold; disks are waited for elsewhere.
struct ServiceContext {
  std::string data_folder;
  std::string version;
  ServiceLimits limits;
  Metrics metrics;
  Poster main;                  ///< back to the main thread
  std::vector<Poster> storage;  ///< sessions are spread over these
  Poster reader;                ///< reads files for clients
  Poster maintenance;           ///< low priority: writes recordings, deletes folders
};

/// Host time, for people.
inline std::int64_t unix_time_ns() {
  using std::chrono::system_clock;
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             system_clock::now().time_since_epoch())
      .count();
}

}  // namespace service
