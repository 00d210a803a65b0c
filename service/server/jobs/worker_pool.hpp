#pragma once

#include <asio/io_context.hpp>
#include <asio/signal_set.hpp>
#include <chrono>
#include <map>
#include <memory>
#include <string>

#include "service/server/jobs/job_store.hpp"
#include "service/server/jobs/worker_messages.hpp"

namespace service {

/// Runs each calibration job in a separate, low-priority process: this program with the command
/// "run-job". Crashes and resource use of a job do not affect other jobs, and a job can be ended at
/// any time. If the service dies, the kernel ends the worker processes (PR_SET_PDEATHSIG).
class WorkerPool final : public JobRunner {
 public:
  /// @param program  path of this program
  WorkerPool(asio::io_context& io, std::string program, std::uint64_t memory_bytes_max);
  ~WorkerPool() override;

  void start(const std::string& job_id, const std::string& folder,
             const std::vector<std::string>& recording_paths, double duration_s_max,
             std::function<void(const rigcal::v1::JobProgress&)> on_progress,
             std::function<void(const JobEnd&)> on_ended) override;
  void stop(const std::string& job_id) override;
  /// Kills the process of a job on a cluster, whose task then continues. Other jobs are stopped.
  void interrupt(const std::string& job_id) override;

  /// Runs the jobs on a cluster instead of this machine, see cluster_job.hpp.
  /// @param settings  DaemonSlurm in text format
  void set_cluster(const std::string& settings);

  /// Sets the time between sending SIGTERM, or SIGALRM at the time limit, and SIGKILL to a worker
  /// process.
  void set_kill_delay(std::chrono::milliseconds grace) { grace_ = time_limit_grace_ = grace; }

  bool idle() const { return workers_.empty(); }
  void shut_down() { child_ended_.cancel(); }

 private:
  class WorkerProcess;

  void wait_for_children();
  void reap();

  asio::io_context& io_;
  std::string program_;
  std::uint64_t memory_bytes_max_;
  std::string cluster_;  ///< settings; empty: jobs run on this machine
  std::chrono::milliseconds grace_{5000};
  std::chrono::milliseconds time_limit_grace_{1000 * kTimeLimitGrace_s};
  asio::signal_set child_ended_;
  std::map<std::string, std::shared_ptr<WorkerProcess>> workers_;
};

}  // namespace service
