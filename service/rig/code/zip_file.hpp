#pragma once

#include <string>
#include <vector>

namespace service {

/// A file in a ZIP archive.
struct ZipEntry {
  std::string name;  ///< path in the archive, with /
  std::string contents;
};

/// Returns a ZIP archive of uncompressed files, without time stamps.
std::string make_zip(const std::vector<ZipEntry>& entries);

}  // namespace service
