#pragma once

#include <atomic>
#include <iosfwd>
#include <string>

#include "daq/console/exit_code.hpp"
#include "daq/stream/service_endpoint.hpp"

namespace daq {

struct SendOptions {
  std::string spool_folder;  ///< folder that `rigcal-daq run` left behind
  ServiceOptions service;
};

/// Sends the service those data of an ended or interrupted run that it does not have yet. They come
/// from the spool folder and from the recording beside it. Retries until the service has
/// everything, or until `stop` is set. Removes the spool folder once the service has everything.
///
/// @throws proto::InputError for a service that is not host:port, or for errors in TLS files
ExitCode send_spool(const SendOptions& options, const std::atomic<bool>& stop, std::ostream& out);

}  // namespace daq
