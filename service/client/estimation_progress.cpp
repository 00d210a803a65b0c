#include "service/client/estimation_progress.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <thread>

#include "service/text/number_format.hpp"

namespace service {

estimator::CalibrationMonitor make_monitor(const InterruptFlag& interrupt, ProgressLine& progress,
                                           int threads, const std::string* prefix) {
  estimator::CalibrationMonitor monitor;
  monitor.threads =
      threads > 0 ? threads : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  monitor.stop = &interrupt.flag();
  const auto stage = std::make_shared<std::string>();
  monitor.on_stage = [stage](std::string_view name, const estimator::Mechanism&) { *stage = name; };
  monitor.on_iteration = [stage, prefix, &progress](const estimator::IterationRecord& record) {
    progress.show((prefix == nullptr ? "" : *prefix) + *stage + ": iteration " +
                  std::to_string(record.iteration) + "  cost " + format_number(record.cost, 7) +
                  "  gradient " + format_number(record.gradient_norm, 2));
  };
  return monitor;
}

}  // namespace service
