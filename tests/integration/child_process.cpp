#include "tests/integration/child_process.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <iterator>
#include <thread>
#include <utility>

namespace test_support {

ChildProcess::ChildProcess(const std::vector<std::string>& command, std::string output_path,
                           const std::function<void()>& before_exec,
                           const std::vector<int>& inherited)
    : output_path_(std::move(output_path)) {
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  pid_ = ::fork();
  if (pid_ != 0) return;
  const int file = ::open(output_path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
  ::dup2(file, STDOUT_FILENO);
  ::dup2(file, STDERR_FILENO);
  // Moved away first, as one may occupy another's number.
  constexpr int kOutOfTheWay = 256;
  const int count = static_cast<int>(inherited.size());
  for (int k = 0; k < count; ++k) ::dup2(inherited[static_cast<std::size_t>(k)], kOutOfTheWay + k);
  int next = STDERR_FILENO + 1;
  for (int k = 0; k < count; ++k) ::dup2(kOutOfTheWay + k, next++);
  ::close_range(static_cast<unsigned>(next), ~0U, 0);  // the test's own ports and files
  if (before_exec) before_exec();
  ::execv(arguments[0], arguments.data());
  ::_exit(127);
}

ChildProcess::~ChildProcess() {
  if (status_) return;
  send_signal(SIGKILL);
  wait(10.0);
}

void ChildProcess::send_signal(int signal) const {
  if (!status_) ::kill(pid_, signal);
}

std::optional<int> ChildProcess::wait(double timeout_s) {
  eventually(
      [this] {
        int status = 0;
        if (!status_ && ::waitpid(pid_, &status, WNOHANG) == pid_) {
          status_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
        }
        return status_.has_value();
      },
      timeout_s);
  return status_;
}

std::string ChildProcess::output() const {
  std::ifstream file(output_path_);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::string> with(std::vector<std::string> command,
                              const std::vector<std::string>& arguments) {
  command.insert(command.end(), arguments.begin(), arguments.end());
  return command;
}

bool eventually(const std::function<bool()>& condition, double timeout_s) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(timeout_s);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

}  // namespace test_support
