#pragma once

#include <string>
#include <vector>

namespace signal_faults {

/// Which rigs, and what is planted in their recordings.
struct CalibratedRun {
  std::vector<std::string> kinds, only;  ///< only: names of faults; empty: all
  int rigs = 5, seed = 1;
  bool described = false;  ///< no friction but what the description knows
  bool verbose = false;
};

/// Calibrates rigs drawn at random as `rigcal calibrate` does, with the recording as it is and with
/// each fault, and prints what was told, and what became of the estimates.
void run_calibrated(const CalibratedRun& run);

}  // namespace signal_faults
