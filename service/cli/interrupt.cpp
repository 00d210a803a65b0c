#include "service/cli/interrupt.hpp"

#include <csignal>

namespace service {
namespace {

std::atomic<bool> interrupted{false};
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler may not wait");

void on_interrupt(int) {
  interrupted.store(true);
  std::signal(SIGINT, SIG_DFL);
}

}  // namespace

InterruptFlag::InterruptFlag() {
  interrupted.store(false);
  std::signal(SIGINT, on_interrupt);
}

InterruptFlag::~InterruptFlag() { std::signal(SIGINT, SIG_DFL); }

const std::atomic<bool>& InterruptFlag::flag() const { return interrupted; }

}  // namespace service
