#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "proto/result.hpp"

namespace service {

/// Files in the data folder: for nobody but the service, and reached through no symbolic link,
/// which would lead what is written, read or deleted to somewhere else.

/// Replaces the file's content: written under a temporary name beside it, made durable, renamed,
/// the name made durable. After a crash at any point the old content or the new is there.
proto::Status write_durably(const std::string& path, std::string_view content);

/// Makes a rename or a deletion in a folder durable.
proto::Status sync_folder(const std::string& folder);

/// Makes the files directly inside a folder durable, whoever wrote them, and their names.
proto::Status sync_files(const std::string& folder);

/// The content of a file of at most `size_bytes_max`.
proto::Result<std::string> read_small_file(const std::string& path, std::uint64_t size_bytes_max);

/// Deletes a folder so that no crash leaves half of it under its name: it is first renamed to
/// ".deleted-..." beside itself, which remove_leftovers() deletes.
proto::Status remove_folder(const std::string& folder);

/// Opens a folder that holds folders; makes it if it does not exist, and deletes what interrupted
/// creations and deletions left there.
/// @return their names, without symbolic links; an error unless it can be read and written
proto::Result<std::vector<std::string>> open_store(const std::string& folder);

/// Deletes what interrupted creations and deletions left in a folder: entries that start with a
/// dot.
void remove_leftovers(const std::string& folder);

/// Space that is free for us on the file system of `folder`, 0 if it cannot be told [byte].
std::uint64_t free_space(const std::string& folder);

/// Holds a data folder for one process. The kernel releases it when the process ends, however.
class FolderLock {
 public:
  /// @return kExists while another process holds it
  static proto::Result<FolderLock> take(const std::string& folder);
  ~FolderLock();
  FolderLock(FolderLock&& other) noexcept;
  FolderLock& operator=(FolderLock&&) = delete;

 private:
  explicit FolderLock(int descriptor) : descriptor_(descriptor) {}
  int descriptor_;
};

}  // namespace service
