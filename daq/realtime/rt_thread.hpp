#pragma once

#include <string>
#include <vector>

namespace daq {

/// What to ask of the operating system for the thread that runs the loop.
struct RealTimeSettings {
  int priority = 80;        ///< SCHED_FIFO priority, 1 … 99; 0: stay an ordinary thread
  bool lock_memory = true;  ///< keep all pages of the process in memory
  int cpu = -1;             ///< pin the thread to this processor; negative: any
};

/// What was granted, and for each thing refused a sentence with the cost and the remedy.
struct RealTimeReport {
  bool fifo = false;
  bool memory_locked = false;
  bool pinned = false;
  std::vector<std::string> refused;
};

/// Applies the settings to the calling thread. A refusal is reported, never fatal: the loop then
/// runs with what it got. Also touches the stack, so that the loop meets no first-use page fault.
///
/// @throws std::invalid_argument for a priority outside 0 … 99.
RealTimeReport enter_real_time(const RealTimeSettings& settings);

}  // namespace daq
