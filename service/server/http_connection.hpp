#pragma once

#include <array>
#include <asio/steady_timer.hpp>
#include <memory>
#include <optional>
#include <string>

#include "service/server/conversation.hpp"
#include "service/server/http_routes.hpp"
#include "service/server/http_server.hpp"
#include "service/server/live_samples.hpp"

namespace service {

/// A client's connection to the HTTP server. It answers requests one at a time, and converts
/// requests for sessions and jobs to frames of the service protocol.
class HttpConnection final : public FrameSink, public std::enable_shared_from_this<HttpConnection> {
 public:
  HttpConnection(HttpServer& server, StreamSocket socket);

  void start();
  /// Closes the socket at once.
  void close();

  bool is_waiting_for_client() const { return route_ == nullptr && writing_.empty(); }
  bool is_sending_events() const {
    return route_ != nullptr && route_->answer == HttpAnswer::kEvents;
  }

  void send(std::string frame) override;
  bool can_queue(std::size_t bytes) const override;
  void send_live_update(const LiveFrame& frame) override;
  void close_after_sending() override { keep_alive_ = false; }
  void resume_reading() override {}

 private:
  using Clock = std::chrono::steady_clock;

  void read();
  void parse();
  void handle(const HttpRequest& request);
  void answer_on_its_own(const HttpRequest& request);
  void answer_with_mechanism(const std::string& body);
  void answer_from_results();
  void answer_by_thread(std::function<HttpResponse()> make);
  void hand_over_to_viewer(const HttpRequest& request, const Identity& identity);
  void forward(const HttpRequest& request, const Identity& identity);
  void send_request(const rigcal::v1::ServiceRequest& request);
  void on_reply(const rigcal::v1::ServiceReply& reply);
  void send_file_part(const rigcal::v1::FilePart& part);
  void begin_events(const std::string& kind, const std::string& data);
  void send_events();
  void end_events(const std::string& kind, const std::string& data);
  std::string take_events();

  void respond(HttpResponse response);
  void write(std::string bytes);
  void write_rest(std::size_t begin);
  void on_written();
  void finish();
  void watch();

  HttpServer& server_;
  ServiceContext& context_;
  StreamSocket socket_;
  asio::steady_timer timer_;        // time limits
  asio::steady_timer event_timer_;  // pause between two messages
  std::shared_ptr<Conversation> conversation_;
  std::string identity_;  // of the conversation
  std::string local_;     // address of this end

  std::array<char, 16u << 10> received_;
  std::string input_;
  HttpRequestParser parser_;
  std::string writing_;  // empty: no write in progress
  std::size_t held_bytes_ = 0;
  Clock::time_point deadline_;
  Clock::time_point last_written_{};

  // The request in progress.
  const HttpRoute* route_ = nullptr;  // null: none
  std::string id_;
  std::string query_;
  bool keep_alive_ = true;
  bool greeting_ = false;  // the next reply is Welcome
  std::uint64_t file_offset_ = 0;
  std::uint64_t file_size_ = 0;

  // Server-sent events.
  LiveSamples samples_;
  std::optional<std::string> job_update_;  // the latest one
  std::string last_events_;                // to send before the end
  bool events_begun_ = false;
  bool events_ended_ = false;
  bool pausing_ = false;
  bool finished_ = false;  // the last response was sent
  bool closed_ = false;
};

}  // namespace service
