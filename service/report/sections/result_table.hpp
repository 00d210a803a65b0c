#pragma once

#include <string>
#include <vector>

#include "estimator/assessment/calibration.hpp"
#include "estimator/model/joint_kind.hpp"
#include "service/text/table_notation.hpp"

namespace service {

/// Formats a text table with aligned columns, two spaces apart. The first row is the heading.
/// Columns whose element of `right` is true are right-aligned. If the table is wider than
/// kTextColumnsMax, the other columns are wrapped between words. Long words may still make it
/// wider. Cells may contain untrusted text, whose control characters are made harmless
/// (proto::printable).
std::string format_table(std::vector<std::vector<std::string>> rows,
                         const std::vector<bool>& right);

/// Returns the name of a simulation that restarts from the estimated states every `horizon`
/// seconds: "prediction over 1 s"; "open-loop simulation" if the horizon is infinite.
std::string name_simulation(double horizon);

/// Formats the result of a calibration as text. It gives the verdict, the parameters with standard
/// deviations, units and initial values, active bounds, and well-identified combinations. It also
/// gives the open-loop error of each joint [mrad], unidentifiable combinations of parameters,
/// notes, and how the solver terminated.
/// @param wall_time  duration of the calibration [s]
std::string format_calibration(const estimator::Calibration& calibration, double wall_time);

/// Table of quantities with standard deviations, for terminals and HTML pages. Its columns are a
/// name, value, standard deviation, unit and, in some tables, a remark.
struct QuantityTable {
  std::string title, caption;
  std::vector<std::vector<std::string>> rows;  ///< the first row is the heading
  /// True for a table that a terminal shows only if some individual parameters are unidentifiable.
  bool is_for_unidentifiable = false;
};

/// Returns tables of further quantities that a calibration determines: prediction errors,
/// well-identified combinations, principal moments of inertia, and base inertial parameters. Empty
/// tables are omitted.
std::vector<QuantityTable> make_quantity_tables(const estimator::Calibration& calibration);

/// Returns the notation of each estimate in a table: power of ten and number of digits. Estimates
/// with the same unit share the power of ten.
std::vector<TableNotation> make_estimate_notations(
    const std::vector<estimator::ParameterEstimate>& estimates);

/// Returns the 95 % confidence interval of an estimate, such as "4.3953 … 4.4105", or the reason
/// why there is none, such as "not identifiable" or "at lower bound 0".
std::string format_confidence_interval(const estimator::ParameterEstimate& estimate,
                                       const TableNotation& notation);

/// Returns the unit in which errors of these joint types are given: "mrad" for revolute joints,
/// "mm" for prismatic joints, "mrad or mm" for a mix.
std::string error_unit_text(const std::vector<estimator::JointKind>& kinds);

/// Returns the unit of errors that are pooled over joints of these types: "mrad", "0.1 mm", or
/// "mrad or 0.1 mm". In pooled errors, kMetresPerRadian (0.1 m) of a prismatic joint counts as one
/// radian of a revolute joint.
std::string pooled_error_unit_text(const std::vector<estimator::JointKind>& kinds);

/// Returns names shortened for labels. A name longer than `characters_max` keeps its beginning and
/// its end, with "…" between them. If different names would become equal, all names are replaced by
/// "recording 1", "recording 2" and so on.
///
/// @param names  names in UTF-8; equal names get equal results
std::vector<std::string> shorten_names(const std::vector<std::string>& names, int characters_max);

}  // namespace service
