#pragma once

#include <string>
#include <vector>

#include "proto/tls/tls_files.hpp"
#include "service/server/identity.hpp"
#include "service/server/service_context.hpp"

namespace service {

/// Settings of rigcald from its file (proto/daemon.proto) and its command line.
struct DaemonConfig {
  std::string data_folder;
  std::vector<std::string>
      listen;             ///< "HOST:PORT" or "unix:/PATH"; empty: see account_service_place
  std::string http;       ///< empty: none
  proto::TlsFiles tls;    ///< its authority signs client certificates
  bool insecure = false;  ///< listen beyond loopback without TLS
  Operators operators;
  ServiceLimits limits;
  double handshake_timeout_s = 10.0;
  double frame_timeout_s = 20.0;
  double write_timeout_s = 30.0;
};

/// @throws proto::InputError "FILE:LINE:COLUMN: problem; remedy"
DaemonConfig load_daemon_config(const std::string& path);

/// @throws proto::InputError for settings that contradict each other
void check_daemon_config(const DaemonConfig& config);

}  // namespace service
