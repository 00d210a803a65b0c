#pragma once

#include <string>

#include "proto/text/text_file.hpp"
#include "tests/studies/leg/leg.hpp"
#include "tests/studies/study.pb.h"

namespace service {

/// Reads the settings of the leg study from a study file, and the rig files that it names.
/// @param folder  folder of the study file; file names are relative to it
/// @throws InputError "FILE:LINE:COLUMN: problem; remedy"
LegStudy read_leg(const rigcal::v1::StudyLeg& source, const proto::TextLocator& place,
                  const std::string& folder);

}  // namespace service
