#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "proto/recording/mcap/file.hpp"
#include "proto/recording/mcap/mcap_writer.hpp"
#include "proto/recording/recording_types.hpp"
#include "proto/result.hpp"

namespace proto {

/// Writes a recording: one MCAP topic per kind of message, and the header as metadata.
///
/// The file is named `<path>.part` until finish(). A crash loses the current chunk, at most 250 ms.
/// If a chunk cannot be written, the recording lists its samples as a Gap with cause kStorage once
/// writing is possible again. Events are written again, as a trip must not be lost.
///
/// If any call returns kDiskFull: stop sending samples, write an event with the reason, and call
/// finish(). Space for both is reserved on file systems that support it.
///
/// Not thread-safe, except sync(). Allocates and blocks: not for the real-time thread.
class RecordingWriter {
 public:
  /// Starts a recording.
  /// @return kExists if `path` or its .part file exists, since files are never overwritten;
  ///     kUnsupported for a header that violates RecordingRules
  static Result<RecordingWriter> create(const std::string& path, const RecordingHeader& header,
                                        const McapWriterOptions& options = {});
  static Result<RecordingWriter> create(std::unique_ptr<OutputFile> file,
                                        const RecordingHeader& header,
                                        const McapWriterOptions& options = {});

  ~RecordingWriter();
  RecordingWriter(RecordingWriter&&) noexcept;
  RecordingWriter& operator=(RecordingWriter&&) noexcept;

  /// Writes a message. A message that violates RecordingRules is not written; the result is
  /// kUnsupported with the reason.
  Status write(const RecordingMessage& message);
  Status attach(const Attachment& attachment);

  /// Ends the current chunk of the file and passes it to the operating system. Call it when samples
  /// stop arriving; otherwise chunks end automatically.
  Status flush();

  /// Waits until all flushed data are on the disk. May be called from another thread.
  Status sync();

  /// Completes the recording and gives the file its final name. Nothing can be written afterwards.
  /// After an error, either the .part file remains for `rigcal recover`, or the last samples are
  /// missing.
  Status finish();

  std::uint64_t sample_count() const;       ///< number of samples, including lost ones
  std::uint64_t lost_sample_count() const;  ///< number in chunks that could not be written
  std::uint64_t size_bytes() const;         ///< size of the file so far

 private:
  class Impl;
  explicit RecordingWriter(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl_;
};

}  // namespace proto
