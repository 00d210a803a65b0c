#pragma once

#include <string>

namespace daq {

/// How `rigcal-daq` ends, as process exit codes.
enum class ExitCode : int {
  kDone = 0,      ///< finished, or stopped by the operator
  kTrouble = 1,   ///< port, unit, disk; a machine unfit for the loop
  kBadInput = 2,  ///< command line or file
  kTripped = 3,   ///< a safety limit switched the output off
  kNotCommissioned =
      4,  ///< a run that only a commissioned rig may make, or its commissioning failed
};

/// Says on the error stream what went wrong. @return kTrouble
ExitCode fail(const std::string& detail);

}  // namespace daq
