#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "proto/recording/mcap/file.hpp"
#include "proto/recording/mcap/mcap_reader.hpp"
#include "proto/recording/recording_types.hpp"
#include "proto/result.hpp"

namespace proto {

/// Interface that receives the content of a recording, in the order of the file.
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

/// Result of the scan of a recording: numbers of samples and of unusable messages.
struct RecordingScan {
  McapScan container;
  std::uint64_t sample_count = 0;
  std::uint64_t unreadable_count = 0;  ///< messages on known topics that violate RecordingRules
  std::string first_violation;         ///< the first violation, as a clause
  std::uint64_t foreign_count = 0;     ///< messages on other topics
};

/// Reads all intact content of a recording, finished or not, and passes it to a visitor. Damaged
/// parts are skipped and counted. Messages that violate RecordingRules are counted as unreadable
/// and not passed on, so each sample is passed only once. Missing samples without a Gap message are
/// reported at the end as kNotListed.
///
/// @return kDamaged if it is not an MCAP file or not a recording of this program, or the scan's
///     error
Result<RecordingScan> scan_recording(const InputFile& file, RecordingVisitor& visitor);

/// Checks all content of a recording like scan_recording, but without a visitor. Memory use does
/// not depend on its length.
Result<RecordingScan> check_recording(const InputFile& file);

/// A whole recording in memory.
struct Recording {
  RecordingHeader header;
  std::vector<Sample> samples;
  std::vector<InertialReading> inertial;
  std::vector<Command> commands;
  std::vector<Gap> gaps;  ///< gaps, ascending by sequence number
  std::vector<Event> events;
  std::vector<ClockFit> clock_fits;
  std::vector<LoopStats> loop_stats;
  std::vector<Attachment> attachments;
  RecordingScan scan;
};

/// Reads a whole recording into memory, which takes about four times the file's size. Returns
/// kTooLarge for a file larger than size_bytes_max.
Result<Recording> read_recording(const InputFile& file,
                                 std::uint64_t size_bytes_max = std::uint64_t{4} << 30);
Result<Recording> read_recording(const std::string& path);

/// Returns the time at which a hand released the rig [s]; −∞ if no hand held the rig, ∞ if the hand
/// never released it. Samples before this time do not show the rig's own motion.
double find_release_time(const std::vector<Event>& events);

/// Part of a recording as equally spaced samples without a gap: row k is at start_s + k·period_s.
struct SeriesSegment {
  double start_s = 0.0;              ///< start on the recording's clock
  double period_s = 0.0;             ///< > 0
  std::uint64_t first_sequence = 0;  ///< sequence number of row 0; increases by 1 per row
  std::size_t row_count = 0;
  std::vector<double> angle_rad;  ///< row_count × joints, row by row; NaN where not valid
  std::vector<double> command;  ///< row_count × commands, row by row; constant over [t_k, t_{k+1})
};

struct Series {
  std::vector<std::string> joints;
  std::size_t command_count = 1;        ///< commands per row: RecordingShape::commands
  std::vector<SeriesSegment> segments;  ///< segments in order of time
};

/// Converts a recording to segments of equally spaced samples. A new segment starts where samples
/// are missing, or where the clock of the conversion unit jumped by more than half a period. The
/// period is the median time between samples by this clock, corrected with the last ClockFit. A
/// single sample between two gaps is dropped.
///
/// @return kDamaged if there are no two consecutive samples, or their times do not increase
Result<Series> make_uniform_series(const Recording& recording);

}  // namespace proto
