#include "service/server/http_connection.hpp"

#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <asio/buffer.hpp>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "proto/stream/service_limits.hpp"
#include "service/server/foxglove/foxglove_viewer.hpp"
#include "service/server/http_documents.hpp"
#include "service/server/page/page_files.hpp"
#include "service/server/reply_frames.hpp"

namespace service {
namespace {

using rigcal::v1::ServiceReply;
using rigcal::v1::ServiceRequest;

constexpr std::size_t kUnreadInputMax = 64u << 10;  // received while a request is in progress
constexpr std::size_t kGuaranteedReply = 320u << 10;
constexpr std::size_t kLongReply = 64u << 10;  // converted to JSON by another thread
constexpr std::size_t kRigTextMax = 256u << 10;
constexpr int kListedMax = 100;
constexpr std::size_t kComparedMax = 50;              // results in one comparison
constexpr std::chrono::milliseconds kEventPause(33);  // 30 messages/s at most
constexpr std::chrono::seconds kKeepAlivePeriod(15);

template <typename Items>
void keep_first(Items& items, int count) {
  if (items.size() > count) items.DeleteSubrange(count, items.size() - count);
}

HttpResponse make_service_response(const rigcal::v1::ServiceError& error) {
  return make_http_error(http_status(error.code()), ServiceError_Code_Name(error.code()),
                         error.text());
}

/// Returns the reply to a request as a response with JSON.
HttpResponse make_message_response(ServiceReply reply, const std::string& query) {
  if (reply.has_error()) return make_service_response(reply.error());
  const int limit = std::atoi(query_value(query, "limit").c_str());
  const int count = limit > 0 ? std::min(limit, kListedMax) : kListedMax;
  if (reply.has_session_list()) {
    keep_first(*reply.mutable_session_list()->mutable_sessions(), count);
  }
  if (reply.has_job_list()) keep_first(*reply.mutable_job_list()->mutable_jobs(), count);
  const auto* const field =
      ServiceReply::descriptor()->FindFieldByNumber(static_cast<int>(reply.reply_case()));
  HttpResponse response;
  response.body = to_json(ServiceReply::GetReflection()->GetMessage(reply, field)) + "\n";
  return response;
}

}  // namespace

HttpConnection::HttpConnection(HttpServer& server, StreamSocket socket)
    : server_(server),
      context_(server.services().context),
      socket_(std::move(socket)),
      timer_(socket_.get_executor()),
      event_timer_(socket_.get_executor()) {}

void HttpConnection::start() {
  const int on = 1;
  ::setsockopt(socket_.native_handle(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  asio::error_code error;
  const auto local = socket_.local_endpoint(error);
  if (error) return close();
  local_ = endpoint_text(local);
  deadline_ =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(server_.timeouts().request);
  watch();
  read();
}

void HttpConnection::close() {
  if (closed_) return;
  const auto self = shared_from_this();
  closed_ = true;
  asio::error_code ignored;
  socket_.close(ignored);
  timer_.cancel();
  event_timer_.cancel();
  context_.buffers.remove(identity_, std::exchange(held_bytes_, 0));
  if (conversation_) conversation_->on_disconnected();
}

// Reads at any time, also to notice the end of a connection that receives events.
void HttpConnection::read() {
  socket_.async_read_some(
      asio::buffer(received_),
      [self = shared_from_this()](const asio::error_code& error, std::size_t count) {
        if (self->closed_) return;
        if (error) {
          const bool is_busy = !self->is_waiting_for_client();
          self->keep_alive_ = false;
          if (is_busy && !self->is_sending_events()) return;
          return self->close();
        }
        if (!self->finished_) {
          self->input_.append(self->received_.data(), count);
        }
        if (self->input_.size() > kUnreadInputMax && self->route_ != nullptr) {
          return self->close();
        }
        if (self->is_waiting_for_client()) self->parse();
        if (!self->closed_) self->read();
      });
}

void HttpConnection::parse() {
  if (input_.empty()) return;
  if (!parser_.has_begun()) {
    deadline_ =
        Clock::now() + std::chrono::duration_cast<Clock::duration>(server_.timeouts().request);
  }
  const int status = parser_.feed(input_);
  if (status != 0) {
    ++context_.metrics.protocol_errors_total;
    keep_alive_ = false;
    return respond(make_http_error(status, "BAD_REQUEST",
                                   status == 400
                                       ? "the request is not valid HTTP/1.1"
                                       : "the request is larger than this service allows"));
  }
  if (!parser_.is_done()) return;
  const HttpRequest request = parser_.take();
  parser_ = HttpRequestParser();
  keep_alive_ = keep_alive_ && request.keep_alive;
  deadline_ = Clock::time_point::max();
  handle(request);
}

void HttpConnection::handle(const HttpRequest& request) {
  if (auto refused = server_.access().check_source(request, local_)) return respond(*refused);
  auto matched = match_route(request);
  if (auto* const refused = std::get_if<HttpResponse>(&matched)) return respond(*refused);
  route_ = std::get<MatchedRoute>(matched).route;
  id_ = std::get<MatchedRoute>(matched).id;
  query_ = request.query;
  if (route_->answer < HttpAnswer::kMechanism) return answer_on_its_own(request);
  auto who = server_.access().identify(request, socket_.native_handle());
  if (auto* const refused = std::get_if<HttpResponse>(&who)) return respond(*refused);
  if (route_->answer == HttpAnswer::kFoxglove) {
    return hand_over_to_viewer(request, std::get<Identity>(who));
  }
  forward(request, std::get<Identity>(who));
}

// Passes the connection on to a client of the Foxglove WebSocket protocol.
void HttpConnection::hand_over_to_viewer(const HttpRequest& request, const Identity& identity) {
  const std::string protocol = choose_foxglove_protocol(request);
  if (!is_web_socket_upgrade(request) || protocol.empty()) {
    HttpResponse refused = make_http_error(
        426, "BAD_REQUEST",
        std::string("this path needs a WebSocket with the subprotocol ") + kFoxgloveProtocols[0]);
    refused.headers.emplace_back("Upgrade", "websocket");
    return respond(refused);
  }
  if (!server_.has_room_for_events()) {
    return respond(make_http_error(503, "BUSY", "too many clients receive events; close some"));
  }
  asio::error_code ignored;
  server_.add_viewer(socket_.native_handle(), request, protocol,
                     Peer{identity, endpoint_text(socket_.remote_endpoint(ignored))});
  close();
}

// Answers a request that needs no identity.
void HttpConnection::answer_on_its_own(const HttpRequest& request) {
  HttpResponse response;
  response.type = "text/plain; charset=utf-8";
  switch (route_->answer) {
    case HttpAnswer::kMetrics:
      response.type = "text/plain; version=0.0.4";
      response.body = server_.services().metrics();
      break;
    case HttpAnswer::kHealth: {
      const bool healthy = server_.services().is_healthy();
      response.status = healthy ? 200 : 503;
      response.body = healthy ? "ok\n" : "not healthy\n";
      break;
    }
    case HttpAnswer::kLogIn: {
      google::protobuf::Struct body;
      const auto parsed = google::protobuf::util::JsonStringToMessage(request.body, &body);
      const auto token = body.fields().find("token");
      response = server_.access().log_in(
          request, parsed.ok() && token != body.fields().end() ? token->second.string_value() : "");
      break;
    }
    case HttpAnswer::kLogOut:
      response = server_.access().log_out(request);
      break;
    case HttpAnswer::kOpenApi:
      response.type = "application/json";
      response.body = make_openapi_document(context_.version);
      break;
    default:
      response.type = page_file_type(route_->path);
      response.body = page_file(route_->path);
  }
  respond(std::move(response));
}

// Sends a request to the service protocol, as a client with this identity.
void HttpConnection::forward(const HttpRequest& request, const Identity& identity) {
  if (is_sending_events() && !server_.has_room_for_events()) {
    return respond(make_http_error(503, "BUSY", "too many clients receive events; close some"));
  }
  if (!conversation_ || identity.name != identity_) {
    if (conversation_) conversation_->on_disconnected();
    identity_ = identity.name;
    asio::error_code ignored;
    conversation_ = std::make_shared<Conversation>(
        context_, server_.services().sessions, server_.services().jobs,
        Peer{identity, endpoint_text(socket_.remote_endpoint(ignored))});
    conversation_->attach_sink(*this);
    ServiceRequest hello;
    hello.mutable_hello()->set_protocol_version(proto::kServiceVersion);
    hello.mutable_hello()->set_client("http");
    greeting_ = true;
    conversation_->on_frame(make_request_frame(hello));
  }
  if (route_->answer == HttpAnswer::kMechanism) return answer_with_mechanism(request.body);
  if (route_->answer == HttpAnswer::kComparison || route_->answer == HttpAnswer::kCalibratedRig) {
    return answer_from_results();
  }
  ServiceRequest message;
  route_->set_request(message, id_);
  if (*route_->body != '\0') {
    const auto parsed =
        google::protobuf::util::JsonStringToMessage(request.body, message.mutable_submit_job());
    if (!parsed.ok()) {
      return respond(make_http_error(
          400, "BAD_REQUEST",
          "the body is not a SubmitJob message as JSON: " + std::string(parsed.message())));
    }
  }
  file_offset_ = 0;
  send_request(message);
}

void HttpConnection::send_request(const ServiceRequest& request) {
  conversation_->on_frame(make_request_frame(request));
}

void HttpConnection::answer_with_mechanism(const std::string& body) {
  auto spec = std::make_shared<rigcal::v1::JobSpec>();
  const auto parsed = google::protobuf::util::JsonStringToMessage(body, spec.get());
  if (!parsed.ok() || spec->rig_text().size() > kRigTextMax) {
    return respond(make_http_error(400, "BAD_REQUEST",
                                   "the body needs the fields rigName and rigText as JSON, of at "
                                   "most 256 KiB"));
  }
  answer_by_thread([spec] { return make_mechanism_response(*spec); });
}

// Answers with a document about the results of jobs: the job of the path, or those of the query,
// "jobs=ID,ID,...".
void HttpConnection::answer_from_results() {
  const bool is_comparison = route_->answer == HttpAnswer::kComparison;
  std::vector<JobResultFolder> jobs;
  std::istringstream ids(is_comparison ? query_value(query_, "jobs") : id_);
  for (std::string id; std::getline(ids, id, ',');) {
    const auto folder = server_.services().jobs.find_result_folder(id);
    if (const auto* const fault = std::get_if<rigcal::v1::ServiceError>(&folder)) {
      return respond(make_service_response(*fault));
    }
    jobs.push_back({id, std::get<std::string>(folder)});
  }
  if (is_comparison && (jobs.size() < 2 || jobs.size() > kComparedMax)) {
    return respond(make_http_error(400, "BAD_REQUEST",
                                   "give two to " + std::to_string(kComparedMax) +
                                       " jobs to compare, as in /api/comparison?jobs=a,b"));
  }
  answer_by_thread([is_comparison, jobs] {
    return is_comparison ? make_comparison_response(jobs) : make_calibrated_rig_response(jobs[0]);
  });
}

// Makes a response on another thread, so that it does not delay sessions.
void HttpConnection::answer_by_thread(std::function<HttpResponse()> make) {
  context_.maintenance(identity_,
                       [self = shared_from_this(), make = std::move(make), main = context_.main] {
                         main([self, response = make()] { self->respond(response); });
                       });
}

bool HttpConnection::can_queue(std::size_t bytes) const {
  const ServiceLimits& limits = context_.limits;
  return context_.buffers.of(identity_) + bytes <= kGuaranteedReply ||
         context_.buffers.is_within_limits(identity_, bytes, limits.buffer_bytes,
                                           limits.limits_per_identity().buffer_bytes);
}

void HttpConnection::send(std::string frame) {
  if (closed_) return;
  if (std::exchange(greeting_, false)) return;
  if (route_->answer != HttpAnswer::kMessage || frame.size() < kLongReply) {
    return on_reply(parse_reply_frame(frame));
  }
  context_.reader(identity_, [self = shared_from_this(), frame = std::move(frame), query = query_,
                              main = context_.main] {
    main([self, response = make_message_response(parse_reply_frame(frame), query)] {
      self->respond(response);
    });
  });
}

void HttpConnection::on_reply(const ServiceReply& reply) {
  if (reply.has_job_update()) {
    const rigcal::v1::JobInfo& job = reply.job_update().job();
    if (proto::has_ended(job)) return end_events("job", to_json(job));
    job_update_ = to_json(job);
    return send_events();
  }
  if (route_->answer == HttpAnswer::kMessage) return respond(make_message_response(reply, query_));
  if (reply.has_error()) {
    // After the head of a file, only the early end of the connection can show an error.
    return file_offset_ > 0 ? close() : respond(make_service_response(reply.error()));
  }
  if (reply.has_file_part()) return send_file_part(reply.file_part());
  if (reply.has_session_info()) return begin_events("session", to_json(reply.session_info()));
  if (!reply.has_job_info()) return close();
  begin_events("job", to_json(reply.job_info()));
  if (proto::has_ended(reply.job_info())) end_events("end", "{}");
}

void HttpConnection::send_file_part(const rigcal::v1::FilePart& part) {
  std::string bytes;
  if (file_offset_ == 0) {
    file_size_ = part.file_size_bytes();
    HttpResponse response;
    response.type = route_->reply;
    const auto session = server_.services().sessions.find_session_info(id_);
    if (response.type.starts_with("text/html")) {
      response.headers.emplace_back("Content-Security-Policy", kReportPolicy);
    } else if (const auto* const info = std::get_if<rigcal::v1::SessionInfo>(&session)) {
      const std::string extension = std::filesystem::path(info->file_name()).extension();
      const char* const shown = response.type.starts_with("text/plain") ? ".textproto"
                                : extension == ".csv"                   ? ".csv"
                                                                        : ".mcap";
      response.headers.emplace_back("Content-Disposition",
                                    "attachment; filename=\"" + id_ + shown + "\"");
    }
    bytes = make_response_head(response, file_size_, keep_alive_);
  }
  file_offset_ += part.data().size();
  if (part.data().empty() && file_offset_ < file_size_) return close();
  write(bytes + part.data());
}

// Events ---------------------------------------------------------------------------------------

void HttpConnection::begin_events(const std::string& kind, const std::string& data) {
  HttpResponse response;
  response.type = "text/event-stream";
  events_begun_ = true;
  keep_alive_ = false;
  write(make_response_head(response, std::nullopt, false) + make_server_sent_event(kind, data));
}

void HttpConnection::send_live_update(const LiveFrame& frame) {
  if (closed_ || !is_sending_events()) return;
  const ServiceReply reply = parse_reply_frame(*frame.bytes);
  if (reply.has_live_ended()) return end_events("end", "{}");
  if (reply.has_live_estimate()) samples_.set_estimate(reply.live_estimate());
  samples_.add(reply.live_batch().batch());
  send_events();
}

void HttpConnection::end_events(const std::string& kind, const std::string& data) {
  last_events_ += make_server_sent_event(kind, data);
  if (kind != "end") last_events_ += make_server_sent_event("end", "{}");
  events_ended_ = true;
  send_events();
}

std::string HttpConnection::take_events() {
  std::string text = samples_.take_events();
  if (job_update_) text += make_server_sent_event("job", *std::exchange(job_update_, std::nullopt));
  return text + std::exchange(last_events_, "");
}

// Sends the events that were collected since the last message, with a pause after each message. A
// client that reads slowly therefore gets fewer and larger messages.
void HttpConnection::send_events() {
  if (closed_ || !events_begun_ || !writing_.empty() || pausing_) return;
  std::string text = take_events();
  if (text.empty()) {
    if (events_ended_) close();
    return;
  }
  pausing_ = true;
  event_timer_.expires_after(kEventPause);
  event_timer_.async_wait([self = shared_from_this()](const asio::error_code& error) {
    if (error) return;
    self->pausing_ = false;
    self->send_events();
  });
  write(std::move(text));
}

// Responses ------------------------------------------------------------------------------------

void HttpConnection::respond(HttpResponse response) {
  if (closed_) return;
  write(make_response_head(response, response.body.size(), keep_alive_) + response.body);
  file_offset_ = file_size_ = 0;
}

void HttpConnection::write(std::string bytes) {
  if (closed_) return;
  writing_ = std::move(bytes);
  held_bytes_ = writing_.size();
  context_.buffers.add(identity_, held_bytes_);
  deadline_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(server_.timeouts().write);
  write_rest(0);
}

void HttpConnection::write_rest(std::size_t begin) {
  socket_.async_write_some(
      asio::buffer(writing_) + begin,
      [self = shared_from_this(), begin](const asio::error_code& error, std::size_t count) {
        if (self->closed_) return;
        if (error) return self->close();
        self->context_.metrics.sent_bytes_total += count;
        self->deadline_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                             self->server_.timeouts().write);
        if (begin + count < self->writing_.size()) return self->write_rest(begin + count);
        self->on_written();
      });
}

void HttpConnection::on_written() {
  writing_.clear();
  context_.buffers.remove(identity_, std::exchange(held_bytes_, 0));
  deadline_ = Clock::time_point::max();
  last_written_ = Clock::now();
  if (events_begun_) return send_events();
  if (file_offset_ < file_size_) {
    ServiceRequest message;
    route_->set_request(message, id_);
    if (message.has_read_recording()) {
      message.mutable_read_recording()->set_offset_bytes(file_offset_);
    } else {
      message.mutable_read_report()->set_offset_bytes(file_offset_);
    }
    return send_request(message);
  }
  finish();
}

void HttpConnection::finish() {
  route_ = nullptr;
  file_offset_ = file_size_ = 0;
  if (!keep_alive_) {
    // Lets the client read the response before the connection ends.
    asio::error_code ignored;
    socket_.shutdown(asio::socket_base::shutdown_send, ignored);
    deadline_ = Clock::now() + std::chrono::seconds(1);
    finished_ = true;
    input_.clear();
    return;
  }
  deadline_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(server_.timeouts().idle);
  parse();
}

void HttpConnection::watch() {
  timer_.expires_after(std::chrono::milliseconds(250));
  timer_.async_wait([self = shared_from_this()](const asio::error_code& error) {
    if (error || self->closed_) return;
    const auto now = Clock::now();
    if (now > self->deadline_) return self->close();
    if (self->events_begun_ && self->writing_.empty() &&
        now - self->last_written_ > kKeepAlivePeriod) {
      self->write(":\n\n");
    }
    self->watch();
  });
}

}  // namespace service
