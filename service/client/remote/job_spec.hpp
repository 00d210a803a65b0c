#pragma once

#include <functional>
#include <string>

#include "proto/service.pb.h"
#include "service/client/estimation_options.hpp"
#include "service/client/remote/remote_calibration.hpp"

namespace service {

/// Whether a recording on the command line is one that the service has: "session:ID".
bool is_session(const std::string& recording);

/// What a person wrote behind "session:".
std::string session_id(const std::string& recording);

/// The session in which the service holds a recording of the command line.
using SessionOf = std::function<std::string(const std::string& recording)>;

/// The job that the command line asks for. Reads the rig file.
/// @throws proto::InputError
rigcal::v1::JobSpec make_spec(const RemoteOptions& remote, const EstimationOptions& options,
                              const SessionOf& session_of);

}  // namespace service
