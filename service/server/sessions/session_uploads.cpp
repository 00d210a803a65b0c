// SessionStore's handling of uploaded recordings.

#include <utility>

#include "proto/stream/content_hash.hpp"
#include "proto/stream/service_limits.hpp"
#include "service/server/sessions/session_store.hpp"

namespace service {

using rigcal::v1::ServiceError;
using rigcal::v1::SessionInfo;
using rigcal::v1::SessionRecord;

namespace {

constexpr std::size_t kFileNameSizeMax = 128;

}  // namespace

// Matches an upload to one on disk. Anyone who has the same content may use a stored upload whose
// id is the content's hash. Otherwise only its owner may.
bool SessionStore::SessionEntry::matches_upload(std::uint64_t size_bytes,
                                                const std::string& file_name,
                                                const Identity& who) const {
  if (!upload) return false;
  const SessionRecord& record = upload->session_record();
  const bool known_content =
      upload->is_stored() && !proto::extract_content_hash(record.info().session_id()).empty();
  return record.upload_size_bytes() == size_bytes && record.info().file_name() == file_name &&
         (known_content || record.info().owner() == who.name);
}

std::shared_ptr<Upload> SessionStore::add_upload(const SessionRecord& record) {
  const std::string id = record.info().session_id();
  auto upload = std::make_shared<Upload>(
      context_, session_folder(id), record, [this, id](const Upload& ended) {
        if (ended.is_stored()) return stored_();
        const auto found = entries_.find(id);
        if (found != entries_.end() && found->second.upload.get() == &ended) entries_.erase(found);
      });
  entries_[id].upload = upload;
  return upload;
}

void SessionStore::open_upload(const rigcal::v1::OpenUpload& request, const Identity& who,
                               const Upload::Answer& answer) {
  const std::string& id = request.session_id();
  const std::string& name = request.file_name();
  const bool mcap = name.ends_with(".mcap");
  if (!proto::is_valid_session_id(id) || name.size() > kFileNameSizeMax ||
      request.size_bytes() == 0 || (!mcap && !name.ends_with(".csv"))) {
    return answer(make_service_error(ServiceError::BAD_REQUEST,
                                     "an upload must have an id of 1 to 64 characters (A-Z a-z 0-9 "
                                     ". _ -), a size, and a file name that ends in .mcap or .csv"));
  }
  if (request.size_bytes() > context_.limits.session_size_bytes) {
    return answer(make_service_error(ServiceError::BAD_REQUEST,
                                     name + ": has " + std::to_string(request.size_bytes()) +
                                         " bytes, but this service accepts at most " +
                                         std::to_string(context_.limits.session_size_bytes)));
  }
  const std::string file_name = mcap ? "recording.mcap" : "recording.csv";
  if (const SessionEntry* entry = find(id); entry != nullptr) {
    if (entry->removing || !entry->matches_upload(request.size_bytes(), file_name, who)) {
      return answer(make_service_error(
          ServiceError::EXISTS,
          "session id \"" + id +
              "\" belongs to another recording or to somebody else; choose another id"));
    }
    return entry->upload->open(answer);
  }
  SessionRecord record;
  record.set_upload_size_bytes(request.size_bytes());
  SessionInfo& info = *record.mutable_info();
  info.set_session_id(id);
  info.set_state(rigcal::v1::SESSION_UPLOADING);
  info.set_created_unix_ns(unix_time_ns());
  info.set_file_name(file_name);
  (*info.mutable_metadata())["file"] = name;
  info.set_owner(who.name);
  if (auto full = check_new_session(info, request.size_bytes())) return answer(*full);
  add_upload(record)->open(answer);
}

void SessionStore::append_upload(rigcal::v1::UploadPart& request, const Identity& who,
                                 const Upload::Answer& answer) {
  const SessionEntry* entry = find(request.session_id());
  if (entry == nullptr || !entry->upload || entry->removing) {
    return answer(make_unknown_session_error(request.session_id()));
  }
  if (auto why = entry->check_ownership(who)) return answer(*why);
  entry->upload->append_part(request.offset_bytes(), std::move(*request.mutable_data()), answer);
}

}  // namespace service
