#pragma once

#include <string>
#include <vector>

#include "service/describe/column_recognition.hpp"
#include "service/describe/rig_answers.hpp"

namespace service {

/// A user's choice of a recording's columns; empty fields are guessed.
struct ColumnChoice {
  std::string time, position, command, segment;
  std::vector<std::string> angles;    ///< in the order of the joints
  std::vector<std::string> inverted;  ///< columns with inverted sign
  std::vector<std::string> zeros;     ///< of hanging joints, see parse_zero
  std::string time_unit, angle_unit, position_unit, command_unit;
  std::vector<double> counts;  ///< per turn, one for all or one per angle
  double counts_per_m = 0.0;   ///< 0: unknown
  double rate = 0.0;           ///< sampling rate without time stamps [Hz]
  bool no_motor = false;
};

/// Parses the reading of a hanging joint: "hanging" (0), "upright" (π), or a number of degrees.
/// Returns [rad]. @throws proto::InputError
double parse_zero(const std::string& text);

/// Whether a reading's joint can hang: not a cart, a Furuta's arm or a four-bar.
bool can_hang(RigKind kind, std::size_t reading);

/// Sets columns, units, zeros and counts: as chosen, else as guessed from the recording, else,
/// without a recording, as placeholder names.
///
/// @param columns  empty: no recording
/// @throws proto::InputError for missing columns, and for joints without a column
void propose_columns(const std::vector<ColumnProfile>& columns, const ColumnChoice& choice,
                     RigAnswers& answers);

/// Returns the column names: "t_s, q1_rad, q2_rad".
std::string column_names(const std::vector<ColumnProfile>& columns);

}  // namespace service
