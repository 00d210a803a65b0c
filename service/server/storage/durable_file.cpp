#include "service/server/storage/durable_file.hpp"

#include <fcntl.h>
#include <google/protobuf/message.h>
#include <google/protobuf/text_format.h>
#include <sys/file.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "proto/recording/mcap/file.hpp"
#include "service/server/storage/log.hpp"

namespace service {
namespace {

namespace fs = std::filesystem;
using proto::Error;
using proto::ErrorCode;
using proto::Status;

Error system_error(const std::string& path, const char* doing) {
  const int number = errno;
  const bool full = number == ENOSPC || number == EDQUOT || number == EFBIG;
  return {full ? ErrorCode::kDiskFull : ErrorCode::kInputOutput,
          path + ": " + doing + ": " + std::strerror(number)};
}

// A descriptor that is closed at the end of its scope.
class Descriptor {
 public:
  Descriptor(const std::string& path, int flags)
      : number_(::open(path.c_str(), flags | O_CLOEXEC | O_NOFOLLOW, 0600)) {}
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return number_; }

 private:
  int number_;
};

Status write_and_sync(const std::string& path, std::string_view content) {
  const Descriptor file(path, O_WRONLY | O_CREAT | O_TRUNC);
  if (file.get() < 0) return system_error(path, "cannot create");
  while (!content.empty()) {
    const ssize_t count = ::write(file.get(), content.data(), content.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return system_error(path, "cannot write");
    content.remove_prefix(static_cast<std::size_t>(count));
  }
  if (::fsync(file.get()) != 0) return system_error(path, "cannot sync to disk");
  return proto::success();
}

std::string parent_of(const std::string& path) {
  const fs::path parent = fs::path(path).parent_path();
  return parent.empty() ? "." : parent.string();
}

}  // namespace

Status sync_folder(const std::string& folder) {
  const Descriptor directory(folder, O_RDONLY | O_DIRECTORY);
  if (directory.get() < 0 || ::fsync(directory.get()) != 0) {
    return system_error(folder, "cannot sync to disk");
  }
  return proto::success();
}

Status sync_files_in_folder(const std::string& folder) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (!entry.is_regular_file()) continue;
    const Descriptor file(entry.path().string(), O_RDONLY);
    if (file.get() < 0 || ::fsync(file.get()) != 0) {
      return system_error(entry.path().string(), "cannot sync to disk");
    }
  }
  if (error) return Error{ErrorCode::kInputOutput, folder + ": " + error.message()};
  return sync_folder(folder);
}

Status write_durably(const std::string& path, std::string_view content) {
  const fs::path target(path);
  const std::string temporary = parent_of(path) + "/.new-" + target.filename().string();
  Status status = write_and_sync(temporary, content);
  if (status.ok() && ::rename(temporary.c_str(), path.c_str()) != 0) {
    status = system_error(path, "cannot rename the temporary file to this name");
  }
  if (!status.ok()) {
    ::unlink(temporary.c_str());
    return status;
  }
  return sync_folder(parent_of(path));
}

proto::Result<std::string> read_small_file(const std::string& path, std::uint64_t size_bytes_max) {
  auto file = proto::open_input_file(path, proto::SymlinkPolicy::kRefuse);
  if (!file.ok()) return file.error();
  const std::uint64_t size = file.value()->size_bytes();
  if (size > size_bytes_max) {
    return Error{ErrorCode::kTooLarge, path + ": has " + std::to_string(size) +
                                           " bytes, more than the " +
                                           std::to_string(size_bytes_max) + " allowed"};
  }
  std::string content(size, '\0');
  if (Status read =
          file.value()->read(0, {reinterpret_cast<std::uint8_t*>(content.data()), content.size()});
      !read.ok()) {
    return read.error();
  }
  return content;
}

Status remove_folder(const std::string& folder) {
  const std::string doomed =
      parent_of(folder) + "/.deleted-" + fs::path(folder).filename().string();
  std::error_code error;
  fs::remove_all(doomed, error);
  if (::rename(folder.c_str(), doomed.c_str()) != 0 && errno != ENOENT) {
    return system_error(folder, "cannot delete");
  }
  if (Status synced = sync_folder(parent_of(folder)); !synced.ok()) return synced;
  fs::remove_all(doomed, error);
  if (error) return Error{ErrorCode::kInputOutput, doomed + ": " + error.message()};
  return proto::success();
}

proto::Result<std::vector<std::string>> open_item_folders(const std::string& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (!error) delete_unfinished_entries(folder);
  std::vector<std::string> names;
  auto entry = error ? fs::directory_iterator() : fs::directory_iterator(folder, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    std::error_code ignored;
    if (entry->is_symlink(ignored)) {
      log_event(LogLevel::kError, "symbolic_link_ignored", {{"path", entry->path().string()}});
      continue;
    }
    if (entry->is_directory(ignored)) names.push_back(entry->path().filename().string());
  }
  // An unreadable folder must not look like an empty one.
  if (!error && fs::is_symlink(folder)) error = std::make_error_code(std::errc::not_a_directory);
  if (!error && ::access(folder.c_str(), R_OK | W_OK | X_OK) != 0) {
    error = {errno, std::generic_category()};
  }
  if (!error) return names;
  return Error{ErrorCode::kInputOutput, folder + ": " + error.message() +
                                            "; the service must be able to read and write there"};
}

void delete_unfinished_entries(const std::string& folder) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    std::error_code ignored;  // retried at the next start
    if (entry.path().filename().string().starts_with('.')) fs::remove_all(entry.path(), ignored);
  }
}

std::uint64_t free_disk_space_bytes(const std::string& folder) {
  struct statvfs facts {};
  if (::statvfs(folder.c_str(), &facts) != 0) return 0;
  return std::uint64_t{facts.f_bavail} * facts.f_frsize;
}

Status check_disk_space(const std::string& folder, std::uint64_t needed_bytes) {
  const std::uint64_t free = free_disk_space_bytes(folder);
  if (free >= needed_bytes) return proto::success();
  return Error{ErrorCode::kDiskFull, "the service's disk has " + std::to_string(free >> 20) +
                                         " MiB left, and must keep " +
                                         std::to_string(needed_bytes >> 20) +
                                         " MiB free; delete sessions or make room"};
}

std::uint64_t folder_size_bytes(const std::string& folder) {
  std::uint64_t size_bytes = 0;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const std::uint64_t size = entry.is_regular_file(error) ? entry.file_size(error) : 0;
    if (!error) size_bytes += size;
  }
  return size_bytes;
}

proto::Result<std::shared_ptr<const void>> lock_folder(const std::string& folder) {
  const std::string path = folder + "/lock";
  const auto file = std::make_shared<const Descriptor>(path, O_RDWR | O_CREAT);
  if (file->get() < 0) return system_error(path, "cannot be opened");
  if (::flock(file->get(), LOCK_EX | LOCK_NB) != 0) {
    return Error{ErrorCode::kExists,
                 folder + ": is in use by another rigcald; stop that one or name another folder"};
  }
  return std::shared_ptr<const void>(file);
}

proto::Status save_record(const std::string& path, const google::protobuf::Message& record) {
  std::string text;
  google::protobuf::TextFormat::PrintToString(record, &text);
  return write_durably(path, text);
}

proto::Status create_record_folder(const std::string& folder, const std::string& name,
                                   const google::protobuf::Message& record) {
  const fs::path target(folder);
  const std::string unfinished =
      (target.parent_path() / (".new-" + target.filename().string())).string();
  std::error_code error;
  fs::remove_all(unfinished, error);
  if (!fs::create_directory(unfinished, error)) {
    const bool full = error == std::errc::no_space_on_device;
    return Error{full ? ErrorCode::kDiskFull : ErrorCode::kInputOutput,
                 unfinished + ": cannot create: " + error.message()};
  }
  if (proto::Status saved = save_record(unfinished + '/' + name, record); !saved.ok()) {
    fs::remove_all(unfinished, error);
    return saved;
  }
  fs::rename(unfinished, folder, error);
  if (error) return Error{ErrorCode::kInputOutput, folder + ": " + error.message()};
  return sync_folder(target.parent_path().string());
}

proto::Status load_record(const std::string& path, google::protobuf::Message& record) {
  constexpr std::uint64_t kSizeMax = 8u << 20;
  const auto text = read_small_file(path, kSizeMax);
  if (!text.ok()) return text.error();
  if (!google::protobuf::TextFormat::ParseFromString(text.value(), &record)) {
    return Error{ErrorCode::kDamaged, path + ": does not parse"};
  }
  return proto::success();
}

}  // namespace service
