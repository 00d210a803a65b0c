#include "service/server/foxglove/foxglove_viewer.hpp"

#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <ranges>

#include "proto/stream/service_limits.hpp"
#include "service/rig/rig_file.hpp"
#include "service/server/reply_frames.hpp"

namespace service {
namespace {

using google::protobuf::Struct;
using google::protobuf::Value;
using rigcal::v1::ServiceReply;
using rigcal::v1::ServiceRequest;

constexpr std::chrono::milliseconds kLookPeriod(500);
constexpr std::size_t kSubscriptionsMax = 64;

/// Returns an integer of 32 bits in a JSON value.
std::optional<std::uint32_t> number_of(const Value& value) {
  const double number = value.number_value();
  if (!(number >= 0.0 && number <= 4294967295.0)) return std::nullopt;
  return static_cast<std::uint32_t>(number);
}

std::optional<std::uint32_t> number_in(const Value& object, const std::string& name) {
  const auto found = object.struct_value().fields().find(name);
  return found == object.struct_value().fields().end() ? std::nullopt : number_of(found->second);
}

}  // namespace

std::string choose_foxglove_protocol(const HttpRequest& request) {
  const std::string offered = request.header("sec-websocket-protocol").value_or("");
  for (const std::string protocol : kFoxgloveProtocols) {
    for (const auto part : offered | std::views::split(',')) {
      std::string one;
      for (const char letter : part) {
        if (letter != ' ') one += letter;
      }
      if (one == protocol) return protocol;
    }
  }
  return "";
}

FoxgloveViewer::FoxgloveViewer(HttpServices& services, WebSocketThread& sockets,
                               std::uint64_t connection, Peer peer,
                               const asio::any_io_executor& executor)
    : services_(services),
      sockets_(sockets),
      connection_(connection),
      conversation_(std::make_shared<Conversation>(services.context, services.sessions,
                                                   services.jobs, std::move(peer))),
      timer_(executor) {}

void FoxgloveViewer::start() {
  conversation_->attach_sink(*this);
  sockets_.send_text(connection_, make_foxglove_greeting(services_.context.version));
  ServiceRequest hello;
  hello.mutable_hello()->set_protocol_version(proto::kServiceVersion);
  hello.mutable_hello()->set_client("foxglove");
  send_request(hello);
  look_for_session();
}

void FoxgloveViewer::on_closed() {
  closed_ = true;
  timer_.cancel();
  conversation_->on_disconnected();
}

void FoxgloveViewer::look_for_session() {
  if (session_id_.empty()) {
    ServiceRequest list;
    list.mutable_list_sessions();
    send_request(list);
  }
  timer_.expires_after(kLookPeriod);
  timer_.async_wait([weak = weak_from_this()](const asio::error_code& error) {
    const auto self = weak.lock();
    if (!error && self) self->look_for_session();
  });
}

void FoxgloveViewer::send_request(const ServiceRequest& request) {
  conversation_->on_frame(make_request_frame(request));
}

void FoxgloveViewer::send(std::string frame) {
  const ServiceReply reply = parse_reply_frame(frame);
  if (reply.has_session_list()) {
    for (const auto& session : reply.session_list().sessions()) {
      if (!session.connected() || !session_id_.empty()) continue;
      session_id_ = session.session_id();
      ServiceRequest subscribe;
      subscribe.mutable_subscribe_session()->set_session_id(session_id_);
      subscribe.mutable_subscribe_session()->set_estimates(true);
      send_request(subscribe);
    }
  } else if (reply.has_session_info()) {
    begin(reply.session_info());
  } else if (reply.has_file_part()) {
    add_scene(reply.file_part().data());
  } else if (reply.has_error() && !feed_) {
    session_id_.clear();  // the session ended in the meantime
  }
}

void FoxgloveViewer::begin(const rigcal::v1::SessionInfo& session) {
  feed_.emplace(session);
  sockets_.send_text(connection_, feed_->make_advertisement(false));
  ServiceRequest rig;
  rig.mutable_read_recording()->set_session_id(session_id_);
  rig.mutable_read_recording()->set_kind(rigcal::v1::ReadRecording::RIG_FILE);
  send_request(rig);
}

// Reads the rig file on another thread, so that a large one does not delay sessions. Without a
// valid rig file there is no scene.
void FoxgloveViewer::add_scene(const std::string& rig_text) {
  services_.context.maintenance(
      conversation_->identity(),
      [self = shared_from_this(), rig_text, id = session_id_, main = services_.context.main] {
        auto mechanism = std::make_shared<std::unique_ptr<LiveMechanism>>();
        try {
          *mechanism = std::make_unique<LiveMechanism>(parse_rig("rig.textproto", rig_text));
        } catch (const std::exception&) {
          return;
        }
        main([self, mechanism, id] {
          if (self->closed_ || !self->feed_ || self->session_id_ != id) return;
          self->feed_->set_mechanism(std::move(*mechanism));
          self->sockets_.send_text(self->connection_, self->feed_->make_advertisement(true));
        });
      });
}

void FoxgloveViewer::end_session() {
  if (feed_) sockets_.send_text(connection_, feed_->make_withdrawal());
  subscriptions_.clear();
  feed_.reset();
  session_id_.clear();
}

void FoxgloveViewer::send_message(const FoxgloveMessage& message) {
  for (const auto& [subscription, channel] : subscriptions_) {
    if (channel != message.channel) continue;
    sockets_.send_binary(connection_, make_foxglove_frame(subscription, message));
  }
}

void FoxgloveViewer::send_live_update(const LiveFrame& frame) {
  const ServiceReply reply = parse_reply_frame(*frame.bytes);
  if (reply.has_live_ended()) return end_session();
  if (!feed_) return;
  if (reply.has_live_estimate()) return send_message(feed_->convert(reply.live_estimate()));
  const auto channels = subscriptions_ | std::views::values;
  const std::set<FoxgloveChannel> wanted(channels.begin(), channels.end());
  if (wanted.empty()) return;
  for (const FoxgloveMessage& message : feed_->convert(reply.live_batch().batch(), wanted)) {
    send_message(message);
  }
}

void FoxgloveViewer::on_text(const std::string& text) {
  Struct request;
  if (!google::protobuf::util::JsonStringToMessage(text, &request).ok()) return;
  const auto field = [&](const char* name) {
    const auto found = request.fields().find(name);
    return found == request.fields().end() ? Value() : found->second;
  };
  const std::string operation = field("op").string_value();
  if (operation == "unsubscribe") {
    const Value ids = field("subscriptionIds");
    for (const Value& id : ids.list_value().values()) {
      if (const auto number = number_of(id)) subscriptions_.erase(*number);
    }
  }
  if (operation != "subscribe" || !feed_) return;
  const Value wanted = field("subscriptions");
  for (const Value& each : wanted.list_value().values()) {
    const auto id = number_in(each, "id"), channel = number_in(each, "channelId");
    const auto last = static_cast<std::uint32_t>(feed_->has_scene() ? FoxgloveChannel::kTransforms
                                                                    : FoxgloveChannel::kEstimates);
    if (!id || !channel || *channel == 0 || *channel > last) continue;
    if (subscriptions_.size() >= kSubscriptionsMax) break;
    const auto which = static_cast<FoxgloveChannel>(*channel);
    subscriptions_[*id] = which;
    if (which == FoxgloveChannel::kScene) {
      sockets_.send_binary(connection_, make_foxglove_frame(*id, feed_->make_scene()));
    }
  }
}

}  // namespace service
