#include "tests/firmware/qemu_unit.hpp"

#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <stdexcept>

#include "tests/support/local_socket.hpp"

namespace test_support {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

// Messages as in firmware/board/qemu/board_qemu.c.
constexpr std::uint8_t kFirstByte = 0x80;
constexpr std::uint8_t kLowBits = 0x7F;
constexpr std::uint32_t kDigit = 0x3F;
constexpr int kBitsPerDigit = 6;
constexpr std::uint8_t kMoreDigits = 0x40;
constexpr std::size_t kAnswerSize = 5;

constexpr int kQemuPriority = 45;

constexpr milliseconds kBootPatience{20'000};
constexpr milliseconds kBootStep{200};

std::vector<std::string> qemu_command(const std::vector<std::string>& options) {
  std::vector<std::string> command = {RIGCAL_QEMU, "-M",   "netduinoplus2", "-display",  "none",
                                      "-monitor",  "none", "-kernel",       RIGCAL_IMAGE};
  for (const std::string descriptor : {"3", "4"}) {
    command.insert(command.end(), {"-chardev", "socket,id=line" + descriptor + ",fd=" + descriptor,
                                   "-serial", "chardev:line" + descriptor});
  }
  command.insert(command.end(), options.begin(), options.end());
  return command;
}

// QEMU's threads pass each byte to one another, which takes half the time on one processor.
void stay_on_one_processor() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  CPU_SET(::sched_getcpu(), &allowed);
  ::sched_setaffinity(0, sizeof allowed, &allowed);
}

}  // namespace

QemuUnit::QemuUnit(const Settings& settings) {
  std::array<int, 2> host_ends{};
  std::array<int, 2> board_ends{};
  for (auto* ends : {&host_ends, &board_ends}) {
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends->data()) != 0) {
      throw std::runtime_error("no sockets for QEMU");
    }
  }
  const auto prepare = [&settings] {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (!settings.in_real_time) return;
    ask_for_real_time(kQemuPriority);
    stay_on_one_processor();
  };
  process_ = std::make_unique<ChildProcess>(qemu_command(settings.options), settings.log_path,
                                            prepare, std::vector<int>{host_ends[1], board_ends[1]});
  ::close(host_ends[1]);
  ::close(board_ends[1]);
  line_ = board_ends[0];
  host_line_ = std::make_unique<HostLine>(host_ends[0], settings.port);
  wait_until_up();
}

QemuUnit::~QemuUnit() {
  if (line_ >= 0) ::close(line_);
}

void QemuUnit::send(const BoardInputs& inputs) {
  number_ = (number_ + 1) & kLowBits;
  std::vector<std::uint8_t> message = {
      static_cast<std::uint8_t>(kFirstByte | static_cast<int>(inputs.misbehaviour) |
                                (inputs.index_passed & 3) << 3 | (inputs.home_closed & 3) << 5),
      number_};
  for (std::size_t k = 0; k < inputs.encoder_counts.size(); ++k) {
    // The change as a timer's counter holds it, modulo 2^32; its sign is the lowest bit.
    const auto change =
        static_cast<std::int32_t>(static_cast<std::uint32_t>(inputs.encoder_counts[k]) -
                                  static_cast<std::uint32_t>(counts_[k]));
    std::uint32_t rest =
        (static_cast<std::uint32_t>(change) << 1) ^ static_cast<std::uint32_t>(change >> 31);
    for (; rest > kDigit; rest >>= kBitsPerDigit) {
      message.push_back(static_cast<std::uint8_t>(kMoreDigits | (rest & kDigit)));
    }
    message.push_back(static_cast<std::uint8_t>(rest));
  }
  counts_ = inputs.encoder_counts;
  if (::send(line_, message.data(), message.size(), MSG_NOSIGNAL) !=
      static_cast<ssize_t>(message.size())) {
    throw std::runtime_error("QEMU has ended: " + log());
  }
}

std::optional<QemuUnit::Answer> QemuUnit::read_answer(steady_clock::time_point end) {
  for (;;) {
    // After an answer that a reset cut off, the next byte is a first byte.
    while (received_.size() > 1) {
      const auto next = std::find_if(received_.begin() + 1, received_.end(),
                                     [](std::uint8_t byte) { return byte >= kFirstByte; });
      const auto size = static_cast<std::size_t>(next - received_.begin());
      if (size >= kAnswerSize && received_.front() >= kFirstByte) break;
      if (next == received_.end()) break;
      received_.erase(received_.begin(), next);
    }
    if (received_.size() >= kAnswerSize) {
      const std::uint32_t command =
          received_[2] | std::uint32_t{received_[3]} << 7 | std::uint32_t{received_[4]} << 14;
      const Answer answer{{(received_[0] & 1) != 0, static_cast<std::int16_t>(command & 0xFFFFU)},
                          received_[1]};
      received_.erase(received_.begin(), received_.begin() + kAnswerSize);
      return answer;
    }
    const auto left = std::chrono::ceil<milliseconds>(end - steady_clock::now());
    if (!readable(line_, static_cast<int>(std::max(left, milliseconds(0)).count()))) {
      return std::nullopt;
    }
    std::array<std::uint8_t, 256> buffer{};
    const ssize_t size = ::recv(line_, buffer.data(), buffer.size(), 0);
    if (size <= 0) throw std::runtime_error("QEMU has ended: " + log());
    received_.insert(received_.end(), buffer.begin(), buffer.begin() + size);
  }
}

std::optional<BoardOutput> QemuUnit::tick(const BoardInputs& inputs, milliseconds patience) {
  const auto end = steady_clock::now() + patience;
  send(inputs);
  while (const std::optional<Answer> answer = read_answer(end)) {
    if (answer->number == number_) return answer->output;
  }
  return std::nullopt;
}

std::optional<BoardOutput> QemuUnit::next_output(milliseconds patience) {
  const std::optional<Answer> answer = read_answer(steady_clock::now() + patience);
  if (!answer) return std::nullopt;
  return answer->output;
}

void QemuUnit::wait_until_up(const BoardInputs& inputs) {
  counts_ = inputs.encoder_counts;  // start of the counters after a reset of the unit
  const auto end = steady_clock::now() + kBootPatience;
  while (!tick(inputs, kBootStep)) {
    if (steady_clock::now() > end) throw std::runtime_error("the image does not answer: " + log());
  }
}

}  // namespace test_support
