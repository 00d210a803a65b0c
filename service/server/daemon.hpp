#pragma once

#include "service/server/daemon_config.hpp"

namespace service {

/// Runs the calibration service until SIGTERM or SIGINT. Prints "rigcald listens at PLACE" to
/// standard output, a line for each place, once it takes connections.
/// @param program  path of this program, which runs the jobs too
/// @return exit status
/// @throws proto::InputError for settings that cannot be used
int run_daemon(const DaemonConfig& config, const std::string& program, const std::string& version);

}  // namespace service
