#pragma once

#include <string>

#include "tests/campaign/caller.hpp"

namespace campaign {

/// Uploads the swing of a pendulum as a session. False if the service disappeared or is full.
bool upload_pendulum(Caller& caller, const std::string& session_id);

}  // namespace campaign
