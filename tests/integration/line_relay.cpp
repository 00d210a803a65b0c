#include "tests/integration/line_relay.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <utility>

#include "tests/support/wire_messages.hpp"

namespace test_support {
namespace {

constexpr int kLookPeriod_ms = 20;

}  // namespace

LineRelay::LineRelay(std::uint16_t unit_port) : unit_port_(unit_port) {
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
    ::close(host);
    ::close(unit);
  }
}

void LineRelay::relay(int host, int unit) {
  while (!stop_.load()) {
    std::array<pollfd, 2> lines = {{{host, POLLIN, 0}, {unit, POLLIN, 0}}};
    if (::poll(lines.data(), lines.size(), kLookPeriod_ms) < 0) return;
    if (lines[0].revents != 0 && !forward(host, unit, kToUnit)) return;
    if (lines[1].revents != 0 && !forward(unit, host, kToHost)) return;
  }
}

bool LineRelay::forward(int from, int to, Direction direction) {
  std::array<std::uint8_t, 4096> buffer;
  const ssize_t size = ::recv(from, buffer.data(), buffer.size(), 0);
  if (size <= 0) return false;
  const auto bytes = treated(std::span(buffer).first(static_cast<std::size_t>(size)), direction);
  return ::send(to, bytes.data(), bytes.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(bytes.size());
}

std::vector<std::uint8_t> LineRelay::treated(std::span<const std::uint8_t> bytes,
                                             Direction direction) {
  const LineMode mode = mode_.load();
  if (mode == LineMode::kHold) return {};
  std::vector<std::uint8_t> out(bytes.begin(), bytes.end());
  for (std::uint8_t& byte : out) {
    const bool first = std::exchange(after_delimiter_[direction], byte == 0);
    // No frame is as long as its first byte can encode, so the result is no delimiter.
    if (mode == LineMode::kDamage && first && byte != 0) byte ^= 0x80;
  }
  if (mode != LineMode::kLoseChannel || direction == kToUnit) return out;
  out.clear();
  constexpr sample_shape kShape{2, 1, false};  // of the simulated Furuta pendulum
  for (const std::uint8_t byte : bytes) {
    if (!from_unit_.push(byte)) continue;
    WireBytes message(from_unit_.message().begin(), from_unit_.message().end());
    if (sample_report sample{};
        sample_report_decode(message.data(), message.size(), kShape, &sample)) {
      sample.encoders_valid = static_cast<std::uint16_t>(sample.encoders_valid & ~2U);
      message = message_of(sample, kShape);
    }
    const WireBytes frame = frame_of(message);
    out.insert(out.end(), frame.begin(), frame.end());
  }
  return out;
}

}  // namespace test_support
