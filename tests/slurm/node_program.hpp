#pragma once

#include <string>

#include "service/work/work_item.hpp"
#include "service/work/work_task.hpp"

namespace service::slurm_tests {

/// Version and build of the program that computes the test items.
inline const WorkProgram kNodeProgram{"1.0.0", std::string(64, 'a')};

/// Computes a test item: its request consists of words with a number each.
///
/// | word     | meaning of the number                              |
/// |----------|----------------------------------------------------|
/// | `sleep`  | time that the item takes [s]                       |
/// | `memory` | memory that the item fills on a node [MB]          |
/// | `size`   | size of its value [byte]                           |
///
/// @param on_node  false on the machine of the executor, where an item fills no memory
std::string compute_test_item(const WorkItem& item, const std::atomic<bool>* stop, bool on_node);

}  // namespace service::slurm_tests
