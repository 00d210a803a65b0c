#pragma once

#include <string>
#include <vector>

namespace daq {

/// Real-time settings to request from the operating system for the thread of the control loop.
struct RealTimeSettings {
  int priority = 80;        ///< SCHED_FIFO priority, 1 … 99; 0: stay an ordinary thread
  bool lock_memory = true;  ///< keep all pages of the process in memory
  int cpu = -1;             ///< pin the thread to this processor; negative: any
};

/// Real-time settings that the operating system granted. For each refused setting, `refused`
/// contains a sentence with the consequence and the remedy.
struct RealTimeReport {
  bool fifo = false;
  bool memory_locked = false;
  bool pinned = false;
  std::vector<std::string> refused;
};

/// Applies the settings to the calling thread. A refused setting is reported, and the thread
/// continues without it. Also touches the stack in advance, so that the thread has no page faults
/// later.
///
/// @throws std::invalid_argument for a priority outside 0 … 99.
RealTimeReport enter_real_time(const RealTimeSettings& settings);

}  // namespace daq
