#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "daq/scenario/observation.hpp"

namespace daq {

/// A recorded command, constant from each row's time to the next row's; zero before the first row
/// and from the last row's time on.
class Replay {
 public:
  /// `time_s` and `values` have one entry per row; times count from that of the first row.
  Replay(std::vector<double> time_s, std::vector<double> values);

  double command(const ScenarioInput& now) noexcept;
  double command_peak() const noexcept;
  std::vector<std::string> faults() const;

 private:
  std::vector<double> time_s_;
  std::vector<double> values_;
  std::size_t row_ = 0;  // current row; time does not decrease during a run
};

}  // namespace daq
