#include "service/server/sessions/ingest_session.hpp"

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <utility>

#include "proto/recording/recording_rules.hpp"
#include "proto/stream/content_hash.hpp"
#include "proto/stream/service_limits.hpp"
#include "service/server/storage/durable_file.hpp"
#include "service/server/storage/log.hpp"

namespace service {
namespace {

namespace fs = std::filesystem;
using proto::Error;
using proto::ErrorCode;
using proto::Result;
using proto::Status;
using rigcal::v1::SessionInfo;
using rigcal::v1::SessionRecord;
using rigcal::v1::SessionRefused;

constexpr std::uint64_t kPendingBytesMax = 1u << 20;
constexpr std::size_t kPendingCountMax = 256;

LiveFrame make_live_frame(const std::string& session_id, const std::string& batch) {
  rigcal::v1::ServiceReply reply;
  reply.mutable_live_batch()->set_session_id(session_id);
  auto* message = reply.mutable_live_batch()->mutable_batch();
  if (!message->ParseFromString(batch)) return {};
  const auto sample_count = static_cast<std::uint64_t>(message->samples_size());
  auto bytes = std::make_shared<std::string>();
  if (!proto::append_frame(reply, proto::service_reply_limits(), *bytes).ok()) return {};
  return {std::move(bytes), sample_count};
}

}  // namespace

struct IngestSession::LoadedLog {
  BatchValidator check;
  std::uint64_t last_durable_batch;
  std::uint64_t sample_count;
  std::uint64_t size_bytes;
};

struct IngestSession::CommitOutcome {
  Status status = proto::success();
  std::uint64_t last_durable_batch = 0;
  std::uint64_t size_bytes = 0;
  std::optional<std::uint64_t> conflict;  // number of a batch resent with different content
};

IngestSession::IngestSession(ServiceContext& context, std::string folder, SessionRecord record,
                             bool is_new, std::function<void(bool)> changed)
    : context_(context),
      folder_(std::move(folder)),
      info_(std::move(*record.mutable_info())),
      secret_(std::move(*record.mutable_secret())),
      is_new_(is_new),
      changed_(std::move(changed)),
      storage_(context.make_storage_poster(info_.session_id(), info_.owner())),
      log_(std::make_shared<std::optional<SessionLog>>()),
      names_(parse_joint_and_sensor_names(info_.metadata()).value()),
      check_(proto::recording_shape(names_)),
      store_delay_(context.limits.store_retry_s) {}

void IngestSession::start() {
  std::error_code none;  // most sessions have no rig file
  const auto stored_size = fs::file_size(folder_ + "/" + kSessionRigFile, none);
  rig_size_bytes_ = none ? rig_text_.size() : stored_size;
  switch (info_.state()) {
    case rigcal::v1::SESSION_STORED:
    case rigcal::v1::SESSION_FAILED:
      phase_ = SessionPhase::kStored;
      durable_ = info_.batch_count();
      break;
    case rigcal::v1::SESSION_CLOSED:
      phase_ = SessionPhase::kClosed;
      durable_ = info_.batch_count();
      store();
      break;
    default:
      load();
  }
}

void IngestSession::load() {
  phase_ = SessionPhase::kLoading;
  storage_([self = shared_from_this(), log = log_, folder = folder_, info = info_, secret = secret_,
            shape = proto::recording_shape(names_), is_new = is_new_, limits = context_.limits,
            rig_text = std::exchange(rig_text_, ""), main = context_.main] {
    const auto work = [&]() -> Result<LoadedLog> {
      if (is_new) {
        const std::string parent = fs::path(folder).parent_path().string();
        if (Status room = check_disk_space(parent, limits.free_space_bytes); !room.ok()) {
          return room.error();
        }
        const Status created =
            create_record_folder(folder, kSessionRecordFile, make_session_record(info, secret));
        if (!created.ok()) return created.error();
        if (!rig_text.empty()) {
          const Status kept = write_durably(folder + "/" + kSessionRigFile, rig_text);
          if (!kept.ok()) return kept.error();
        }
      }
      log->reset();
      auto opened = SessionLog::open(session_log_folder(folder), shape, limits.session_size_bytes);
      if (!opened.ok()) return opened.error();
      if (Status synced = sync_folder(folder); !synced.ok()) return synced.error();
      log->emplace(std::move(opened.value()));
      return LoadedLog{(*log)->check(), (*log)->last_durable_batch(), (*log)->sample_count(),
                       (*log)->size_bytes()};
    };
    main([self, outcome = work()] { self->on_log_loaded(outcome); });
  });
}

void IngestSession::on_log_loaded(Result<LoadedLog> outcome) {
  if (outcome.ok() && outcome.value().last_durable_batch < durable_) {
    outcome = Error{ErrorCode::kDamaged,
                    "the service's disk lost stored batches of session " + info_.session_id() +
                        " after batch " + std::to_string(outcome.value().last_durable_batch) +
                        "; " + "the recording on the rig computer contains them"};
  }
  if (!outcome.ok()) {
    phase_ = SessionPhase::kUnloaded;
    close_asked_ = false;
    report_error("session_load_failed", outcome.error());
    if (outcome.error().code == ErrorCode::kDamaged) return close_damaged_session(outcome.error());
    refuse_connection(SessionRefused::REASON_STORAGE, outcome.error().detail);
    std::error_code ignored;
    is_new_ = is_new_ && !fs::exists(folder_, ignored);
    if (is_new_) changed_(false);  // nothing was acknowledged or created
    return;
  }
  is_new_ = false;
  phase_ = SessionPhase::kOpen;
  check_ = outcome.value().check;
  durable_ = outcome.value().last_durable_batch;
  next_ = durable_ + 1;
  info_.set_batch_count(durable_);
  info_.set_sample_count(outcome.value().sample_count);
  info_.set_size_bytes(outcome.value().size_bytes);
  info_.clear_problem();
  last_used_at_ = Clock::now();
  send_opening_reply();
  continue_live_fit();
  continue_closing();
}

// Lost data cannot be recovered by retrying: the session ends and its remaining part is stored.
void IngestSession::close_damaged_session(const Error& error) {
  refuse_connection(SessionRefused::REASON_BAD_REQUEST,
                    error.detail +
                        "; the session is closed with the remaining data; "
                        "the complete recording is on the rig computer");
  durable_ = std::max(durable_, info_.batch_count());
  info_.set_batch_count(durable_);
  interrupted_ = true;
  begin_closing();
}

void IngestSession::unload_if_disconnected() {
  const bool idle = phase_ == SessionPhase::kOpen && owner_.expired() && !committing_ &&
                    pending_.size() == 0 && !close_asked_;
  if (!idle || Clock::now() - last_used_at_ <
                   std::chrono::duration<double>(context_.limits.unload_after_s)) {
    return;
  }
  phase_ = SessionPhase::kUnloaded;
  live_fit_.reset();
  storage_([log = log_] { log->reset(); });
}

std::uint64_t IngestSession::expected_recording_size_bytes() const {
  return rig_size_bytes_ + (phase_ == SessionPhase::kStored
                                ? info_.size_bytes()
                                : std::max(info_.size_bytes(), check_.recorded_bytes()));
}

bool IngestSession::is_rig_silent() const {
  if (owner_.expired() || open_asked_ || committing_ || close_asked_) return false;
  return !sent_batch_ || Clock::now() - last_used_at_ > kSilence;
}

void IngestSession::disconnect_silent_rig() {
  refuse_connection(SessionRefused::REASON_BUSY,
                    "session " + info_.session_id() +
                        " received no data; "
                        "its connection was closed to make room for a newer session of the same "
                        "client, connect again to continue");
}

std::string IngestSession::connected_rig_identity_name() const {
  const auto owner = owner_.lock();
  return owner ? owner->identity() : std::string();
}

bool IngestSession::accepts_secret(const std::string& secret) const {
  return secret_.empty() || proto::are_secrets_equal(secret, secret_);
}

void IngestSession::open(const std::shared_ptr<RigConnection>& owner,
                         const rigcal::v1::OpenSession& request) {
  const std::string& secret = request.secret();
  if (secret_.empty() && !secret.empty() && is_open()) {
    secret_ = secret;
    storage_([folder = folder_, info = info_, secret] {
      // If it fails, the next opening sends the secret again.
      static_cast<void>(save_session(folder, info, secret));
    });
  }
  if (const auto earlier = owner_.lock(); earlier && earlier != owner)
    earlier->on_connection_superseded();
  drop_resent_batches();  // from an earlier connection
  owner_ = owner;
  owner_identity_ = owner.get();
  sent_batch_ = false;
  last_used_at_ = Clock::now();
  open_asked_ = true;
  rig_wants_estimates_ = request.has_live();
  rig_accepts_stop_ = request.accepts_stop();
  if (rig_wants_estimates_ && is_open()) start_live_fit(request);
  if (phase_ != SessionPhase::kClosing) close_asked_ = false;  // to be requested again
  if (phase_ == SessionPhase::kUnloaded) return load();
  send_opening_reply();
}

// Replies once the batches of an earlier connection are committed. A later acknowledgement would
// count batches that this connection has not sent.
void IngestSession::send_opening_reply() {
  if (!open_asked_ || committing_ || phase_ == SessionPhase::kLoading ||
      phase_ == SessionPhase::kClosing)
    return;
  const auto owner = owner_.lock();
  open_asked_ = false;
  if (!owner) return;
  owner->on_session_opened(durable_, std::exchange(send_secret_, false) ? secret_ : "");
  if (rig_accepts_stop_ && !stop_requested_by_.empty()) {
    owner->on_stop_requested(stop_requested_by_);
  }
}

void IngestSession::append_batch(const RigConnection& owner, rigcal::v1::SampleBatch& batch) {
  if (&owner != owner_identity_) return;
  sent_batch_ = true;
  last_used_at_ = Clock::now();
  const std::uint64_t sequence = batch.batch_sequence();
  if (phase_ != SessionPhase::kOpen) {
    return refuse_connection(SessionRefused::REASON_BAD_REQUEST,
                             "session " + info_.session_id() + " was closed with batch " +
                                 std::to_string(durable_) + "; start a new session");
  }
  if (sequence == 0) {
    return refuse_connection(SessionRefused::REASON_BAD_REQUEST, "batches are numbered from 1");
  }
  if (sequence < next_) {
    ++context_.metrics.duplicate_batches_total;
    pending_.resent_by = owner_;
    pending_.resent_batches.emplace_back(sequence, batch.SerializeAsString());
    pending_bytes_ += pending_.resent_batches.back().second.size();
    return commit_next_group();
  }
  append_new_batch(batch);
}

void IngestSession::append_new_batch(rigcal::v1::SampleBatch& batch) {
  const std::uint64_t sequence = batch.batch_sequence();
  if (sequence > next_) {
    return refuse_connection(SessionRefused::REASON_BAD_REQUEST,
                             "batch " + std::to_string(sequence) + " arrived, but batch " +
                                 std::to_string(next_) +
                                 " was expected; batch numbers must be consecutive");
  }
  const std::uint64_t limit = context_.limits.session_size_bytes;
  if (recorded_size_bytes(batch) > limit - std::min(limit, check_.recorded_bytes())) {
    return refuse_connection(SessionRefused::REASON_STORAGE,
                             "session " + info_.session_id() + " has " +
                                 std::to_string(check_.recorded_bytes() >> 20) +
                                 " MiB, but this service accepts recordings of at most " +
                                 std::to_string(limit >> 20) + " MiB; start a new session");
  }
  if (const auto fault = check_.validate_and_add(batch)) {
    return refuse_connection(SessionRefused::REASON_BAD_REQUEST, *fault);
  }
  if (pending_.batches.empty()) pending_.since = Clock::now();
  pending_.sample_counts.push_back(static_cast<std::uint64_t>(batch.samples_size()));
  pending_.batches.push_back(batch.SerializeAsString());
  pending_bytes_ += pending_.batches.back().size();
  ++next_;
  commit_next_group();
}

void IngestSession::drop_resent_batches() {
  for (const auto& [sequence, batch] : pending_.resent_batches) pending_bytes_ -= batch.size();
  pending_.resent_batches.clear();
}

bool IngestSession::is_congested() const {
  return pending_bytes_ > kPendingBytesMax || pending_.size() > kPendingCountMax;
}

void IngestSession::commit_next_group() {
  if (committing_ || pending_.size() == 0 || phase_ != SessionPhase::kOpen) return;
  committing_ = true;
  pending_bytes_ = 0;
  storage_([self = shared_from_this(), log = log_, group = std::exchange(pending_, {}),
            main = context_.main, folder = folder_,
            floor = context_.limits.free_space_bytes]() mutable {
    const CommitOutcome outcome = commit_group(**log, group, check_disk_space(folder, floor));
    main([self, outcome, group = std::move(group)] { self->on_group_committed(outcome, group); });
  });
}

IngestSession::CommitOutcome IngestSession::commit_group(SessionLog& log, const BatchGroup& group,
                                                         const Status& space) {
  CommitOutcome outcome;
  if (!group.batches.empty())
    outcome.status = space.ok() ? log.append_durably(group.batches) : space;
  outcome.last_durable_batch = log.last_durable_batch();
  outcome.size_bytes = log.size_bytes();
  // After the new batches, which may include resent ones.
  for (const auto& [sequence, batch] : group.resent_batches) {
    if (!outcome.status.ok() || outcome.conflict) break;
    const auto same = log.holds(sequence, batch);
    if (!same.ok()) outcome.status = same.error();
    if (same.ok() && !same.value()) outcome.conflict = sequence;
  }
  return outcome;
}

void IngestSession::on_group_committed(const CommitOutcome& outcome, const BatchGroup& group) {
  committing_ = false;
  count_durable_batches(outcome, group);
  if (!outcome.status.ok()) {
    pending_ = {};
    pending_bytes_ = 0;
    phase_ = SessionPhase::kUnloaded;  // read the log again: the check counted batches not stored
    report_error("session_store_failed", outcome.status.error());
    return refuse_connection(SessionRefused::REASON_STORAGE, outcome.status.error().detail);
  }
  const auto owner = owner_.lock();
  if (outcome.conflict && owner && owner == group.resent_by.lock()) {
    refuse_connection(SessionRefused::REASON_BAD_REQUEST,
                      "batch " + std::to_string(*outcome.conflict) + " of session " +
                          info_.session_id() +
                          " was resent with different content; the stored batch is kept");
  }
  commit_next_group();
  continue_live_fit();
  if (open_asked_) return send_opening_reply();
  if (const auto here = owner_.lock()) here->on_batches_acknowledged(durable_);
  continue_closing();
}

void IngestSession::count_durable_batches(const CommitOutcome& outcome, const BatchGroup& group) {
  const auto stored = static_cast<std::size_t>(outcome.last_durable_batch - durable_);
  durable_ = outcome.last_durable_batch;
  const std::uint64_t sample_count = std::accumulate(
      group.sample_counts.begin(),
      group.sample_counts.begin() + static_cast<std::ptrdiff_t>(stored), std::uint64_t{0});
  info_.set_batch_count(durable_);
  info_.set_sample_count(info_.sample_count() + sample_count);
  info_.set_size_bytes(outcome.size_bytes);
  context_.metrics.batches_total += stored;
  context_.metrics.samples_total += sample_count;
  if (!group.batches.empty()) {
    context_.metrics.commit_duration.add(
        std::chrono::duration<double>(Clock::now() - group.since).count());
  }
  for (std::size_t k = 0; k < stored; ++k) {
    publish_live_update(durable_ + 1 - stored + k, group.batches[k]);
  }
}

void IngestSession::publish_live_update(std::uint64_t sequence, const std::string& batch) {
  if (live_fit_ && sequence == fit_next_ && !reading_for_fit_) {
    live_fit_->add(batch);
    ++fit_next_;
  }
  std::erase_if(subscribers_, [](const Subscription& each) { return each.subscriber.expired(); });
  if (subscribers_.empty()) return;
  const LiveFrame frame = make_live_frame(info_.session_id(), batch);
  if (!frame.bytes) return;
  for (const Subscription& each : subscribers_) {
    if (const auto here = each.subscriber.lock()) here->on_live_update(frame);
  }
}

void IngestSession::close(const RigConnection& owner, const rigcal::v1::CloseSession& request) {
  if (&owner != owner_identity_) return;
  const std::uint64_t last_batch = request.last_batch_sequence();
  const std::uint64_t last = phase_ == SessionPhase::kOpen ? next_ - 1 : durable_;
  if (last_batch != last) {
    return refuse_connection(SessionRefused::REASON_BAD_REQUEST,
                             "the session is closed with batch " + std::to_string(last_batch) +
                                 " as its last, but " + std::to_string(last) + " arrived");
  }
  close_asked_ = true;
  interrupted_ = request.interrupted();
  continue_closing();
}

void IngestSession::disconnect_rig(const RigConnection& owner) {
  if (&owner != owner_identity_) return;
  owner_.reset();
  owner_identity_ = nullptr;
  open_asked_ = false;
  drop_resent_batches();
  last_used_at_ = Clock::now();
}

void IngestSession::add_subscriber(const std::shared_ptr<LiveSubscriber>& subscriber,
                                   bool estimates) {
  if (!is_open()) return subscriber->on_live_updates_ended(info_.session_id());
  const auto there = std::ranges::find_if(subscribers_, [&](const Subscription& other) {
    return other.subscriber.lock() == subscriber;
  });
  if (there == subscribers_.end()) subscribers_.push_back({subscriber, estimates});
}

void IngestSession::refuse_connection(SessionRefused::Reason reason, const std::string& text) {
  const auto owner = owner_.lock();
  owner_.reset();
  owner_identity_ = nullptr;
  open_asked_ = false;
  if (owner) owner->on_session_refused(reason, text);
}

void IngestSession::report_error(const std::string& what, const Error& error) {
  ++context_.metrics.storage_errors_total;
  info_.set_problem(error.detail);
  log_event(LogLevel::kError, what, {{"session", info_.session_id()}, {"error", error.detail}});
}

SessionInfo IngestSession::info() const {
  SessionInfo info = info_;
  info.set_connected(!owner_.expired());
  info.set_can_stop(!owner_.expired() && rig_accepts_stop_ && !close_asked_);
  info.set_stop_requested_by(stop_requested_by_);
  return info;
}

}  // namespace service
