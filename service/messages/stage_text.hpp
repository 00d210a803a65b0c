#pragma once

#include <string>
#include <string_view>

#include "estimator/optimize/levenberg_marquardt.hpp"

namespace service {

/// Returns the name of a stage, such as "joint estimation".
std::string_view stage_name(estimator::EstimationStage stage);

/// Returns a phrase for the difference between a solve and the previous solve, such as "noise
/// re-estimated"; empty for the first solve of a stage.
std::string_view describe_solve(estimator::SolveKind kind);

/// Returns the names of a stage and its solve, such as "joint estimation, noise re-estimated".
std::string describe_stage_and_solve(const estimator::FitStage& stage);

}  // namespace service
