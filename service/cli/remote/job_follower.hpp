#pragma once

#include <atomic>
#include <string>

#include "proto/service.pb.h"
#include "service/cli/remote/service_client.hpp"

namespace service {

/// Shows the progress of a job on standard error until the job ends. A terminal shows a progress
/// bar and a table of the parameters, rewritten in place; other outputs get a line per iteration.
/// @param json  print every update as a line of JSON to standard output instead
/// @param stop  flag that ends the display early
/// @return the last received state of the job
rigcal::v1::JobInfo follow_job(ServiceClient& client, const std::string& job_id, bool quiet,
                               bool json, const std::atomic<bool>& stop);

/// Returns the exit status for an ended job. Prints the reason if the job has no result.
ExitCode report_end(const rigcal::v1::JobInfo& info);

}  // namespace service
