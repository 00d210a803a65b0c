#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "proto/recording/file.hpp"
#include "proto/recording/mcap_writer.hpp"
#include "proto/recording/recording_types.hpp"
#include "proto/result.hpp"

namespace proto {

/// Writes a recording: one MCAP topic per kind of message, the header as metadata.
///
/// It works under the name `<path>.part` and takes its own at finish(). What a crash loses is the
/// chunk in progress, 250 ms. A chunk that cannot be written is listed in the recording itself, as
/// a Gap with cause kStorage, as soon as something can be written again; events in it (a trip must
/// not be lost) are written again too.
///
/// On kDiskFull from any call: stop sending samples, write the event that says why, and finish().
/// Space for both is kept in reserve on file systems that can do that.
///
/// For one thread, except sync(). Allocates and blocks on the disk: not for the real-time thread.
class RecordingWriter {
 public:
  /// @return kExists if `path` or its .part file exists; nothing is ever written over. kUnsupported
  ///         for a header that RecordingRules do not allow
  static Result<RecordingWriter> create(const std::string& path, const RecordingHeader& header,
                                        const McapWriterOptions& options = {});
  static Result<RecordingWriter> create(std::unique_ptr<OutputFile> file,
                                        const RecordingHeader& header,
                                        const McapWriterOptions& options = {});

  ~RecordingWriter();
  RecordingWriter(RecordingWriter&&) noexcept;
  RecordingWriter& operator=(RecordingWriter&&) noexcept;

  /// What breaks RecordingRules is not written, and kUnsupported, with the reason.
  Status write(const Sample& sample);
  Status write(const InertialReading& reading);
  Status write(const Command& command);
  Status write(const Gap& gap);
  Status write(const Event& event);
  Status write(const ClockFit& fit);
  Status write(const LoopStats& stats);
  Status attach(const Attachment& attachment);

  /// Ends the chunk in progress and hands it to the operating system. Call it when samples stop
  /// coming; while they come, chunks end by themselves.
  Status flush();

  /// Returns once everything flushed is on the disk. May be called from another thread.
  Status sync();

  /// Completes the recording and gives it its name; nothing can be written afterwards. An error
  /// means that the .part file stays, for `rigcal recover`, or that the last samples are missing.
  Status finish();

  std::uint64_t sample_count() const;       ///< taken, lost ones included
  std::uint64_t lost_sample_count() const;  ///< in chunks that could not be written
  std::uint64_t size_bytes() const;         ///< in the file so far

 private:
  class Impl;
  explicit RecordingWriter(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl_;
};

}  // namespace proto
