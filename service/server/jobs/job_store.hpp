#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "proto/service.pb.h"
#include "service/server/jobs/fair_queue.hpp"
#include "service/server/sessions/identity.hpp"
#include "service/server/sessions/service_context.hpp"
#include "service/server/sessions/session_store.hpp"

namespace service {

/// Interface that runs each calibration job outside the service's process. Used on the main thread
/// only.
class JobRunner {
 public:
  struct JobEnd {
    bool done = false;
    std::string error;          ///< reason for the failure if the job is not done
    double processor_s = 0.0;   ///< processor time of the job, also if it failed [s]
    bool is_time_over = false;  ///< whether the job is not done because it exceeded its time limit
  };
  virtual ~JobRunner() = default;

  /// Starts a job. `folder` contains job.textproto and receives the results. `recording_paths` are
  /// the files of the job's recordings, in the order of the job's specification.
  virtual void start(const std::string& job_id, const std::string& folder,
                     const std::vector<std::string>& recording_paths, double duration_s_max,
                     std::function<void(const rigcal::v1::JobProgress&)> on_progress,
                     std::function<void(const JobEnd&)> on_ended) = 0;

  /// Requests that the job end. The runner soon calls the job's `on_ended`.
  virtual void stop(const std::string& job_id) = 0;

  /// Ends a job because the service ends. The job starts again when the service starts again. On a
  /// cluster, the job may continue in the meantime.
  virtual void interrupt(const std::string& job_id) { stop(job_id); }
};

/// Interface through which a client receives the updates of a job.
class JobSubscriber {
 public:
  virtual ~JobSubscriber() = default;
  virtual void on_job_update(const rigcal::v1::JobInfo& info) = 0;
};

/// All calibration jobs of the service, stored in <data>/jobs/<id>/, with a bounded queue. The
/// queue serves those owners first whose jobs used the least processor time in the last hour. Job
/// specifications stay on disk; memory contains only the job info that clients read. If the service
/// died while a job was running, the job is restarted, up to kStartCountMax starts in total. Used
/// on the main thread only.
class JobStore {
 public:
  static constexpr int kStartCountMax = 3;

  JobStore(ServiceContext& context, SessionStore& sessions, JobRunner& runner);

  proto::Status load();

  using Answer = std::function<void(const ReplyOrError<rigcal::v1::JobInfo>&)>;
  /// Adds a job to the queue and answers the client when the job is on disk. If the same job
  /// exists, answers with its info instead. If that job is being cancelled, the answer waits for
  /// its end. A job whose files are damaged is replaced and runs again.
  /// @param who  identity that submits the job and owns it
  void submit_job(rigcal::v1::SubmitJob& request, const Identity& who, const Answer& answer);
  ReplyOrError<rigcal::v1::JobInfo> find_job_info(const std::string& id) const;
  /// Cancels a job, and answers the client when the cancellation is on disk, so that the job never
  /// runs again.
  void cancel_job(const std::string& id, const Identity& who, const Answer& answer);
  rigcal::v1::JobList list() const;
  /// Sends the updates of a job to a subscriber until the job has ended; the last update reports
  /// the end.
  /// @return the current info of the job
  ReplyOrError<rigcal::v1::JobInfo> add_subscriber(
      const std::string& id, const std::shared_ptr<JobSubscriber>& subscriber);
  using Removed = std::function<void(const ReplyOrError<rigcal::v1::Deleted>&)>;
  void delete_job(const std::string& id, const Identity& who, const Removed& removed);

  /// Returns the folder with the result files of a finished job, or the reason why the job has no
  /// result.
  ReplyOrError<std::string> find_result_folder(const std::string& id) const;

  /// Starts all waiting jobs that can start now. Call this when a session has been stored, and also
  /// periodically, because owners regain processor time as time passes.
  void start_ready_jobs();

  /// Stops starting jobs and ends the running jobs. They restart when the service starts again.
  void shut_down();

  /// Returns the id of a waiting or running job that needs the session and belongs to the session's
  /// owner, or an empty text. Jobs of other owners do not prevent the deletion of a session.
  std::string find_job_using_session(const std::string& session_id) const;
  /// Returns the number of jobs in each state, for metrics.
  std::map<std::string, std::uint64_t> count_by_state() const;
  /// Adds the disk space and memory that the jobs of each owner use to `disk` and `index`.
  /// @return the total on disk [byte]
  std::uint64_t add_disk_and_memory_usage(IdentityByteUsage& disk, IdentityByteUsage& index) const;

 private:
  struct Job {
    rigcal::v1::JobInfo info;
    double time_limit_s = 0.0;     // requested; 0 if none
    std::uint64_t disk_bytes = 0;  // of its folder
    bool on_disk = false;          // false while it is first written
    bool removing = false;
    bool cancelling = false;
    double started_s = 0.0;  // on the context's clock; set once started
    std::vector<std::weak_ptr<JobSubscriber>> subscribers{};
    std::vector<Answer> awaiting_end{};  // at most one per connection
  };
  using Saved = std::function<void(const proto::Status&)>;

  void load_job(const std::string& folder, const std::string& id);
  std::optional<rigcal::v1::ServiceError> check_submission(
      const rigcal::v1::SubmitJob& request) const;
  std::optional<rigcal::v1::ServiceError> check_job_quota(const rigcal::v1::SubmitJob& request,
                                                          const Identity& who) const;
  void create_job(rigcal::v1::SubmitJob& request, const Identity& who, const Answer& answer);
  void compare_with_stored_job(rigcal::v1::SubmitJob& request, const Identity& who,
                               const Answer& answer);
  void answer_with_stored_job(Job& job, const Answer& answer);
  void replace_job(const std::shared_ptr<rigcal::v1::SubmitJob>& request, const Identity& who,
                   const std::string& damage, const Answer& answer);
  void save(const std::string& id, const Saved& saved);
  void start(const std::string& id);
  void start_worker(const std::string& id);
  void on_job_progress(const std::string& id, const rigcal::v1::JobProgress& progress);
  void on_job_ended(const std::string& id, const JobRunner::JobEnd& ended);
  std::string describe_time_limit(const Job& job) const;
  void end(const std::string& id, rigcal::v1::JobState state, const std::string& error);
  void notify_subscribers(Job& job);
  Job* find(const std::string& id);
  const Job* find(const std::string& id) const;
  const Job* find_stored_job(const std::string& id) const;
  std::size_t count_running_jobs(const std::string& owner) const;
  double processor_use_s(const std::string& owner) const;
  double time_limit_s(const Job& job) const;
  std::vector<std::string> waiting_job_ids() const;
  void add_processor_use(Job& job, double processor_s);
  rigcal::v1::JobInfo info(const Job& job) const;
  std::string job_folder(const std::string& id) const;

  ServiceContext& context_;
  SessionStore& sessions_;
  JobRunner& runner_;
  std::map<std::string, Job> jobs_;
  FairQueue queue_;                             // queued jobs that are on disk
  std::map<std::string, std::string> running_;  // owners of running jobs
  ProcessorUsage processor_use_;                // of ended jobs, deleted ones included
  bool shutting_down_ = false;
};

/// Returns the memory that the info of a job takes, including the overhead of separate allocations
/// [byte].
std::uint64_t index_memory_bytes(const rigcal::v1::JobInfo& info);

/// Returns the error reply for a job that does not exist.
rigcal::v1::ServiceError make_unknown_job_error(const std::string& id);

}  // namespace service
