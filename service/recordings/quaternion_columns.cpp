#include "service/recordings/quaternion_columns.hpp"

#include <cmath>

#include "proto/text/input_error.hpp"
#include "service/text/number_format.hpp"

namespace service {
namespace {

constexpr double kNormTolerance = 0.01;
/// Product of consecutive quaternions below which the orientation jumps: the cosine of half of a
/// quarter turn.
constexpr double kJump = 0.92;

}  // namespace

void normalize_quaternions(const std::vector<int>& columns, proto::CsvTable& table,
                           std::vector<std::string>& notes) {
  const auto value = [&](int component, int row) -> double& {
    return table.values[static_cast<std::size_t>(columns[static_cast<std::size_t>(component)])]
                       [static_cast<std::size_t>(row)];
  };
  double last[4] = {1.0, 0.0, 0.0, 0.0};
  int jumps = 0, first_jump = 0;
  bool has_last = false;
  for (int row = 0; row < table.row_count(); ++row) {
    double square = 0.0, product = 0.0;
    for (int k = 0; k < 4; ++k) {
      square += value(k, row) * value(k, row);
      product += value(k, row) * last[k];
    }
    const double norm = std::sqrt(square);
    if (std::abs(norm - 1.0) > kNormTolerance) {
      throw proto::InputError(table.where(row, columns.front()) + ": the quaternion in column \"" +
                              table.label(columns.front()) + "\" and the three others of its " +
                              "pose has the norm " + format_number(norm) +
                              ", but must have the norm 1. Check the columns in pose { } of the " +
                              "rig file, or correct the row");
    }
    if (has_last && std::abs(product) < kJump * norm && ++jumps == 1) first_jump = row;
    for (int k = 0; k < 4; ++k) {
      value(k, row) *= (product < 0.0 ? -1.0 : 1.0) / norm;
      if (!std::isnan(norm)) last[k] = value(k, row);
    }
    has_last |= !std::isnan(norm);
  }
  if (jumps == 0) return;
  notes.push_back("the orientation of column \"" + table.label(columns.front()) + "\" jumps by " +
                  "more than a quarter turn in " + std::to_string(jumps) +
                  (jumps == 1 ? " row" : " rows") + ", first at " +
                  table.where(first_jump, columns.front()) +
                  ". Check the order of the quaternion in pose { }");
}

}  // namespace service
