#pragma once

#include <string>
#include <vector>

#include "estimator/signal/time_series.hpp"
#include "service/recordings/recording_selection.hpp"

namespace service {

/// Unit of data that a cross-validation holds out in one fold.
enum class PieceKind {
  kRecording,  ///< a whole recording with all its segments
  kSegment,    ///< one segment of a recording
};

/// Options for cutting recordings into pieces for cross-validation. At most one of `count` and
/// `length` is set.
struct PieceOptions {
  PieceKind kind = PieceKind::kRecording;
  int count = 0;        ///< number of equally long pieces per segment; 0 does not cut
  double length = 0.0;  ///< length of the pieces [s]; 0 does not cut
};

/// Cuts recordings into pieces for cross-validation. A piece is a recording whose name gives its
/// origin, e.g. "run.csv", "run.csv segment 2" or "run.csv 5 s to 10 s". For a given piece length,
/// the number of pieces per segment is rounded. The last piece of a segment has the remaining rows.
///
/// @param uses  used segments of each recording, for the segment numbers in the names
/// @throws proto::InputError for fewer than two pieces, or a piece with too few samples
std::vector<estimator::Recording> cut_pieces(const std::vector<estimator::Recording>& recordings,
                                             const std::vector<RecordingUse>& uses,
                                             const PieceOptions& cut);

/// Cuts every segment into shorter segments of equal length. The last one has the remaining rows. A
/// segment shorter than `length` stays whole.
/// @param length  length of the new segments [s]; 0 does not cut
/// @throws proto::InputError for a new segment with too few samples
std::vector<estimator::Recording> cut_windows(const std::vector<estimator::Recording>& recordings,
                                              double length);

/// Returns file names without the folders that are common to all of them.
std::vector<std::string> short_names(const std::vector<std::string>& names);

}  // namespace service
