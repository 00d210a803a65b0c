#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace proto {

/// Largest size of a hand-written file [byte], thousands of times the size of a rig file.
inline constexpr std::size_t kTextSizeMax = std::size_t{16} << 20;

/// Largest size of a table file [byte], enough for a CSV recording of several hours.
inline constexpr std::size_t kTableSizeMax = std::size_t{1} << 30;

/// Returns the contents of a file. A named pipe must have a program that writes to it within a
/// second.
/// @throws InputError naming the file if it cannot be read or is larger than size_bytes_max
std::string read_file(const std::string& path, std::size_t size_bytes_max = kTextSizeMax);

/// Returns the text without a UTF-8 byte order mark.
std::string_view strip_byte_order_mark(std::string_view text);

/// Output file that is written in several parts.
///
/// A regular file is written under a temporary name in the same folder, and renamed at the end. So
/// a reader never finds a partial file, and a failure keeps the previous file. Symbolic links are
/// followed. A device, a pipe or an open descriptor (/dev/stdout) is written directly.
class FileWriter {
 public:
  /// @throws InputError naming the file, also for a dangling link
  explicit FileWriter(const std::string& path);
  /// Removes an unfinished file.
  ~FileWriter();
  FileWriter(const FileWriter&) = delete;
  FileWriter& operator=(const FileWriter&) = delete;

  /// @throws InputError
  void write(std::string_view contents);

  /// Completes the file: synchronizes it to the disk and gives it its final name. @throws
  /// InputError
  void finish();

 private:
  std::string name_;    // as given
  std::string target_;  // with links followed; empty: not a regular file
  std::string part_;    // temporary name; empty after renaming
  int descriptor_ = -1;
};

/// Writes a whole file as FileWriter does. @throws InputError
void write_file(const std::string& path, std::string_view contents);

/// Returns whether a path refers to one of the files, also through a link or another spelling.
bool is_among(const std::string& path, const std::vector<std::string>& files);

/// Checks an output path before any work is done.
/// @throws InputError if `output` is among `inputs`, is a folder or a dangling link, or lies in a
///     folder that does not exist or is not writable
void check_output_file(const std::string& output, const std::vector<std::string>& inputs);

/// Rejects an output file that exists, unless `may_overwrite` is true. A device, a pipe or an open
/// descriptor is always accepted.
/// @throws InputError
void check_overwriting(const std::string& output, bool may_overwrite);

/// Rejects an output file whose extension does not match its format. A device, a pipe or an open
/// descriptor may have any name.
/// @throws InputError naming the extensions
void check_file_extension(const std::string& output, const std::vector<std::string>& endings);

}  // namespace proto
