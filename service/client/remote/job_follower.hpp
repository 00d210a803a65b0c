#pragma once

#include <atomic>
#include <string>

#include "proto/service.pb.h"
#include "service/client/remote/service_client.hpp"

namespace service {

/// Shows a job's progress on standard error until it ends: on a terminal a progress bar and a table
/// of the parameters, rewritten in place; elsewhere a line per iteration.
/// @param json  prints every update as a line of JSON to standard output instead
/// @param stop  when it becomes true, following ends
/// @return the last received state of the job
rigcal::v1::JobInfo follow_job(ServiceClient& client, const std::string& job_id, bool quiet,
                               bool json, const std::atomic<bool>& stop);

/// Returns the exit status of an ended job; prints the reason if it has no result.
ExitCode report_end(const rigcal::v1::JobInfo& info);

}  // namespace service
