#pragma once

#include <gtest/gtest.h>

#include <deque>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "proto/framing/frame.hpp"
#include "proto/stream/service_limits.hpp"
#include "service/server/conversation.hpp"
#include "service/server/storage/log.hpp"
#include "tests/service/server/socket_client.hpp"
#include "tests/support/for_everybody.hpp"
#include "tests/support/temporary_folder.hpp"

namespace test_support {

inline const service::Identity kAnna{"account:anna", false};
inline const service::Identity kBert{"account:bert", false};
inline const service::Identity kRoot{"account:root", true};

/// Jobs that run until the test ends them.
class RunnerInHand final : public service::JobRunner {
 public:
  struct Run {
    std::vector<std::string> paths;
    double duration_s_max = 0.0;
    std::function<void(const rigcal::v1::JobProgress&)> on_progress;
    std::function<void(const JobEnd&)> on_ended;
    bool stopped = false;
  };
  void start(const std::string& job_id, const std::string&, const std::vector<std::string>& paths,
             double duration_s_max, std::function<void(const rigcal::v1::JobProgress&)> on_progress,
             std::function<void(const JobEnd&)> on_ended) override {
    order.push_back(job_id);
    runs[job_id] = {paths, duration_s_max, std::move(on_progress), std::move(on_ended)};
  }
  void stop(const std::string& job_id) override { runs.at(job_id).stopped = true; }

  void finish(const std::string& job_id, double processor_s = 0.0) {
    runs.at(job_id).on_ended({true, "", processor_s});
  }

  std::map<std::string, Run> runs;
  std::vector<std::string> order;  ///< order of their start
};

/// The client's end of a connection, which stores the frames sent to it.
class OutletInHand final : public service::FrameSink {
 public:
  void send(std::string frame) override {
    std::vector<proto::Frame> frames;
    proto::FrameDecoder decoder(proto::service_reply_limits());
    const auto* const bytes = reinterpret_cast<const std::uint8_t*>(frame.data());
    ASSERT_TRUE(decoder.feed({bytes, frame.size()}, frames).ok());
    ASSERT_EQ(frames.size(), 1u);
    ASSERT_TRUE(
        proto::parse_frame(frames[0], proto::service_reply_limits(), replies.emplace_back()).ok());
  }
  bool can_queue(std::size_t bytes) const override { return bytes <= room; }
  void send_live_update(const service::LiveFrame&) override {}
  void close_after_sending() override { finished = true; }
  void resume_reading() override {}

  std::vector<rigcal::v1::ServiceReply> replies;
  std::size_t room = std::size_t{1} << 40;
  bool finished = false;
};

/// Returns the error of an outcome; NONE on success.
template <typename Reply>
rigcal::v1::ServiceError fault_of(const service::ReplyOrError<Reply>& outcome) {
  const auto* const fault = std::get_if<rigcal::v1::ServiceError>(&outcome);
  return fault == nullptr ? rigcal::v1::ServiceError() : *fault;
}

/// Sessions and jobs of the service without its processes, sockets and threads: tasks posted to a
/// thread wait until the test runs them.
class StoreInHand {
 public:
  explicit StoreInHand(const service::ServiceLimits& limits = {}) {
    service::set_log_level(service::LogLevel::kOff);
    const service::Poster post = [this](service::Task task) { tasks.push_back(std::move(task)); };
    context.data_folder = files.file("data");
    context.version = "test";
    context.limits = limits;
    context.limits.free_space_bytes = 0;
    context.time_s = [this] { return time_s; };
    context.main = post;
    context.reader = context.maintenance = service::for_everybody(post);
    context.storage = {context.reader, context.reader};
    restart();
  }

  /// Restarts the store as if its process had been killed: pending operations are lost, files
  /// remain.
  void restart() {
    tasks.clear();
    jobs.reset();
    sessions.reset();
    sessions = std::make_unique<service::SessionStore>(
        context, [this] { jobs->start_ready_jobs(); },
        [this](const std::string& id) { return jobs->find_job_using_session(id); });
    jobs = std::make_unique<service::JobStore>(context, *sessions, runner);
    EXPECT_TRUE(sessions->load().ok());
    EXPECT_TRUE(jobs->load().ok());
    drain();
  }

  void drain() {
    while (!tasks.empty()) step();
  }
  /// Runs one task of any thread.
  void step() {
    const service::Task task = std::move(tasks.front());
    tasks.pop_front();
    task();
  }

  /// Ends a running job with a result.
  void finish(const std::string& job_id, double processor_s = 0.0) {
    for (const char* const name : {"result.json", "table.txt"}) {
      const std::string path = job_folder(job_id) + name;
      if (!std::filesystem::exists(path)) std::ofstream(path) << "{ }";
    }
    runner.finish(job_id, processor_s);
    drain();
  }

  std::string job_folder(const std::string& job_id) const {
    return context.data_folder + "/jobs/" + job_id + '/';
  }

  void count_use() {
    context.disk = context.index = {};
    sessions->add_disk_and_memory_usage(context.disk, context.index);
    jobs->add_disk_and_memory_usage(context.disk, context.index);
  }

  using UploadOutcome = service::ReplyOrError<rigcal::v1::UploadState>;

  UploadOutcome open_upload(const std::string& id, const service::Identity& who,
                            std::uint64_t size_bytes, const std::string& file_name = "a.csv") {
    const auto open = upload_request(id, size_bytes, file_name).open_upload();
    return outcome_of<rigcal::v1::UploadState>(
        [&](const auto& take) { sessions->open_upload(open, who, take); });
  }

  UploadOutcome append_upload(const std::string& id, const service::Identity& who,
                              std::uint64_t offset, const std::string& data) {
    auto part = part_request(id, offset, data).upload_part();
    return outcome_of<rigcal::v1::UploadState>(
        [&](const auto& take) { sessions->append_upload(part, who, take); });
  }

  /// A stored session as input of a calibration, which nobody reads.
  void upload(const std::string& id, const service::Identity& who,
              const std::string& content = "abc") {
    open_upload(id, who, content.size());
    const UploadOutcome outcome = append_upload(id, who, 0, content);
    ASSERT_TRUE(std::get<rigcal::v1::UploadState>(outcome).complete());
  }

  static rigcal::v1::SubmitJob submission(const std::string& id,
                                          const std::string& session = "data",
                                          const std::string& rig = "name: \"rig\"") {
    rigcal::v1::SubmitJob request;
    request.set_job_id(id);
    request.mutable_spec()->set_rig_text(rig);
    request.mutable_spec()->add_recordings()->set_session_id(session);
    return request;
  }

  service::ReplyOrError<rigcal::v1::JobInfo> submit(const std::string& id,
                                                    const service::Identity& who,
                                                    const std::string& session = "data",
                                                    const std::string& rig = "name: \"rig\"") {
    rigcal::v1::SubmitJob request = submission(id, session, rig);
    return outcome_of<rigcal::v1::JobInfo>(
        [&](const auto& take) { jobs->submit_job(request, who, take); });
  }

  service::ReplyOrError<rigcal::v1::JobInfo> cancel(const std::string& id,
                                                    const service::Identity& who) {
    return outcome_of<rigcal::v1::JobInfo>(
        [&](const auto& take) { jobs->cancel_job(id, who, take); });
  }

  /// Removes a job. Returns the code of the refusal, 0 if it is gone.
  rigcal::v1::ServiceError::Code remove_job(const std::string& id, const service::Identity& who) {
    rigcal::v1::ServiceError fault;
    jobs->delete_job(id, who, [&](const auto& outcome) { fault = fault_of(outcome); });
    drain();
    return fault.code();
  }

  rigcal::v1::JobInfo job(const std::string& id) const {
    const auto found = jobs->find_job_info(id);
    return std::holds_alternative<rigcal::v1::JobInfo>(found) ? std::get<rigcal::v1::JobInfo>(found)
                                                              : rigcal::v1::JobInfo();
  }

  /// The answer to a request, once all tasks have run.
  template <typename Reply, typename Request>
  service::ReplyOrError<Reply> outcome_of(const Request& request) {
    service::ReplyOrError<Reply> outcome =
        service::make_service_error(rigcal::v1::ServiceError::INTERNAL, "no answer");
    request([&](const auto& answer) { outcome = answer; });
    drain();
    return outcome;
  }

  TemporaryFolder files{"/dev/shm"};  // fsync is free there
  service::ServiceContext context;
  double time_s = 1e6;
  std::deque<service::Task> tasks;
  RunnerInHand runner;
  std::unique_ptr<service::SessionStore> sessions;
  std::unique_ptr<service::JobStore> jobs;
};

/// A store with a session "data", of Anna.
struct StoreWithData : StoreInHand {
  explicit StoreWithData(const service::ServiceLimits& limits = {}) : StoreInHand(limits) {
    upload("data", kAnna);
  }
};

/// A client's connection to the store, without its socket.
class ClientInHand {
 public:
  ClientInHand(StoreInHand& store, const service::Identity& who)
      : store_(store),
        conversation_(std::make_shared<service::Conversation>(
            store.context, *store.sessions, *store.jobs, service::Peer{who, "test"})) {
    conversation_->attach_sink(outlet);
  }
  ~ClientInHand() { conversation_->on_disconnected(); }
  ClientInHand(const ClientInHand&) = delete;
  ClientInHand& operator=(const ClientInHand&) = delete;

  /// Returns the last reply, empty if none came.
  rigcal::v1::ServiceReply call(const rigcal::v1::ServiceRequest& request) {
    outlet.replies.clear();
    std::vector<proto::Frame> frames;
    const std::string bytes = request_frame(request);
    proto::FrameDecoder decoder(proto::service_request_limits());
    const auto* const begin = reinterpret_cast<const std::uint8_t*>(bytes.data());
    EXPECT_TRUE(decoder.feed({begin, bytes.size()}, frames).ok());
    conversation_->on_frame(frames.at(0));
    store_.drain();
    return outlet.replies.empty() ? rigcal::v1::ServiceReply() : outlet.replies.back();
  }
  service::Conversation& conversation() { return *conversation_; }

  OutletInHand outlet;

 private:
  StoreInHand& store_;
  std::shared_ptr<service::Conversation> conversation_;
};

inline std::string text_of(const std::string& path) {
  std::ifstream stream(path);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

}  // namespace test_support
