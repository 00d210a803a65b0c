#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "proto/result.hpp"

namespace google::protobuf {
class Message;
}

namespace service {

/// The functions below handle files in the service's data folder. Only the service's account can
/// access these files. The functions do not follow symbolic links, as a link could redirect a read,
/// write or deletion.

/// Replaces the content of a file durably: writes a temporary file beside it, syncs and renames the
/// temporary file, and syncs the folder. After a crash at any point, the file has either its old or
/// its new content.
proto::Status write_durably(const std::string& path, std::string_view content);

/// Syncs a folder to disk, so that renames and deletions of its entries survive a crash.
proto::Status sync_folder(const std::string& folder);

/// Syncs the files directly inside a folder, and their names, to disk. Includes files that other
/// processes wrote.
proto::Status sync_files_in_folder(const std::string& folder);

/// Returns the content of a file, or an error if the file is larger than `size_bytes_max`.
proto::Result<std::string> read_small_file(const std::string& path, std::uint64_t size_bytes_max);

/// Deletes a folder. A crash never leaves a partial folder under the original name, because the
/// folder is first renamed to ".deleted-..." beside itself; delete_unfinished_entries() deletes
/// such folders.
proto::Status remove_folder(const std::string& folder);

/// Opens a folder that contains one folder per session or job. Creates the folder if it does not
/// exist, and deletes its incomplete entries from interrupted creations and deletions.
/// @return names of the contained folders, without symbolic links; an error if the folder is not
/// both readable and writable
proto::Result<std::vector<std::string>> open_item_folders(const std::string& folder);

/// Deletes all entries of a folder whose names start with a dot, which are incomplete entries from
/// interrupted creations and deletions.
void delete_unfinished_entries(const std::string& folder);

/// Returns the space that this account can use on the file system of `folder` [byte]; 0 if it is
/// unknown.
std::uint64_t free_disk_space_bytes(const std::string& folder);

/// Checks that the disk of `folder` has `needed_bytes` free.
/// @return error kDiskFull with the remedy if it has not
proto::Status check_disk_space(const std::string& folder, std::uint64_t needed_bytes);

/// Writes a Protobuf message to a file in text format. After a crash the file has its old or its
/// new content.
proto::Status save_record(const std::string& path, const google::protobuf::Message& record);

/// Reads a Protobuf message from a file in text format.
/// @return error kDamaged if the file does not parse
proto::Status load_record(const std::string& path, google::protobuf::Message& record);

/// Creates a folder with a record in the file `name`. A crash never leaves a partial folder.
proto::Status create_record_folder(const std::string& folder, const std::string& name,
                                   const google::protobuf::Message& record);

/// Returns the total size of the files directly inside a folder [byte].
std::uint64_t folder_size_bytes(const std::string& folder);

/// Locks a data folder for this process, until the returned handle is destroyed or the process
/// ends. Only one process can own the lock.
/// @return error kExists if another process owns the lock
proto::Result<std::shared_ptr<const void>> lock_folder(const std::string& folder);

}  // namespace service
