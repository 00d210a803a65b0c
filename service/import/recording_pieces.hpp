#pragma once

#include <string>
#include <vector>

#include "estimator/signal/time_series.hpp"
#include "service/import/recording_use.hpp"

namespace service {

/// What one piece of a cross-validation is.
enum class PieceKind {
  kRecording,  ///< a recording with all its segments
  kSegment,    ///< a segment of a recording
};

/// How recordings are cut into pieces. At most one of `count` and `length` is set.
struct PieceCut {
  PieceKind kind = PieceKind::kRecording;
  int count = 0;        ///< cut every segment into so many pieces of equal length; 0: do not
  double length = 0.0;  ///< cut every segment into pieces of this length [s]; 0: do not
};

/// Cuts recordings into pieces, each a recording of its own whose name says where it came from:
/// "run.csv", "run.csv segment 2", "run.csv 5 s to 10 s". A segment is cut into as many pieces as
/// its length is nearest to; the last piece takes what is left over.
///
/// @param uses  of the same recordings, for the numbers their segments have in the file
/// @throws proto::InputError when fewer than two pieces come out, or one has too few samples
std::vector<estimator::Recording> cut_pieces(const std::vector<estimator::Recording>& recordings,
                                             const std::vector<RecordingUse>& uses,
                                             const PieceCut& cut);

/// The recordings with every segment cut into windows of that length, the last of which takes what
/// is left over; shorter segments stay whole.
/// @param length  [s]; 0: nothing is cut
/// @throws proto::InputError when a window would have too few samples
std::vector<estimator::Recording> cut_windows(const std::vector<estimator::Recording>& recordings,
                                              double length);

/// The names without the folders that all of them share.
std::vector<std::string> short_names(const std::vector<std::string>& names);

}  // namespace service
