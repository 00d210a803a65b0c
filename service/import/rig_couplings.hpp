#pragma once

#include "estimator/model/mechanism.hpp"
#include "proto/rig.pb.h"
#include "proto/text/text_file.hpp"

namespace service {

/// Adds how joints of the rig follow others; all of them must be in the mechanism.
/// @throws proto::InputError at the field that names no joint that moves
void add_couplings(const rigcal::v1::Rig& rig, const proto::TextLocator& root,
                   estimator::Mechanism& mechanism);

}  // namespace service
