#pragma once

#include <cstddef>
#include <vector>

#include "service/work/work_item.hpp"

namespace service {

/// Largest number of tasks of a job array, the default of Slurm's MaxArraySize.
inline constexpr std::size_t kTasksMax = 1000;

/// Divides items into tasks of at least `time_min`, and at most kTasksMax tasks. Items stay in
/// their order.
/// @param seconds_per_work  computing time of an item with `work` 1 [s]; 0: each item is a task
/// @param time_min          work of a task [s]
std::vector<std::vector<const WorkItem*>> group_items(const std::vector<const WorkItem*>& items,
                                                      double seconds_per_work, double time_min);

}  // namespace service
