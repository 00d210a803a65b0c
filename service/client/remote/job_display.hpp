#pragma once

#include <string>
#include <vector>

#include "proto/service.pb.h"

namespace service {

struct TerminalSize {
  int columns = 80;
  int rows = 24;
};

/// Size of the terminal of a descriptor; 80 by 24 if unknown.
TerminalSize terminal_size(int descriptor);

/// Cuts a UTF-8 text to a number of columns; "…" marks the cut.
std::string cut_to_width(const std::string& text, int columns);

/// Describes a job's state in one line, without parameter values.
std::string job_status(const rigcal::v1::JobInfo& info);

/// Terminal display of a running job: its state, a progress bar, and the parameters.
class JobDisplay {
 public:
  void update(const rigcal::v1::JobInfo& info);

  /// Returns lines that fit the terminal, leaving one row for the cursor.
  /// @param elapsed_s  time since the job's start
  std::vector<std::string> lines(const TerminalSize& size, double elapsed_s) const;

 private:
  rigcal::v1::JobInfo info_;
  std::vector<double> before_;  // values of the previous iteration
  double bar_share_ = 0.0;      // of the whole job; never decreases
};

}  // namespace service
