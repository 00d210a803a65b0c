#pragma once

#include <string>

#include "service/work/executor.hpp"

namespace service {

/// Formats progress as text, e.g. "draw 120 of 2012 (100 done before), 3 min 5 s left".
/// @param item  name of an item
std::string format_work_progress(const std::string& item, const WorkProgress& progress);

/// Returns the number of threads to use: `threads`, or one per processor if it is 0.
int count_threads(int threads);

}  // namespace service
