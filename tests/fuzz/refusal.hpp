#pragma once

#include <unistd.h>

#include <cstdlib>
#include <string_view>

#include "proto/text/input_error.hpp"

namespace fuzz {

/// Exit status of a child process (ChildBatch) in which a requirement failed.
inline constexpr int kRequirementFailed = 3;

/// Whether this process is a child of ChildBatch.
inline bool& is_child() {
  static bool is_child = false;
  return is_child;
}

inline void require(bool condition) {
  if (condition) return;
  if (is_child()) ::_exit(kRequirementFailed);
  std::abort();
}

/// Runs `read`, which may refuse its input only by one sentence that starts with the file's name.
template <typename Read>
void expect_value_or_refusal(std::string_view path, const Read& read) {
  try {
    read();
  } catch (const proto::InputError& refusal) {
    const std::string_view said = refusal.what();
    require(said.starts_with(path) && said.size() > path.size() + 2);
  }
}

}  // namespace fuzz
