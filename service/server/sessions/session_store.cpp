#include "service/server/sessions/session_store.hpp"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <ranges>
#include <utility>
#include <vector>

#include "proto/recording/recording_rules.hpp"
#include "proto/stream/content_hash.hpp"
#include "proto/stream/service_limits.hpp"
#include "proto/text/printable.hpp"
#include "service/server/storage/durable_file.hpp"
#include "service/server/storage/log.hpp"
#include "service/server/storage/session_log.hpp"

namespace service {
namespace {

namespace fs = std::filesystem;
using proto::state_name;
using proto::Status;
using rigcal::v1::ServiceError;
using rigcal::v1::SessionInfo;
using rigcal::v1::SessionRecord;
using rigcal::v1::SessionRefused;
using rigcal::v1::SessionState;

constexpr std::size_t kListedTextSize = 128;

SessionRefused refusal(SessionRefused::Reason reason, const std::string& text) {
  SessionRefused refused;
  refused.set_reason(reason);
  refused.set_text(text);
  return refused;
}

// Returns the memory a session takes, including the overhead of separately allocated parts.
std::uint64_t index_memory_bytes(const SessionInfo& info) {
  constexpr std::uint64_t kSessionSize = 4096;
  constexpr std::uint64_t kEntrySize = 192;
  return kSessionSize + info.ByteSizeLong() +
         kEntrySize * static_cast<std::uint64_t>(info.metadata_size());
}

// Returns the info of a session for a list, with few, short metadata entries.
SessionInfo shortened(SessionInfo info) {
  std::map<std::string, std::string> kept;
  for (const char* key : {"rig", "scenario", "file"}) {
    const auto found = info.metadata().find(key);
    if (found != info.metadata().end()) kept[key] = proto::to_utf8(found->second, kListedTextSize);
  }
  info.clear_metadata();
  info.mutable_metadata()->insert(kept.begin(), kept.end());
  info.set_problem(proto::to_utf8(info.problem(), kListedTextSize));
  return info;
}

}  // namespace

ServiceError make_unknown_session_error(const std::string& id) {
  return make_service_error(ServiceError::NOT_FOUND,
                            "there is no session \"" + proto::to_utf8(id, 64) + "\"");
}

SessionInfo SessionStore::SessionEntry::info() const {
  return ingest ? ingest->info() : stored_info();
}

const SessionInfo& SessionStore::SessionEntry::stored_info() const {
  if (ingest) return ingest->stored_info();
  return upload ? upload->session_record().info() : unreadable;
}

std::optional<ServiceError> SessionStore::SessionEntry::check_ownership(const Identity& who) const {
  const SessionInfo& known = stored_info();
  if (who.may_change_items_of(known.owner())) return std::nullopt;
  return make_service_error(
      ServiceError::NOT_ALLOWED,
      describe_ownership_error("session \"" + known.session_id() + "\"", known.owner(), who));
}

SessionStore::SessionStore(ServiceContext& context, std::function<void()> stored,
                           std::function<std::string(const std::string&)> user)
    : context_(context), stored_(std::move(stored)), user_(std::move(user)) {}

std::string SessionStore::session_folder(const std::string& id) const {
  return context_.data_folder + "/sessions/" + id;
}

Status SessionStore::load() {
  const std::string folder = context_.data_folder + "/sessions";
  const auto names = open_item_folders(folder);
  if (!names.ok()) return names.error();
  for (const std::string& id : names.value()) {
    if (proto::is_valid_session_id(id)) load_session(folder + '/' + id, id);
  }
  return sync_folder(folder);
}

void SessionStore::load_session(const std::string& folder, const std::string& id) {
  SessionRecord record;
  Status loaded = load_record(folder + '/' + kSessionRecordFile, record);
  const bool matches_upload = record.upload_size_bytes() > 0;
  const auto& metadata = record.info().metadata();
  if (loaded.ok() && (record.info().session_id() != id ||
                      (!matches_upload && !parse_joint_and_sensor_names(metadata)))) {
    loaded = proto::Error{proto::ErrorCode::kDamaged,
                          folder + ": its record does not belong to a session"};
  }
  if (!loaded.ok()) {
    // The folder stays as it is, and its id stays taken.
    SessionEntry& entry = entries_[id];
    entry.unreadable.set_session_id(id);
    entry.unreadable.set_problem(loaded.error().detail);
    log_event(LogLevel::kError, "session_unreadable",
              {{"session", id}, {"error", loaded.error().detail}});
  } else if (matches_upload) {
    add_upload(record);
  } else {
    add_streamed_session(record, false)->start();
  }
}

std::shared_ptr<IngestSession> SessionStore::add_streamed_session(const SessionRecord& record,
                                                                  bool is_new) {
  const std::string id = record.info().session_id();
  auto session = std::make_shared<IngestSession>(context_, session_folder(id), record, is_new,
                                                 [this, id](bool exists) {
                                                   if (!exists) entries_.erase(id);
                                                   if (exists) stored_();
                                                 });
  entries_[id].ingest = session;
  return session;
}

std::variant<std::shared_ptr<IngestSession>, SessionRefused> SessionStore::open(
    const rigcal::v1::OpenSession& request, const Identity& who) {
  const std::string& id = request.session_id();
  if (!proto::is_valid_session_id(id)) {
    return refusal(SessionRefused::REASON_BAD_REQUEST,
                   "a session id must have 1 to 64 characters (A-Z a-z 0-9 . "
                   "_ -) and must not start with a dot");
  }
  const auto& metadata = request.metadata();
  const auto names = parse_joint_and_sensor_names(metadata);
  if (!names) {
    return refusal(SessionRefused::REASON_BAD_REQUEST,
                   "metadata \"hinges\" must list 1 to 16 distinct joints, separated by commas; "
                   "\"slides\", if given, must list some of these joints, "
                   "and \"inertial_sensors\", if given, up to 4 distinct sensors");
  }
  if (const auto breach = proto::find_epoch_violation(request.epoch_unix_ns())) {
    return refusal(SessionRefused::REASON_BAD_REQUEST, *breach);
  }
  const std::string& secret = request.secret();
  if (!secret.empty() &&
      (secret.size() < proto::kSecretSizeMin || secret.size() > proto::kSecretSizeMax)) {
    return refusal(SessionRefused::REASON_BAD_REQUEST,
                   "a secret must have 16 to 32 bytes; omit it to let the service create one");
  }
  if (const auto found = entries_.find(id); found != entries_.end()) {
    const auto& ingest = found->second.ingest;
    if (ingest && !found->second.removing &&
        ingest->info().epoch_unix_ns() == request.epoch_unix_ns() &&
        proto::make_name_metadata(
            parse_joint_and_sensor_names(ingest->info().metadata()).value()) ==
            proto::make_name_metadata(*names)) {
      if (!ingest->accepts_secret(secret)) {
        return refusal(SessionRefused::REASON_BAD_REQUEST,
                       "session \"" + id +
                           "\" exists, and the secret is wrong. "
                           "The rig that opened it must send the secret from its spool; "
                           "another rig must choose another id");
      }
      auto full = ingest->is_open() ? check_streaming_quota(id, who) : std::nullopt;
      if (full) return std::move(*full);
      return ingest;
    }
    return refusal(SessionRefused::REASON_BAD_REQUEST,
                   "session id \"" + id + "\" belongs to another recording; choose another id");
  }
  if (auto full = check_streaming_quota(id, who)) return std::move(*full);
  SessionRecord record;
  record.set_secret(secret.empty() ? proto::make_secret() : secret);
  SessionInfo& info = *record.mutable_info();
  info.set_session_id(id);
  info.set_owner(who.name);
  info.set_state(rigcal::v1::SESSION_OPEN);
  *info.mutable_metadata() = metadata;
  info.set_epoch_unix_ns(request.epoch_unix_ns());
  info.set_created_unix_ns(unix_time_ns());
  const std::string& rig_text = request.live().rig_text();
  if (const auto full = check_new_session(info, rig_text.size())) {
    return refusal(SessionRefused::REASON_STORAGE, full->text());
  }
  auto session = add_streamed_session(record, true);
  session->set_rig_file(rig_text);
  if (secret.empty()) session->send_secret_at_next_opening();
  session->start();
  return session;
}

// Disconnects the rig of an identity that has been silent for the longest time, other than the one
// of session `except`. @return whether there is one
bool SessionStore::disconnect_silent_rig(const std::string& identity, const std::string& except) {
  IngestSession* silent = nullptr;
  for (const auto& [id, entry] : entries_) {
    IngestSession* const ingest = entry.ingest.get();
    if (ingest == nullptr || id == except || !ingest->is_rig_silent()) continue;
    if (ingest->connected_rig_identity_name() != identity) continue;
    if (silent == nullptr || ingest->silent_since() < silent->silent_since()) silent = ingest;
  }
  if (silent != nullptr) silent->disconnect_silent_rig();
  return silent != nullptr;
}

// At a limit, a silent rig of the same identity makes room.
std::optional<SessionRefused> SessionStore::check_streaming_quota(const std::string& id,
                                                                  const Identity& who) {
  const std::uint32_t limit = context_.limits.streaming_sessions;
  std::uint32_t streaming = 0;
  std::uint32_t own_count = 0;
  for (const auto& [other, entry] : entries_) {
    const std::string rig =
        entry.ingest ? entry.ingest->connected_rig_identity_name() : std::string();
    if (rig.empty() || other == id) continue;  // a rig may take over its own session
    ++streaming;
    if (rig == who.name) ++own_count;
  }
  const bool share_full = own_count >= context_.limits.limits_per_identity().streaming_sessions;
  if ((!share_full && streaming < limit) || disconnect_silent_rig(who.name, id))
    return std::nullopt;
  if (share_full) {
    return refusal(SessionRefused::REASON_BUSY, std::to_string(own_count) +
                                                    " sessions are streaming from " + who.name +
                                                    ", the limit for one client; end some");
  }
  return refusal(SessionRefused::REASON_BUSY,
                 std::to_string(streaming) +
                     " sessions are streaming, the limit of this service; try again later");
}

// Returns why the owner in `info` may not have one more session or upload.
std::optional<ServiceError> SessionStore::check_new_session(const SessionInfo& info,
                                                            std::uint64_t size_bytes) const {
  const auto full = [](std::size_t count, const std::string& text) {
    return make_service_error(ServiceError::BUSY, std::to_string(count) + " sessions" + text);
  };
  const auto kept = static_cast<std::size_t>(
      std::ranges::count(entries_ | std::views::values, info.owner(),
                         [](const SessionEntry& entry) { return entry.stored_info().owner(); }));
  if (kept >= context_.limits.limits_per_identity().sessions) {
    return full(kept, " of " + info.owner() + " are kept, the limit for one client; delete some");
  }
  if (entries_.size() >= context_.limits.sessions) {
    return full(entries_.size(), " are kept, the limit of this service; delete some");
  }
  if (auto why = check_storage_quota(info.owner(), size_bytes, index_memory_bytes(info)))
    return why;
  context_.disk.add(info.owner(), size_bytes);
  context_.index.add(info.owner(), index_memory_bytes(info));
  return std::nullopt;
}

std::optional<ServiceError> SessionStore::check_storage_quota(const std::string& owner,
                                                              std::uint64_t disk_bytes,
                                                              std::uint64_t index_bytes) const {
  const auto full = [&](const std::string& what) {
    return make_service_error(
        ServiceError::STORAGE,
        what + ", which exceeds the limit for one client; delete sessions or jobs");
  };
  const auto has_room = [&] {
    const auto no_limit =
        std::numeric_limits<std::uint64_t>::max();  // the disk's limit is checked elsewhere
    return context_.disk.is_within_limits(owner, disk_bytes, no_limit, context_.disk_share_bytes());
  };
  if (!has_room() && context_.measure_disk_capacity) {
    context_.disk_capacity_bytes = context_.measure_disk_capacity();
  }
  if (!has_room()) {
    const std::uint64_t share = context_.disk_share_bytes();
    return full(owner + " has " + std::to_string(context_.disk.of(owner) >> 20) + " of " +
                std::to_string(share >> 20) + " MiB on the disk and needs " +
                std::to_string((disk_bytes >> 20) + 1) + " more");
  }
  if (index_bytes == 0) return std::nullopt;  // existing sessions may continue
  const ServiceLimits& limits = context_.limits;
  if (!context_.index.is_within_limits(owner, index_bytes, limits.index_bytes,
                                       limits.limits_per_identity().index_bytes)) {
    return full("the index of sessions and jobs has " +
                std::to_string(context_.index.total() >> 10) + " KiB, " +
                std::to_string(context_.index.of(owner) >> 10) + " of them of " + owner);
  }
  return std::nullopt;
}

std::uint64_t SessionStore::add_disk_and_memory_usage(IdentityByteUsage& disk,
                                                      IdentityByteUsage& index) const {
  std::uint64_t there = 0;
  for (const auto& [id, entry] : entries_) {
    const SessionInfo& info = entry.stored_info();
    // An upload reserves its full size from the start.
    std::uint64_t due = info.size_bytes();
    if (entry.upload) due = std::max(due, entry.upload->session_record().upload_size_bytes());
    if (entry.ingest) due = entry.ingest->expected_recording_size_bytes();
    disk.add(info.owner(), due);
    index.add(info.owner(), index_memory_bytes(info));
    there += info.size_bytes();
  }
  return there;
}

const SessionStore::SessionEntry* SessionStore::find(const std::string& id) const {
  const auto found = entries_.find(id);
  return found == entries_.end() ? nullptr : &found->second;
}

rigcal::v1::SessionList SessionStore::list() const {
  std::vector<SessionInfo> infos;
  for (const auto& [id, entry] : entries_) infos.push_back(shortened(entry.info()));
  std::ranges::sort(infos, std::greater{}, &SessionInfo::created_unix_ns);
  rigcal::v1::SessionList list;
  list.set_total_count(infos.size());
  for (SessionInfo& info : infos) {
    if (list.sessions_size() < kListCountMax) *list.add_sessions() = std::move(info);
  }
  return list;
}

ReplyOrError<SessionInfo> SessionStore::find_session_info(const std::string& id) const {
  const SessionEntry* entry = find(id);
  if (entry == nullptr) return make_unknown_session_error(id);
  return entry->info();
}

// Performs an action on a streamed session for its owner or an operator. The action returns the
// reason if it fails.
ReplyOrError<SessionInfo> SessionStore::act_on(const std::string& id, const Identity& who,
                                               const std::string& action, const IngestAction& act) {
  const SessionEntry* entry = find(id);
  if (entry == nullptr) return make_unknown_session_error(id);
  if (auto why = entry->check_ownership(who)) return *why;
  if (entry->ingest) {
    if (const auto why = act(*entry->ingest)) {
      return make_service_error(ServiceError::NOT_READY,
                                "session \"" + id + "\" cannot be " + action + ": " + *why);
    }
  }
  return entry->info();
}

ReplyOrError<SessionInfo> SessionStore::end(const std::string& id, const Identity& who) {
  return act_on(id, who, "ended", [](IngestSession& ingest) { return ingest.end(); });
}

ReplyOrError<SessionInfo> SessionStore::stop(const std::string& id, const Identity& who) {
  return act_on(id, who, "stopped", [&](IngestSession& ingest) { return ingest.stop(who.name); });
}

ReplyOrError<SessionInfo> SessionStore::add_subscriber(
    const std::string& id, const std::shared_ptr<LiveSubscriber>& subscriber, bool estimates) {
  const SessionEntry* entry = find(id);
  if (entry == nullptr) return make_unknown_session_error(id);
  if (!entry->ingest || !entry->ingest->is_open()) {
    return make_service_error(
        ServiceError::NOT_READY,
        "session \"" + id + "\" is not being recorded; read its recording instead");
  }
  entry->ingest->add_subscriber(subscriber, estimates);
  return entry->info();
}

void SessionStore::delete_session(const std::string& id, const Identity& who,
                                  const Removed& removed) {
  const auto found = entries_.find(id);
  if (found == entries_.end()) return removed(make_unknown_session_error(id));
  if (auto why = found->second.check_ownership(who)) return removed(*why);
  const SessionState state = found->second.info().state();
  const auto refuse = [&](const std::string& why) {
    removed(make_service_error(ServiceError::NOT_READY, "session \"" + id + "\" is " + why));
  };
  const auto& ingest = found->second.ingest;
  const bool waits = ingest && ingest->has_store_failed();  // deleting may free space it needs
  if (state == rigcal::v1::SESSION_OPEN || (state == rigcal::v1::SESSION_CLOSED && !waits)) {
    return refuse("not stored yet; end it or wait");
  }
  if (found->second.removing) return refuse("being deleted");
  if (const std::string job = user_(id); !job.empty()) {
    return refuse("used by job \"" + job + "\"; wait for its end or cancel it");
  }
  found->second.removing = true;
  context_.maintenance(found->second.stored_info().owner(), [this, id, folder = session_folder(id),
                                                             removed, main = context_.main] {
    const Status status = remove_folder(folder);
    main([this, id, status, removed] {
      entries_.erase(id);
      if (status.ok()) {
        log_event(LogLevel::kInfo, "session_deleted", {{"session", id}});
        return removed(rigcal::v1::Deleted());
      }
      // If parts remain, the session is loaded again.
      std::error_code ignored;
      if (fs::exists(session_folder(id), ignored)) load_session(session_folder(id), id);
      removed(make_service_error(ServiceError::STORAGE, status.error().detail));
    });
  });
}

ReplyOrError<std::string> SessionStore::recording_path(const std::string& id) const {
  const SessionEntry* entry = find(id);
  if (entry == nullptr || entry->removing) return make_unknown_session_error(id);
  const SessionInfo info = entry->info();
  if (info.state() == rigcal::v1::SESSION_STORED) {
    const std::string path = session_folder(id) + "/" + info.file_name();
    std::error_code ignored;
    if (!fs::is_symlink(path, ignored)) return path;
    return make_service_error(ServiceError::STORAGE,
                              path + ": is a symbolic link, which is not followed");
  }
  if (info.state() == rigcal::v1::SESSION_FAILED) {
    return make_service_error(ServiceError::BAD_REQUEST,
                              "session \"" + id + "\" " + info.problem());
  }
  return make_service_error(
      ServiceError::NOT_READY,
      "session \"" + id + "\" is " + state_name(info.state()) +
          (info.problem().empty() ? ", not stored yet" : ": " + info.problem()));
}

ReplyOrError<std::string> SessionStore::rig_path(const std::string& id) const {
  const SessionEntry* entry = find(id);
  if (entry == nullptr || entry->removing) return make_unknown_session_error(id);
  return session_folder(id) + "/" + kSessionRigFile;
}

std::optional<ServiceError> SessionStore::check_usable_by_job(const std::string& id) const {
  const SessionEntry* entry = find(id);
  if (entry == nullptr || entry->removing) return make_unknown_session_error(id);
  const std::string named = "session \"" + id + "\" is ";
  switch (const SessionInfo info = entry->info(); info.state()) {
    case rigcal::v1::SESSION_STORED:
    case rigcal::v1::SESSION_CLOSED:
      return std::nullopt;
    case rigcal::v1::SESSION_OPEN:
      return make_service_error(
          ServiceError::NOT_READY,
          named + "still being recorded; submit the job when it is closed, or end the session");
    case rigcal::v1::SESSION_UPLOADING:
      return make_service_error(ServiceError::NOT_READY,
                                named + "not uploaded completely; upload it again");
    default:
      return make_service_error(ServiceError::NOT_READY,
                                named + state_name(info.state()) + ": " + info.problem());
  }
}

std::map<std::string, std::uint64_t> SessionStore::count_by_state() const {
  std::map<std::string, std::uint64_t> counts;
  for (const auto& [id, entry] : entries_) ++counts[state_name(entry.info().state())];
  return counts;
}

void SessionStore::unload_disconnected_sessions() {
  for (const auto& [id, entry] : entries_) {
    if (entry.ingest) entry.ingest->unload_if_disconnected();
  }
}

void SessionStore::retry() {
  for (const auto& [id, entry] : entries_) {
    if (entry.ingest && !entry.removing) entry.ingest->retry();
  }
}

}  // namespace service
