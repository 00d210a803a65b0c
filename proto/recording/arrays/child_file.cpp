#include "proto/recording/arrays/child_file.hpp"

#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <utility>

#include "proto/recording/mcap/byte_cursor.hpp"
#include "proto/text/input_error.hpp"

namespace proto {
namespace {

constexpr std::uint64_t kMemoryMax = std::uint64_t{1} << 30;  // of a child, beyond its start [byte]
constexpr std::uint64_t kBytesPerSecond = std::uint64_t{16} << 20;  // slowest reading of a file
constexpr std::uint64_t kAnswerSizeMax = std::uint64_t{1} << 28;    // of the list of arrays [byte]
constexpr std::uint64_t kDamaged = UINT64_MAX;                      // instead of a size
constexpr unsigned kDurationMax_s = 60;

/// Sends or receives all bytes over a socket. Returns false at its end or for an error.
template <typename Byte, typename Transfer>
bool transfer_all(int socket, std::span<Byte> bytes, const Transfer& transfer) {
  while (!bytes.empty()) {
    const ssize_t count = transfer(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
  return true;
}

bool send_all(int socket, std::span<const std::uint8_t> bytes) {
  return transfer_all(socket, bytes, ::send);
}

bool receive_all(int socket, std::span<std::uint8_t> bytes) {
  return transfer_all(socket, bytes, ::recv);
}

template <typename Number>
bool receive_number(int socket, Number& number) {
  return receive_all(socket, {reinterpret_cast<std::uint8_t*>(&number), sizeof(number)});
}

template <typename Number>
bool send_numbers(int socket, std::span<const Number> numbers) {
  return send_all(socket, {reinterpret_cast<const std::uint8_t*>(numbers.data()),
                           numbers.size() * sizeof(Number)});
}

bool send_number(int socket, std::uint64_t number) {
  return send_numbers(socket, std::span<const std::uint64_t>(&number, 1));
}

void limit_resource(int resource, rlim_t most) {
  const rlimit limit{most, most};
  ::setrlimit(static_cast<__rlimit_resource_t>(resource), &limit);
}

/// Limits the memory and the processor time of this process.
void limit_child(const std::string& path) {
  for (const int signal : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGALRM, SIGXCPU, SIGPIPE}) {
    ::signal(signal, SIG_DFL);
  }
  std::error_code error;
  const std::uint64_t size = std::filesystem::file_size(path, error);
  std::uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  const std::uint64_t memory = pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  limit_resource(RLIMIT_AS, memory + kMemoryMax);
  limit_resource(RLIMIT_CPU, 1 + (error ? 0 : size / kBytesPerSecond));
  limit_resource(RLIMIT_CORE, 0);
  ::alarm(kDurationMax_s);
}

/// Answers the requests of the parent until it closes the socket.
void serve(const std::string& path, const ArrayFileOpener& open, int socket) {
  Bytes answer;
  std::unique_ptr<const ArrayFile> file;
  try {
    file = open(path);
    file->write_list(answer);
  } catch (const InputError& refusal) {
    answer.clear();
    append_bytes(answer, as_bytes(refusal.what()));
  }
  if (!send_number(socket, file ? 1 : 0) || !send_number(socket, answer.size()) ||
      !send_all(socket, answer)) {
    return;
  }
  for (std::uint64_t index = 0; file && receive_number(socket, index);) {
    try {
      const std::vector<double> values = file->read(file->arrays().at(index));
      if (!send_number(socket, values.size()) || !send_numbers(socket, std::span(values))) return;
    } catch (const InputError&) {
      if (!send_number(socket, kDamaged)) return;
    }
  }
}

/// File whose arrays a child process reads.
class ChildFile final : public ArrayFile {
 public:
  ChildFile(const std::string& path, const std::string& library, const ArrayFileOpener& open)
      : ArrayFile(path), library_(library) {
    int sockets[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0) refuse_system();
    child_ = ::fork();
    if (child_ == 0) {
      ::close(sockets[0]);
      limit_child(path);
      try {
        serve(path, open, sockets[1]);
      } catch (const std::exception&) {
        ::_exit(1);  // no memory; the parent reports it
      }
      ::_exit(0);
    }
    socket_ = sockets[0];
    ::close(sockets[1]);
    if (child_ < 0) refuse_system();
    try {
      take_list();
    } catch (...) {
      end_child();
      throw;
    }
  }
  ~ChildFile() override { end_child(); }

 private:
  [[noreturn]] void refuse_system() const {
    throw InputError("{}: cannot be read in a separate process: {}", path_, std::strerror(errno));
  }

  void take_list() {
    std::uint64_t is_open = 0, size = 0;
    if (!receive_number(socket_, is_open) || !receive_number(socket_, size) ||
        size > kAnswerSizeMax) {
      refuse();
    }
    Bytes answer(static_cast<std::size_t>(size));
    if (!receive_all(socket_, answer)) refuse();
    if (is_open == 0) throw InputError(std::string(as_text(answer)));
    ByteCursor cursor(answer);
    if (!read_list(cursor)) refuse();
  }

  [[noreturn]] void refuse() {
    const int status = end_child();
    const bool is_slow =
        WIFSIGNALED(status) &&
        (WTERMSIG(status) == SIGXCPU || WTERMSIG(status) == SIGALRM || WTERMSIG(status) == SIGKILL);
    throw InputError(path_ + (is_slow ? ": takes too long to read; save only the signals"
                                      : ": is damaged: the " + library_ +
                                            " cannot read it; save the file again"));
  }

  /// Ends the child. Returns its status.
  int end_child() {
    int status = 0;
    if (socket_ >= 0) ::close(std::exchange(socket_, -1));
    if (child_ <= 0) return status;
    while (::waitpid(child_, &status, 0) < 0 && errno == EINTR) {
    }
    child_ = -1;
    return status;
  }

  std::optional<std::vector<double>> read_values(std::size_t index) const override {
    std::uint64_t count = 0;
    if (!send_number(socket_, index) || !receive_number(socket_, count) ||
        count != arrays()[index].count()) {
      return std::nullopt;
    }
    std::vector<double> values(static_cast<std::size_t>(count));
    const std::span bytes(reinterpret_cast<std::uint8_t*>(values.data()), 8 * values.size());
    if (!receive_all(socket_, bytes)) return std::nullopt;
    return values;
  }

  std::string library_;
  pid_t child_ = -1;
  int socket_ = -1;
};

}  // namespace

std::unique_ptr<const ArrayFile> open_in_child(const std::string& path, const std::string& library,
                                               const ArrayFileOpener& open) {
  return std::make_unique<const ChildFile>(path, library, open);
}

}  // namespace proto
