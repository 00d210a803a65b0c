#include "proto/text/files.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "proto/text/input_error.hpp"

namespace proto {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const std::string& path, const std::string& what, int error) {
  throw InputError(path + ": " + what + ": " + std::strerror(error));
}

/// A file that is removed unless it was renamed.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& target)
      : target_(target), name_(target + ".part-" + std::string(6, 'X')) {
    descriptor_ = ::mkstemp(name_.data());
    if (descriptor_ < 0) fail(target_, "cannot be written", errno);
    // mkstemp makes files private; an output is an ordinary file.
    const mode_t mask = ::umask(0);
    ::umask(mask);
    ::fchmod(descriptor_, 0666 & ~mask);
  }
  ~TemporaryFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
    if (!name_.empty()) ::unlink(name_.c_str());
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  void write(std::string_view contents) {
    while (!contents.empty()) {
      const ssize_t written = ::write(descriptor_, contents.data(), contents.size());
      if (written < 0) {
        if (errno == EINTR) continue;
        fail(target_, "cannot be written", errno);
      }
      contents.remove_prefix(static_cast<std::size_t>(written));
    }
    if (::fsync(descriptor_) != 0) fail(target_, "cannot be written", errno);
  }

  void rename() {
    if (::rename(name_.c_str(), target_.c_str()) != 0) {
      fail(target_, "cannot be replaced", errno);
    }
    name_.clear();
  }

 private:
  std::string target_;
  std::string name_;
  int descriptor_ = -1;
};

}  // namespace

std::string read_file(const std::string& path, std::size_t size_bytes_max) {
  std::error_code error;
  if (fs::is_directory(path, error)) {
    throw InputError(path + ": is a folder; name a file in it");
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) fail(path, "cannot be opened", errno);
  // In pieces: a device or a pipe does not say beforehand how much it will bring.
  constexpr std::size_t kPiece = std::size_t{1} << 20;
  std::string contents;
  while (file && contents.size() <= size_bytes_max) {
    const std::size_t had = contents.size();
    contents.resize(had + kPiece);
    file.read(contents.data() + had, kPiece);
    contents.resize(had + static_cast<std::size_t>(file.gcount()));
  }
  if (file.bad()) fail(path, "cannot be read", errno);
  if (contents.size() > size_bytes_max) {
    throw InputError(path + ": is larger than " + std::to_string(size_bytes_max >> 20) +
                     " MiB, the most that is read of such a file; name another one");
  }
  return contents;
}

std::string_view without_byte_order_mark(std::string_view text) {
  constexpr std::string_view kMark = "\xEF\xBB\xBF";
  if (text.starts_with(kMark)) text.remove_prefix(kMark.size());
  return text;
}

void write_file(const std::string& path, std::string_view contents) {
  TemporaryFile file(path);
  file.write(contents);
  file.rename();
}

void check_output(const std::string& output, const std::vector<std::string>& inputs) {
  for (const std::string& input : inputs) {
    std::error_code error;
    if (fs::equivalent(output, input, error) && !error) {
      throw InputError(output + ": is an input and is not written over; name another output file");
    }
  }
  fs::path folder = fs::path(output).parent_path();
  if (folder.empty()) folder = ".";
  std::error_code error;
  if (!fs::is_directory(folder, error)) {
    throw InputError(output + ": the folder " + folder.string() + " does not exist; make it first");
  }
  if (::access(folder.c_str(), W_OK) != 0) fail(output, "cannot be written", errno);
  if (fs::is_directory(output, error)) {
    throw InputError(output + ": is a folder; name a file in it");
  }
}

}  // namespace proto
