#include "service/cli/child_program.hpp"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <thread>

#include "proto/text/input_error.hpp"

namespace service {
namespace {

constexpr std::chrono::milliseconds kPollPeriod(10);
constexpr int kNotStarted = 127;

}  // namespace

int run_program(const std::vector<std::string>& command, const std::atomic<bool>& stop) {
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  std::cout << std::flush;
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) {
    throw proto::InputError(command.front() + ": cannot be started: " + std::strerror(errno));
  }
  if (child == 0) {
    ::setpgid(0, 0);
    ::prctl(PR_SET_PDEATHSIG, SIGINT);
    if (::getppid() != parent) ::_exit(kNotStarted);
    ::execvp(arguments[0], arguments.data());
    ::_exit(kNotStarted);
  }
  bool reported = false;
  while (true) {
    int status = 0;
    const pid_t ended = ::waitpid(child, &status, WNOHANG);
    if (ended == child) {
      const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
      if (code != kNotStarted) return code;
      throw proto::InputError(command.front() + ": not found or not executable; give its path");
    }
    if (stop.load() && !reported) {
      ::kill(child, SIGINT);
      reported = true;
    }
    std::this_thread::sleep_for(kPollPeriod);
  }
}

std::string program_beside_this(const std::string& name) {
  std::error_code none;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", none);
  if (none) return name;
  const std::filesystem::path beside = self.parent_path() / name;
  return std::filesystem::exists(beside, none) ? beside.string() : name;
}

}  // namespace service
