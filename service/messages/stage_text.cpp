#include "service/messages/stage_text.hpp"

namespace service {

using estimator::EstimationStage;
using estimator::SolveKind;

std::string_view stage_name(EstimationStage stage) {
  switch (stage) {
    case EstimationStage::kJointEstimation:
      return "joint estimation";
    case EstimationStage::kSimulationFit:
      return "simulation fit";
    case EstimationStage::kInitialValues:
      return "estimation of initial values";
    case EstimationStage::kStateEstimation:
      return "state estimation";
    case EstimationStage::kInitialStates:
      return "initial states";
    case EstimationStage::kPartComparison:
      return "comparison of segments";
    case EstimationStage::kMisfitCauses:
      return "causes of the misfit";
    case EstimationStage::kRegression:
      return "linear regression";
  }
  return "";
}

std::string_view describe_solve(SolveKind kind) {
  switch (kind) {
    case SolveKind::kFirst:
      return "";
    case SolveKind::kInflatedNoise:
      return "with inflated sensor noise";
    case SolveKind::kShortSegments:
      return "over short segments";
    case SolveKind::kAfterShortSegments:
      return "from the fit over short segments";
    case SolveKind::kAllFromExcerpt:
      return "all samples, from the fit of an excerpt";
    case SolveKind::kAllFromStart:
      return "all samples, from the initial values";
    case SolveKind::kStickingFriction:
      return "with dry friction that can stick";
    case SolveKind::kNewNoise:
      return "noise re-estimated";
    case SolveKind::kFinalNoise:
      return "with the final noise";
    case SolveKind::kRestart:
      return "restart";
    case SolveKind::kShorterSteps:
      return "with shorter steps";
    case SolveKind::kAnnealedAgain:
      return "process noise reduced again";
    case SolveKind::kSmoothedFriction:
      return "with smoothed friction";
    case SolveKind::kRigFriction:
      return "with the rig's friction";
  }
  return "";
}

std::string describe_stage_and_solve(const estimator::FitStage& stage) {
  std::string text(stage_name(stage.stage));
  if (stage.solve != SolveKind::kFirst) text.append(", ").append(describe_solve(stage.solve));
  return text;
}

}  // namespace service
