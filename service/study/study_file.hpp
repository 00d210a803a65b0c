#pragma once

#include <string>

#include "service/study/study.hpp"

namespace service {

/// Reads and checks a study file (proto/study.proto) and the rig and scenario files it names. Does
/// not open recordings.
/// @throws InputError "FILE:LINE:COLUMN: problem; remedy"
Study load_study(const std::string& path);

}  // namespace service
