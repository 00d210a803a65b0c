#pragma once

#include <map>
#include <string>

#include "estimator/model/mechanism.hpp"
#include "proto/rig.pb.h"
#include "proto/text/text_file.hpp"

namespace service {

/// What a rig file knows beforehand beside priors of parameters: how well drawings are known, in
/// which recordings a body is there, and how joints stand when a recording begins. Parameters must
/// have been read.
/// @param places  of parameters, by name
/// @return where priors stand in the file, by the names of their parameters
/// @throws proto::InputError where a drawing is none, or a body that may be missing is needed
std::map<std::string, std::string> read_knowledge(
    const rigcal::v1::Rig& rig, const proto::TextLocator& root,
    const std::map<std::string, proto::TextLocator>& places, estimator::Mechanism& mechanism);

}  // namespace service
