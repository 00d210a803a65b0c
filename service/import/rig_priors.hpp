#pragma once

#include "estimator/model/mechanism.hpp"
#include "proto/rig.pb.h"
#include "proto/text/text_file.hpp"

namespace service {

/// What a rig file knows beforehand beside priors of parameters: how well drawings are known, in
/// which recordings a body is there, and how joints stand when a recording begins. Parameters must
/// have been read.
/// @throws proto::InputError where a drawing is none, or a body that may be missing is needed
void read_knowledge(const rigcal::v1::Rig& rig, const proto::TextLocator& root,
                    estimator::Mechanism& mechanism);

}  // namespace service
