#pragma once

#include "estimator/model/mechanism.hpp"
#include "proto/rig.pb.h"
#include "proto/text/text_file.hpp"

namespace service {

/// Adds the couplings of mimic joints in a rig file to the mechanism, which must have all joints.
/// @throws proto::InputError if a mimic joint names itself or no moving joint
void add_couplings(const rigcal::v1::Rig& rig, const proto::TextLocator& root,
                   estimator::Mechanism& mechanism);

}  // namespace service
