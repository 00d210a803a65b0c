#include "proto/stream/stream_sender.hpp"

#include <algorithm>
#include <utility>

#include "proto/stream.pb.h"
#include "proto/stream/service_limits.hpp"

namespace proto {
namespace {

constexpr std::size_t kEstimatesMax = 64;  // that the owner has not taken

using rigcal::v1::StreamReply;
using rigcal::v1::StreamRequest;

Result<std::optional<std::string>> frame(const StreamRequest& request) {
  std::string bytes;
  if (Status appended = append_frame(request, stream_request_limits(), bytes); !appended.ok()) {
    return appended.error();
  }
  return std::optional(std::move(bytes));
}

}  // namespace

StreamSender::StreamSender(BatchStore& store, StreamSession session, StreamSenderOptions options)
    : store_(store),
      session_(std::move(session)),
      options_(options),
      retry_delay_(options.retry_delay_min) {
  assert(is_valid_session_id(session_.id));
  assert(options_.window > 0);
}

void StreamSender::on_connected(Nanoseconds now) {
  assert(state_ == SenderState::kDisconnected);
  state_ = SenderState::kOpening;
  open_sent_ = false;
  must_disconnect_ = false;
  waiting_since_ = now;
}

void StreamSender::on_disconnected(Nanoseconds now) {
  if (state_ == SenderState::kDone || state_ == SenderState::kRefused) return;
  state_ = SenderState::kDisconnected;
  waiting_since_.reset();
  retry_at_ = now + retry_delay_;
  retry_delay_ = std::min(2 * retry_delay_, options_.retry_delay_max);
}

bool StreamSender::wants_connection(Nanoseconds now) const {
  return state_ == SenderState::kDisconnected && now >= retry_at_;
}

bool StreamSender::wants_disconnect(Nanoseconds now) const {
  if (state_ == SenderState::kDone || state_ == SenderState::kRefused) return true;
  return must_disconnect_ || (waiting_since_ && now - *waiting_since_ >= options_.reply_timeout);
}

void StreamSender::report_violation(const std::string& what) {
  problem_ = "the service violates the protocol: " + what;
  must_disconnect_ = true;
}

void StreamSender::end_as_refused(const std::string& why) {
  problem_ = why;
  state_ = SenderState::kRefused;
}

void StreamSender::process_open_reply(std::uint64_t through) {
  if (through >= store_.durable_batch_end()) {
    return end_as_refused("the service holds batches of session " + session_.id +
                          " that this recorder never wrote");
  }
  if (through < store_.acknowledged_through()) {
    return end_as_refused("the service lost batches of session " + session_.id + " after " +
                          std::to_string(through) + " that it had acknowledged");
  }
  state_ = SenderState::kStreaming;
  next_to_send_ = through + 1;
}

Status StreamSender::process_acknowledgement(std::uint64_t through) {
  if (through >= next_to_send_) {
    report_violation("it acknowledged a batch that was not sent");
    return success();
  }
  if (through <= store_.acknowledged_through()) return success();
  // Not earlier: a service with a full disk opens the session and refuses afterwards.
  retry_delay_ = options_.retry_delay_min;
  return store_.acknowledge(through);
}

void StreamSender::add_estimate(const StreamReply& reply) {
  const rigcal::v1::LiveEstimate& message = reply.live_estimate();
  LiveEstimate& estimate = estimates_.emplace_back();
  estimate.through_s = message.through_s();
  estimate.is_model_accepted = message.is_model_accepted();
  estimate.problem = message.problem();
  for (const auto& item : message.parameters()) {
    estimate.parameters.push_back({item.name(), item.unit(), item.value(), item.half_width()});
  }
  if (estimates_.size() > kEstimatesMax) estimates_.pop_front();
}

Status StreamSender::on_reply(const StreamReply& reply, Nanoseconds now) {
  if (reply.has_live_estimate()) {
    add_estimate(reply);
    return success();
  }
  if (reply.has_stop_run()) {
    const std::string& who = reply.stop_run().requested_by();
    stop_requested_by_ = who.empty() ? "an unnamed client" : who;
    return success();
  }
  waiting_since_.reset();
  switch (reply.reply_case()) {
    case StreamReply::kSessionOpened: {
      if (state_ != SenderState::kOpening || !open_sent_) {
        report_violation("a session was opened without a request");
        break;
      }
      const std::uint64_t through = reply.session_opened().acknowledged_through();
      if (!reply.session_opened().secret().empty())
        session_.secret = reply.session_opened().secret();
      if (!reply.session_opened().live_problem().empty())
        live_problem_ = reply.session_opened().live_problem();
      process_open_reply(through);
      if (state_ == SenderState::kStreaming && through > store_.acknowledged_through()) {
        if (Status kept = store_.acknowledge(through); !kept.ok()) return kept;
      }
      break;
    }
    case StreamReply::kAcknowledge:
      if (state_ != SenderState::kStreaming && state_ != SenderState::kClosing) {
        report_violation("an acknowledgement without a session");
        break;
      }
      if (Status kept = process_acknowledgement(reply.acknowledge().through()); !kept.ok())
        return kept;
      break;
    case StreamReply::kSessionClosed:
      if (state_ != SenderState::kClosing || reply.session_closed().through() != sent_end_ - 1) {
        report_violation("a session was closed without a request");
        break;
      }
      state_ = SenderState::kDone;
      break;
    case StreamReply::kSessionRefused: {
      using rigcal::v1::SessionRefused;
      const auto reason = reply.session_refused().reason();
      problem_ = "the service refuses: " + reply.session_refused().text();
      must_disconnect_ = true;
      if (reason != SessionRefused::REASON_BUSY && reason != SessionRefused::REASON_STORAGE) {
        state_ = SenderState::kRefused;
      }
      break;
    }
    case StreamReply::kLiveChecked:
    case StreamReply::kLiveEstimate:
    case StreamReply::kStopRun:
      report_violation("a reply without a request");
      break;
    case StreamReply::REPLY_NOT_SET:
      report_violation("an empty reply");
      break;
  }
  const bool expecting =
      state_ == SenderState::kClosing ||
      (state_ == SenderState::kStreaming && next_to_send_ > store_.acknowledged_through() + 1);
  if (expecting) waiting_since_ = now;
  return success();
}

Result<std::optional<std::string>> StreamSender::next_request(Nanoseconds now) {
  Result<std::optional<std::string>> request = std::optional<std::string>();
  if (must_disconnect_) return request;
  if (state_ == SenderState::kOpening && !open_sent_) {
    request = make_open_request();
  } else if (state_ == SenderState::kStreaming) {
    const bool all_sent = next_to_send_ == store_.durable_batch_end();
    const bool all_acknowledged = next_to_send_ == store_.acknowledged_through() + 1;
    if (!all_sent) {
      request = make_batch_request();
    } else if (ending_ && all_acknowledged) {
      request = make_close_request();
    }
  }
  if (request.ok() && request.value() && !waiting_since_) waiting_since_ = now;
  return request;
}

Result<std::optional<std::string>> StreamSender::make_open_request() {
  StreamRequest request;
  auto* open = request.mutable_open_session();
  open->set_protocol_version(kStreamVersion);
  open->set_session_id(session_.id);
  open->set_epoch_unix_ns(session_.epoch_unix_ns);
  open->mutable_metadata()->insert(session_.metadata.begin(), session_.metadata.end());
  open->set_secret(session_.secret);
  open->set_accepts_stop(session_.accepts_stop && !ending_);
  open_sent_ = true;
  const std::string& rig = session_.live.rig_text;
  if (rig.empty()) return frame(request);
  if (rig.size() <= kLiveRigSizeMax) {
    open->mutable_live()->set_rig_name(session_.live.rig_name);
    open->mutable_live()->set_rig_text(rig);
    if (auto bytes = frame(request); bytes.ok()) return bytes;
    open->clear_live();
  }
  live_problem_ = "the rig file is too long for estimates during the recording: it has " +
                  std::to_string(rig.size() >> 10) + " KiB, and " +
                  std::to_string(kLiveRigSizeMax >> 10) + " KiB are allowed";
  return frame(request);
}

Result<std::optional<std::string>> StreamSender::make_close_request() {
  StreamRequest request;
  sent_end_ = next_to_send_;
  request.mutable_close_session()->set_last_batch_sequence(next_to_send_ - 1);
  request.mutable_close_session()->set_interrupted(interrupted_);
  state_ = SenderState::kClosing;
  return frame(request);
}

Result<std::optional<std::string>> StreamSender::make_batch_request() {
  if (next_to_send_ > store_.acknowledged_through() + options_.window) {
    return std::optional<std::string>();
  }
  auto payload = store_.read(next_to_send_);
  if (!payload.ok()) return payload.error();
  StreamRequest request;
  if (!request.mutable_sample_batch()->ParseFromString(payload.value())) {
    return Error{ErrorCode::kDamaged,
                 "batch " + std::to_string(next_to_send_) + " in the spool does not parse"};
  }
  request.mutable_sample_batch()->set_batch_sequence(next_to_send_);
  auto bytes = frame(request);
  if (!bytes.ok()) return bytes;
  if (next_to_send_ < sent_end_) ++resent_count_;
  ++next_to_send_;
  sent_end_ = std::max(sent_end_, next_to_send_);
  return bytes;
}

}  // namespace proto
