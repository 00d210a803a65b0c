#pragma once

#include <mutex>
#include <string>
#include <unordered_map>

#include "service/study/study_run.hpp"

namespace service {

/// The finished runs of a study, one JSON object a line of a file that only grows.
///
/// A line is written by one call, and a line that was cut off by a kill is cut away when the file
/// is opened next, so that every line there is a run that finished. Usable from several threads.
/// Two programs must not share a file; the second is refused.
class RunStore {
 public:
  /// Opens or creates the file and reads what it holds.
  /// @throws InputError naming the file when it cannot be read, written or is in use
  explicit RunStore(const std::string& path);
  ~RunStore();
  RunStore(const RunStore&) = delete;
  RunStore& operator=(const RunStore&) = delete;

  /// The finished run with that key, or null. Valid as long as the store.
  const StudyRun* find(const std::string& key) const;

  /// Keeps a run. @throws InputError when the disk refuses.
  void append(const StudyRun& run);

 private:
  std::string path_;
  int descriptor_ = -1;
  mutable std::mutex mutex_;
  std::unordered_map<std::string, StudyRun> runs_;
};

}  // namespace service
