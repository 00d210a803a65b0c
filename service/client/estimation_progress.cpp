#include "service/client/estimation_progress.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <thread>

#include "service/messages/stage_text.hpp"
#include "service/text/iteration_text.hpp"

namespace service {
estimator::CalibrationMonitor make_monitor(const InterruptFlag& interrupt, ProgressLine& progress,
                                           int threads, const std::string* prefix) {
  estimator::CalibrationMonitor monitor;
  monitor.threads =
      threads > 0 ? threads : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  monitor.stop = &interrupt.flag();
  struct Stage {
    std::string name;
    bool is_first = true, has_shown = false;
  };
  const auto stage = std::make_shared<Stage>();
  monitor.on_stage = [stage](const estimator::FitStage& begun, const estimator::Mechanism&) {
    *stage = {to_text(begun), stage->is_first && !stage->has_shown, false};
  };
  monitor.on_iteration = [stage, prefix, &progress](const estimator::IterationRecord& record) {
    const bool changed = !stage->is_first && !stage->has_shown;
    stage->has_shown = true;
    progress.show(iteration_text((prefix == nullptr ? "" : *prefix) + stage->name, record.iteration,
                                 record.cost, record.gradient_norm, changed));
  };
  return monitor;
}

}  // namespace service
