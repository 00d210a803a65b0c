#pragma once

#include <string>
#include <vector>

#include "estimator/assessment/calibration.hpp"
#include "service/text/table_notation.hpp"

namespace service {

/// Table of quantities with standard deviations, for terminals and pages. Its columns are a name,
/// value, standard deviation, unit and, in some tables, a remark.
struct QuantityTable {
  std::string title, caption;
  std::vector<std::vector<std::string>> rows;  ///< the first row is the heading
  /// Whether a terminal needs the table only if single parameters are not identifiable.
  bool is_for_unidentifiable = false;
};

/// Returns the tables of a calibration besides its parameters: well-identified combinations,
/// principal moments of inertia, and base inertial parameters. Empty tables are omitted.
std::vector<QuantityTable> quantity_tables(const estimator::Calibration& calibration);

/// Returns the common notations of estimates in a table.
std::vector<TableNotation> notations_of(const std::vector<estimator::ParameterEstimate>& estimates);

/// Describes the 95 % confidence interval of an estimate: "4.3953 … 4.4105", or why there is none,
/// such as "not identifiable" or "at lower bound 0".
std::string interval_text(const estimator::ParameterEstimate& estimate,
                          const TableNotation& notation);

}  // namespace service
