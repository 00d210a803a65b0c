#pragma once

#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <functional>

#include "tests/fuzz/refusal.hpp"
#include "tests/support/memory_limit.hpp"

namespace fuzz {

/// Child process that runs a function many times, for libraries that crash. A child that crashed,
/// hangs or has run often is replaced.
class LastingChild {
 public:
  explicit LastingChild(std::function<void()> run) : run_(std::move(run)) {}
  ~LastingChild() {
    if (crash_count_ + timeout_count_ > 0) {
      std::printf("%d inputs crashed the child process, %d ran into its time limit\n", crash_count_,
                  timeout_count_);
    }
    end();
  }
  LastingChild(const LastingChild&) = delete;
  LastingChild& operator=(const LastingChild&) = delete;

  enum class Outcome { kReturned, kCrashed, kTimedOut };

  /// Runs the function in the child. Aborts if require() failed.
  Outcome run() {
    constexpr int kRunsMax = 10'000;
    if (runs_++ == kRunsMax) end();
    if (child_ < 0) start();
    char signal = 0;
    require(::send(socket_, &signal, 1, MSG_NOSIGNAL) == 1);
    if (::recv(socket_, &signal, 1, 0) == 1) return Outcome::kReturned;
    const int status = end();
    require(!WIFEXITED(status) || WEXITSTATUS(status) != kRequirementFailed);
    const bool is_timeout = WIFSIGNALED(status) && WTERMSIG(status) == SIGPROF;
    ++(is_timeout ? timeout_count_ : crash_count_);
    return is_timeout ? Outcome::kTimedOut : Outcome::kCrashed;
  }

 private:
  void start() {
    int sockets[2];
    require(::socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) == 0);
    runs_ = 0;
    child_ = ::fork();
    require(child_ >= 0);
    if (child_ == 0) {
      ::close(sockets[0]);  // or recv() would not return after the parent closes it
      serve(sockets[1]);
    }
    socket_ = sockets[0];
    ::close(sockets[1]);
  }

  [[noreturn]] void serve(int socket) const {
    constexpr itimerval kProcessorTimeMax{{0, 0}, {0, 300'000}};  // of one run
    constexpr std::uint64_t kMemoryMax = std::uint64_t{1} << 30;
    is_child() = true;
    for (const int signal : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE}) ::signal(signal, SIG_DFL);
    const rlimit no_core{0, 0};
    ::setrlimit(RLIMIT_CORE, &no_core);
    test_support::limit_memory(kMemoryMax);
    for (char signal = 0; ::recv(socket, &signal, 1, 0) == 1;) {
      ::setitimer(ITIMER_PROF, &kProcessorTimeMax, nullptr);
      run_();
      if (::send(socket, &signal, 1, MSG_NOSIGNAL) != 1) break;
    }
    ::_exit(0);
  }

  int end() {
    int status = 0;
    if (child_ < 0) return status;
    ::close(socket_);
    ::waitpid(child_, &status, 0);
    child_ = -1;
    return status;
  }

  std::function<void()> run_;
  pid_t child_ = -1;
  int socket_ = -1;
  int runs_ = 0;
  int crash_count_ = 0;
  int timeout_count_ = 0;
};

}  // namespace fuzz
