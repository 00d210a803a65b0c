#pragma once

#include <string>
#include <string_view>

#include "proto/text/table/table_cells.hpp"

namespace proto {

/// First number in a table that has a certain notation.
struct NotationExample {
  std::string text;  ///< the cell, in quotes; empty: there is none
  int line = 0;
  std::string where = {};  ///< "FILE:LINE:FIELD: column NAME"

  std::string in_line() const { return text + " in line " + std::to_string(line); }
};

/// Decides from all numbers of a table whether their commas are decimal or separate thousands.
class CommaMeaning {
 public:
  /// @param where  returns the location for messages
  template <typename Where>
  void add(const CellNumber& number, std::string_view cell, int line, const Where& where) {
    const bool is_point = number.notation == CellNotation::kDecimalPoint;
    if (!is_point && number.notation != CellNotation::kDecimalComma) return;
    NotationExample& first = is_point ? point_ : comma_;
    if (first.text.empty()) {
      first = {"\"" + std::string(unquote_cell(cell).substr(0, 40)) + "\"", line, where()};
    }
    (is_point ? is_certain_point_ : is_certain_) |= !may_group_thousands(unquote_cell(cell));
  }

  /// Adds the numbers of another column.
  void add(const CommaMeaning& other) {
    if (point_.text.empty() || (other.point_.line < point_.line && !other.point_.text.empty())) {
      point_ = other.point_;
    }
    if (comma_.text.empty() || (other.comma_.line < comma_.line && !other.comma_.text.empty())) {
      comma_ = other.comma_;
    }
    is_certain_ |= other.is_certain_;
    is_certain_point_ |= other.is_certain_point_;
  }

  /// Returns why the numbers are ambiguous, with their location; empty if they are not.
  /// @param has_decimal_commas  whether other columns have decimal commas
  std::string check(bool has_decimal_commas = false) const {
    if (!comma_.text.empty() && !point_.text.empty()) {
      return (point_.line > comma_.line ? point_ : comma_).where + ": " + comma_.in_line() +
             " has a comma, " + point_.in_line() + " a point: the comma can mark " + kReadings +
             "; write all numbers with decimal points";
    }
    if (!comma_.text.empty() && !is_certain_) {
      return comma_.where + ": " + comma_.text + ": the comma can mark " + kReadings +
             "; write decimal points";
    }
    if (!point_.text.empty() && !is_certain_point_ && has_decimal_commas) {
      return point_.where + ": " + point_.text +
             ": beside decimal commas, the point can mark decimals or thousands; write decimal "
             "points and no separators of thousands";
    }
    return "";
  }

  bool has_decimal_commas() const { return is_certain_; }
  bool has_commas() const { return !comma_.text.empty(); }

 private:
  static constexpr const char* kReadings = "decimals (1,234 is 1.234) or thousands (1234)";

  /// Returns whether the comma or the point of a number can separate thousands: "1,234" but not
  /// "0,123".
  static bool may_group_thousands(std::string_view cell) {
    if (cell.front() == '-' || cell.front() == '+') cell.remove_prefix(1);
    const std::size_t mark = cell.find_first_of(",.");
    return mark >= 1 && mark <= 3 && cell.front() != '0' && cell.size() == mark + 4;
  }

  NotationExample point_, comma_;
  bool is_certain_ = false;        ///< a comma cannot separate thousands
  bool is_certain_point_ = false;  ///< a point cannot separate thousands
};

}  // namespace proto
