#include "tests/firmware/host_line.hpp"

#include <linux/sockios.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>

namespace test_support {
namespace {

constexpr int kPriority = 46;  // below that of rigcal-daq, above that of QEMU
constexpr int kStopPoll_ms = 50;
constexpr std::size_t kFramesMax = 4096;

}  // namespace

void ask_for_real_time(int priority) {
  const sched_param parameters{.sched_priority = priority};
  ::sched_setscheduler(0, SCHED_FIFO, &parameters);
}

HostLine::HostLine(int unit, std::uint16_t port)
    : unit_(unit), listener_(port), thread_([this] { run(); }) {}

HostLine::~HostLine() {
  stop_.store(true);
  thread_.join();
  if (host_ >= 0) ::close(host_);
  ::close(unit_);
}

// For a local socket the kernel counts the bytes that the other end has not read.
std::uint64_t HostLine::bytes_to_unit() const {
  const std::uint64_t taken = taken_.load();
  int waiting = 0;
  ::ioctl(unit_, SIOCOUTQ, &waiting);
  return waiting == 0 ? taken : 0;
}

void HostLine::run() {
  ask_for_real_time(kPriority);
  while (!stop_.load()) {
    std::array<pollfd, 2> waits = {
        {{unit_, POLLIN, 0}, {host_ >= 0 ? host_ : listener_.socket(), POLLIN, 0}}};
    if (::poll(waits.data(), waits.size(), kStopPoll_ms) <= 0) continue;
    if (waits[0].revents != 0) forward_to_host();
    if (waits[1].revents == 0) continue;
    if (host_ < 0) {
      accept_host();
    } else {
      forward_to_unit();
    }
  }
}

void HostLine::accept_host() {
  host_ = listener_.accept();
  frames_.clear();
}

void HostLine::forward_to_unit() {
  std::array<std::uint8_t, 4096> buffer{};
  const ssize_t size = ::recv(host_, buffer.data(), buffer.size(), 0);
  if (size <= 0) {
    ::close(host_);
    host_ = -1;
    return;
  }
  ::send(unit_, buffer.data(), static_cast<std::size_t>(size), MSG_NOSIGNAL);
  taken_.fetch_add(static_cast<std::uint64_t>(size));
}

void HostLine::forward_to_host() {
  std::array<std::uint8_t, 4096> buffer{};
  const ssize_t size = ::recv(unit_, buffer.data(), buffer.size(), 0);
  if (size <= 0) {
    stop_.store(true);  // QEMU has ended
    return;
  }
  frames_.insert(frames_.end(), buffer.begin(), buffer.begin() + size);
  const auto end = std::find(frames_.rbegin(), frames_.rend(), std::uint8_t{0}).base();
  if (end == frames_.begin() && frames_.size() < kFramesMax) return;
  const auto whole = end == frames_.begin() ? frames_.end() : end;
  if (host_ >= 0) {
    ::send(host_, frames_.data(), static_cast<std::size_t>(whole - frames_.begin()),
           MSG_NOSIGNAL | MSG_DONTWAIT);
  }
  frames_.erase(frames_.begin(), whole);
}

}  // namespace test_support
