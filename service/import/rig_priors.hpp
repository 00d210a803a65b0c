#pragma once

#include <map>
#include <string>

#include "estimator/model/mechanism.hpp"
#include "proto/rig.pb.h"
#include "proto/text/text_file.hpp"

namespace service {

/// Reads prior knowledge other than priors of parameters: uncertainty of CAD data, recordings in
/// which a body is present, and initial states of joints. Parameters must have been read.
/// @param places  locations of parameters, by name
/// @return locations of priors in the file, by parameter name
/// @throws proto::InputError for invalid CAD data, or if a body that may be missing is needed
std::map<std::string, std::string> read_priors(
    const rigcal::v1::Rig& rig, const proto::TextLocator& root,
    const std::map<std::string, proto::TextLocator>& places, estimator::Mechanism& mechanism);

}  // namespace service
