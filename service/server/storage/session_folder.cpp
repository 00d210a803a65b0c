#include "service/server/storage/session_folder.hpp"

#include <filesystem>

#include "service/server/storage/durable_file.hpp"
#include "service/server/storage/record_file.hpp"

namespace service {

namespace fs = std::filesystem;
using proto::Error;
using proto::ErrorCode;
using proto::Status;
using rigcal::v1::SessionInfo;

Status save_session(const std::string& folder, const SessionInfo& info, const std::string& secret) {
  rigcal::v1::SessionRecord record;
  *record.mutable_info() = info;
  record.set_secret(secret);
  return save_record(folder + "/session.textproto", record);
}

Status create_session_folder(const std::string& folder, const SessionInfo& info,
                             const std::string& secret) {
  const fs::path target(folder);
  const std::string unfinished =
      (target.parent_path() / (".new-" + target.filename().string())).string();
  std::error_code error;
  fs::remove_all(unfinished, error);
  if (!fs::create_directory(unfinished, error)) {
    return Error{
        error == std::errc::no_space_on_device ? ErrorCode::kDiskFull : ErrorCode::kInputOutput,
        unfinished + ": cannot create: " + error.message()};
  }
  if (Status saved = save_session(unfinished, info, secret); !saved.ok()) {
    fs::remove_all(unfinished, error);
    return saved;
  }
  fs::rename(unfinished, folder, error);
  if (error) return Error{ErrorCode::kInputOutput, folder + ": " + error.message()};
  return sync_folder(target.parent_path().string());
}

Status check_space(const std::string& folder, std::uint64_t needed_bytes) {
  const std::uint64_t free = free_space(folder);
  if (free >= needed_bytes) return proto::success();
  return Error{ErrorCode::kDiskFull, "the service's disk has " + std::to_string(free >> 20) +
                                         " MiB left, and must keep " +
                                         std::to_string(needed_bytes >> 20) +
                                         " MiB free; delete sessions or make room"};
}

}  // namespace service
