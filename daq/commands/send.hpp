#pragma once

#include <atomic>
#include <iosfwd>
#include <string>

#include "daq/commands/exit_code.hpp"
#include "daq/stream/service_endpoint.hpp"

namespace daq {

struct SendOptions {
  std::string spool_folder;  ///< folder that `rigcal-daq run` left behind
  ServiceOptions service;
};

/// Sends the service the missing data of a run that has ended or was cut off, including data that
/// only the recording beside the spool has. Removes the folder once the service has everything.
/// Retries until then, or until `stop` is set.
///
/// @throws proto::InputError for a service that is not host:port, or for errors in TLS files
ExitCode send_spool(const SendOptions& options, const std::atomic<bool>& stop, std::ostream& out);

}  // namespace daq
