#pragma once

#include <string>

#include "tests/studies/study.hpp"

namespace service {

/// Reads and checks a study file (tests/studies/study.proto) and the rig and scenario files that it
/// names. Does not open recordings.
/// @throws InputError "FILE:LINE:COLUMN: problem; remedy"
Study load_study(const std::string& path);

}  // namespace service
