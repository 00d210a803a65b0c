#pragma once

#include "estimator/model/mechanism.hpp"
#include "proto/rig.pb.h"
#include "proto/text/text_file.hpp"

namespace service {

/// Adds the couplings of mimic joints. All joints must be in the mechanism.
/// @throws proto::InputError for a field that is not the name of another moving joint
void add_couplings(const rigcal::v1::Rig& rig, const proto::TextLocator& root,
                   estimator::Mechanism& mechanism);

}  // namespace service
