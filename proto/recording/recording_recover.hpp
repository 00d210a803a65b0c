#pragma once

#include <optional>
#include <string>

#include "proto/recording/mcap_recover.hpp"
#include "proto/recording/recording_types.hpp"

namespace proto {

/// Name of the event that tells an ending which nobody declared.
inline constexpr const char* kInterruptedEvent = "interrupted";

/// The event for the end of a recording whose recorder ended without finishing it, as after a
/// crash: nobody could write down how the run ended. A trip if the unit was driving, because then
/// its own ttl switched the output off.
/// @param last  sample; nothing if there is none
Event interruption_event(const RecordingHeader& header, const std::optional<Sample>& last);

/// recover_mcap for a recording of this program, with the interruption_event where one is due.
Result<McapRecovery> recover_recording(const std::string& source, const std::string& destination);

}  // namespace proto
