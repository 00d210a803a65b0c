#pragma once

#include "service/server/daemon_config.hpp"

namespace service {

/// Runs the calibration service until SIGTERM or SIGINT. Once the service accepts connections, it
/// prints a line "rigcald listens at PLACE" to standard output for each address.
/// @param program  path of this program, which also runs the jobs
/// @return exit status
/// @throws proto::InputError for invalid settings
int run_daemon(const DaemonConfig& config, const std::string& program, const std::string& version);

}  // namespace service
