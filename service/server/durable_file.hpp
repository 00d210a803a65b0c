#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "proto/result.hpp"

namespace service {

/// Files in the data folder. Only the service's account can access them. Symbolic links are not
/// followed, as they could redirect a read, write or deletion.

/// Replaces the content of a file. Writes a temporary file beside it, syncs it, renames it, and
/// syncs the folder. After a crash at any point the file has its old content or the new one.
proto::Status write_durably(const std::string& path, std::string_view content);

/// Makes a rename or a deletion in a folder durable.
proto::Status sync_folder(const std::string& folder);

/// Makes the files directly inside a folder and their names durable, whichever process wrote them.
proto::Status sync_files(const std::string& folder);

/// Returns the content of a file of at most `size_bytes_max`.
proto::Result<std::string> read_small_file(const std::string& path, std::uint64_t size_bytes_max);

/// Deletes a folder so that a crash never leaves a partial folder under its name. It is first
/// renamed to ".deleted-..." beside itself, which remove_leftovers() deletes.
proto::Status remove_folder(const std::string& folder);

/// Opens a folder of folders. Makes it if it does not exist, and deletes what interrupted creations
/// and deletions left there.
/// @return names of its folders, no symbolic links; an error unless it is readable and writable
proto::Result<std::vector<std::string>> open_store(const std::string& folder);

/// Deletes what interrupted creations and deletions left in a folder: entries whose names start
/// with a dot.
void remove_leftovers(const std::string& folder);

/// Returns the space available to this account on the file system of `folder` [byte]; 0 if unknown.
std::uint64_t free_space(const std::string& folder);

/// Locks a data folder for one process. The kernel releases the lock when the process ends.
class FolderLock {
 public:
  /// @return kExists if another process holds the lock
  static proto::Result<FolderLock> take(const std::string& folder);
  ~FolderLock();
  FolderLock(FolderLock&& other) noexcept;
  FolderLock& operator=(FolderLock&&) = delete;

 private:
  explicit FolderLock(int descriptor) : descriptor_(descriptor) {}
  int descriptor_;
};

}  // namespace service
