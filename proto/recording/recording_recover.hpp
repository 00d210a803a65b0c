#pragma once

#include <string>

#include "proto/recording/mcap_recover.hpp"

namespace proto {

/// Name of the event that recover_recording adds.
inline constexpr const char* kInterruptedEvent = "interrupted";

/// recover_mcap for a recording of this program. Where the recorder ended without finishing it, as
/// after a crash, nobody could write down how the run ended: an event at the end says so, a trip if
/// the unit was driving, because then its own ttl switched the output off.
Result<McapRecovery> recover_recording(const std::string& source, const std::string& destination);

}  // namespace proto
