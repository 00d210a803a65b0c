#pragma once

#include <optional>
#include <string>

#include "tests/studies/runs/study_run.hpp"

namespace service {

/// Stores the finished runs of a study in a folder, one JSON file per run: KEY.json.
///
/// A file is complete or absent, also after a kill. Threads and programs may share a folder.
class RunStore {
 public:
  /// Creates the folder if it does not exist. @throws InputError naming it if that fails
  explicit RunStore(std::string folder);

  /// Returns the finished run with that key, if any. Ignores a damaged file.
  /// @throws InputError naming a file that cannot be read
  std::optional<StudyRun> find(const std::string& key) const;

  /// Stores a run. @throws InputError if writing fails.
  void store(StudyRun run) const;

 private:
  std::string path_of(const std::string& key) const;

  std::string folder_;
};

}  // namespace service
