#pragma once

#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <functional>
#include <vector>

#include "tests/fuzz/refusal.hpp"
#include "tests/support/memory_limit.hpp"

namespace fuzz {

using Input = std::vector<std::uint8_t>;

/// Runs a function on many inputs in a child process, for libraries that crash. After a crash or a
/// timeout, another child process continues with the next input.
class ChildBatch {
 public:
  /// @param check    runs in the child processes
  /// @param on_loss  runs in this process for each input that ended its child process
  ChildBatch(std::function<void(const Input&)> check,
             std::function<void(const Input&, bool is_timeout)> on_loss)
      : check_(std::move(check)), on_loss_(std::move(on_loss)) {
    void* const shared = ::mmap(nullptr, sizeof(std::size_t), PROT_READ | PROT_WRITE,
                                MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    require(shared != MAP_FAILED);
    done_ = static_cast<volatile std::size_t*>(shared);
  }
  ~ChildBatch() {
    run();
    if (crash_count_ + timeout_count_ > 0) {
      std::printf("%d inputs crashed their child process, %d ran into its time limit\n",
                  crash_count_, timeout_count_);
    }
  }
  ChildBatch(const ChildBatch&) = delete;
  ChildBatch& operator=(const ChildBatch&) = delete;

  /// Adds an input, and runs the batch if it is full. Aborts if require() failed in a child
  /// process.
  void add(const std::uint8_t* data, std::size_t size) {
    constexpr std::size_t kInputsMax = 200;
    inputs_.emplace_back(data, data + size);
    if (inputs_.size() == kInputsMax) run();
  }

 private:
  void run() {
    for (*done_ = 0; *done_ < inputs_.size(); *done_ = *done_ + 1) {
      const pid_t child = ::fork();
      require(child >= 0);
      if (child == 0) check_rest();
      int status = 0;
      require(::waitpid(child, &status, 0) == child);
      if (*done_ == inputs_.size()) break;
      require(!WIFEXITED(status) || WEXITSTATUS(status) != kRequirementFailed);
      const bool is_timeout = WIFSIGNALED(status) && WTERMSIG(status) == SIGPROF;
      ++(is_timeout ? timeout_count_ : crash_count_);
      on_loss_(inputs_[*done_], is_timeout);
    }
    inputs_.clear();
  }

  [[noreturn]] void check_rest() const {
    constexpr itimerval kProcessorTimeMax{{0, 0}, {0, 300'000}};  // of one input
    constexpr std::uint64_t kMemoryMax = std::uint64_t{1} << 30;
    is_child() = true;
    for (const int signal : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE}) ::signal(signal, SIG_DFL);
    const rlimit no_core{0, 0};
    ::setrlimit(RLIMIT_CORE, &no_core);
    test_support::limit_memory(kMemoryMax);
    for (; *done_ < inputs_.size(); *done_ = *done_ + 1) {
      ::setitimer(ITIMER_PROF, &kProcessorTimeMax, nullptr);
      check_(inputs_[*done_]);
    }
    ::_exit(0);
  }

  std::function<void(const Input&)> check_;
  std::function<void(const Input&, bool)> on_loss_;
  std::vector<Input> inputs_;
  volatile std::size_t* done_ = nullptr;  ///< number of inputs checked; shared with the child
  int crash_count_ = 0;
  int timeout_count_ = 0;
};

}  // namespace fuzz
