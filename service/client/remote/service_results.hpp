#pragma once

#include <string>

#include "service/client/estimation_options.hpp"
#include "service/client/remote/service_client.hpp"

namespace service {

/// Prints the result of a finished job as a table or as JSON.
ExitCode print_result(ServiceClient& client, const std::string& job_id, bool json);

/// Writes the rig with the estimates of a finished job, as calibrate --rig-out, --urdf-out and
/// --mjcf-out do.
/// @throws proto::InputError
void write_job_rig(const std::string& job_id, const rigcal::v1::CalibrationResult& result,
                   const ResultFiles& files);

/// Writes a report of a finished job. @throws proto::InputError
void fetch_report(ServiceClient& client, const std::string& job_id, bool cross_validation,
                  const std::string& path);

}  // namespace service
