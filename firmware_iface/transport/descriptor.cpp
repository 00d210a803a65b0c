#include "firmware_iface/transport/descriptor.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <system_error>

namespace firmware_iface {

void Descriptor::reset() noexcept {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

Nanoseconds monotonic_now() noexcept {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return std::chrono::seconds(time.tv_sec) + Nanoseconds(time.tv_nsec);
}

IoStatus wait_until_readable(int fd, Nanoseconds deadline) noexcept {
  for (;;) {
    const Nanoseconds left = std::max(deadline - monotonic_now(), Nanoseconds(0));
    const timespec timeout{left.count() / 1'000'000'000, left.count() % 1'000'000'000};
    pollfd wait{fd, POLLIN, 0};
    const int ready = ppoll(&wait, 1, &timeout, nullptr);
    if (ready > 0) {
      // Data that arrived before the hang-up can still be read.
      if ((wait.revents & POLLIN) != 0) return IoStatus::kOk;
      return IoStatus::kClosed;
    }
    if (ready == 0) return IoStatus::kTimeout;
    if (errno != EINTR) return IoStatus::kClosed;
  }
}

IoResult read_descriptor(int fd, std::span<std::uint8_t> buffer, Nanoseconds deadline) noexcept {
  for (;;) {
    const IoStatus status = wait_until_readable(fd, deadline);
    if (status != IoStatus::kOk) return {status, 0};
    const ssize_t size_bytes = ::read(fd, buffer.data(), buffer.size());
    if (size_bytes > 0) return {IoStatus::kOk, static_cast<std::size_t>(size_bytes)};
    if (size_bytes == 0) return {IoStatus::kClosed, 0};
    if (errno != EINTR && errno != EAGAIN) return {IoStatus::kClosed, 0};
  }
}

IoResult write_descriptor(int fd, DescriptorKind kind,
                          std::span<const std::uint8_t> bytes) noexcept {
  std::size_t written_bytes = 0;
  while (written_bytes < bytes.size()) {
    const std::span<const std::uint8_t> rest = bytes.subspan(written_bytes);
    const ssize_t size_bytes = kind == DescriptorKind::kSocket
                                   ? ::send(fd, rest.data(), rest.size(), MSG_NOSIGNAL)
                                   : ::write(fd, rest.data(), rest.size());
    if (size_bytes > 0) {
      written_bytes += static_cast<std::size_t>(size_bytes);
    } else if (size_bytes < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
      return {IoStatus::kTimeout, written_bytes};
    } else if (size_bytes < 0 && errno != EINTR) {
      return {IoStatus::kClosed, written_bytes};
    }
  }
  return {IoStatus::kOk, written_bytes};
}

std::string describe_errno(int error_number) {
  return std::system_category().message(error_number) + " (errno " + std::to_string(error_number) +
         ")";
}

}  // namespace firmware_iface
