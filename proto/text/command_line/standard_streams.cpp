#include "proto/text/command_line/standard_streams.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <utility>

#include "proto/text/printable.hpp"

namespace proto {
namespace {

constexpr int kOutputFailed = 1;  // exit status

/// Opens each closed stream in the wrong direction, so that using it still fails.
void occupy_closed_streams() {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(descriptor, F_GETFD) >= 0 || errno != EBADF) continue;
    // This is the lowest free descriptor, as all below it are in use.
    if (::open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY) < 0) return;
  }
}

bool ignores_sigpipe() {
  struct sigaction action {};
  return ::sigaction(SIGPIPE, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

bool reader_has_left() {
  pollfd out{STDOUT_FILENO, POLLOUT, 0};
  return ::poll(&out, 1, 0) == 1 && (out.revents & POLLERR) != 0;
}

}  // namespace

/// Filters a stream's output for its lifetime, in front of the stream's buffer.
class StandardStreams::OutputFilter final : public std::streambuf {
 public:
  explicit OutputFilter(std::ostream& stream) : stream_(stream), behind_(stream.rdbuf(this)) {}
  ~OutputFilter() override {
    pass_rest();
    stream_.rdbuf(behind_);
  }

  bool write_as_it_is(std::string_view text) {
    const auto size = static_cast<std::streamsize>(text.size());
    return pass_rest() && behind_->sputn(text.data(), size) == size;
  }

  /// Returns errno of the first failed write; 0: none failed, or the reason is unknown.
  int failure() const { return failure_; }

 private:
  int_type overflow(int_type c) override {
    if (traits_type::eq_int_type(c, traits_type::eof())) return traits_type::not_eof(c);
    const char byte = traits_type::to_char_type(c);
    return xsputn(&byte, 1) == 1 ? c : traits_type::eof();
  }

  std::streamsize xsputn(const char* data, std::streamsize size) override {
    rest_.append(data, static_cast<std::size_t>(size));
    const std::size_t kept = incomplete_character_size(rest_);
    return pass(rest_.size() - kept) ? size : 0;
  }

  int sync() override { return pass_rest() && behind_->pubsync() == 0 ? 0 : -1; }

  bool pass_rest() { return pass(rest_.size()); }

  bool pass(std::size_t count) {
    const std::string text = escape_lines_for_terminal(std::string_view(rest_).substr(0, count));
    rest_.erase(0, count);
    const auto size = static_cast<std::streamsize>(text.size());
    errno = 0;
    if (behind_->sputn(text.data(), size) == size) return true;
    if (failure_ == 0) failure_ = errno;
    return false;
  }

  std::ostream& stream_;
  std::streambuf* behind_;
  std::string rest_;  // incomplete character at the end of the output
  int failure_ = 0;
};

StandardStreams::StandardStreams(std::string program)
    : program_(std::move(program)), ignores_broken_pipes_(ignores_sigpipe()) {
  occupy_closed_streams();
  out_ = std::make_unique<OutputFilter>(std::cout);
  err_ = std::make_unique<OutputFilter>(std::cerr);
}

StandardStreams::~StandardStreams() = default;

int StandardStreams::finish(int exit_code) {
  errno = 0;
  std::cout.flush();
  const int flushed = std::fflush(stdout);
  const int reason = out_->failure() != 0 ? out_->failure() : errno;
  if (std::cout.good() && flushed == 0 && std::ferror(stdout) == 0) return exit_code;
  if (!ignores_broken_pipes_ && (reason == EPIPE || reader_has_left())) {
    std::signal(SIGPIPE, SIG_DFL);
    std::raise(SIGPIPE);
  }
  std::cerr << program_ << ": standard output could not be written"
            << (reason == 0 ? "" : std::string(": ") + std::strerror(reason))
            << "; the output is incomplete\n";
  return kOutputFailed;
}

std::ostream& operator<<(std::ostream& stream, TerminalCodes codes) {
  auto* guard = dynamic_cast<StandardStreams::OutputFilter*>(stream.rdbuf());
  if (guard == nullptr) return stream << codes.codes;
  if (!guard->write_as_it_is(codes.codes)) stream.setstate(std::ios::badbit);
  return stream;
}

}  // namespace proto
