#pragma once

#include <string>
#include <vector>

#include "service/rig/init/column_recognition.hpp"
#include "service/rig/init/rig_answers.hpp"

namespace service {

/// Columns of a recording as chosen by the user, with their units. rigcal guesses empty fields.
struct ColumnChoice {
  std::vector<std::string> names;  ///< names of all columns, for a text file without header line
  std::string time, position, command, segment;
  std::vector<std::string> angles;    ///< names of encoder columns, in the order of the joints
  std::vector<std::string> inverted;  ///< names of encoder columns with inverted sign
  std::vector<std::string>
      zeros;  ///< readings of hanging joints, as texts for parse_hanging_reading
  std::string time_unit, angle_unit, position_unit, command_unit;
  /// Encoder counts per turn: one value for all, or one per angle; 0: unknown.
  std::vector<double> counts;
  double counts_per_m = 0.0;  ///< encoder counts per metre; 0: unknown
  double rate = 0.0;          ///< sampling rate of a recording without time stamps [Hz]
  bool no_motor = false;
};

/// Parses the encoder reading at which a joint hangs [rad]: "hanging" (0), "upright" (π), or a
/// number of degrees.
double parse_hanging_reading(const std::string& text);

/// Returns whether a measured joint can hang. Carts, the arm of a Furuta pendulum, and the joints
/// of a four-bar cannot hang.
/// @param reading  index of the encoder among the measured joints
bool can_joint_hang(RigKind kind, std::size_t reading);

/// Sets the columns of `answers` with units, zeros and counts, from the user's choice, otherwise by
/// guesses from the recording. Without a recording, columns get placeholder names.
/// @param columns  columns of the recording; empty if there is no recording
/// @throws proto::InputError for missing columns, and for joints without a column
void propose_columns(const std::vector<ColumnProfile>& columns, const ColumnChoice& choice,
                     RigAnswers& answers);

/// Returns the names of columns, separated by commas, e.g. "t_s, q1_rad, q2_rad".
std::string list_column_names(const std::vector<ColumnProfile>& columns);

}  // namespace service
