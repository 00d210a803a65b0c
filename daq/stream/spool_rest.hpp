#pragma once

#include <string>
#include <vector>

#include "daq/stream/spool_folder.hpp"

namespace daq {

/// How a spool that another process left and the recording beside it agree.
struct SpoolRest {
  bool ended = false;              ///< somebody declared the end of the run
  std::vector<std::string> notes;  ///< sentences for people
};

/// Where the recorder died, the recording may hold what did not reach the spool, up to a quarter of
/// a second, or the other way round. Appends to the spool what only the recording holds, so that
/// the service ends up with all of it, and tells how the two differ where that cannot be.
///
/// The recording is RECORDING, RECORDING.part or what `rigcal recover` makes of it, for a spool
/// RECORDING.spool. It is read only.
proto::Result<SpoolRest> append_rest(const std::string& spool_folder, SpoolFolder& folder);

}  // namespace daq
