#pragma once

#include <string>

#include "service/cli/estimation_options.hpp"
#include "service/cli/remote/service_client.hpp"

namespace service {

/// Prints the result of a finished job of the service as a table or as JSON.
ExitCode print_result(ServiceClient& client, const std::string& job_id, bool json);

/// Writes the files that describe the rig with the estimates of a finished job, like the options
/// --rig-out, --urdf-out and --mjcf-out of "calibrate".
/// @throws proto::InputError if a file cannot be written
void write_job_rig(const std::string& job_id, const rigcal::v1::CalibrationResult& result,
                   const ResultFiles& files);

/// Writes the report of a finished job to the file `path`.
/// @throws proto::InputError if that fails
void fetch_report(ServiceClient& client, const std::string& job_id, bool cross_validation,
                  const std::string& path);

}  // namespace service
