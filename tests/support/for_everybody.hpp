#pragma once

#include <string>
#include <utility>

#include "service/server/task_thread.hpp"

namespace service {

/// For threads that do not distinguish between owners.
inline OwnedPoster for_everybody(Poster post) {
  return [post = std::move(post)](const std::string&, Task task) { post(std::move(task)); };
}

}  // namespace service
