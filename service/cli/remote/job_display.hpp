#pragma once

#include <string>
#include <vector>

#include "proto/service.pb.h"
#include "service/cli/terminal.hpp"

namespace service {

/// Returns one line that describes the state of a job, without parameter values.
std::string job_status(const rigcal::v1::JobInfo& info);

/// Returns one line that describes the state of a job, or the stage of a running job.
std::string job_stage(const rigcal::v1::JobInfo& info);

/// Terminal display of a running job, with the job's state, a progress bar and the parameters.
class JobDisplay {
 public:
  void update(const rigcal::v1::JobInfo& info);

  /// Returns lines of text that fit the terminal and leave one row free for the cursor.
  /// @param elapsed_s  time since the job's start [s]
  std::vector<std::string> lines(const TerminalSize& size, double elapsed_s) const;

 private:
  rigcal::v1::JobInfo info_;
  std::vector<double> before_;  // values of the previous iteration
  double bar_share_ = 0.0;      // of the whole job; never decreases
};

}  // namespace service
