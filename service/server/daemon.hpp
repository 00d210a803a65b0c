#pragma once

#include <string>
#include <vector>

#include "proto/tls/tls_files.hpp"
#include "service/server/http_access.hpp"
#include "service/server/sessions/identity.hpp"
#include "service/server/sessions/service_context.hpp"

namespace service {

/// Settings of rigcald from its file (proto/daemon.proto) and its command line.
struct DaemonConfig {
  std::string data_folder;
  std::vector<std::string>
      listen;             ///< addresses "HOST:PORT" or "unix:/PATH"; empty: account_service_address
  std::string http;       ///< address of the HTTP server; empty: no server
  HttpAccessConfig http_access;
  proto::TlsFiles tls;    ///< TLS files; their authority signs client certificates
  bool insecure = false;  ///< allow addresses beyond loopback without TLS
  OperatorNames operators;
  ServiceLimits limits;
  std::string cluster;  ///< Slurm cluster for the jobs, a DaemonSlurm in text format; empty: none
  double handshake_timeout_s = 10.0;
  double frame_timeout_s = 20.0;
  double write_timeout_s = 30.0;
};

/// Reads the settings of rigcald from a file.
/// @throws proto::InputError "FILE:LINE:COLUMN: problem; remedy"
DaemonConfig load_daemon_config(const std::string& path);

/// Runs the calibration service until SIGTERM or SIGINT. Once the service accepts connections, it
/// prints a line "rigcald listens at PLACE" to standard output for each address.
/// @param program  path of this program, which also runs the jobs
/// @return exit status
/// @throws proto::InputError for invalid settings
int run_daemon(const DaemonConfig& config, const std::string& program, const std::string& version);

/// Checks that the settings of rigcald do not contradict each other.
/// @throws proto::InputError for contradictory settings
void check_daemon_config(const DaemonConfig& config);

}  // namespace service
