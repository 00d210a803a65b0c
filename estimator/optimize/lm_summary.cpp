#include "estimator/optimize/lm_summary.hpp"

namespace estimator {

std::string_view to_string(Termination termination) {
  switch (termination) {
    case Termination::kGradientTolerance:
      return "gradient tolerance";
    case Termination::kStepTolerance:
      return "step tolerance";
    case Termination::kCostTolerance:
      return "cost tolerance";
    case Termination::kNoFurtherDecrease:
      return "no further decrease";
    case Termination::kMaxIterations:
      return "iteration limit";
    case Termination::kCancelled:
      return "cancelled";
    case Termination::kNumericalFailure:
      return "numerical failure";
  }
  return "unknown";
}

bool is_converged(Termination termination) {
  return termination == Termination::kGradientTolerance ||
         termination == Termination::kStepTolerance || termination == Termination::kCostTolerance ||
         termination == Termination::kNoFurtherDecrease;
}

}  // namespace estimator
