#pragma once

#include <string>
#include <vector>

#include "estimator/signal/time_series.hpp"
#include "service/import/recording_use.hpp"

namespace service {

/// Unit of a cross-validation.
enum class PieceKind {
  kRecording,  ///< a recording with all its segments
  kSegment,    ///< a segment of a recording
};

/// Division of recordings into pieces. At most one of `count` and `length` is set.
struct PieceOptions {
  PieceKind kind = PieceKind::kRecording;
  int count = 0;        ///< number of equally long pieces per segment; 0: do not cut
  double length = 0.0;  ///< length of the pieces [s]; 0: do not cut
};

/// Cuts recordings into pieces. Each is a recording whose name gives its origin: "run.csv",
/// "run.csv segment 2", "run.csv 5 s to 10 s". The number of pieces of a segment is rounded; the
/// last piece takes the remainder.
///
/// @param uses  uses of the same recordings, for the segment numbers in the file
/// @throws proto::InputError for fewer than two pieces, or too few samples in one
std::vector<estimator::Recording> cut_pieces(const std::vector<estimator::Recording>& recordings,
                                             const std::vector<RecordingUse>& uses,
                                             const PieceOptions& cut);

/// Cuts every segment into windows; the last one takes the remainder. Shorter segments stay whole.
/// @param length  window length [s]; 0: do not cut
/// @throws proto::InputError for a window with too few samples
std::vector<estimator::Recording> cut_windows(const std::vector<estimator::Recording>& recordings,
                                              double length);

/// Returns the names without their common folders.
std::vector<std::string> short_names(const std::vector<std::string>& names);

}  // namespace service
