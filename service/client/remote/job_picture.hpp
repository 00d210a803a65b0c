#pragma once

#include <string>
#include <vector>

#include "proto/service.pb.h"

namespace service {

struct TerminalSize {
  int columns = 80;
  int rows = 24;
};

/// Size of the terminal behind a descriptor; 80 by 24 where it does not say.
TerminalSize terminal_size(int descriptor);

/// The beginning of a UTF-8 text that fits so many columns; what is cut off shows as "…".
std::string cut_to_width(const std::string& text, int columns);

/// One line about how a job stands, without the values of its parameters.
std::string job_status(const rigcal::v1::JobInfo& info);

/// What a terminal shows of a job while it runs: how it stands, a bar, and its parameters.
class JobPicture {
 public:
  void update(const rigcal::v1::JobInfo& info);

  /// Lines that fit the terminal, with one row to spare for the cursor.
  /// @param elapsed_s  since the job was started
  std::vector<std::string> lines(const TerminalSize& size, double elapsed_s) const;

 private:
  rigcal::v1::JobInfo info_;
  std::vector<double> before_;  // values of the iteration before the latest
  double bar_share_ = 0.0;      // of the whole job; never goes back
};

}  // namespace service
