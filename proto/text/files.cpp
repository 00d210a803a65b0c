#include "proto/text/files.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <utility>

#include "proto/text/input_error.hpp"

namespace proto {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const std::string& path, const std::string& what, int error) {
  throw InputError(path + ": " + what + ": " + std::strerror(error));
}

/// Returns the descriptor of a path such as /dev/stdout or /dev/fd/3; −1 for other paths.
int descriptor_named(const fs::path& path) {
  std::error_code error;
  const fs::path folder =
      fs::canonical(path.parent_path().empty() ? "." : path.parent_path(), error);
  if (error || folder != fs::canonical("/proc/self/fd", error) || error) return -1;
  int descriptor = -1;
  const std::string name = path.filename().string();
  const auto read = std::from_chars(name.data(), name.data() + name.size(), descriptor);
  return read.ec == std::errc() && read.ptr == name.data() + name.size() ? descriptor : -1;
}

/// Destination of an output file.
struct Target {
  fs::path path;         ///< with links followed
  int descriptor = -1;   ///< of this process, if the path refers to one; else −1
  bool special = false;  ///< a device, a pipe, a socket
};

/// Returns the destination after following links. @throws InputError for a dangling link
Target follow_links(const std::string& output) {
  constexpr int kLinksMax = 40;
  Target target{output};
  std::error_code error;
  for (int links = 0;; ++links) {
    target.descriptor = descriptor_named(target.path);
    if (target.descriptor >= 0) return target;
    const fs::file_status status = fs::symlink_status(target.path, error);
    if (!fs::is_symlink(status)) {
      target.special =
          fs::exists(status) && !fs::is_regular_file(status) && !fs::is_directory(status);
      if (links > 0 && !fs::exists(status)) break;
      return target;
    }
    if (links == kLinksMax) break;
    target.path = target.path.parent_path() / fs::read_symlink(target.path, error);
  }
  throw InputError(
      "{}: is a link to {}, which does not exist; remove the link, or choose another file", output,
      target.path.string());
}

/// Open input file, which it closes.
class InputDescriptor {
 public:
  /// Opens a file without waiting for a program that writes to a pipe.
  explicit InputDescriptor(const std::string& path)
      : number_(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY)) {
    if (number_ < 0 || ::fstat(number_, &facts_) != 0) fail(path, "cannot be opened", errno);
  }
  ~InputDescriptor() { ::close(number_); }
  InputDescriptor(const InputDescriptor&) = delete;
  InputDescriptor& operator=(const InputDescriptor&) = delete;

  bool is_pipe() const { return S_ISFIFO(facts_.st_mode); }
  /// Returns the size of a regular file; 0 for any other.
  std::uint64_t size_bytes() const {
    return S_ISREG(facts_.st_mode) ? static_cast<std::uint64_t>(facts_.st_size) : 0;
  }

  /// Returns whether data, or the end of the data, arrive within a time.
  bool wait_for_data(int milliseconds) const {
    pollfd ready{.fd = number_, .events = POLLIN, .revents = 0};
    return ::poll(&ready, 1, milliseconds) != 0;
  }
  /// Makes `read` wait for data.
  void wait_for_all_data() const { ::fcntl(number_, F_SETFL, 0); }

  /// Returns the number of bytes read; 0 at the end, −1 for an error.
  ssize_t read(char* into, std::size_t size) const {
    for (;;) {
      const ssize_t count = ::read(number_, into, size);
      if (count >= 0 || errno != EINTR) return count;
    }
  }

 private:
  int number_;
  struct stat facts_ {};
};

constexpr int kWriterWait_ms = 1000;  // wait for a program that writes to a named pipe

[[noreturn]] void refuse_size(const std::string& path, std::size_t size_bytes_max) {
  throw InputError("{}: is larger than {} MiB, the limit for such files; use another file", path,
                   size_bytes_max >> 20);
}

}  // namespace

std::string read_file(const std::string& path, std::size_t size_bytes_max) {
  std::error_code error;
  if (fs::is_directory(path, error)) {
    throw InputError(path + ": is a folder; give a file name");
  }
  const InputDescriptor file(path);
  if (file.size_bytes() > size_bytes_max) refuse_size(path, size_bytes_max);
  // A program already writes to a pipe that it passes as a descriptor, such as /dev/fd/63.
  if (file.is_pipe() && descriptor_named(path) < 0 && !file.wait_for_data(kWriterWait_ms)) {
    throw InputError(path + ": is a pipe to which no program writes; give a file");
  }
  file.wait_for_all_data();
  // Read in pieces, because the size of a device or pipe is not known beforehand.
  constexpr std::size_t kPiece = std::size_t{1} << 20;
  std::string contents;
  contents.reserve(file.size_bytes() + kPiece);
  for (ssize_t count = 1; count > 0;) {
    const std::size_t had = contents.size();
    contents.resize(had + kPiece);
    count = file.read(contents.data() + had, kPiece);
    if (count < 0) fail(path, "cannot be read", errno);
    contents.resize(had + static_cast<std::size_t>(count));
    if (contents.size() > size_bytes_max) refuse_size(path, size_bytes_max);
  }
  return contents;
}

std::string_view strip_byte_order_mark(std::string_view text) {
  constexpr std::string_view kMark = "\xEF\xBB\xBF";
  if (text.starts_with(kMark)) text.remove_prefix(kMark.size());
  return text;
}

FileWriter::FileWriter(const std::string& path) : name_(path) {
  const Target target = follow_links(path);
  if (target.descriptor >= 0 || target.special) {
    descriptor_ = target.descriptor >= 0
                      ? ::fcntl(target.descriptor, F_DUPFD_CLOEXEC, 0)
                      : ::open(target.path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY);
    if (descriptor_ < 0) fail(name_, "cannot be written", errno);
    return;
  }
  target_ = target.path.string();
  part_ = target_ + ".part-" + std::string(6, 'X');
  descriptor_ = ::mkostemp(part_.data(), O_CLOEXEC);
  if (descriptor_ < 0) {
    const int error = errno;
    part_.clear();
    fail(name_, "cannot be written", error);
  }
  // mkostemp makes files private; an output gets ordinary permissions.
  const mode_t mask = ::umask(0);
  ::umask(mask);
  ::fchmod(descriptor_, 0666 & ~mask);
}

FileWriter::~FileWriter() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!part_.empty()) ::unlink(part_.c_str());
}

void FileWriter::write(std::string_view contents) {
  while (!contents.empty()) {
    const ssize_t written = ::write(descriptor_, contents.data(), contents.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      fail(name_, "cannot be written", errno);
    }
    contents.remove_prefix(static_cast<std::size_t>(written));
  }
}

void FileWriter::finish() {
  if (!part_.empty() && ::fsync(descriptor_) != 0) fail(name_, "cannot be written", errno);
  const int closed = ::close(std::exchange(descriptor_, -1));
  if (closed != 0 && errno != EINTR) fail(name_, "cannot be written", errno);
  if (part_.empty()) return;
  if (::rename(part_.c_str(), target_.c_str()) != 0) fail(name_, "cannot be replaced", errno);
  part_.clear();
}

void write_file(const std::string& path, std::string_view contents) {
  FileWriter file(path);
  file.write(contents);
  file.finish();
}

bool is_among(const std::string& path, const std::vector<std::string>& files) {
  return std::ranges::any_of(files, [&](const std::string& file) {
    std::error_code missing;
    return path == file || fs::equivalent(path, file, missing);
  });
}

void check_output_file(const std::string& output, const std::vector<std::string>& inputs) {
  if (is_among(output, inputs)) {
    throw InputError(output + ": is an input and is not overwritten; choose another output file");
  }
  const Target target = follow_links(output);
  if (target.descriptor >= 0) return;
  if (target.special) {
    if (::access(target.path.c_str(), W_OK) != 0) fail(output, "cannot be written", errno);
    return;
  }
  fs::path folder = target.path.parent_path();
  if (folder.empty()) folder = ".";
  std::error_code error;
  if (!fs::is_directory(folder, error)) {
    throw InputError(output + ": the folder " + folder.string() + " does not exist; make it first");
  }
  if (::access(folder.c_str(), W_OK) != 0) fail(output, "cannot be written", errno);
  if (fs::is_directory(output, error)) {
    throw InputError(output + ": is a folder; give a file name");
  }
}

void check_overwriting(const std::string& output, bool may_overwrite) {
  const Target target = follow_links(output);
  std::error_code error;
  const bool is_file = target.descriptor < 0 && !target.special && fs::exists(target.path, error);
  if (may_overwrite || !is_file) return;
  throw InputError(output + ": exists; give another file name, or --force to overwrite it");
}

void check_file_extension(const std::string& output, const std::vector<std::string>& endings) {
  std::string choice;
  for (const std::string& ending : endings) {
    if (output.ends_with(ending)) return;
    choice += (choice.empty() ? "" : " or ") + ending;
  }
  const Target target = follow_links(output);
  if (target.special || target.descriptor >= 0) return;
  throw InputError(output + ": give a name that ends in " + choice);
}

}  // namespace proto
