#include "service/server/conversation.hpp"

#include <filesystem>

#include "proto/recording/mcap/file.hpp"
#include "proto/stream/service_limits.hpp"
#include "proto/text/printable.hpp"
#include "service/messages/live_text.hpp"
#include "service/server/jobs/job_files.hpp"
#include "service/server/reply_frames.hpp"
#include "service/server/storage/checksums.hpp"
#include "service/server/storage/log.hpp"

namespace service {
namespace {

constexpr std::size_t kSmallReplySize = 16u << 10;  // sent even if buffers are full [byte]

using rigcal::v1::ServiceError;
using rigcal::v1::ServiceReply;
using rigcal::v1::ServiceRequest;
using rigcal::v1::SessionRefused;

void put(ServiceReply& reply, const rigcal::v1::SessionInfo& m) {
  *reply.mutable_session_info() = m;
}
void put(ServiceReply& reply, const rigcal::v1::SessionList& m) {
  *reply.mutable_session_list() = m;
}
void put(ServiceReply& reply, const rigcal::v1::Deleted& m) { *reply.mutable_deleted() = m; }
void put(ServiceReply& reply, const rigcal::v1::UploadState& m) {
  *reply.mutable_upload_state() = m;
}
void put(ServiceReply& reply, const rigcal::v1::JobInfo& m) { *reply.mutable_job_info() = m; }
void put(ServiceReply& reply, const rigcal::v1::JobList& m) { *reply.mutable_job_list() = m; }
void put(ServiceReply& reply, const ServiceError& m) { *reply.mutable_error() = m; }

}  // namespace

Conversation::Conversation(ServiceContext& context, SessionStore& sessions, JobStore& jobs,
                           Peer peer)
    : context_(context), sessions_(sessions), jobs_(jobs), peer_(std::move(peer)) {}

bool Conversation::ready() const {
  return !waiting_ && mode_ != ConversationMode::kEnded && !(session_ && session_->is_congested());
}

bool Conversation::waits_for_client() const {
  if (mode_ == ConversationMode::kIngest) return session_ && session_->is_rig_silent();
  return mode_ == ConversationMode::kClient && !waiting_ && subscriptions_.empty();
}

void Conversation::on_frame(const proto::Frame& frame) {
  ServiceRequest request;
  const auto parsed = proto::parse_frame(frame, proto::service_request_limits(), request);
  if (!parsed.ok()) return on_protocol_violation(parsed.error());
  if (logs(LogLevel::kDebug)) {
    const auto* const kind = request.GetDescriptor()->FindFieldByNumber(request.request_case());
    log_event(LogLevel::kDebug, "request",
              {{"peer", peer_.place},
               {"identity", peer_.identity.name},
               {"request", kind == nullptr ? std::string() : kind->name()}});
  }
  switch (mode_) {
    case ConversationMode::kGreeting:
      return greet(request);
    case ConversationMode::kClient:
      return serve(request);
    case ConversationMode::kIngest:
      return handle_stream_request(request);
    case ConversationMode::kEnded:
      return;
  }
}

void Conversation::on_protocol_violation(const proto::Error& error) {
  if (mode_ == ConversationMode::kEnded) return;
  ++context_.metrics.protocol_errors_total;
  log_event(LogLevel::kWarning, "protocol_error", {{"peer", peer_.place}, {"error", error.detail}});
  if (mode_ == ConversationMode::kIngest) {
    if (session_) session_->disconnect_rig(*this);
    return on_session_refused(SessionRefused::REASON_BAD_REQUEST, error.detail);
  }
  send_error_and_close(make_service_error(ServiceError::BAD_REQUEST, error.detail));
}

void Conversation::on_disconnected() {
  sink_ = nullptr;
  mode_ = ConversationMode::kEnded;
  if (session_) session_->disconnect_rig(*this);
  session_.reset();
}

// Greeting -------------------------------------------------------------------------------------

void Conversation::greet(ServiceRequest& request) {
  if (request.has_open_session()) return open_session(request.open_session());
  if (request.has_check_live()) return check_live(request.check_live());
  if (!request.has_hello()) {
    ++context_.metrics.protocol_errors_total;
    return send_error_and_close(make_service_error(
        ServiceError::BAD_REQUEST, "a connection must start with Hello, OpenSession or CheckLive"));
  }
  if (!refusal_.empty()) {
    return send_error_and_close(make_service_error(ServiceError::NOT_ALLOWED, refusal_));
  }
  if (const std::string busy = refusal_check_ ? refusal_check_() : ""; !busy.empty()) {
    return send_error_and_close(make_service_error(ServiceError::BUSY, busy));
  }
  const auto& hello = request.hello();
  if (hello.protocol_version() != proto::kServiceVersion) {
    return send_error_and_close(make_service_error(
        ServiceError::PROTOCOL_VERSION,
        "this service uses protocol version " + std::to_string(proto::kServiceVersion) +
            ", the client version " + std::to_string(hello.protocol_version()) +
            "; use programs of the same version"));
  }
  mode_ = ConversationMode::kClient;
  log_event(LogLevel::kInfo, "client_connected",
            {{"peer", peer_.place}, {"identity", identity()}, {"client", hello.client()}});
  ServiceReply reply;
  reply.mutable_welcome()->set_protocol_version(proto::kServiceVersion);
  reply.mutable_welcome()->set_server_version(context_.version);
  reply.mutable_welcome()->set_upload_part_size_bytes_max(proto::kFilePartSizeMax);
  send(reply);
}

// Streaming ------------------------------------------------------------------------------------

void Conversation::open_session(const rigcal::v1::OpenSession& request) {
  const std::string busy = refusal_.empty() && refusal_check_ ? refusal_check_() : "";
  mode_ = ConversationMode::kIngest;
  if (!refusal_.empty()) return on_session_refused(SessionRefused::REASON_BAD_REQUEST, refusal_);
  if (!busy.empty()) return on_session_refused(SessionRefused::REASON_BUSY, busy);
  if (request.protocol_version() != proto::kStreamVersion) {
    return on_session_refused(
        SessionRefused::REASON_PROTOCOL_VERSION,
        "this service uses stream version " + std::to_string(proto::kStreamVersion) +
            ", the rig computer version " + std::to_string(request.protocol_version()) +
            "; use programs of the same version");
  }
  auto opened = sessions_.open(request, peer_.identity);
  if (const auto* refused = std::get_if<SessionRefused>(&opened)) {
    return on_session_refused(refused->reason(), refused->text());
  }
  session_ = std::get<std::shared_ptr<IngestSession>>(opened);
  waiting_ = true;
  session_->open(shared_from_this(), request);
}

void Conversation::check_live(const rigcal::v1::CheckLive& request) {
  const std::string busy = refusal_.empty() && refusal_check_ ? refusal_check_() : "";
  mode_ = ConversationMode::kIngest;
  if (!refusal_.empty() || !busy.empty()) return send_live_check(refusal_ + busy);
  if (context_.live_fits == nullptr) {
    return send_live_check(describe_live_problem(LiveProblem::kNotOffered));
  }
  waiting_ = true;
  context_.live_fits->check(identity(), request, [weak = weak_from_this()](const auto& problem) {
    if (const auto self = weak.lock()) self->send_live_check(problem);
  });
}

void Conversation::send_live_check(const std::string& problem) {
  ServiceReply reply;
  reply.mutable_live_checked()->set_problem(proto::to_utf8(problem, kErrorTextSizeMax));
  send(reply);
  mode_ = ConversationMode::kEnded;
  if (sink_ != nullptr) sink_->close_after_sending();
}

void Conversation::handle_stream_request(ServiceRequest& request) {
  switch (request.request_case()) {
    case ServiceRequest::kSampleBatch:
      return append_batch(*request.mutable_sample_batch());
    case ServiceRequest::kCloseSession:
      return session_->close(*this, request.close_session());
    default:
      return on_protocol_violation(
          {proto::ErrorCode::kDamaged,
           "a streaming connection accepts only SampleBatch and CloseSession"});
  }
}

void Conversation::append_batch(rigcal::v1::SampleBatch& batch) {
  const std::string& owner = session_->stored_info().owner();
  const std::uint64_t size_bytes = recorded_size_bytes(batch);
  if (const auto full = sessions_.check_storage_quota(owner, size_bytes)) {
    session_->disconnect_rig(*this);
    return on_session_refused(SessionRefused::REASON_STORAGE, full->text());
  }
  context_.disk.add(owner, size_bytes);
  session_->append_batch(*this, batch);
}

void Conversation::on_session_opened(std::uint64_t last_durable_batch, const std::string& secret) {
  log_event(LogLevel::kInfo, "session_opened",
            {{"peer", peer_.place},
             {"session", session_->info().session_id()},
             {"through", last_durable_batch}});
  waiting_ = false;
  ServiceReply reply;
  reply.mutable_session_opened()->set_acknowledged_through(last_durable_batch);
  reply.mutable_session_opened()->set_secret(secret);
  reply.mutable_session_opened()->set_live_problem(proto::to_utf8(session_->live_problem(), 1024));
  send(reply);
  if (sink_ != nullptr) sink_->resume_reading();
}

void Conversation::on_batches_acknowledged(std::uint64_t last_durable_batch) {
  ServiceReply reply;
  reply.mutable_acknowledge()->set_through(last_durable_batch);
  send(reply);
  if (sink_ != nullptr) sink_->resume_reading();
}

// A rig computer that reads slowly misses estimates.
void Conversation::on_live_estimate(const rigcal::v1::LiveEstimate& estimate) {
  ServiceReply reply;
  *reply.mutable_live_estimate() = estimate;
  std::string frame = make_reply_frame(reply);
  if (sink_ != nullptr && sink_->can_queue(frame.size())) sink_->send(std::move(frame));
}

// Never omitted, however slowly the rig computer reads.
void Conversation::on_stop_requested(const std::string& by) {
  ServiceReply reply;
  reply.mutable_stop_run()->set_requested_by(by);
  send(reply);
}

void Conversation::on_session_closed(std::uint64_t last_durable_batch) {
  ServiceReply reply;
  reply.mutable_session_closed()->set_through(last_durable_batch);
  send(reply);
  mode_ = ConversationMode::kEnded;
  if (sink_ != nullptr) sink_->close_after_sending();
}

void Conversation::on_session_refused(SessionRefused::Reason reason, const std::string& text) {
  log_event(LogLevel::kWarning, "session_refused", {{"peer", peer_.place}, {"error", text}});
  ServiceReply reply;
  reply.mutable_session_refused()->set_reason(reason);
  reply.mutable_session_refused()->set_text(proto::to_utf8(text, 1024));
  send(reply);
  mode_ = ConversationMode::kEnded;
  session_.reset();
  if (sink_ != nullptr) sink_->close_after_sending();
}

void Conversation::on_connection_superseded() {
  log_event(LogLevel::kInfo, "session_superseded", {{"peer", peer_.place}});
  mode_ = ConversationMode::kEnded;
  session_.reset();
  if (sink_ != nullptr) sink_->close_after_sending();
}

// Clients --------------------------------------------------------------------------------------

template <typename Reply>
void Conversation::send_reply(const ReplyOrError<Reply>& outcome) {
  ServiceReply reply;
  std::visit([&](const auto& message) { put(reply, message); }, outcome);
  send(reply);
}

// Returns a callback that answers once a disk operation is done. The client may be gone by then.
template <typename Reply>
std::function<void(const ReplyOrError<Reply>&)> Conversation::deferred_answer() {
  waiting_ = true;
  return [weak = weak_from_this()](const ReplyOrError<Reply>& outcome) {
    const auto self = weak.lock();
    if (!self || self->sink_ == nullptr) return;
    self->waiting_ = false;
    self->send_reply(outcome);
    if (self->sink_ != nullptr) self->sink_->resume_reading();
  };
}

// Lists every request; the compiler reports a missing one.
void Conversation::serve(ServiceRequest& request) {
  const Identity& who = peer_.identity;
  switch (request.request_case()) {
    case ServiceRequest::kListSessions:
      return send_reply(ReplyOrError<rigcal::v1::SessionList>(sessions_.list()));
    case ServiceRequest::kInspectSession:
      return send_reply(sessions_.find_session_info(request.inspect_session().session_id()));
    case ServiceRequest::kEndSession:
      return send_reply(sessions_.end(request.end_session().session_id(), who));
    case ServiceRequest::kStopSession:
      return send_reply(sessions_.stop(request.stop_session().session_id(), who));
    case ServiceRequest::kDeleteSession:
      return sessions_.delete_session(request.delete_session().session_id(), who,
                                      deferred_answer<rigcal::v1::Deleted>());
    case ServiceRequest::kSubscribeSession: {
      const std::string& id = request.subscribe_session().session_id();
      const auto outcome =
          sessions_.add_subscriber(id, shared_from_this(), request.subscribe_session().estimates());
      if (!std::holds_alternative<ServiceError>(outcome)) subscriptions_.insert("session:" + id);
      return send_reply(outcome);
    }
    case ServiceRequest::kReadRecording:
      return read_recording(request.read_recording());
    case ServiceRequest::kOpenUpload:
      return sessions_.open_upload(request.open_upload(), who,
                                   deferred_answer<rigcal::v1::UploadState>());
    case ServiceRequest::kUploadPart:
      return sessions_.append_upload(*request.mutable_upload_part(), who,
                                     deferred_answer<rigcal::v1::UploadState>());
    case ServiceRequest::kSubmitJob:
      return jobs_.submit_job(*request.mutable_submit_job(), who,
                              deferred_answer<rigcal::v1::JobInfo>());
    case ServiceRequest::kListJobs:
      return send_reply(ReplyOrError<rigcal::v1::JobList>(jobs_.list()));
    case ServiceRequest::kInspectJob:
      return send_reply(jobs_.find_job_info(request.inspect_job().job_id()));
    case ServiceRequest::kSubscribeJob: {
      const std::string& id = request.subscribe_job().job_id();
      const auto outcome = jobs_.add_subscriber(id, shared_from_this());
      const auto* const info = std::get_if<rigcal::v1::JobInfo>(&outcome);
      if (info != nullptr && !proto::has_ended(*info)) subscriptions_.insert("job:" + id);
      return send_reply(outcome);
    }
    case ServiceRequest::kCancelJob:
      return jobs_.cancel_job(request.cancel_job().job_id(), who,
                              deferred_answer<rigcal::v1::JobInfo>());
    case ServiceRequest::kDeleteJob:
      return jobs_.delete_job(request.delete_job().job_id(), who,
                              deferred_answer<rigcal::v1::Deleted>());
    case ServiceRequest::kGetResult:
      return read_result(request.get_result().job_id());
    case ServiceRequest::kReadReport:
      return read_report(request.read_report());
    case ServiceRequest::kOpenSession:
    case ServiceRequest::kCheckLive:
    case ServiceRequest::kSampleBatch:
    case ServiceRequest::kCloseSession:
    case ServiceRequest::kHello:
    case ServiceRequest::REQUEST_NOT_SET:
      break;
  }
  ++context_.metrics.protocol_errors_total;
  send_error_and_close(make_service_error(
      ServiceError::BAD_REQUEST,
      "after Hello, a connection can send neither Hello nor OpenSession; open another connection"));
}

void Conversation::send_reply_from_disk(const OwnedPoster& thread,
                                        std::function<std::string()> make_frame) {
  waiting_ = true;
  thread(identity(),
         [self = shared_from_this(), make_frame = std::move(make_frame), main = context_.main] {
           main([self, frame = make_frame()] {
             self->waiting_ = false;
             self->send_frame(frame);
             if (self->sink_ != nullptr) self->sink_->resume_reading();
           });
         });
}

// Checks the whole file before its first part. For a long recording this takes seconds, for which
// a maintenance thread delays no other identity.
void Conversation::read_file(const ReplyOrError<std::string>& found, std::uint64_t offset_bytes) {
  if (const auto* fault = std::get_if<ServiceError>(&found)) return send_error(*fault);
  const std::string& path = std::get<std::string>(found);
  const auto read = [path, offset_bytes] { return make_file_part_frame(path, offset_bytes); };
  if (offset_bytes > 0 && checked_file_ && *checked_file_ == path) {
    return send_reply_from_disk(context_.reader, read);
  }
  checked_file_ = std::make_shared<std::string>();
  std::error_code ignored;
  const bool is_long = std::filesystem::file_size(path, ignored) > kResultSizeMax;
  const OwnedPoster& thread = is_long ? context_.maintenance : context_.reader;
  send_reply_from_disk(thread, [path, read, checked = checked_file_] {
    const proto::Status whole = check_checksum(path);
    if (!whole.ok()) return make_error_frame(ServiceError::STORAGE, whole.error().detail);
    *checked = path;
    return read();
  });
}

// A rig file is not checked: no checksum of it is stored while the session is open.
void Conversation::read_recording(const rigcal::v1::ReadRecording& request) {
  const std::uint64_t offset_bytes = request.offset_bytes();
  if (request.kind() != rigcal::v1::ReadRecording::RIG_FILE) {
    return read_file(sessions_.recording_path(request.session_id()), offset_bytes);
  }
  const auto found = sessions_.rig_path(request.session_id());
  if (const auto* fault = std::get_if<ServiceError>(&found)) return send_error(*fault);
  send_reply_from_disk(context_.reader, [path = std::get<std::string>(found), offset_bytes] {
    return make_file_part_frame(path, offset_bytes);
  });
}

void Conversation::read_report(const rigcal::v1::ReadReport& request) {
  auto path = jobs_.find_result_folder(request.job_id());
  if (auto* folder = std::get_if<std::string>(&path)) {
    const bool calibration = request.kind() == rigcal::v1::ReadReport::CALIBRATION;
    *folder += calibration ? "/report.html" : "/cross_validation.html";
  }
  read_file(path, request.offset_bytes());
}

void Conversation::read_result(const std::string& job_id) {
  const auto folder = jobs_.find_result_folder(job_id);
  if (const auto* fault = std::get_if<ServiceError>(&folder)) return send_error(*fault);
  const auto info = jobs_.find_job_info(job_id);
  if (const auto* fault = std::get_if<ServiceError>(&info)) return send_error(*fault);
  send_reply_from_disk(context_.reader, [folder = std::get<std::string>(folder),
                                         info = std::get<rigcal::v1::JobInfo>(info)] {
    return make_result_frame(folder, info);
  });
}

void Conversation::on_live_update(const LiveFrame& frame) {
  if (sink_ != nullptr) sink_->send_live_update(frame);
}

void Conversation::on_live_updates_ended(const std::string& session_id) {
  subscriptions_.erase("session:" + session_id);
  ServiceReply reply;
  reply.mutable_live_ended()->set_session_id(session_id);
  std::string frame = make_reply_frame(reply);
  // After the queued live frames, and dropped like them if the client is slow.
  on_live_update({std::make_shared<const std::string>(std::move(frame)), 0});
}

void Conversation::on_job_update(const rigcal::v1::JobInfo& info) {
  ServiceReply reply;
  *reply.mutable_job_update()->mutable_job() = info;
  // A client that reads slowly misses intermediate updates, not the final one.
  const bool ended = proto::has_ended(info);
  if (ended) subscriptions_.erase("job:" + info.job_id());
  std::string frame = make_reply_frame(reply);
  if (sink_ != nullptr && (ended || sink_->can_queue(frame.size()))) {
    sink_->send(std::move(frame));
  }
}

std::string Conversation::make_dropped_updates_frame(std::uint64_t batch_count,
                                                     std::uint64_t sample_count) {
  ServiceReply reply;
  reply.mutable_live_dropped()->set_batch_count(batch_count);
  reply.mutable_live_dropped()->set_sample_count(sample_count);
  return make_reply_frame(reply);
}

// If too much waits to be read already, replaces a large reply by an error.
void Conversation::send_frame(std::string frame) {
  if (sink_ == nullptr) return;
  if (frame.size() > kSmallReplySize && !sink_->can_queue(frame.size())) {
    frame = make_error_frame(ServiceError::BUSY,
                             "too many unread replies for this client or the service; "
                             "read the pending replies and retry");
  }
  sink_->send(std::move(frame));
}

void Conversation::send(const ServiceReply& reply) { send_frame(make_reply_frame(reply)); }

void Conversation::send_error(const ServiceError& fault) {
  ServiceReply reply;
  *reply.mutable_error() = fault;
  send(reply);
}

void Conversation::send_error_and_close(const ServiceError& fault) {
  send_error(fault);
  mode_ = ConversationMode::kEnded;
  if (sink_ != nullptr) sink_->close_after_sending();
}

}  // namespace service
