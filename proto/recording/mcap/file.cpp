#include "proto/recording/mcap/file.hpp"

#include <fmt/core.h>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <utility>

namespace proto {
namespace {

Error system_error(const std::string& path, const char* doing, int error_number) {
  ErrorCode code = ErrorCode::kInputOutput;
  // A quota or a limit on file size is reported as a full disk.
  if (error_number == ENOSPC || error_number == EDQUOT || error_number == EFBIG) {
    code = ErrorCode::kDiskFull;
  } else if (error_number == ENOENT) {
    code = ErrorCode::kNotFound;
  } else if (error_number == EEXIST) {
    code = ErrorCode::kExists;
  }
  return {code, path + ": " + doing + ": " + std::strerror(error_number)};
}

class FileDescriptor {
 public:
  explicit FileDescriptor(int number) : number_(number) {}
  ~FileDescriptor() {
    if (number_ >= 0) ::close(number_);
  }
  FileDescriptor(FileDescriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&&) = delete;

  int get() const { return number_; }

 private:
  int number_;
};

Status sync_parent(const std::string& path) {
  const auto parent = std::filesystem::path(path).parent_path();
  const std::string folder = parent.empty() ? "." : parent.string();
  const FileDescriptor directory(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (directory.get() < 0 || ::fsync(directory.get()) != 0) {
    return system_error(folder, "cannot sync the new name to disk", errno);
  }
  return success();
}

// Renames the .part file, whose content is durable, unless the name is taken.
Status give_name(const std::string& path) {
  const std::string part = part_file_path(path);
  if (::renameat2(AT_FDCWD, part.c_str(), AT_FDCWD, path.c_str(), RENAME_NOREPLACE) != 0) {
    if (errno != EINVAL) return system_error(path, "cannot rename the finished file", errno);
    // Network file systems lack RENAME_NOREPLACE; link() does not replace either.
    if (::link(part.c_str(), path.c_str()) != 0) {
      return system_error(path, "cannot rename the finished file", errno);
    }
    ::unlink(part.c_str());
  }
  return sync_parent(path);
}

// Returns whether another process is writing a .part file: it holds a lock that ends with the
// process. File systems without locks give no information.
bool is_being_written(const std::string& part) {
  const FileDescriptor file(::open(part.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  return file.get() >= 0 && ::flock(file.get(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

class PosixOutputFile final : public OutputFile {
 public:
  PosixOutputFile(FileDescriptor file, std::string path)
      : file_(std::move(file)), path_(std::move(path)) {}

  Status append(std::span<const std::uint8_t> bytes) override {
    while (!bytes.empty()) {
      const ssize_t count =
          ::pwrite(file_.get(), bytes.data(), bytes.size(), static_cast<off_t>(size_bytes_));
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return system_error(part_file_path(path_), "cannot write", errno);
      size_bytes_ += static_cast<std::uint64_t>(count);
      bytes = bytes.subspan(static_cast<std::size_t>(count));
    }
    return success();
  }

  Status truncate(std::uint64_t size_bytes) override {
    if (::ftruncate(file_.get(), static_cast<off_t>(size_bytes)) != 0) {
      return system_error(part_file_path(path_), "cannot truncate", errno);
    }
    size_bytes_ = size_bytes;
    reserved_end_ = 0;
    return success();
  }

  Status reserve(std::uint64_t size_bytes) override {
    const std::uint64_t end = size_bytes_ + size_bytes;
    if (end <= reserved_end_) return success();
    if (::fallocate(file_.get(), FALLOC_FL_KEEP_SIZE, static_cast<off_t>(size_bytes_),
                    static_cast<off_t>(size_bytes)) == 0) {
      reserved_end_ = end;
      return success();
    }
    if (errno == ENOSPC || errno == EDQUOT || errno == EFBIG) {
      return system_error(part_file_path(path_), "cannot reserve space", errno);
    }
    return success();
  }

  Status sync() override {
    if (::fdatasync(file_.get()) != 0) {
      return system_error(part_file_path(path_), "cannot sync to disk", errno);
    }
    return check_not_removed(part_file_path(path_));
  }

  Status publish() override {
    // Releases reserved blocks beyond the end.
    if (Status cut = truncate(size_bytes_); !cut.ok()) return cut;
    if (Status synced = sync(); !synced.ok()) return synced;
    return give_name(path_);
  }

 private:
  FileDescriptor file_;
  std::string path_;
  std::uint64_t size_bytes_ = 0;
  std::uint64_t reserved_end_ = 0;
};

class PosixInputFile final : public InputFile {
 public:
  PosixInputFile(FileDescriptor file, std::string path, std::uint64_t size_bytes)
      : file_(std::move(file)), path_(std::move(path)), size_bytes_(size_bytes) {}

  std::uint64_t size_bytes() const override { return size_bytes_; }

  Status read(std::uint64_t offset, std::span<std::uint8_t> out) const override {
    while (!out.empty()) {
      const ssize_t count =
          ::pread(file_.get(), out.data(), out.size(), static_cast<off_t>(offset));
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return system_error(path_, "cannot read", errno);
      if (count == 0) return Error{ErrorCode::kInputOutput, path_ + ": shrank while being read"};
      offset += static_cast<std::uint64_t>(count);
      out = out.subspan(static_cast<std::size_t>(count));
    }
    return success();
  }

  std::uint64_t skip_hole(std::uint64_t offset) const override {
    const off_t data = ::lseek(file_.get(), static_cast<off_t>(offset), SEEK_DATA);
    if (data >= 0) return static_cast<std::uint64_t>(data);
    return errno == ENXIO ? size_bytes_ : offset;  // ENXIO: the hole extends to the end
  }

 private:
  FileDescriptor file_;
  std::string path_;
  std::uint64_t size_bytes_;
};

}  // namespace

std::string part_file_path(const std::string& path) { return path + ".part"; }

Status check_not_removed(const std::string& path) {
  if (::access(path.c_str(), F_OK) == 0 || (errno != ENOENT && errno != ENOTDIR)) return success();
  return Error{ErrorCode::kNotFound,
               fmt::format("{}: was removed or moved away while it was being written", path)};
}

Status check_path_is_free(const std::string& path) {
  if (::access(path.c_str(), F_OK) == 0) {
    return Error{ErrorCode::kExists,
                 path + ": exists already; choose another name or move it away"};
  }
  if (is_being_written(part_file_path(path))) {
    return Error{ErrorCode::kExists, part_file_path(path) +
                                         ": is being written by another program; "
                                         "choose another name, or wait until it has ended"};
  }
  if (::access(part_file_path(path).c_str(), F_OK) == 0) {
    return Error{ErrorCode::kExists, part_file_path(path) +
                                         ": left by an interrupted run; "
                                         "'rigcal recover' reads a recording, "
                                         "anything else can be deleted"};
  }
  return success();
}

Status publish_part_file(const std::string& path) {
  const FileDescriptor file(
      ::open(part_file_path(path).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (file.get() < 0 || ::fsync(file.get()) != 0) {
    return system_error(part_file_path(path), "cannot sync to disk", errno);
  }
  return give_name(path);
}

Result<std::unique_ptr<OutputFile>> create_output_file(const std::string& path) {
  if (Status free = check_path_is_free(path); !free.ok()) return free.error();
  const std::string part = part_file_path(path);
  FileDescriptor file(::open(part.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0640));
  if (file.get() < 0) return system_error(part, "cannot create", errno);
  static_cast<void>(::flock(file.get(), LOCK_EX | LOCK_NB));
  return std::unique_ptr<OutputFile>(std::make_unique<PosixOutputFile>(std::move(file), path));
}

Result<std::unique_ptr<InputFile>> open_input_file(const std::string& path, SymlinkPolicy links) {
  const int no_links = links == SymlinkPolicy::kRefuse ? O_NOFOLLOW : 0;
  FileDescriptor file(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | no_links));
  if (file.get() < 0) return system_error(path, "cannot be opened", errno);
  struct stat facts {};
  if (::fstat(file.get(), &facts) != 0) return system_error(path, "cannot be opened", errno);
  if (!S_ISREG(facts.st_mode)) {
    return Error{ErrorCode::kUnsupported, path + ": is not a regular file"};
  }
  return std::unique_ptr<InputFile>(std::make_unique<PosixInputFile>(
      std::move(file), path, static_cast<std::uint64_t>(facts.st_size)));
}

}  // namespace proto
