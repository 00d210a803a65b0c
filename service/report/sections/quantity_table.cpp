#include "service/report/sections/quantity_table.hpp"

#include <cmath>

#include "service/text/number_format.hpp"

namespace service {
namespace {

/// Collects the rows of a table, whose common notation is known only at its end.
class QuantityRows {
 public:
  void add(const std::string& name, const TableQuantity& quantity, const std::string& remark = "") {
    names_.push_back(name);
    quantities_.push_back(quantity);
    remarks_.push_back(remark);
  }

  /// Appends the table, unless it is empty.
  void append_to(std::vector<QuantityTable>& tables, const std::string& title,
                 const std::string& remark_title, const std::string& caption) const {
    if (names_.empty()) return;
    QuantityTable table{title, caption, {{title, "value", "± sd", "unit", remark_title}}};
    const std::vector<TableNotation> notations = table_notations(quantities_);
    for (std::size_t i = 0; i < names_.size(); ++i) {
      table.rows.push_back({names_[i], notations[i].value(), notations[i].deviation(),
                            notations[i].unit(), remarks_[i]});
    }
    tables.push_back(std::move(table));
  }

 private:
  std::vector<std::string> names_, remarks_;
  std::vector<TableQuantity> quantities_;
};

std::string axis_text(const Eigen::Vector3d& axis) {
  std::string text;
  for (const double part : axis) {
    text += (text.empty() ? "(" : ", ") + format_number(std::round(100.0 * part) / 100.0, 2);
  }
  return text + ")";
}

}  // namespace

std::vector<QuantityTable> quantity_tables(const estimator::Calibration& calibration) {
  QuantityRows combinations, moments, base;
  for (const estimator::Combination& each : calibration.combinations) {
    combinations.add(each.description, {each.value, each.standard_deviation, each.unit});
  }
  for (const estimator::PrincipalInertia& inertia : calibration.principal) {
    for (int i = 0; i < 3; ++i) {
      moments.add("body " + inertia.body, {inertia.moments[i], inertia.deviations[i], "kg·m²"},
                  axis_text(inertia.axes.col(i)) +
                      (inertia.at_feasibility_boundary ? ", at the feasibility boundary" : ""));
    }
  }
  for (const estimator::Combination& each : calibration.base) {
    base.add(each.description, {each.value, each.standard_deviation, each.unit},
             std::isfinite(each.standard_deviation) ? "" : "not identifiable");
  }
  std::vector<QuantityTable> tables;
  combinations.append_to(tables, "well-identified combinations", "",
                         "Combinations that are identified more precisely than their parameters");
  moments.append_to(tables, "principal moments of inertia", "axis",
                    "Moments of inertia about the principal axes, directions in the body's frame");
  base.append_to(tables, "base inertial parameters", "",
                 "I and c are about the joint that carries a body, along the body's axes");
  if (!calibration.base.empty()) tables.back().is_for_unidentifiable = true;
  return tables;
}

std::vector<TableNotation> notations_of(
    const std::vector<estimator::ParameterEstimate>& estimates) {
  std::vector<TableQuantity> quantities;
  for (const estimator::ParameterEstimate& each : estimates) {
    quantities.push_back({each.value, each.standard_deviation, each.unit});
  }
  return table_notations(quantities);
}

std::string interval_text(const estimator::ParameterEstimate& estimate,
                          const TableNotation& notation) {
  const double value = estimate.value, half = estimate.half_interval;
  if (estimate.at_bound) {
    return std::abs(value - estimate.lower) <= std::abs(value - estimate.upper)
               ? "at lower bound " + notation.number(estimate.lower)
               : "at upper bound " + notation.number(estimate.upper);
  }
  if (std::isinf(estimate.standard_deviation)) return "not identifiable";
  if (!(estimate.standard_deviation > 0.0)) return "-";
  if (std::isinf(half)) return "no bound found";
  return notation.interval(value - half, value + half);
}

}  // namespace service
