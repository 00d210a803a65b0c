#include "service/server/storage/job_folder.hpp"

#include <filesystem>
#include <utility>

#include "service/server/storage/durable_file.hpp"
#include "service/server/storage/record_file.hpp"

namespace service {
namespace {

namespace fs = std::filesystem;
using proto::Status;
using rigcal::v1::JobRecord;

std::string record_path(const std::string& folder) { return folder + "/job.textproto"; }

}  // namespace

Status create_job_folder(const std::string& folder, const JobRecord& record) {
  const fs::path target(folder);
  const std::string unfinished =
      (target.parent_path() / (".new-" + target.filename().string())).string();
  std::error_code error;
  fs::remove_all(unfinished, error);
  fs::create_directory(unfinished, error);
  if (Status saved = save_record(record_path(unfinished), record); !saved.ok()) {
    fs::remove_all(unfinished, error);
    return saved;
  }
  fs::rename(unfinished, folder, error);
  if (error) return proto::Error{proto::ErrorCode::kInputOutput, folder + ": " + error.message()};
  return sync_folder(target.parent_path().string());
}

Status save_job_info(const std::string& folder, const rigcal::v1::JobInfo& info) {
  JobRecord record;
  if (Status loaded = load_record(record_path(folder), record); !loaded.ok()) return loaded;
  *record.mutable_info() = info;
  record.mutable_info()->clear_progress();
  return save_record(record_path(folder), record);
}

proto::Result<rigcal::v1::JobSpec> load_job_spec(const std::string& folder) {
  JobRecord record;
  if (Status loaded = load_record(record_path(folder), record); !loaded.ok()) return loaded.error();
  return std::move(*record.mutable_spec());
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

}  // namespace service
