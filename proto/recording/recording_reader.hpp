#pragma once

#include <string>
#include <vector>

#include "proto/recording/file.hpp"
#include "proto/recording/mcap_reader.hpp"
#include "proto/recording/recording_types.hpp"
#include "proto/result.hpp"

namespace proto {

/// Receives a recording piece by piece, in the order of the file.
class RecordingVisitor {
 public:
  virtual ~RecordingVisitor() = default;
  virtual void on_header(const RecordingHeader&) {}
  virtual void on_sample(const Sample&) {}
  virtual void on_inertial(const InertialReading&) {}
  virtual void on_command(const Command&) {}
  virtual void on_gap(const Gap&) {}
  virtual void on_event(const Event&) {}
  virtual void on_clock_fit(const ClockFit&) {}
  virtual void on_loop_stats(const LoopStats&) {}
  virtual void on_attachment(const Attachment&) {}
  virtual void on_metadata(const McapMetadata&) {}  ///< records other than the header
};

/// What a recording turned out to be, beside its content.
struct RecordingScan {
  McapScan container;
  std::uint64_t sample_count = 0;
  std::uint64_t unreadable_count = 0;  ///< messages on our topics that break RecordingRules
  std::string first_breach;            ///< of those: what was wrong, as a clause
  std::uint64_t foreign_count = 0;     ///< messages on other topics
};

/// Reads everything intact in a recording, finished or not; damage is dropped and counted.
/// Only what keeps to RecordingRules is handed over, so that no sample is ever seen twice; the rest
/// counts as unreadable. Samples that are missing without a Gap
/// message that says so are reported at the end, as gaps with cause kNotListed.
///
/// @return kDamaged if it is no MCAP file or no recording of this program, or a scan's error
Result<RecordingScan> scan_recording(const InputFile& file, RecordingVisitor& visitor);

/// The same without anybody to tell, in memory that does not grow with the recording.
Result<RecordingScan> check_recording(const InputFile& file);

/// A whole recording in memory.
struct Recording {
  RecordingHeader header;
  std::vector<Sample> samples;
  std::vector<InertialReading> inertial;
  std::vector<Command> commands;
  std::vector<Gap> gaps;  ///< by sequence
  std::vector<Event> events;
  std::vector<ClockFit> clock_fits;
  std::vector<LoopStats> loop_stats;
  std::vector<Attachment> attachments;
  RecordingScan scan;
};

/// @param size_bytes_max  a larger file is kTooLarge; the content takes about four times its size
Result<Recording> read_recording(const InputFile& file,
                                 std::uint64_t size_bytes_max = std::uint64_t{4} << 30);
Result<Recording> read_recording(const std::string& path);

}  // namespace proto
