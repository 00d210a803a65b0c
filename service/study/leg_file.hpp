#pragma once

#include <string>

#include "proto/study.pb.h"
#include "proto/text/text_file.hpp"
#include "service/study/leg.hpp"

namespace service {

/// Reads what a study file says of a leg, and the rig files it names.
/// @param folder  of the study file, with which the files it names begin
/// @throws InputError "FILE:LINE:COLUMN: what; what to do"
LegStudy read_leg(const rigcal::v1::StudyLeg& source, const proto::TextLocator& place,
                  const std::string& folder);

}  // namespace service
