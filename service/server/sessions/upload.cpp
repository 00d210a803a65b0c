#include "service/server/sessions/upload.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "proto/recording/mcap/file.hpp"
#include "service/server/storage/checksums.hpp"
#include "service/server/storage/durable_file.hpp"
#include "service/server/storage/log.hpp"
#include "service/server/storage/session_log.hpp"

namespace service {
namespace {

namespace fs = std::filesystem;
using proto::Error;
using proto::ErrorCode;
using proto::Result;
using proto::Status;
using rigcal::v1::ServiceError;
using rigcal::v1::SessionRecord;
using rigcal::v1::UploadState;

std::string file_path(const std::string& folder, const SessionRecord& record) {
  return folder + "/" + record.info().file_name();
}

Error failure(const std::string& path) {
  const bool full = errno == ENOSPC || errno == EDQUOT || errno == EFBIG;
  return {full ? ErrorCode::kDiskFull : ErrorCode::kInputOutput,
          path + ": cannot write: " + std::strerror(errno)};
}

// After a failed write, reads return cached data that is not on disk, and a second fsync may report
// success. A part file with an error is therefore deleted and restarted.
Status start_over(const std::string& part, const Status& failed) {
  return ::unlink(part.c_str()) == 0 || errno == ENOENT ? failed : Status(failure(part));
}

Status write_part(const std::string& path, std::uint64_t offset, const std::string& data) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (file < 0) return failure(path);
  Status status = proto::success();
  std::size_t done = 0;
  while (status.ok() && done < data.size()) {
    const ssize_t count =
        ::pwrite(file, data.data() + done, data.size() - done, static_cast<off_t>(offset + done));
    if (count < 0 && errno != EINTR) status = failure(path);
    if (count > 0) done += static_cast<std::size_t>(count);
  }
  if (status.ok() && ::fdatasync(file) != 0) status = failure(path);
  ::close(file);
  return status;
}

// Opens or creates the folder and its record. Returns the number of durable bytes.
Result<std::uint64_t> open_folder(const std::string& folder, const SessionRecord& record) {
  std::error_code error;
  if (!fs::exists(folder, error)) {
    const Status created = create_record_folder(folder, kSessionRecordFile, record);
    if (!created.ok()) return created.error();
  }
  // A crash after the rename, before the record's update, leaves a complete file.
  if (fs::exists(file_path(folder, record), error)) return record.upload_size_bytes();
  const std::string part = proto::part_file_path(file_path(folder, record));
  if (!fs::exists(part, error)) return std::uint64_t{0};
  if (Status synced = sync_files_in_folder(folder); !synced.ok())
    return start_over(part, synced).error();
  const std::uint64_t size = fs::file_size(part, error);
  return std::min(size, record.upload_size_bytes());
}

// Adds the stored bytes of a file to the content's hash.
Status add_file(const std::string& folder, const SessionRecord& record, std::uint64_t size_bytes,
                proto::ContentHash& content) {
  const std::string path = file_path(folder, record);
  std::error_code ignored;
  const bool named = fs::exists(path, ignored);
  const auto file = proto::open_input_file(named ? path : proto::part_file_path(path),
                                           proto::SymlinkPolicy::kRefuse);
  if (!file.ok()) return file.error();
  return content.add_file(*file.value(), size_bytes);
}

// Gives the file its final name, after its checksum was stored.
Status publish(const std::string& folder, SessionRecord& record, const std::string& sha256) {
  const std::string path = file_path(folder, record);
  std::error_code ignored;
  const Status written = write_checksums(folder, {{record.info().file_name(), sha256}});
  if (!written.ok()) return written;
  if (!fs::exists(path, ignored)) {
    if (Status published = proto::publish_part_file(path); !published.ok()) return published;
  }
  record.mutable_info()->set_state(rigcal::v1::SESSION_STORED);
  record.mutable_info()->set_size_bytes(record.upload_size_bytes());
  return save_record(folder + '/' + kSessionRecordFile, record);
}

// Completes an upload after all content was added. Content that does not match the hash in the id
// is deleted, unless an earlier version stored it without this check.
Status complete(const std::string& folder, SessionRecord& record, proto::ContentHash& content) {
  const std::string& id = record.info().session_id();
  const std::string_view promised = proto::extract_content_hash(id);
  const std::string sha256 = content.sha256();
  if (!promised.empty()) {
    const std::string name = proto::name_of_sha256(sha256);
    if (name != promised) {
      const Error mismatch{ErrorCode::kVerifyMismatch,
                           "the content of \"" + id +
                               "\" does not match the hash in this id. Its id would be \"" +
                               proto::make_upload_id(name, 1) + "\""};
      if (record.info().state() == rigcal::v1::SESSION_STORED) return mismatch;
      if (Status removed = remove_folder(folder); !removed.ok()) return removed;
      return mismatch;
    }
    record.set_content_checked(true);
  }
  return publish(folder, record, sha256);
}

}  // namespace

Upload::Upload(ServiceContext& context, std::string folder, SessionRecord record,
               std::function<void(const Upload&)> ended)
    : context_(context),
      folder_(std::move(folder)),
      record_(std::move(record)),
      ended_(std::move(ended)),
      storage_(context.make_storage_poster(record_.info().session_id(), record_.info().owner())),
      durable_bytes_(is_stored() ? record_.upload_size_bytes() : 0),
      opened_(is_stored()) {}

// Uploads stored by a version without the check are checked when opened again.
bool Upload::needs_content_check() const {
  return !record_.content_checked() &&
         !proto::extract_content_hash(record_.info().session_id()).empty();
}

void Upload::open(const Answer& answer) {
  if (busy_)
    return answer(
        make_service_error(ServiceError::BUSY, "a part of it is being stored; try again later"));
  if (is_stored() && !needs_content_check()) {
    return complete_operation({proto::success(), durable_bytes_, record_}, answer);
  }
  busy_ = true;
  content_ = std::make_shared<proto::ContentHash>();
  storage_([self = shared_from_this(), answer, record = record_, folder = folder_,
            content = content_, main = context_.main, maintenance = context_.maintenance] {
    const auto durable = open_folder(folder, record);
    if (!durable.ok() || durable.value() == 0) {
      const std::uint64_t none = 0;
      const Status status = durable.ok() ? proto::success() : Status(durable.error());
      return main([self, answer, progress = UploadProgress{status, none, record}] {
        self->complete_operation(progress, answer);
      });
    }
    // Reads all stored bytes in the maintenance thread, so that it does not delay streaming rigs.
    maintenance(record.info().owner(),
                [self, answer, record, folder, content, main, count = durable.value()]() mutable {
                  Status status = add_file(folder, record, count, *content);
                  const bool whole = count == record.upload_size_bytes();
                  if (status.ok() && whole) status = complete(folder, record, *content);
                  main([self, answer, progress = UploadProgress{status, count, record}] {
                    self->complete_operation(progress, answer);
                  });
                });
  });
}

void Upload::append_part(std::uint64_t offset_bytes, std::string data, const Answer& answer) {
  if (!opened_ || busy_) {
    return answer(
        make_service_error(ServiceError::BAD_REQUEST,
                           "the upload is not open; send OpenUpload and wait for its reply"));
  }
  if (offset_bytes != durable_bytes_ || data.empty() ||
      data.size() > record_.upload_size_bytes() - durable_bytes_) {
    return answer(make_service_error(
        ServiceError::BAD_REQUEST, "a part from byte " + std::to_string(offset_bytes) + " with " +
                                       std::to_string(data.size()) + " bytes does not fit; byte " +
                                       std::to_string(durable_bytes_) + " of " +
                                       std::to_string(record_.upload_size_bytes()) +
                                       " is expected"));
  }
  busy_ = true;
  storage_([self = shared_from_this(), answer, data = std::move(data), offset_bytes,
            record = record_, folder = folder_, content = content_, main = context_.main,
            floor = context_.limits.free_space_bytes]() mutable {
    Status status = check_disk_space(folder, floor + data.size());
    if (status.ok()) {
      const std::string part = proto::part_file_path(file_path(folder, record));
      status = write_part(part, offset_bytes, data);
      if (!status.ok()) status = start_over(part, status);
    }
    std::uint64_t durable = offset_bytes;
    if (status.ok()) {
      durable += data.size();
      content->add(data);
    }
    if (status.ok() && durable == record.upload_size_bytes()) {
      status = complete(folder, record, *content);
    }
    main([self, answer, progress = UploadProgress{status, durable, record}] {
      self->complete_operation(progress, answer);
    });
  });
}

void Upload::complete_operation(const UploadProgress& progress, const Answer& answer) {
  const Status& status = progress.status;
  busy_ = false;
  opened_ = status.ok();
  const std::string& id = record_.info().session_id();
  if (!status.ok() && status.error().code == ErrorCode::kVerifyMismatch) {
    log_event(LogLevel::kWarning, "upload_refused",
              {{"session", id}, {"error", status.error().detail}});
    if (is_stored()) return answer(make_service_error(ServiceError::EXISTS, status.error().detail));
    ended_(*this);
    return answer(make_service_error(
        ServiceError::BAD_REQUEST,
        status.error().detail + "; the upload was deleted, upload the file again"));
  }
  if (!status.ok()) {
    ++context_.metrics.storage_errors_total;
    log_event(LogLevel::kError, "upload_failed",
              {{"session", id}, {"error", status.error().detail}});
    return answer(make_service_error(ServiceError::STORAGE, status.error().detail));
  }
  record_ = progress.record;
  durable_bytes_ = progress.durable_bytes;
  record_.mutable_info()->set_size_bytes(durable_bytes_);
  UploadState state;
  state.set_durable_bytes(durable_bytes_);
  state.set_complete(is_stored());
  answer(state);
  if (is_stored()) ended_(*this);
}

}  // namespace service
