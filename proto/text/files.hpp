#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace proto {

/// Most that is read of a file that a person wrote: thousands of times what a rig takes [byte].
inline constexpr std::size_t kTextSizeMax = std::size_t{16} << 20;

/// Most that is read of a table: hours of a recording as CSV [byte].
inline constexpr std::size_t kTableSizeMax = std::size_t{1} << 30;

/// Contents of a file.
/// @throws InputError naming the file when it cannot be read or is larger than size_bytes_max
std::string read_file(const std::string& path, std::size_t size_bytes_max = kTextSizeMax);

/// Text without the mark that some editors put before UTF-8.
std::string_view without_byte_order_mark(std::string_view text);

/// An output file, written piece by piece.
///
/// A regular file is written under a temporary name beside it and renamed at the end, so that a
/// reader never sees half a file and a failure leaves what was there. A link is followed to its
/// file; a device, a pipe or an open descriptor (/dev/stdout) is written to as it is.
class FileWriter {
 public:
  /// @throws InputError naming the file, also for a link that leads nowhere
  explicit FileWriter(const std::string& path);
  /// What was not finished is not there.
  ~FileWriter();
  FileWriter(const FileWriter&) = delete;
  FileWriter& operator=(const FileWriter&) = delete;

  /// @throws InputError
  void write(std::string_view contents);

  /// Makes the file durable and gives it its name. @throws InputError
  void finish();

 private:
  std::string name_;    // as it was given
  std::string target_;  // with links followed; empty: not a regular file
  std::string part_;    // temporary name; empty: there is none any more
  int descriptor_ = -1;
};

/// Writes a whole file as FileWriter does. @throws InputError
void write_file(const std::string& path, std::string_view contents);

/// Refuses, before the work is done, an output that would be written over an input or nowhere.
/// @throws InputError when `output` is one of `inputs`, also through links or other spellings, is a
///         folder or a link that leads nowhere, or lies in a folder that does not exist or may not
///         be written to
void check_output(const std::string& output, const std::vector<std::string>& inputs);

/// Refuses an output whose name ends otherwise than what is written there; a device, a pipe or an
/// open descriptor may be called anything.
/// @throws InputError naming the endings
void check_ending(const std::string& output, const std::vector<std::string>& endings);

}  // namespace proto
