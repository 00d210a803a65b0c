#pragma once

#include <gtest/gtest.h>

#include <deque>
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
#include "tests/support/for_everybody.hpp"
#include "tests/support/temporary_folder.hpp"

namespace test_support {

/// Jobs that run until the test ends them.
class RunnerInHand final : public service::JobRunner {
 public:
  struct Run {
    std::vector<std::string> paths;
    double duration_s_max = 0.0;
    std::function<void(const rigcal::v1::JobProgress&)> on_progress;
    std::function<void(const Ended&)> on_ended;
    bool stopped = false;
  };
  void start(const std::string& job_id, const std::string&, const std::vector<std::string>& paths,
             double duration_s_max, std::function<void(const rigcal::v1::JobProgress&)> on_progress,
             std::function<void(const Ended&)> on_ended) override {
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
  bool has_room(std::size_t bytes) const override { return bytes <= room; }
  void send_live(const service::LiveFrame&) override {}
  void finish() override { finished = true; }
  void resume() override {}

  std::vector<rigcal::v1::ServiceReply> replies;
  std::size_t room = std::size_t{1} << 40;
  bool finished = false;
};

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
        [this](const std::string& id) { return jobs->job_using(id); });
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

  void count_use() {
    context.disk = context.index = {};
    sessions->add_usage(context.disk, context.index);
    jobs->add_usage(context.disk, context.index);
  }

  /// A stored session of a few bytes as input of a calibration, which nobody reads.
  void upload(const std::string& id, const service::Identity& who) {
    rigcal::v1::OpenUpload open;
    open.set_session_id(id);
    open.set_file_name("a.csv");
    open.set_size_bytes(3);
    bool complete = false;
    const auto take = [&](const service::ReplyOrError<rigcal::v1::UploadState>& outcome) {
      if (const auto* state = std::get_if<rigcal::v1::UploadState>(&outcome)) {
        complete = state->complete();
      }
    };
    sessions->open_upload(open, who, take);
    drain();
    rigcal::v1::UploadPart part;
    part.set_session_id(id);
    part.set_data("abc");
    sessions->append_upload(part, who, take);
    drain();
    ASSERT_TRUE(complete);
  }

  service::ReplyOrError<rigcal::v1::JobInfo> submit(const std::string& id,
                                                    const service::Identity& who,
                                                    const std::string& session = "data",
                                                    const std::string& rig = "name: \"rig\"") {
    rigcal::v1::SubmitJob request;
    request.set_job_id(id);
    request.mutable_spec()->set_rig_text(rig);
    request.mutable_spec()->add_recordings()->set_session_id(session);
    service::ReplyOrError<rigcal::v1::JobInfo> outcome =
        service::make_service_error(rigcal::v1::ServiceError::INTERNAL, "no answer");
    jobs->submit(request, who, [&](const auto& answer) { outcome = answer; });
    drain();
    return outcome;
  }

  rigcal::v1::JobInfo job(const std::string& id) const {
    const auto found = jobs->inspect(id);
    return std::holds_alternative<rigcal::v1::JobInfo>(found) ? std::get<rigcal::v1::JobInfo>(found)
                                                              : rigcal::v1::JobInfo();
  }

  TemporaryFolder files{"/dev/shm"};  // fsync is free there
  service::ServiceContext context;
  double time_s = 1e6;
  std::deque<service::Task> tasks;
  RunnerInHand runner;
  std::unique_ptr<service::SessionStore> sessions;
  std::unique_ptr<service::JobStore> jobs;
};

inline std::string text_of(const std::string& path) {
  std::ifstream stream(path);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

/// Returns the error of an outcome; NONE on success.
template <typename Reply>
rigcal::v1::ServiceError fault_of(const service::ReplyOrError<Reply>& outcome) {
  const auto* const fault = std::get_if<rigcal::v1::ServiceError>(&outcome);
  return fault == nullptr ? rigcal::v1::ServiceError() : *fault;
}

}  // namespace test_support
