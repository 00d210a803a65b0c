#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "proto/result.hpp"

namespace proto {

/// Interface of an output file. Tests implement it to simulate a full or failing disk.
class OutputFile {
 public:
  virtual ~OutputFile() = default;

  /// Appends all bytes or returns an error. After an error the file may contain a part of the
  /// bytes.
  virtual Status append(std::span<const std::uint8_t> bytes) = 0;

  /// Truncates the file to its first `size_bytes` bytes.
  virtual Status truncate(std::uint64_t size_bytes) = 0;

  /// Reserves disk space, so that writing the next `size_bytes` bytes cannot fail with kDiskFull.
  /// Does nothing on file systems without reservation.
  virtual Status reserve(std::uint64_t size_bytes) = 0;

  /// Waits until all appended bytes are on the disk (fdatasync). Returns kNotFound if the file was
  /// removed or renamed in the meantime. May be called from another thread during append().
  virtual Status sync() = 0;

  /// Gives the file its final name and makes the name durable. Never replaces an existing file.
  virtual Status publish() = 0;
};

/// Creates the output file `<path>.part`, which publish() renames to `path`.
/// @return kExists, without any change, if either file exists
Result<std::unique_ptr<OutputFile>> create_output_file(const std::string& path);

/// Returns the name of the incomplete output file `path`: `<path>.part`.
std::string part_file_path(const std::string& path);

/// Returns the error kNotFound if a file that this program writes was removed or renamed.
Status check_not_removed(const std::string& path);

/// Functions for output files that other code writes. check_path_is_free returns kExists if `path`
/// or its .part file exists. publish_part_file makes the finished .part file durable and renames it
/// to `path`, without replacing a file.
Status check_path_is_free(const std::string& path);
Status publish_part_file(const std::string& path);

/// Input file interface.
class InputFile {
 public:
  virtual ~InputFile() = default;

  virtual std::uint64_t size_bytes() const = 0;

  /// Reads bytes from `offset` on until `out` is full. The range must lie within size_bytes().
  /// Returns kInputOutput if the file shrinks in the meantime.
  virtual Status read(std::uint64_t offset, std::span<std::uint8_t> out) const = 0;

  /// Returns the offset of the first stored byte at or after `offset`. The bytes before it are
  /// zeros in a hole of a sparse file.
  virtual std::uint64_t skip_hole(std::uint64_t offset) const { return offset; }
};

/// Whether a file may be opened through a symbolic link.
enum class SymlinkPolicy { kFollow, kRefuse };

/// Opens a regular file for reading.
Result<std::unique_ptr<InputFile>> open_input_file(const std::string& path,
                                                   SymlinkPolicy links = SymlinkPolicy::kFollow);

}  // namespace proto
