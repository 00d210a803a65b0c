#pragma once

#include <string>
#include <vector>

#include "service/describe/column_guess.hpp"
#include "service/describe/rig_answers.hpp"

namespace service {

/// What a person may say of a recording's columns before they are looked at; empty: look.
struct ColumnChoice {
  std::string time, position, command, segment;
  std::vector<std::string> angles;    ///< in the order of the joints
  std::vector<std::string> inverted;  ///< columns that count the other way
  std::vector<std::string> zeros;     ///< of joints that hang: see parse_zero
  std::string time_unit, angle_unit, position_unit, command_unit;
  std::vector<double> counts;  ///< per turn, one for all or one an angle
  double counts_per_m = 0.0;   ///< 0: not said
  double rate = 0.0;           ///< where there are no time stamps [Hz]
  bool no_motor = false;
};

/// What an angle reads where its joint hangs: "hanging" (0), "upright" (a half turn), or a number
/// of degrees. [rad] @throws proto::InputError
double parse_zero(const std::string& text);

/// Whether a reading has a place at which it hangs: not a cart, a Furuta's arm or a four-bar.
bool hangs(RigKind kind, std::size_t reading);

/// Fills in columns, units, zeros and counts: as chosen, else as the recording's names and numbers
/// say, else, without a recording, with names to be changed.
///
/// @param columns  empty: there is no recording
/// @throws proto::InputError for columns that are not there, and joints that none is found for
void propose_columns(const std::vector<ColumnLook>& columns, const ColumnChoice& choice,
                     RigAnswers& answers);

/// Of the columns: "t_s, q1_rad, q2_rad".
std::string column_names(const std::vector<ColumnLook>& columns);

}  // namespace service
