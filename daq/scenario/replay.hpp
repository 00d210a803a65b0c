#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "daq/scenario/observation.hpp"

namespace daq {

/// Replay of a recorded command. The command is constant from the time of each row to that of the
/// next row. It is zero before the first row and from the time of the last row on.
class Replay {
 public:
  /// Creates a replay. `time_s` and `values` have one entry per row; time zero is the first row's
  /// time.
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
