#pragma once

#include <optional>
#include <string>

#include "proto/recording/mcap/mcap_recover.hpp"
#include "proto/recording/recording_types.hpp"

namespace proto {

/// Name of the event that marks a run whose end was not recorded.
inline constexpr const char* kInterruptedEvent = "interrupted";

/// Returns the event that is appended to a recording whose end was not recorded, e.g. after a
/// crash. The event is a trip if the conversion unit was driving: it switched its output off when
/// the time to live of the last command expired.
/// @param last  last sample; nullopt if there is none
Event interruption_event(const RecordingHeader& header, const std::optional<Sample>& last);

/// Recovers a recording of this program with recover_mcap, adding an interruption_event if needed.
Result<McapRecovery> recover_recording(const std::string& source, const std::string& destination);

}  // namespace proto
