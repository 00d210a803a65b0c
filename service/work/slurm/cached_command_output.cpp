#include "service/work/slurm/cached_command_output.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <utility>

#include "proto/notation/number_format.hpp"
#include "proto/text/files.hpp"
#include "proto/text/input_error.hpp"

namespace service {
namespace {

/// Returns the time of a clock that all processes share [s].
double shared_time() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

struct TimedAnswer {
  double time = 0.0;  ///< when the command was started [s]; 0: never
  std::string text;
};

TimedAnswer read_answer(const std::string& file) {
  try {
    const std::string content = proto::read_file(file, proto::kTableSizeMax);
    const std::size_t end = content.find('\n');
    if (end == std::string::npos) return {};
    return {std::strtod(content.c_str(), nullptr), content.substr(end + 1)};
  } catch (const proto::InputError&) {
    return {};
  }
}

/// Locks a file until the handle is destroyed. Returns null if another process has the lock.
std::shared_ptr<const int> try_to_lock(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (descriptor < 0) {
    throw proto::InputError(path + ": cannot be written; this user must have write permission");
  }
  const std::shared_ptr<const int> lock(new int(descriptor), [](const int* open) {
    ::close(*open);
    delete open;
  });
  return ::flock(descriptor, LOCK_EX | LOCK_NB) == 0 ? lock : nullptr;
}

}  // namespace

CachedCommandOutput::CachedCommandOutput(std::string file, double interval)
    : file_(std::move(file)), interval_(interval), begin_(shared_time()) {}

std::optional<std::string> CachedCommandOutput::read(
    const std::function<std::string()>& renew) const {
  TimedAnswer answer = read_answer(file_);
  // A clock that was set back makes an answer too old, too.
  const auto is_old = [&] {
    const double age = shared_time() - answer.time;
    return age < 0.0 || age >= interval_;
  };
  if (is_old()) {
    if (const auto lock = try_to_lock(file_ + ".lock")) {
      answer = read_answer(file_);
      if (is_old()) {
        answer = {shared_time(), renew()};
        const std::string fresh = file_ + ".new";
        proto::write_file(fresh, notation::format_exact(answer.time) + "\n" + answer.text);
        std::filesystem::rename(fresh, file_);
      }
    }
  }
  if (answer.time < begin_) return std::nullopt;
  return answer.text;
}

}  // namespace service
