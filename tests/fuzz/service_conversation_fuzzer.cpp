// Feeds arbitrary frames to the service without sockets: conversations, sessions, uploads, jobs and
// their files, with all threads replaced by one queue. A conversation that has ended is followed by
// another one with the rest of the input. Checked besides memory and undefined behaviour: every
// reply obeys the limits that clients rely on, and a client gets one reply for each request.
//
// The decoder of the worker processes' messages, which come through a pipe, is fed too, and so is
// the rig's side, with any reply that a service may send.

#include <google/protobuf/stubs/logging.h>

#include <chrono>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "proto/framing/frame.hpp"
#include "proto/service.pb.h"
#include "proto/stream/batch_store.hpp"
#include "proto/stream/service_limits.hpp"
#include "proto/stream/stream_sender.hpp"
#include "service/server/conversation.hpp"
#include "service/server/jobs/worker_messages.hpp"
#include "service/server/storage/log.hpp"
#include "tests/fuzz/refusal.hpp"
#include "tests/support/for_everybody.hpp"

namespace {

using fuzz::require;
namespace fs = std::filesystem;
using rigcal::v1::ServiceReply;

std::vector<proto::Frame> frames_of(const std::vector<proto::FrameLimit>& limits,
                                    const std::uint8_t* data, std::size_t size) {
  std::vector<proto::Frame> frames;
  static_cast<void>(proto::FrameDecoder(limits).feed({data, size}, frames));
  return frames;
}

// Jobs wait, and end on request.
class WaitingRunner final : public service::JobRunner {
 public:
  void start(const std::string& job_id, const std::string&, const std::vector<std::string>&, double,
             std::function<void(const rigcal::v1::JobProgress&)>,
             std::function<void(const JobEnd&)> on_ended) override {
    waiting_[job_id] = std::move(on_ended);
  }
  void stop(const std::string& job_id) override {
    const auto found = waiting_.find(job_id);
    if (found == waiting_.end()) return;
    const auto on_ended = std::move(found->second);
    waiting_.erase(found);
    on_ended({false, "stopped"});
  }

 private:
  std::map<std::string, std::function<void(const JobEnd&)>> waiting_;
};

// The client's end of the line: counts replies.
class CountingOutlet final : public service::FrameSink {
 public:
  void send(std::string frame) override {
    std::vector<proto::Frame> frames;
    const auto fed =
        proto::FrameDecoder(proto::service_reply_limits())
            .feed({reinterpret_cast<const std::uint8_t*>(frame.data()), frame.size()}, frames);
    require(fed.ok() && frames.size() == 1);
    ServiceReply reply;
    require(proto::parse_frame(frames.front(), proto::service_reply_limits(), reply).ok());
    if (!reply.has_job_update()) ++reply_count;
  }
  bool can_queue(std::size_t) const override { return true; }
  void send_live_update(const service::LiveFrame& frame) override {
    require(frame.bytes != nullptr);
  }
  void close_after_sending() override { finished = true; }
  void resume_reading() override {}

  int reply_count = 0;
  bool finished = false;
};

class Service {
 public:
  Service() {
    const service::Poster post = [this](service::Task task) { tasks_.push_back(std::move(task)); };
    context_.data_folder = folder();
    context_.version = "fuzz";
    context_.limits.free_space_bytes = 0;
    context_.limits.sessions = context_.limits.jobs = 16;
    context_.main = post;
    context_.reader = context_.maintenance = service::for_everybody(post);
    context_.storage = {context_.reader, context_.reader};
    require(sessions_.load().ok() && jobs_.load().ok());
  }
  ~Service() {
    drain();
    std::error_code ignored;
    fs::remove_all(folder(), ignored);
  }
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;

  void talk(const std::vector<proto::Frame>& frames) {
    std::size_t next = 0;
    while (next < frames.size()) {
      CountingOutlet outlet;
      const auto conversation = std::make_shared<service::Conversation>(
          context_, sessions_, jobs_, service::Peer{{"address:fuzzer", false}, "fuzzer"});
      conversation->attach_sink(outlet);
      while (next < frames.size() && !outlet.finished) {
        const bool client = conversation->has_valid_greeting() && !streams_;
        const int replies_before = outlet.reply_count;
        streams_ = streams_ || (!conversation->has_valid_greeting() &&
                                frames[next].type == rigcal::v1::ServiceRequest::kOpenSession);
        conversation->on_frame(frames[next++]);
        drain();
        require(outlet.finished || conversation->ready());
        if (client) require(outlet.reply_count == replies_before + 1);
      }
      conversation->on_disconnected();
      drain();
      streams_ = false;
    }
  }

 private:
  // In memory: fsync is free there.
  static std::string folder() { return "/dev/shm/rigcal-fuzz-" + std::to_string(::getpid()); }

  void drain() {
    while (!tasks_.empty()) {
      const service::Task task = std::move(tasks_.front());
      tasks_.pop_front();
      task();
    }
  }

  std::deque<service::Task> tasks_;
  bool streams_ = false;  // the connection is a rig's
  service::ServiceContext context_;
  WaitingRunner runner_;
  service::SessionStore sessions_{
      context_, [this] { jobs_.start_ready_jobs(); },
      [this](const std::string& id) { return jobs_.find_job_using_session(id); }};
  service::JobStore jobs_{context_, sessions_, runner_};
};

// Ten batches that wait for acknowledgement.
class TenBatches final : public proto::BatchStore {
 public:
  std::uint64_t durable_batch_end() const override { return 11; }
  std::uint64_t acknowledged_through() const override { return through_; }
  proto::Result<std::string> read(std::uint64_t sequence) override {
    require(sequence > through_ && sequence < durable_batch_end());
    return std::string();
  }
  proto::Status acknowledge(std::uint64_t through) override {
    require(through >= through_ && through < durable_batch_end());
    through_ = through;
    return proto::success();
  }

 private:
  std::uint64_t through_ = 0;
};

void feed_sender(const std::uint8_t* data, std::size_t size) {
  TenBatches store;
  proto::StreamSender sender(store, {.id = "fuzz"});
  sender.end_session();
  proto::Nanoseconds now(0);
  const auto take_requests = [&] {
    while (true) {
      const auto request = sender.next_request(now);
      require(request.ok());
      if (!request.value()) return;
    }
  };
  for (const proto::Frame& frame : frames_of(proto::stream_reply_limits(), data, size)) {
    now += std::chrono::seconds(1);
    if (sender.wants_disconnect(now)) sender.on_disconnected(now);
    if (sender.wants_connection(now)) sender.on_connected(now);
    take_requests();
    rigcal::v1::StreamReply reply;
    if (!proto::parse_frame(frame, proto::stream_reply_limits(), reply).ok()) continue;
    require(sender.on_reply(reply, now).ok());
    if (sender.state() == proto::StreamSender::SenderState::kDone) {
      require(store.acknowledged_through() == store.durable_batch_end() - 1);
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  google::protobuf::SetLogHandler(nullptr);
  service::set_log_level(service::LogLevel::kOff);
  Service().talk(frames_of(proto::service_request_limits(), data, size));
  for (const proto::Frame& frame : frames_of(service::worker_message_limits(), data, size)) {
    static_cast<void>(service::parse_worker_message(frame));
  }
  feed_sender(data, size);
  return 0;
}
