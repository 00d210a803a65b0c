#include <algorithm>
#include <utility>

#include "service/server/sessions/ingest_session.hpp"
#include "service/server/storage/log.hpp"
#include "service/server/storage/session_log.hpp"
#include "service/server/storage/store_recording.hpp"

// The second half of a session: from closing it to its stored recording.

namespace service {
namespace {

using proto::Error;
using proto::ErrorCode;
using proto::Status;
using rigcal::v1::SessionInfo;
using rigcal::v1::SessionRefused;

constexpr int kStoreTriesMax = 3;
constexpr std::chrono::duration<double> kStoreDelayMax(600.0);

}  // namespace

std::optional<std::string> IngestSession::end() {
  if (!is_open()) return std::nullopt;
  if (!owner_.expired()) {
    return "its rig computer is connected and streaming; stop that run instead";
  }
  close_asked_ = true;
  interrupted_ = true;
  if (phase_ == SessionPhase::kUnloaded) load();
  continue_closing();
  return std::nullopt;
}

std::optional<std::string> IngestSession::stop(const std::string& by) {
  const auto owner = owner_.lock();
  if (!owner) return "its rig computer is not connected; switch off at the rig";
  if (!rig_accepts_stop_ || close_asked_) return "its rig does not run";
  stop_requested_by_ = by;
  log_event(LogLevel::kInfo, "stop_requested", {{"session", info_.session_id()}, {"by", by}});
  if (!open_asked_) owner->on_stop_requested(by);
  return std::nullopt;
}

void IngestSession::continue_closing() {
  if (!close_asked_ || committing_) return;
  if (phase_ == SessionPhase::kClosing || phase_ == SessionPhase::kLoading ||
      phase_ == SessionPhase::kUnloaded)
    return;
  if (phase_ != SessionPhase::kOpen) {  // closed earlier; requested again after a lost connection
    close_asked_ = false;
    if (const auto owner = owner_.lock()) owner->on_session_closed(durable_);
    return;
  }
  begin_closing();
}

void IngestSession::begin_closing() {
  phase_ = SessionPhase::kClosing;
  live_fit_.reset();
  SessionInfo info = info_;
  info.set_state(rigcal::v1::SESSION_CLOSED);
  info.set_interrupted(interrupted_);
  storage_([self = shared_from_this(), log = log_, folder = folder_, info, secret = secret_,
            main = context_.main] {
    const Status saved = save_session(folder, info, secret);
    if (saved.ok()) log->reset();
    main([self, saved, info] { self->on_closing_saved(saved, info); });
  });
}

void IngestSession::on_closing_saved(const Status& saved, const SessionInfo& info) {
  close_asked_ = false;
  if (!saved.ok()) {
    phase_ = SessionPhase::kUnloaded;
    report_error("session_close_failed", saved.error());
    return refuse_connection(SessionRefused::REASON_STORAGE, saved.error().detail);
  }
  info_ = info;
  phase_ = SessionPhase::kClosed;
  log_event(LogLevel::kInfo, "session_closed",
            {{"session", info.session_id()},
             {"batches", info.batch_count()},
             {"samples", info.sample_count()}});
  if (open_asked_) {
    send_opening_reply();
  } else if (const auto owner = owner_.lock()) {
    owner->on_session_closed(durable_);
  }
  store();
}

void IngestSession::store() {
  phase_ = SessionPhase::kStoring;
  const StoreRecordingRequest order{.batch_count = info_.batch_count(),
                                    .interrupted = info_.interrupted(),
                                    .last_try = store_tries_ + 1 >= kStoreTriesMax};
  context_.maintenance(info_.owner(),
                       [self = shared_from_this(), folder = folder_, header = recording_header(),
                        order, info = info_, secret = secret_, main = context_.main]() mutable {
                         const auto outcome = store_recording(folder, header, order);
                         Status status = proto::success();
                         if (outcome.ok()) {
                           info.set_state(rigcal::v1::SESSION_STORED);
                           info.set_sample_count(outcome.value().sample_count);
                           info.set_size_bytes(outcome.value().size_bytes);
                           info.set_file_name("recording.mcap");
                           info.set_problem(outcome.value().problem);
                           status = save_session(folder, info, secret);
                         } else {
                           status = outcome.error();
                         }
                         main([self, status, info] { self->on_recording_stored(status, info); });
                       });
}

void IngestSession::on_recording_stored(const Status& status, const SessionInfo& info) {
  if (!status.ok()) return on_store_failed(status.error(), info);
  log_event(info.problem().empty() ? LogLevel::kInfo : LogLevel::kError, "recording_stored",
            {{"session", info.session_id()},
             {"samples", info.sample_count()},
             {"bytes", info.size_bytes()},
             {"problem", info.problem()}});
  set_final_state(info);
}

// Retries without limit while the disk is full, at growing intervals. After a few other errors the
// session has failed, and is not retried any more.
void IngestSession::on_store_failed(const Error& error, const SessionInfo& info) {
  phase_ = SessionPhase::kClosed;
  report_error("recording_store_failed", error);
  if (error.code != ErrorCode::kDiskFull) ++store_tries_;
  store_at_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(store_delay_);
  store_delay_ = std::min(2.0 * store_delay_, kStoreDelayMax);
  if (store_tries_ < kStoreTriesMax) return;
  SessionInfo failed = info;
  failed.set_state(rigcal::v1::SESSION_FAILED);
  failed.set_problem("cannot be stored: " + error.detail);
  context_.maintenance(info_.owner(), [folder = folder_, failed, secret = secret_] {
    // If this fails, too, the next start retries a few times.
    static_cast<void>(save_session(folder, failed, secret));
  });
  set_final_state(failed);
}

void IngestSession::set_final_state(const SessionInfo& info) {
  phase_ = SessionPhase::kStored;
  info_ = info;
  for (const Subscription& each : std::exchange(subscribers_, {})) {
    if (const auto here = each.subscriber.lock()) here->on_live_updates_ended(info.session_id());
  }
  changed_(true);
}

void IngestSession::retry() {
  if (phase_ == SessionPhase::kClosed && Clock::now() >= store_at_) store();
}

proto::RecordingHeader IngestSession::recording_header() const {
  proto::RecordingHeader header = names_;
  header.epoch_unix_ns = info_.epoch_unix_ns();
  const auto named = proto::make_name_metadata(header);
  for (const auto& [key, value] : info_.metadata()) {
    if (!named.contains(key)) header.facts[key] = value;
  }
  header.facts["session"] = info_.session_id();
  return header;
}

}  // namespace service
