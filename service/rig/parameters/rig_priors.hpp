#pragma once

#include <map>
#include <string>

#include "estimator/model/mechanism.hpp"
#include "proto/rig.pb.h"
#include "proto/text/text_file.hpp"

namespace service {

/// Reads from a rig file the uncertainty of CAD data, the names of recordings in which a body is
/// present, and the priors of initial joint states. Call it after the parameters have been read.
/// @param places  locations of parameters in the rig file, by parameter name
/// @return locations of priors in the rig file, by parameter name
/// @throws proto::InputError for invalid CAD data, or if a body that is absent in some recordings
///         carries other bodies or sensors
std::map<std::string, std::string> read_priors(
    const rigcal::v1::Rig& rig, const proto::TextLocator& root,
    const std::map<std::string, proto::TextLocator>& places, estimator::Mechanism& mechanism);

}  // namespace service
