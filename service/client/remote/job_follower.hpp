#pragma once

#include <atomic>
#include <string>

#include "proto/service.pb.h"
#include "service/client/remote/service_client.hpp"

namespace service {

/// Shows a job's progress on standard error until it ends: on a terminal a bar and a table of the
/// parameters that are rewritten in place, elsewhere a line for every iteration.
/// @param json  prints every update as a line of JSON to standard output instead
/// @param stop  when it becomes true, following ends
/// @return the job as it was last seen
rigcal::v1::JobInfo follow_job(ServiceClient& client, const std::string& job_id, bool quiet,
                               bool json, const std::atomic<bool>& stop);

/// Exit status for a job that has ended, and, for one without a result, why on standard error.
ExitCode report_end(const rigcal::v1::JobInfo& info);

}  // namespace service
