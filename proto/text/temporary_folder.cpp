#include "proto/text/temporary_folder.hpp"

#include <stdlib.h>

#include <system_error>

#include "proto/text/input_error.hpp"

namespace proto {

TemporaryFolder::TemporaryFolder() {
  // mkdtemp replaces the last six characters.
  std::string name =
      (std::filesystem::absolute(std::filesystem::temp_directory_path()) / "rigcal-").string() +
      std::string(6, 'X');
  if (::mkdtemp(name.data()) == nullptr) {
    throw InputError(name + ": cannot be created; set TMPDIR to a writable folder");
  }
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace proto
