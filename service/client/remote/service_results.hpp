#pragma once

#include <string>

#include "service/client/remote/service_client.hpp"

namespace service {

/// Prints the result of a job that is done, as a table or as JSON.
ExitCode print_result(ServiceClient& client, const std::string& job_id, bool json);

/// Writes a report of a job that is done. @throws proto::InputError
void fetch_report(ServiceClient& client, const std::string& job_id, bool cross_validation,
                  const std::string& path);

}  // namespace service
