#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "proto/service.pb.h"
#include "service/server/outcome.hpp"
#include "service/server/service_context.hpp"
#include "service/server/session_store.hpp"

namespace service {

/// Runs one job outside this process. Main thread.
class JobRunner {
 public:
  struct Ended {
    bool done = false;
    std::string error;  ///< why not
  };
  virtual ~JobRunner() = default;

  /// Starts the job in its folder, where job.textproto is and its results will be. The paths are
  /// those of its recordings, in order.
  virtual void start(const std::string& job_id, const std::string& folder,
                     const std::vector<std::string>& recording_paths, double duration_s_max,
                     std::function<void(const rigcal::v1::JobProgress&)> on_progress,
                     std::function<void(const Ended&)> on_ended) = 0;

  /// Ends it soon; on_ended follows.
  virtual void stop(const std::string& job_id) = 0;
};

/// Tells a client what becomes of a job.
class JobSubscriber {
 public:
  virtual ~JobSubscriber() = default;
  virtual void on_job_update(const rigcal::v1::JobInfo& info) = 0;
};

/// All jobs of the service: <data>/jobs/<id>/ each, with a bounded queue. A job that was running
/// when the service died runs again, kStartCountMax times at most. Main thread.
class JobStore {
 public:
  static constexpr int kStartCountMax = 3;

  JobStore(ServiceContext& context, SessionStore& sessions, JobRunner& runner);

  proto::Status load();

  using Answer = std::function<void(const Outcome<rigcal::v1::JobInfo>&)>;
  /// Answers when the job is on disk.
  /// @param address  of the client
  void submit(rigcal::v1::SubmitJob& request, const std::string& address, const Answer& answer);
  Outcome<rigcal::v1::JobInfo> inspect(const std::string& id) const;
  Outcome<rigcal::v1::JobInfo> cancel(const std::string& id);
  rigcal::v1::JobList list() const;
  /// Updates follow until the job has ended; the last one says so.
  Outcome<rigcal::v1::JobInfo> subscribe(const std::string& id,
                                         const std::shared_ptr<JobSubscriber>& subscriber);
  using Removed = std::function<void(const Outcome<rigcal::v1::Deleted>&)>;
  void remove(const std::string& id, const Removed& removed);

  /// Folder with the files of a job that is done (see run_job), or why there is none.
  Outcome<std::string> result_folder(const std::string& id) const;

  /// Starts what can be started. Call it when a session was stored.
  void advance();

  /// No job starts any more and the running ones end; they run again at the next start.
  void shut_down();

  /// A waiting or running job with that session, empty if there is none.
  std::string user_of(const std::string& session_id) const;
  std::map<std::string, std::uint64_t> counts() const;  ///< by state, for metrics

 private:
  struct Job {
    rigcal::v1::JobRecord record;
    bool on_disk = false;  // else it is being written for the first time
    bool removing = false;
    bool cancelling = false;
    std::string submitter{};  // address; empty after a restart
    std::chrono::steady_clock::time_point started{};
    std::vector<std::weak_ptr<JobSubscriber>> subscribers{};
  };

  void load_job(const std::string& folder, const std::string& id);
  std::optional<rigcal::v1::ServiceError> reason_against(const rigcal::v1::SubmitJob& request,
                                                         const std::string& address) const;
  void save(const std::string& id, const std::function<void(const proto::Status&)>& saved);
  void start(const std::string& id);
  void launch(const std::string& id);
  void end(const std::string& id, rigcal::v1::JobState state, const std::string& error);
  void notify(Job& job);
  rigcal::v1::JobInfo info(const Job& job) const;
  std::vector<std::string> queue() const;
  std::string folder_of(const std::string& id) const;

  ServiceContext& context_;
  SessionStore& sessions_;
  JobRunner& runner_;
  std::map<std::string, Job> jobs_;
  std::uint32_t running_count_ = 0;
  bool shutting_down_ = false;
};

/// The answer to a question about a job that does not exist.
rigcal::v1::ServiceError unknown_job(const std::string& id);

}  // namespace service
