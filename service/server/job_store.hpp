#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "proto/service.pb.h"
#include "service/server/fair_queue.hpp"
#include "service/server/identity.hpp"
#include "service/server/outcome.hpp"
#include "service/server/service_context.hpp"
#include "service/server/session_store.hpp"

namespace service {

/// Runs one job outside this process. Main thread.
class JobRunner {
 public:
  struct Ended {
    bool done = false;
    std::string error;         ///< why not
    double processor_s = 0.0;  ///< that it has used, however it ended
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

/// All jobs of the service: <data>/jobs/<id>/ each, with a bounded queue in which the owner comes
/// first whose jobs have used least processor time in the last hour. What a job is to do stays on
/// the disk, memory holds what people read of it. A job that was running when the service died runs
/// again, kStartCountMax times at most. Main thread.
class JobStore {
 public:
  static constexpr int kStartCountMax = 3;

  JobStore(ServiceContext& context, SessionStore& sessions, JobRunner& runner);

  proto::Status load();

  using Answer = std::function<void(const Outcome<rigcal::v1::JobInfo>&)>;
  /// Answers when the job is on disk.
  /// @param who  asks for it, and owns the job
  void submit(rigcal::v1::SubmitJob& request, const Identity& who, const Answer& answer);
  Outcome<rigcal::v1::JobInfo> inspect(const std::string& id) const;
  Outcome<rigcal::v1::JobInfo> cancel(const std::string& id, const Identity& who);
  rigcal::v1::JobList list() const;
  /// Updates follow until the job has ended; the last one says so.
  Outcome<rigcal::v1::JobInfo> subscribe(const std::string& id,
                                         const std::shared_ptr<JobSubscriber>& subscriber);
  using Removed = std::function<void(const Outcome<rigcal::v1::Deleted>&)>;
  void remove(const std::string& id, const Identity& who, const Removed& removed);

  /// Folder with the files of a job that is done (see run_job), or why there is none.
  Outcome<std::string> result_folder(const std::string& id) const;

  /// Starts what can be started. Call it when a session was stored, and now and then: with time
  /// owners get processor time again.
  void advance();

  /// No job starts any more and the running ones end; they run again at the next start.
  void shut_down();

  /// A waiting or running job of that session's owner that needs it, empty if there is none. Those
  /// of others do not keep it from being deleted.
  std::string user_of(const std::string& session_id) const;
  std::map<std::string, std::uint64_t> counts() const;  ///< by state, for metrics
  /// What is kept of each owner. @return all of it on the disk [byte]
  std::uint64_t add_use(ByteUse& disk, ByteUse& index) const;

 private:
  struct Job {
    rigcal::v1::JobInfo info;
    double deadline_s = 0.0;       // that was asked for, 0 if none was
    std::uint64_t disk_bytes = 0;  // of its folder
    bool on_disk = false;          // else it is being written for the first time
    bool removing = false;
    bool cancelling = false;
    double started_s = 0.0;  // on the context's clock, of one that runs or has run
    std::vector<std::weak_ptr<JobSubscriber>> subscribers{};
  };
  using Saved = std::function<void(const proto::Status&)>;

  void load_job(const std::string& folder, const std::string& id);
  std::optional<rigcal::v1::ServiceError> reason_against(
      const rigcal::v1::SubmitJob& request) const;
  std::optional<rigcal::v1::ServiceError> reason_against_more(const rigcal::v1::SubmitJob& request,
                                                              const Identity& who) const;
  void create(rigcal::v1::SubmitJob& request, const Identity& who, const Answer& answer);
  void compare(const rigcal::v1::SubmitJob& request, const Identity& who, const Answer& answer);
  void save(const std::string& id, const Saved& saved);
  void start(const std::string& id);
  void launch(const std::string& id);
  void on_progress(const std::string& id, const rigcal::v1::JobProgress& progress);
  void on_ended(const std::string& id, const JobRunner::Ended& ended);
  void end(const std::string& id, rigcal::v1::JobState state, const std::string& error);
  void notify(Job& job);
  Job* find(const std::string& id);
  const Job* find(const std::string& id) const;
  const Job* find_stored(const std::string& id) const;
  std::size_t running_count(const std::string& owner) const;
  double processor_use_s(const std::string& owner) const;
  std::vector<std::string> waiting() const;
  void add_processor_use(Job& job, double processor_s);
  rigcal::v1::JobInfo info(const Job& job) const;
  std::string folder_of(const std::string& id) const;

  ServiceContext& context_;
  SessionStore& sessions_;
  JobRunner& runner_;
  std::map<std::string, Job> jobs_;
  FairQueue queue_;                             // ids of the jobs that wait, and are on disk
  std::map<std::string, std::string> running_;  // owners of those that run
  ProcessorUse processor_use_;                  // of those that have ended, also of deleted ones
  bool shutting_down_ = false;
};

/// What a job costs in memory, each piece of it stored by itself [byte].
std::uint64_t index_size(const rigcal::v1::JobInfo& info);

/// The answer to a question about a job that does not exist.
rigcal::v1::ServiceError unknown_job(const std::string& id);

}  // namespace service
