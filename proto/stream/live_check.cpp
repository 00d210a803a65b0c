#include "proto/stream/live_check.hpp"

#include "proto/stream.pb.h"
#include "proto/stream/service_limits.hpp"

namespace proto {

void LiveCheck::on_connected(Nanoseconds) { state_ = CheckState::kConnected; }

void LiveCheck::on_disconnected(Nanoseconds) {
  if (state_ == CheckState::kAsked) state_ = CheckState::kUnanswered;
}

Status LiveCheck::on_reply(const rigcal::v1::StreamReply& reply, Nanoseconds) {
  if (state_ != CheckState::kAsked) return success();
  state_ = CheckState::kAnswered;
  if (reply.has_live_checked()) {
    problem_ = reply.live_checked().problem();
  } else if (reply.has_session_refused()) {
    problem_ = "the service refuses: " + reply.session_refused().text();
  } else {
    state_ = CheckState::kUnanswered;
  }
  return success();
}

bool LiveCheck::wants_connection(Nanoseconds) const { return state_ == CheckState::kNotConnected; }

bool LiveCheck::wants_disconnect(Nanoseconds) const {
  return state_ == CheckState::kAnswered || state_ == CheckState::kUnanswered;
}

Result<std::optional<std::string>> LiveCheck::next_request(Nanoseconds) {
  if (state_ != CheckState::kConnected) return std::optional<std::string>();
  state_ = CheckState::kAsked;
  rigcal::v1::StreamRequest request;
  auto& check = *request.mutable_check_live();
  check.set_protocol_version(kStreamVersion);
  check.mutable_live()->set_rig_name(request_.rig_name);
  check.mutable_live()->set_rig_text(request_.rig_text);
  for (const LiveTarget& target : targets_) {
    auto& item = *check.add_targets();
    item.set_parameter(target.parameter);
    item.set_half_width(target.half_width);
    item.set_unit(target.unit);
  }
  std::string bytes;
  if (Status status = append_frame(request, stream_request_limits(), bytes); !status.ok()) {
    return status.error();
  }
  return std::optional(std::move(bytes));
}

}  // namespace proto
