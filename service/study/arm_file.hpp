#pragma once

#include <vector>

#include "proto/study.pb.h"
#include "proto/text/text_file.hpp"
#include "service/study/arm.hpp"

namespace service {

/// The arms of a study file.
/// @param root  of the study
/// @throws InputError naming file, line and column of what is missing or contradicts itself
std::vector<StudyArm> read_arms(const rigcal::v1::StudyArms& source,
                                const proto::TextLocator& root);

}  // namespace service
