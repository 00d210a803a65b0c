#pragma once

#include <string>

namespace daq {

/// Exit statuses of `rigcal-daq`.
enum class ExitCode : int {
  kDone = 0,             ///< finished, or stopped by the operator
  kTrouble = 1,          ///< error of port, unit or disk, or a computer that is too slow
  kBadInput = 2,         ///< error in the command line or a file
  kTripped = 3,          ///< a safety limit switched the output off
  kNotCommissioned = 4,  ///< the run needs a commissioned rig, or a commissioning failed
};

/// Prints an error message on standard error. @return kTrouble
ExitCode fail(const std::string& detail);

}  // namespace daq
