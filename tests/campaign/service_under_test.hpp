#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "tests/campaign/ledger.hpp"
#include "tests/integration/child_process.hpp"

namespace campaign {

/// How long a client may take to get its samples stored, on a machine that is busy with other
/// things and with a service that is killed again and again.
inline constexpr std::chrono::minutes kPatience(10);

/// rigcald on one data folder and at one port through all its lives. The folder is a small file
/// system of its own where the campaign may mount one, so that it can be filled; the process meets
/// a disk that fails on demand (tests/support/failing_disk.c).
///
/// One thread disturbs; others ask for port, folder and disturbances.
class ServiceUnderTest {
 public:
  /// @param programs  folder of the executables
  /// @param folder    for data and logs
  ServiceUnderTest(std::string programs, std::string folder, Ledger& ledger);
  ~ServiceUnderTest();

  /// False, with a failure in the ledger, when it takes no connections within a minute.
  bool start();

  // Disturbances, each with everything as it was before at its end, but for the time it took.
  void kill_and_restart(double down_s);
  void restart_in_order();
  void fail_disk_once();
  void fill_disk(double duration_s);

  /// SIGTERM; a failure in the ledger unless it ends in order and has no complaint of a sanitizer
  /// in any of its lives.
  void stop();

  std::uint16_t port() const { return port_; }
  std::string data_folder() const { return folder_ + "/data"; }
  std::string session_folder(const std::string& id) const {
    return data_folder() + "/sessions/" + id;
  }
  bool can_fill_disk() const { return mounted_; }

  /// It could not be started again: there is nothing to be expected any more.
  bool dead() const { return dead_.load(); }

  /// Changes whenever a disturbance begins or ends; odd during one.
  std::uint64_t disturbances() const { return disturbances_.load(); }

 private:
  void expect_orderly_end();

  std::string programs_;
  std::string folder_;
  Ledger& ledger_;
  std::uint16_t port_ = 0;
  bool mounted_ = false;
  int start_count_ = 0;
  std::unique_ptr<test_support::ChildProcess> process_;
  std::atomic<std::uint64_t> disturbances_{0};
  std::atomic<bool> dead_{false};
};

}  // namespace campaign
