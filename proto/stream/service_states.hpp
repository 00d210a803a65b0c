#pragma once

#include <string>

#include "proto/service.pb.h"

namespace proto {

/// Return one word for the state of a session or job: "open", "queued", ...; "unreadable" for an
/// unknown value.
std::string state_name(rigcal::v1::SessionState state);
std::string state_name(rigcal::v1::JobState state);

/// Returns whether the job has ended: done, failed or cancelled.
bool has_ended(const rigcal::v1::JobInfo& info);

}  // namespace proto
