#include "tests/integration/line_relay.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "tests/support/wire_messages.hpp"

namespace test_support {
namespace {

constexpr int kLookPeriod_ms = 20;
constexpr sample_shape kShape{2, 1, false};  // of the simulated Furuta pendulum

}  // namespace

LineRelay::LineRelay(std::uint16_t unit_port, LineLies lies)
    : unit_port_(unit_port), lies_(std::move(lies)) {
  thread_ = std::thread([this] { serve(); });
}

LineRelay::~LineRelay() {
  stop_.store(true);
  thread_.join();
}

void LineRelay::serve() {
  while (!stop_.load()) {
    if (!readable(listener_.socket(), kLookPeriod_ms)) continue;
    const int host = listener_.accept();
    const int unit = connect_locally(unit_port_);
    if (unit >= 0) relay(host, unit);
    for (auto& frames : held_) frames.clear();
    ::close(host);
    ::close(unit);
  }
}

void LineRelay::relay(int host, int unit) {
  while (!stop_.load()) {
    std::array<pollfd, 2> lines = {{{host, POLLIN, 0}, {unit, POLLIN, 0}}};
    if (::poll(lines.data(), lines.size(), wait_ms()) < 0) return;
    if (lines[0].revents != 0 && !take(host, kToUnit)) return;
    if (lines[1].revents != 0 && !take(unit, kToHost)) return;
    if (!pass_due(unit, kToUnit) || !pass_due(host, kToHost)) return;
  }
}

// Returns the time until the next held frame is due, at most kLookPeriod_ms.
int LineRelay::wait_ms() const {
  auto until = Clock::now() + std::chrono::milliseconds(kLookPeriod_ms);
  for (const auto& frames : held_) {
    if (!frames.empty()) until = std::min(until, frames.front().due);
  }
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now());
  return std::max(0, static_cast<int>(left.count()));
}

bool LineRelay::take(int from, Direction direction) {
  std::array<std::uint8_t, 4096> buffer;
  const ssize_t size = ::recv(from, buffer.data(), buffer.size(), 0);
  if (size <= 0) return false;
  const auto bytes = std::span(buffer).first(static_cast<std::size_t>(size));
  const LineMode mode = mode_.load();
  if (mode == LineMode::kHold) return true;
  if (mode == LineMode::kDamage) {
    held_[direction].push_back({Clock::now(), damaged(bytes, direction)});
    return true;
  }
  for (const std::uint8_t byte : bytes) {
    after_delimiter_[direction] = byte == 0;
    if (!decoders_[direction].push(byte)) continue;
    HeldFrame frame = altered(decoders_[direction].message(), direction);
    if (!held_[direction].empty()) frame.due = std::max(frame.due, held_[direction].back().due);
    held_[direction].push_back(std::move(frame));
  }
  return true;
}

bool LineRelay::pass_due(int to, Direction direction) {
  std::deque<HeldFrame>& frames = held_[direction];
  while (!frames.empty() && frames.front().due <= Clock::now()) {
    const std::vector<std::uint8_t> bytes = std::move(frames.front().bytes);
    frames.pop_front();
    const ssize_t sent = ::send(to, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent != static_cast<ssize_t>(bytes.size())) return false;
  }
  return true;
}

std::vector<std::uint8_t> LineRelay::damaged(std::span<const std::uint8_t> bytes,
                                             Direction direction) {
  std::vector<std::uint8_t> out(bytes.begin(), bytes.end());
  for (std::uint8_t& byte : out) {
    // No frame is as long as its first byte can encode, so the result is no delimiter.
    if (std::exchange(after_delimiter_[direction], byte == 0) && byte != 0) byte ^= 0x80;
  }
  return out;
}

LineRelay::HeldFrame LineRelay::altered(std::span<const std::uint8_t> message,
                                        Direction direction) {
  HeldFrame frame{Clock::now(), frame_of(message)};
  sample_report sample{};
  command_request command{};
  if (direction == kToHost &&
      sample_report_decode(message.data(), message.size(), kShape, &sample)) {
    if (mode_.load() == LineMode::kLoseChannel) {
      sample.encoders_valid = static_cast<std::uint16_t>(sample.encoders_valid & ~2U);
    }
    if ((sample.status & STATUS_DRIVING) != 0) mode_.store(mode_when_driven_.load());
    if (lies_.sample) lies_.sample(sample);
    if (lies_.sample_delay) frame.due += lies_.sample_delay();
    frame.bytes = frame_of(message_of(sample, kShape));
  } else if (direction == kToUnit &&
             command_request_decode(message.data(), message.size(), kShape.motor_count, &command)) {
    last_command_flags_.store(command.flags);
    if (lies_.command) lies_.command(command);
    if (lies_.command_delay) frame.due += lies_.command_delay();
    frame.bytes = frame_of(message_of(command, kShape.motor_count));
  }
  return frame;
}

}  // namespace test_support
