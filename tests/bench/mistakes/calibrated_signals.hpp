#pragma once

#include <string>
#include <vector>

namespace signal_faults {

/// Which rigs, and the faults injected into their recordings.
struct CalibratedRun {
  std::vector<std::string> kinds, only;  ///< only: names of faults; empty: all
  int rigs = 5, seed = 1;
  bool described = false;  ///< only friction that the description has
  bool verbose = false;
};

/// Calibrates random rigs as `rigcal calibrate` does, with the clean recording and with each fault.
/// Prints the findings and the changes of the estimates.
void run_calibrated(const CalibratedRun& run);

}  // namespace signal_faults
