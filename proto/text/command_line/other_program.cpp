#include "proto/text/command_line/other_program.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <sstream>
#include <thread>

#include "proto/text/input_error.hpp"

namespace proto {
namespace {

constexpr std::chrono::milliseconds kPollPeriod(10);
constexpr int kNotStarted = 127;

}  // namespace

int run_program(const std::vector<std::string>& command, const std::function<bool()>& must_stop,
                const std::string& output) {
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  std::cout << std::flush;
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) {
    throw InputError(command.front() + ": cannot be started: " + std::strerror(errno));
  }
  if (child == 0) {
    ::setpgid(0, 0);
    ::prctl(PR_SET_PDEATHSIG, SIGINT);
    if (::getppid() != parent) ::_exit(kNotStarted);
    if (!output.empty()) {
      const int file = ::open(output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
      ::dup2(file, STDOUT_FILENO);
      ::dup2(file, STDERR_FILENO);
    }
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
      throw InputError(command.front() + ": not found or not executable; give its path");
    }
    if (!reported && must_stop()) {
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

std::string find_installed_program(const std::vector<std::string>& names) {
  const char* const path = std::getenv("PATH");
  for (const std::string& name : names) {
    std::istringstream folders(path == nullptr ? "" : path);
    for (std::string folder; std::getline(folders, folder, ':');) {
      const std::string program = (std::filesystem::path(folder) / name).string();
      if (::access(program.c_str(), X_OK) == 0) return program;
    }
  }
  return "";
}

}  // namespace proto
