#include "service/cli/estimation_progress.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <thread>

#include "service/messages/stage_text.hpp"
#include "service/text/number_format.hpp"

namespace service {
namespace {

/// Stages of a calibration, in this order. A calibration skips the last ones if it does not need
/// them, and begins again with the first one to test a repair.
constexpr std::array kStages = {estimator::Stage::kJointEstimation,
                                estimator::Stage::kSimulationFit, estimator::Stage::kPartComparison,
                                estimator::Stage::kMisfitCauses};

/// Numbers the stages of a calibration.
class StageCounter {
 public:
  void begin(const estimator::FitStage& begun) {
    stage_ = begun;
    const auto at = std::ranges::find(kStages, begun.stage);
    const auto number = at == kStages.end() ? 0 : static_cast<int>(at - kStages.begin()) + 1;
    if (number > 0 && number < number_) ++fit_;
    number_ = number;
  }

  std::string name() const { return to_text(stage_); }
  std::string stage_name() const { return std::string(to_text(stage_.stage)); }

  /// Returns the name of the solve; that of the stage in its first solve.
  std::string step_name() const {
    const std::string_view solve = to_text(stage_.solve);
    return solve.empty() ? stage_name() : std::string(solve);
  }

  /// Returns "stage 2 of 4, "; in a later fit, "fit 2, stage 2 of 4, "; empty without a number.
  std::string number() const {
    if (number_ == 0) return "";
    return (fit_ == 1 ? "" : "fit " + std::to_string(fit_) + ", ") + "stage " +
           std::to_string(number_) + " of " + std::to_string(kStages.size()) + ", ";
  }

 private:
  estimator::FitStage stage_;
  int number_ = 0, fit_ = 1;
};

}  // namespace

estimator::CalibrationMonitor make_monitor(const InterruptFlag& interrupt, ProgressLine& progress,
                                           int threads, const std::string* part) {
  estimator::CalibrationMonitor monitor;
  monitor.threads =
      threads > 0 ? threads : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  monitor.stop = &interrupt.flag();
  struct State {
    StageCounter stage;
    bool is_first = true, has_shown = false;
  };
  const auto state = std::make_shared<State>();
  const auto show = [state, part, &progress](const std::string& detail) {
    const std::string where = part == nullptr ? state->stage.number() : *part + ", ";
    progress.show(where + state->stage.step_name() + detail + ", " + progress.elapsed(),
                  part == nullptr ? where + state->stage.stage_name() : *part);
  };
  monitor.on_stage = [state, show](const estimator::FitStage& begun, const estimator::Mechanism&) {
    state->is_first = state->is_first && !state->has_shown;
    state->has_shown = false;
    state->stage.begin(begun);
    show("");
  };
  monitor.on_iteration = [state, part, show, &progress](const estimator::IterationRecord& record) {
    if (progress.is_verbose()) {
      const bool changed = !state->is_first && !state->has_shown;
      progress.log(iteration_text(
          (part == nullptr ? state->stage.number() : *part + ", ") + state->stage.name(),
          record.iteration, record.cost, record.gradient_norm, changed));
    }
    state->has_shown = true;
    show(": iteration " + std::to_string(record.iteration) + ", cost " +
         format_number(record.cost, 4));
  };
  return monitor;
}

}  // namespace service
