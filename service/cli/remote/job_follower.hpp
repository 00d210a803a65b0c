#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "proto/service.pb.h"
#include "service/cli/remote/service_client.hpp"
#include "service/cli/terminal.hpp"

namespace service {

/// Returns one line that describes the state of a job, without parameter values.
std::string format_job_status(const rigcal::v1::JobInfo& info);

/// Returns one line that describes the state of a job or, if the job is running, its stage.
std::string format_job_stage(const rigcal::v1::JobInfo& info);

/// Display of a running job on a terminal: the job's state, a progress bar and the parameters.
class JobDisplay {
 public:
  void set_job_info(const rigcal::v1::JobInfo& info);

  /// Returns the display as lines of text that fit the terminal and leave one row free for the
  /// cursor.
  /// @param elapsed_s  time since the job's start [s]
  std::vector<std::string> lines(const TerminalSize& size, double elapsed_s) const;

 private:
  rigcal::v1::JobInfo info_;
  std::vector<double> before_;  // values of the previous iteration
  double bar_share_ = 0.0;      // of the whole job; never decreases
};

/// Shows the progress of a job on standard error until the job ends. A terminal shows a progress
/// bar and a table of the parameters, rewritten in place; other outputs get a line per iteration.
/// @param json  print every update as a line of JSON to standard output instead
/// @param stop  flag that ends the display early
/// @return the last received state of the job
rigcal::v1::JobInfo follow_job(ServiceClient& client, const std::string& job_id, bool quiet,
                               bool json, const std::atomic<bool>& stop);

/// Returns the exit status for an ended job. Prints the reason if the job has no result.
ExitCode print_job_end(const rigcal::v1::JobInfo& info);

}  // namespace service
