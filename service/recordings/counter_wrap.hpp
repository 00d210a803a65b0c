#pragma once

#include <string>
#include <vector>

#include "proto/text/table/csv_table.hpp"
#include "service/recordings/row_times.hpp"
#include "service/rig/recording_format.hpp"

namespace service {

/// Jumps in the readings of a counter, as they occur when the counter wraps from its largest to its
/// smallest value, such as a 16-bit counter. If the readings jump back within five rows, the jump
/// is a spike and is ignored.
class CounterJumps {
 public:
  /// @param counts          readings [counts]; NaN if missing
  /// @param segment_starts  rows at which the motion may be discontinuous
  explicit CounterJumps(const std::vector<double>& counts,
                        const std::vector<int>& segment_starts = {});

  /// Returns whether the readings and four fifths of the jumps agree with a modulus [counts]. The
  /// motion before and after a jump determines the modulus to within a few counts.
  bool agree_with(double modulus) const;

  /// Returns the modulus of the counter [counts]: a power of two, a multiple of the counts per turn
  /// or a round decimal number that agrees with the jumps, otherwise a whole number estimated from
  /// at least two jumps. Returns 0 if the counter does not wrap.
  /// @param counts_per_turn  counts of a turn or of a metre; 0 if unknown
  double find_modulus(double counts_per_turn) const;

  /// Returns the index of the first row after the first jump; -1 if there is no jump.
  int first_row() const { return jumps_.empty() ? -1 : jumps_.front().row; }

  /// Returns the largest reading minus the smallest one [counts].
  double range() const { return high_ - low_; }

 private:
  struct Jump {
    int row = 0;
    double modulus = 0.0;    ///< modulus with which the motion is continuous [counts]
    double tolerance = 0.0;  ///< uncertainty of `modulus` [counts]
  };

  /// Returns whether the readings fit into a range of one modulus, except for a few spikes.
  bool fit_into(double modulus) const;

  std::vector<Jump> jumps_;
  std::vector<double> values_;     ///< readings without missing ones [counts]
  double low_ = 0.0, high_ = 0.0;  ///< smallest and largest reading
};

/// Returns a modulus as a whole number, such as "4294967296".
std::string format_modulus(double modulus);

/// Unwraps the time stamps of a 16- or 32-bit counter, such as micros() of an Arduino, which wraps
/// after 71 min. Does not change time stamps that decrease for other reasons.
/// @param times  whole numbers [unit of the counter]; NaN if missing
/// @return the modulus [unit of the counter]; 0 if the stamps do not wrap
double unwrap_time_counter(std::vector<double>& times);

/// Adds multiples of the modulus to readings, so that they change by at most half the modulus from
/// one row to the next. The first reading gets the value between ±modulus/2, so that several
/// recordings have the same zero.
/// @param values   readings; NaN if missing
/// @param modulus  in the unit of the readings, > 0
/// @return number of wraps
int unwrap_counter(double modulus, std::vector<double>& values);

/// Returns the readings of an encoder column in the column's unit, unwrapped if the rig file gives
/// the modulus of the counter. Adds a note if the counter wraps.
/// @param request  index of the column among the columns of the table
/// @throws proto::InputError if the modulus is wrong, or if the counter wraps and the rig file does
///         not specify the modulus. A counter that restarts after each turn needs no modulus.
std::vector<double> unwrap_counter_column(const EncoderColumn& column, const proto::CsvTable& table,
                                          int request, const std::vector<TableSegment>& segments,
                                          std::vector<std::string>& notes);

}  // namespace service
