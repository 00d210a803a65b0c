#include "service/cli/commands/identification_run.hpp"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <iostream>
#include <thread>

#include "proto/recording/mcap/file.hpp"
#include "proto/recording/recording_info.hpp"
#include "proto/text/input_error.hpp"

namespace service {
namespace {

constexpr std::chrono::milliseconds kPollPeriod(10);
constexpr int kNotStarted = 127;

}  // namespace

IdentificationFolder::IdentificationFolder(const std::string& path) : path_(path) {
  std::error_code error;
  std::filesystem::create_directories(path_, error);
  if (!std::filesystem::is_directory(path_)) {
    throw proto::InputError(path + ": cannot be created as a folder; give another --folder");
  }
  count_runs();
  const std::string part = proto::part_file_path(recording(count_ + 1));
  if (std::filesystem::exists(part)) {
    throw proto::InputError(part + ": is an incomplete recording; finish it with rigcal recover " +
                            part + ", or remove it");
  }
}

void IdentificationFolder::count_runs() {
  while (std::filesystem::exists(recording(count_ + 1))) ++count_;
}

std::string IdentificationFolder::exclude_last_run(const std::string& why) {
  std::string aside = name("run-", count_, "." + why + ".mcap");
  for (int k = 2; std::filesystem::exists(aside); ++k) {
    aside = name("run-", count_, "." + why + "-" + std::to_string(k) + ".mcap");
  }
  std::filesystem::remove(result(count_));
  std::filesystem::rename(recording(count_--), aside);
  return aside;
}

std::string IdentificationFolder::name(const std::string& stem, int run,
                                       const std::string& ending) const {
  return (path_ / (stem + (run < 10 ? "0" : "") + std::to_string(run) + ending)).string();
}

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

std::optional<RunTrip> find_run_trip(const std::string& recording) {
  const auto info = proto::inspect_recording(recording);
  if (!info.ok()) return std::nullopt;
  std::optional<RunTrip> trip;
  bool has_driven = false;
  for (const proto::Event& event : info.value().events) {
    has_driven =
        has_driven || (event.kind == proto::EventKind::kScenario && event.name == "running");
    if (event.kind != proto::EventKind::kTrip || trip) continue;
    trip = RunTrip{event.text, event.name == "angle" || event.name == "speed"};
    if (trip->text.ends_with('.')) trip->text.pop_back();
  }
  if (trip) trip->is_usable = trip->is_usable && has_driven;
  return trip;
}

}  // namespace service
