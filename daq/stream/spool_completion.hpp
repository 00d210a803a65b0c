#pragma once

#include <string>
#include <vector>

#include "daq/stream/spool_folder.hpp"

namespace daq {

/// Result of completing another process's spool from the recording beside it.
struct SpoolCompletion {
  bool ended = false;              ///< the end of the run was recorded
  std::vector<std::string> notes;  ///< sentences for people
};

/// Appends to the spool all messages that only the recording has, so that the service gets them. If
/// the recording process died, either of them may lack up to a quarter of a second of data that the
/// other has. Differences that cannot be resolved are reported in `notes`.
///
/// The recording of a spool RECORDING.spool is RECORDING, RECORDING.part or the output of `rigcal
/// recover`. The recording is only read.
proto::Result<SpoolCompletion> append_rest(const std::string& spool_folder, SpoolFolder& folder);

}  // namespace daq
