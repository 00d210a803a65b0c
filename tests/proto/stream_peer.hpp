#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "proto/framing/frame.hpp"
#include "proto/stream.pb.h"
#include "proto/stream/service_limits.hpp"

namespace test_support {

/// The service's side of proto/stream.proto in its smallest form: acknowledges only durable
/// batches, stores every batch once, keeps them after a crash. A test drives it; it has no sockets,
/// clocks or files.
class StreamPeer {
 public:
  struct Session {
    std::vector<std::string> batches;  // content of batch k+1, without its number
    bool closed = false;
    bool interrupted = false;  // as given in the closing
  };

  /// A connection was made. Half-received data of an earlier one are dropped.
  void on_connected() {
    decoder_ = proto::FrameDecoder(proto::stream_request_limits());
    current_.clear();
    received_.clear();
    closing_.reset();
  }

  /// Bytes from the sender. @return the replies; empty if the connection is to be closed
  std::optional<std::string> on_bytes(std::string_view bytes) {
    std::vector<proto::Frame> frames;
    const proto::Status fed =
        decoder_.feed({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()}, frames);
    std::string replies;
    for (const proto::Frame& frame : frames) {
      rigcal::v1::StreamRequest request;
      if (!proto::parse_frame(frame, proto::stream_request_limits(), request).ok() ||
          !take(request, replies)) {
        return std::nullopt;
      }
    }
    if (!fed.ok()) return std::nullopt;
    return replies;
  }

  /// Received batches reach the disk. @return acknowledgement, and the closing if it is due
  std::string make_durable() {
    std::string replies;
    if (current_.empty()) return replies;
    Session& session = sessions_[current_];
    if (!received_.empty()) {
      session.batches.insert(session.batches.end(), received_.begin(), received_.end());
      received_.clear();
      reply([&](auto& r) { r.mutable_acknowledge()->set_through(session.batches.size()); },
            replies);
    }
    if (closing_ && *closing_ == session.batches.size()) {
      session.closed = true;
      reply([&](auto& r) { r.mutable_session_closed()->set_through(*closing_); }, replies);
      closing_.reset();
    }
    return replies;
  }

  /// The process dies; only durable batches remain.
  void crash() { on_connected(); }

  const Session& session(const std::string& id) { return sessions_[id]; }
  std::vector<std::string> session_ids() const {
    std::vector<std::string> ids;
    for (const auto& [id, session] : sessions_) ids.push_back(id);
    return ids;
  }
  std::uint64_t duplicate_count() const { return duplicate_count_; }

 private:
  template <typename Fill>
  static void reply(const Fill& fill, std::string& out) {
    rigcal::v1::StreamReply message;
    fill(message);
    if (!proto::append_frame(message, proto::stream_reply_limits(), out).ok()) std::abort();
  }

  bool take(rigcal::v1::StreamRequest& request, std::string& replies) {
    if (request.has_open_session()) {
      current_ = request.open_session().session_id();
      if (!proto::is_valid_session_id(current_)) return false;
      const std::size_t durable = sessions_[current_].batches.size();
      reply([&](auto& r) { r.mutable_session_opened()->set_acknowledged_through(durable); },
            replies);
      return true;
    }
    if (current_.empty()) return false;
    Session& session = sessions_[current_];
    const std::uint64_t expected = session.batches.size() + received_.size() + 1;
    if (request.has_sample_batch()) {
      const std::uint64_t sequence = request.sample_batch().batch_sequence();
      if (sequence > expected || session.closed) return false;  // a hole, or more after the end
      if (sequence < expected) {
        ++duplicate_count_;
        reply([&](auto& r) { r.mutable_acknowledge()->set_through(session.batches.size()); },
              replies);
        return true;
      }
      request.mutable_sample_batch()->clear_batch_sequence();
      received_.push_back(request.sample_batch().SerializeAsString());
      return true;
    }
    closing_ = request.close_session().last_batch_sequence();
    session.interrupted = request.close_session().interrupted();
    return *closing_ + 1 == expected;
  }

  proto::FrameDecoder decoder_{proto::stream_request_limits()};
  std::map<std::string, Session> sessions_;  // durable
  std::string current_;
  std::vector<std::string> received_;  // not durable yet
  std::optional<std::uint64_t> closing_;
  std::uint64_t duplicate_count_ = 0;
};

}  // namespace test_support
