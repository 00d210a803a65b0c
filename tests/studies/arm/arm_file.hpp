#pragma once

#include <vector>

#include "proto/text/text_file.hpp"
#include "tests/studies/arm/arm.hpp"
#include "tests/studies/study.pb.h"

namespace service {

/// Reads the settings of the arms from a study file.
/// @param root  location of the study in the file
/// @throws InputError naming file, line and column of a missing or contradictory value
std::vector<StudyArm> read_arms(const rigcal::v1::StudyArms& source,
                                const proto::TextLocator& root);

}  // namespace service
