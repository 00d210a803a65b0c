#include "service/work/slurm/task_groups.hpp"

#include <algorithm>

namespace service {

std::vector<std::vector<const WorkItem*>> group_items(const std::vector<const WorkItem*>& items,
                                                      double seconds_per_work, double time_min) {
  const auto time_of = [&](const WorkItem* item) {
    return seconds_per_work > 0.0 ? item->work * seconds_per_work : time_min;
  };
  double total = 0.0;
  for (const WorkItem* item : items) total += time_of(item);
  const auto most = static_cast<double>(std::min(items.size(), kTasksMax));
  const auto count = static_cast<std::size_t>(std::clamp(total / time_min, 1.0, most));
  std::vector<std::vector<const WorkItem*>> tasks;
  double before = 0.0;
  std::size_t part = count;  // part of the total time in which the last task began
  for (const WorkItem* item : items) {
    const std::size_t here = std::min(
        count - 1, static_cast<std::size_t>(before / total * static_cast<double>(count) + 1e-9));
    if (here != part) tasks.emplace_back();
    part = here;
    tasks.back().push_back(item);
    before += time_of(item);
  }
  return tasks;
}

}  // namespace service
