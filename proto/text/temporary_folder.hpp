#pragma once

#include <filesystem>
#include <string>

namespace proto {

/// New folder within the folder for temporary files. It is removed with this object.
class TemporaryFolder {
 public:
  /// @throws InputError if the folder cannot be created
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  /// Returns the path of a file in the folder.
  std::string file(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

}  // namespace proto
