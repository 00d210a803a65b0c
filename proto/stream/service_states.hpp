#pragma once

#include <string>

#include "proto/service.pb.h"

namespace proto {

/// One word for a state: "open", "queued", ...; "unreadable" for one that is none.
std::string state_name(rigcal::v1::SessionState state);
std::string state_name(rigcal::v1::JobState state);

/// Done, failed or cancelled: nothing more will happen to the job.
bool has_ended(const rigcal::v1::JobInfo& info);

}  // namespace proto
