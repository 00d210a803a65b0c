#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
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

/// Result of sending batches of a rig to the service.
struct Sent {
  std::uint64_t acknowledged = 0;
  std::optional<rigcal::v1::SessionRefused> refused;
};

/// Opens a session like a rig and sends the batches that the service lacks, until
/// batch_request(through) is acknowledged or refused.
Sent send_through(const ServiceProcess& service, const std::string& id, std::uint64_t through,
                  std::uint64_t sample_count = 20);

/// Sends batches as send_through does, and expects that they are accepted. Closes the session and
/// waits for its recording.
void complete_session(ServiceProcess& service, const std::string& id, std::uint64_t batch_count,
                      std::uint64_t sample_count = 20);

/// Returns true once the recording of a session is stored and its log is deleted.
bool is_stored(const ServiceProcess& service, const std::string& id);

}  // namespace test_support
