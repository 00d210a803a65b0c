#pragma once

#include <optional>
#include <string>

#include "tests/studies/runs/study_run.hpp"

namespace service {

/// Folder that stores the finished runs of a study, each in a JSON file KEY.json.
///
/// After a crash, each file is complete or absent. Threads and programs may share the folder.
class RunStore {
 public:
  /// Opens the folder, or creates it.
  /// @throws InputError naming the folder if that fails
  explicit RunStore(std::string folder);

  /// Returns the finished run with this key; nullopt if there is none or its file is damaged.
  /// @throws InputError naming a file that cannot be read
  std::optional<StudyRun> find(const std::string& key) const;

  /// Stores a run.
  /// @throws InputError if writing fails
  void store(StudyRun run) const;

 private:
  std::string path_of(const std::string& key) const;

  std::string folder_;
};

}  // namespace service
