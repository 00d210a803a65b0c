#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "proto/result.hpp"

namespace proto {

/// The seam between a writer and the disk: tests put a full or failing disk here.
class OutputFile {
 public:
  virtual ~OutputFile() = default;

  /// Appends all bytes or fails; after a failure part of them may be in the file.
  virtual Status append(std::span<const std::uint8_t> bytes) = 0;

  /// Cuts the file back to its first `size_bytes` bytes.
  virtual Status truncate(std::uint64_t size_bytes) = 0;

  /// Sets space aside so that the next `size_bytes` bytes cannot fail with kDiskFull. File systems
  /// that cannot do that succeed without doing anything.
  virtual Status reserve(std::uint64_t size_bytes) = 0;

  /// Returns once everything appended so far is on the disk (fdatasync). kNotFound when the file
  /// was removed or moved away meanwhile. May be called from another thread while this one appends.
  virtual Status sync() = 0;

  /// Gives the file its final name and makes the name durable. Never replaces an existing file.
  virtual Status publish() = 0;
};

/// Creates `<path>.part`; publish() renames it to `path`.
/// @return kExists, with nothing touched, if either file exists
Result<std::unique_ptr<OutputFile>> create_output_file(const std::string& path);

/// The name a file has until it is complete.
std::string part_path(const std::string& path);

/// @return kNotFound, with a sentence, when a file that this program writes is no longer where it
/// was
///         made
Status check_still_there(const std::string& path);

/// For files that somebody else writes. The first tells that neither `path` nor its .part file
/// exists (kExists otherwise); the second makes the finished .part file durable and gives it its
/// name, without replacing anything.
Status check_free(const std::string& path);
Status publish_part(const std::string& path);

/// The seam between a reader and the disk.
class InputFile {
 public:
  virtual ~InputFile() = default;

  virtual std::uint64_t size_bytes() const = 0;

  /// Fills `out` from `offset`; the caller keeps within size_bytes(). A file that shrinks meanwhile
  /// is kInputOutput.
  virtual Status read(std::uint64_t offset, std::span<std::uint8_t> out) const = 0;
};

/// Whether a file may be reached through a symbolic link that has its name.
enum class Links { kFollow, kRefuse };

/// Opens a regular file for reading.
Result<std::unique_ptr<InputFile>> open_input_file(const std::string& path,
                                                   Links links = Links::kFollow);

}  // namespace proto
