#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "proto/service.pb.h"
#include "service/server/identity.hpp"
#include "service/server/ingest_session.hpp"
#include "service/server/outcome.hpp"
#include "service/server/service_context.hpp"
#include "service/server/upload.hpp"

namespace service {

/// All sessions of the service, in <data>/sessions/<id>/; the folder is scanned at start-up. Main
/// thread.
class SessionStore {
 public:
  /// @param stored   called when a session becomes usable for calibration
  /// @param user     returns the owner's job that needs a session, or an empty text
  SessionStore(ServiceContext& context, std::function<void()> stored,
               std::function<std::string(const std::string&)> user);

  /// Loads the sessions on disk and continues them. @return an error of the folder itself
  proto::Status load();

  /// @param who  the rig computer; it owns a session that it creates
  /// @return the session, or the reason for refusing it
  std::variant<std::shared_ptr<IngestSession>, rigcal::v1::SessionRefused> open(
      const rigcal::v1::OpenSession& request, const Identity& who);

  rigcal::v1::SessionList list() const;
  ReplyOrError<rigcal::v1::SessionInfo> inspect(const std::string& id) const;
  ReplyOrError<rigcal::v1::SessionInfo> end(const std::string& id, const Identity& who);
  ReplyOrError<rigcal::v1::SessionInfo> subscribe(
      const std::string& id, const std::shared_ptr<LiveSubscriber>& subscriber);
  using Removed = std::function<void(const ReplyOrError<rigcal::v1::Deleted>&)>;
  void remove(const std::string& id, const Identity& who, const Removed& removed);

  void open_upload(const rigcal::v1::OpenUpload& request, const Identity& who,
                   const Upload::Answer& answer);
  void append_upload(rigcal::v1::UploadPart& request, const Identity& who,
                     const Upload::Answer& answer);

  /// Returns why an owner may not store `disk_bytes` more, or `index_bytes` more of session and job
  /// info.
  std::optional<rigcal::v1::ServiceError> storage_quota_error(const std::string& owner,
                                                              std::uint64_t disk_bytes,
                                                              std::uint64_t index_bytes = 0) const;
  /// Adds the use of each owner, including space reserved for uploads. @return the total on disk
  /// [byte]
  std::uint64_t add_usage(ByteUsage& disk, ByteUsage& index) const;

  /// Returns the path of a stored session's recording, or why there is none yet.
  ReplyOrError<std::string> recording_path(const std::string& id) const;

  /// Returns why a job cannot use the session; nothing if it is closed, and thus complete.
  std::optional<rigcal::v1::ServiceError> usability_error(const std::string& id) const;

  std::map<std::string, std::uint64_t> counts() const;  ///< by state, for metrics

  /// Retries storing recordings that failed, such as on a full disk. Call it periodically.
  void retry();

  /// Frees the memory of open sessions whose rig has been disconnected for a while.
  void unload_abandoned();

 private:
  struct Entry {
    std::shared_ptr<IngestSession> ingest;
    std::shared_ptr<Upload> upload;
    rigcal::v1::SessionInfo unreadable;  // set if both are empty
    bool removing = false;
    rigcal::v1::SessionInfo info() const;
    const rigcal::v1::SessionInfo& record_info() const;  ///< without the `connected` flag
    std::optional<rigcal::v1::ServiceError> ownership_error(const Identity& who) const;
    bool is_upload(std::uint64_t size_bytes, const std::string& file_name,
                   const Identity& who) const;
  };

  void load_session(const std::string& folder, const std::string& id);
  std::shared_ptr<IngestSession> add_ingest(const rigcal::v1::SessionRecord& record, bool is_new);
  std::shared_ptr<Upload> add_upload(const rigcal::v1::SessionRecord& record);
  std::optional<rigcal::v1::SessionRefused> streaming_quota_error(const std::string& id,
                                                                  const Identity& who) const;
  std::optional<rigcal::v1::ServiceError> new_session_error(const rigcal::v1::SessionInfo& info,
                                                            std::uint64_t size_bytes) const;
  const Entry* find(const std::string& id) const;
  std::string folder_of(const std::string& id) const;

  ServiceContext& context_;
  std::function<void()> stored_;
  std::function<std::string(const std::string&)> user_;
  std::map<std::string, Entry> entries_;
};

/// Returns the error reply for a session that does not exist.
rigcal::v1::ServiceError unknown_session(const std::string& id);

}  // namespace service
