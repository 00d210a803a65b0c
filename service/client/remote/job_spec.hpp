#pragma once

#include <functional>
#include <string>

#include "proto/service.pb.h"
#include "service/client/estimation_options.hpp"
#include "service/client/remote/remote_calibration.hpp"

namespace service {

/// Whether a recording on the command line refers to the service: "session:ID".
bool is_session(const std::string& recording);

/// Returns the text after "session:".
std::string session_id(const std::string& recording);

/// Returns the session with the service's copy of a recording of the command line.
using SessionOf = std::function<std::string(const std::string& recording)>;

/// Makes the job requested on the command line. Reads the rig file.
/// @throws proto::InputError
rigcal::v1::JobSpec make_spec(const RemoteOptions& remote, const EstimationOptions& options,
                              const SessionOf& session_of);

}  // namespace service
