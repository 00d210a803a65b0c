#pragma once

#include <functional>
#include <memory>
#include <string>

#include "proto/result.hpp"
#include "proto/service.pb.h"
#include "proto/stream/content_hash.hpp"
#include "service/server/sessions/service_context.hpp"

namespace service {

/// Recording that a client uploads as a file in several parts. Each part is made durable
/// separately. After the last part, the file gets its final name if its content matches the id of
/// the upload (see OpenUpload); otherwise the upload is deleted.
///
/// If a write or sync fails, the client must open the upload again and restart at byte 0, because
/// the file has no checksums that show which bytes were lost. The client keeps its copy until the
/// upload is complete.
class Upload : public std::enable_shared_from_this<Upload> {
 public:
  using Answer = std::function<void(const ReplyOrError<rigcal::v1::UploadState>&)>;

  /// @param ended  called when the upload is complete or has been deleted; is_stored() is false if
  /// it was deleted
  Upload(ServiceContext& context, std::string folder, rigcal::v1::SessionRecord record,
         std::function<void(const Upload&)> ended);

  /// Creates the folder of a new upload, or determines how many bytes of an existing upload are
  /// stored.
  void open(const Answer& answer);
  void append_part(std::uint64_t offset_bytes, std::string data, const Answer& answer);

  bool is_stored() const { return record_.info().state() == rigcal::v1::SESSION_STORED; }
  const rigcal::v1::SessionRecord& session_record() const { return record_; }

 private:
  /// State of the file and the record of an upload on disk.
  struct UploadProgress {
    proto::Status status;
    std::uint64_t durable_bytes = 0;
    rigcal::v1::SessionRecord record{};
  };
  void complete_operation(const UploadProgress& progress, const Answer& answer);
  bool needs_content_check() const;

  ServiceContext& context_;
  std::string folder_;
  rigcal::v1::SessionRecord record_;
  std::function<void(const Upload&)> ended_;
  Poster storage_;
  std::shared_ptr<proto::ContentHash> content_;  // of the durable bytes, once open
  std::uint64_t durable_bytes_ = 0;
  bool opened_ = false;
  bool busy_ = false;  // an operation is in progress
};

}  // namespace service
