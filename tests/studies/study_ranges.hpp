#pragma once

#include "proto/check/number_check.hpp"

namespace service {

/// Returns the ranges of the numbers in a study file (tests/studies/study.proto).
std::span<const proto::NumberRange> study_ranges();

}  // namespace service
