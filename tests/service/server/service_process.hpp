#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tests/integration/child_process.hpp"
#include "tests/service/server/socket_client.hpp"
#include "tests/support/temporary_folder.hpp"

namespace test_support {

/// rigcald as a process, with its own data folder and a port that the kernel chose.
class ServiceProcess {
 public:
  explicit ServiceProcess(std::vector<std::string> options = {}, std::string host = "127.0.0.1");

  /// Adds a configuration file of this text.
  void configure(const std::string& text);

  /// Starts rigcald, or restarts it on the same data. @return true once it accepts connections
  bool start(const std::function<void()>& before_exec = {});

  /// Ends rigcald by SIGKILL and waits for its end.
  void kill();

  /// Ends rigcald by SIGTERM. @return exit code; nullopt if it did not end within 20 s
  std::optional<int> stop();

  pid_t pid() const { return process_->pid(); }
  bool running() { return process_ && !process_->wait(0.0); }
  std::uint16_t port() const { return port_; }
  std::string output() const { return process_->output(); }
  std::string folder() const { return files_.file("data"); }
  std::string session_folder(const std::string& id) const { return folder() + "/sessions/" + id; }
  const TemporaryFolder& files() const { return files_; }

  /// Returns the number in "key=value" of rigcald's log; 0 if there is none.
  std::uint64_t logged_number(const std::string& key) const;

 private:
  TemporaryFolder files_;
  std::vector<std::string> options_;
  std::string host_;
  std::unique_ptr<ChildProcess> process_;
  std::uint16_t port_ = 0;
  int start_count_ = 0;
};

/// A ServiceProcess that has started. The test fails if it does not start.
class RunningService : public ServiceProcess {
 public:
  /// @param config  text of its configuration file; empty for none
  explicit RunningService(std::vector<std::string> options = {}, const std::string& config = "");
};

}  // namespace test_support
