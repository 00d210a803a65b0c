#pragma once

#include <string>

#include "service/study/study.hpp"

namespace service {

/// Reads and checks a study file (proto/study.proto) with the rig and scenario files it names.
/// Recordings are not opened.
/// @throws InputError "FILE:LINE:COLUMN: what; what to do"
Study load_study(const std::string& path);

}  // namespace service
