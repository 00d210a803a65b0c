#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "tests/campaign/ledger.hpp"
#include "tests/integration/child_process.hpp"
#include "tests/support/temporary_folder.hpp"

namespace campaign {

/// Longest time for a client to get its samples stored, on a machine that is busy with other things
/// and with a service that is killed again and again.
inline constexpr std::chrono::minutes kPatience(10);

/// The largest resident memory of a service over its restarts, and of its workers, as counted by
/// the kernel for each process (VmHWM).
class MemoryPeak {
 public:
  /// Samples the service, whose own peak the kernel remembers, and its short-lived workers. Any
  /// thread.
  void look(pid_t service);

  double service_mb() const;
  double worker_mb() const;

 private:
  mutable std::mutex mutex_;
  std::uint64_t service_kib_ = 0;
  std::uint64_t worker_kib_ = 0;
};

/// rigcald on one data folder, at one port and one Unix socket, through all restarts. The folder is
/// a small file system of its own, if the campaign may mount one, so that it can be filled. The
/// process has a disk that fails on demand (tests/support/failing_disk.c).
///
/// One thread disturbs it; others read port, folder and disturbances.
class ServiceUnderTest {
 public:
  /// @param programs  folder of the executables
  /// @param folder    for data and logs
  ServiceUnderTest(std::string programs, std::string folder, Ledger& ledger);
  ~ServiceUnderTest();

  /// False, with a failure in the ledger, if it accepts no connections within a minute.
  bool start();

  // Disturbances, each with the former state restored at its end.
  void kill_and_restart(double down_s);
  void restart_in_order();
  void fail_disk_once();
  void fill_disk(double duration_s);

  /// Sends SIGTERM. A failure in the ledger unless it ends in order, without a sanitizer's report
  /// and without a recording written repeatedly in any of its lives.
  void stop();

  /// Copies the log of each life of the service to a folder.
  void keep_logs(const std::string& to) const;

  std::uint16_t port() const { return port_; }
  const std::string& socket_path() const { return socket_path_; }
  std::string data_folder() const { return folder_ + "/data"; }
  std::string session_folder(const std::string& id) const {
    return data_folder() + "/sessions/" + id;
  }
  bool can_fill_disk() const { return mounted_; }

  /// Call it often: an ended process can no longer be measured.
  void look_at_memory() { memory_.look(pid_.load()); }
  const MemoryPeak& memory() const { return memory_; }

  /// It could not be restarted: nothing more can be expected.
  bool dead() const { return dead_.load(); }

  /// Changes whenever a disturbance starts or ends; odd during one.
  std::uint64_t disturbances() const { return disturbances_.load(); }

 private:
  void expect_orderly_end();
  void look_at_log(const std::string& text);

  std::string programs_;
  std::string folder_;
  test_support::TemporaryFolder socket_folder_;  // accessible to other accounts
  std::string socket_path_;
  Ledger& ledger_;
  MemoryPeak memory_;
  std::atomic<pid_t> pid_{0};
  std::uint16_t port_ = 0;
  bool mounted_ = false;
  int start_count_ = 0;
  std::unique_ptr<test_support::ChildProcess> process_;
  std::atomic<std::uint64_t> disturbances_{0};
  std::atomic<bool> dead_{false};
};

}  // namespace campaign
