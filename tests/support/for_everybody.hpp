#pragma once

#include <string>
#include <utility>

#include "service/server/sessions/task_thread.hpp"

namespace service {

/// Converts a function that posts tasks into one that accepts an owner and ignores it.
inline OwnedPoster for_everybody(Poster post) {
  return [post = std::move(post)](const std::string&, Task task) { post(std::move(task)); };
}

}  // namespace service
