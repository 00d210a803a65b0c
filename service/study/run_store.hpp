#pragma once

#include <mutex>
#include <string>
#include <unordered_map>

#include "service/study/study_run.hpp"

namespace service {

/// Stores the finished runs of a study in an append-only file, one JSON object per line.
///
/// Each line is written in one call. A line truncated by a kill is removed when the file is opened
/// next, so every line is a finished run. Thread-safe. Two programs must not share a file; the
/// second is refused.
class RunStore {
 public:
  /// Opens or creates the file and reads it.
  /// @throws InputError naming the file if it cannot be read, written or is in use
  explicit RunStore(const std::string& path);
  ~RunStore();
  RunStore(const RunStore&) = delete;
  RunStore& operator=(const RunStore&) = delete;

  /// The finished run with that key, or null. Valid for the lifetime of the store.
  const StudyRun* find(const std::string& key) const;

  /// Stores a run. @throws InputError if writing fails.
  void append(const StudyRun& run);

 private:
  std::string path_;
  int descriptor_ = -1;
  mutable std::mutex mutex_;
  std::unordered_map<std::string, StudyRun> runs_;
};

}  // namespace service
