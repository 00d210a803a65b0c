#pragma once

#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace test_support {

/// A program run beside the test, with both output streams in a file. Killed with the object.
class ChildProcess {
 public:
  /// @param before_exec  runs in the child, e.g. to set a limit
  /// @param inherited    descriptors that become 3, 4, ... in the program
  ChildProcess(const std::vector<std::string>& command, std::string output_path,
               const std::function<void()>& before_exec = {},
               const std::vector<int>& inherited = {});
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  pid_t pid() const { return pid_; }

  void send_signal(int signal) const;

  /// Exit code, or 128 + signal; empty if it still runs after timeout_s.
  std::optional<int> wait(double timeout_s);

  std::string output() const;
  bool says(const std::string& text) const { return output().find(text) != std::string::npos; }

 private:
  pid_t pid_;
  std::string output_path_;
  std::optional<int> status_;
};

/// Returns a command with more arguments.
std::vector<std::string> with(std::vector<std::string> command,
                              const std::vector<std::string>& arguments);

/// Waits until the condition holds; false after timeout_s.
bool eventually(const std::function<bool()>& condition, double timeout_s);

}  // namespace test_support
