#pragma once

#include <atomic>
#include <iosfwd>
#include <string>

#include "daq/commands/exit_code.hpp"
#include "daq/stream/service_endpoint.hpp"

namespace daq {

struct SendOptions {
  std::string spool_folder;  ///< that `rigcal-daq run` left behind
  ServiceOptions service;
};

/// Sends the service what it does not have yet of a run that has ended or was cut off, with what
/// only the recording beside the spool holds, and removes the folder once it has everything. Tries
/// until then, or until `stop` is set.
///
/// @throws proto::InputError for a service that is no host:port, or for files of TLS
ExitCode send_spool(const SendOptions& options, const std::atomic<bool>& stop, std::ostream& out);

}  // namespace daq
