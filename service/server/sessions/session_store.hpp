#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "proto/service.pb.h"
#include "service/server/sessions/identity.hpp"
#include "service/server/sessions/ingest_session.hpp"
#include "service/server/sessions/service_context.hpp"
#include "service/server/sessions/upload.hpp"

namespace service {

/// All sessions of the service, stored in <data>/sessions/<id>/. The store reads this folder when
/// the service starts. Used on the main thread only.
class SessionStore {
 public:
  /// @param stored   called when a session becomes usable for calibration
  /// @param user     returns the id of the owner's job that needs a session, or an empty text
  SessionStore(ServiceContext& context, std::function<void()> stored,
               std::function<std::string(const std::string&)> user);

  /// Loads all sessions on disk and continues open ones.
  /// @return error if the folder of sessions cannot be used
  proto::Status load();

  /// Opens a session for a rig computer, or creates it.
  /// @param who  identity of the rig computer, which owns a session that it creates
  /// @return the session, or the reason for refusing it
  std::variant<std::shared_ptr<IngestSession>, rigcal::v1::SessionRefused> open(
      const rigcal::v1::OpenSession& request, const Identity& who);

  rigcal::v1::SessionList list() const;
  ReplyOrError<rigcal::v1::SessionInfo> find_session_info(const std::string& id) const;
  ReplyOrError<rigcal::v1::SessionInfo> end(const std::string& id, const Identity& who);
  ReplyOrError<rigcal::v1::SessionInfo> stop(const std::string& id, const Identity& who);
  ReplyOrError<rigcal::v1::SessionInfo> add_subscriber(
      const std::string& id, const std::shared_ptr<LiveSubscriber>& subscriber, bool estimates);
  using Removed = std::function<void(const ReplyOrError<rigcal::v1::Deleted>&)>;
  void delete_session(const std::string& id, const Identity& who, const Removed& removed);

  void open_upload(const rigcal::v1::OpenUpload& request, const Identity& who,
                   const Upload::Answer& answer);
  void append_upload(rigcal::v1::UploadPart& request, const Identity& who,
                     const Upload::Answer& answer);

  /// Returns an error if an owner may not store `disk_bytes` more on disk, or `index_bytes` more of
  /// session and job info in memory.
  std::optional<rigcal::v1::ServiceError> check_storage_quota(const std::string& owner,
                                                              std::uint64_t disk_bytes,
                                                              std::uint64_t index_bytes = 0) const;
  /// Adds the disk space and memory that the sessions of each owner use to `disk` and `index`,
  /// including disk space reserved for uploads.
  /// @return the total on disk [byte]
  std::uint64_t add_disk_and_memory_usage(IdentityByteUsage& disk, IdentityByteUsage& index) const;

  /// Returns the path of the recording of a stored session, or the reason why there is no recording
  /// yet.
  ReplyOrError<std::string> recording_path(const std::string& id) const;

  /// Returns the path of the rig file of a session. The file exists only if the rig computer has
  /// sent one.
  ReplyOrError<std::string> rig_path(const std::string& id) const;

  /// Returns the reason why a job cannot use the session; nullopt if the session is closed and
  /// therefore complete.
  std::optional<rigcal::v1::ServiceError> check_usable_by_job(const std::string& id) const;

  std::map<std::string, std::uint64_t> count_by_state() const;  ///< sessions by state, for metrics

  /// Tries again to store the recordings that could not be stored, e.g. because the disk was full.
  /// Call it periodically.
  void retry();

  /// Frees the memory of open sessions whose rig computer has been disconnected for a while.
  void unload_disconnected_sessions();

 private:
  struct SessionEntry {
    std::shared_ptr<IngestSession> ingest;
    std::shared_ptr<Upload> upload;
    rigcal::v1::SessionInfo unreadable;  // set if both are empty
    bool removing = false;
    rigcal::v1::SessionInfo info() const;
    const rigcal::v1::SessionInfo& stored_info() const;  ///< info without the flag `connected`
    std::optional<rigcal::v1::ServiceError> check_ownership(const Identity& who) const;
    bool matches_upload(std::uint64_t size_bytes, const std::string& file_name,
                        const Identity& who) const;
  };

  void load_session(const std::string& folder, const std::string& id);
  std::shared_ptr<IngestSession> add_streamed_session(const rigcal::v1::SessionRecord& record,
                                                      bool is_new);
  std::shared_ptr<Upload> add_upload(const rigcal::v1::SessionRecord& record);
  std::optional<rigcal::v1::SessionRefused> check_streaming_quota(const std::string& id,
                                                                  const Identity& who);
  bool disconnect_silent_rig(const std::string& identity, const std::string& except);
  std::optional<rigcal::v1::ServiceError> check_new_session(const rigcal::v1::SessionInfo& info,
                                                            std::uint64_t size_bytes) const;
  using IngestAction = std::function<std::optional<std::string>(IngestSession&)>;
  ReplyOrError<rigcal::v1::SessionInfo> act_on(const std::string& id, const Identity& who,
                                               const std::string& action, const IngestAction& act);
  const SessionEntry* find(const std::string& id) const;
  std::string session_folder(const std::string& id) const;

  ServiceContext& context_;
  std::function<void()> stored_;
  std::function<std::string(const std::string&)> user_;
  std::map<std::string, SessionEntry> entries_;
};

/// Returns the error reply for a session that does not exist.
rigcal::v1::ServiceError make_unknown_session_error(const std::string& id);

}  // namespace service
