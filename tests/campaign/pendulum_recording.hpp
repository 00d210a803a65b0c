#pragma once

#include <string>

#include "tests/campaign/caller.hpp"

namespace campaign {

/// Uploads the swing of a pendulum as a session. False if the service disappeared or is full.
bool upload_pendulum(Caller& caller, const std::string& session_id);

/// A job that calibrates the pendulum of configs/ with it.
rigcal::v1::ServiceRequest pendulum_job(const std::string& job_id, const std::string& session_id);

}  // namespace campaign
