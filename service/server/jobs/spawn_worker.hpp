#pragma once

#include <sys/types.h>

#include <string>
#include <utility>
#include <vector>

#include "proto/result.hpp"

namespace service {

/// Starts a worker process. It inherits the log and the given file descriptors, but no socket: it
/// must not keep clients connected.
/// @param words        path of the program, then its arguments
/// @param descriptors  descriptor of this process, and its number in the worker, at most 3
proto::Result<pid_t> spawn_worker(std::vector<std::string> words,
                                  const std::vector<std::pair<int, int>>& descriptors);

}  // namespace service
