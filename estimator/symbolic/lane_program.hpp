#pragma once

#include <cstddef>
#include <vector>

#include "estimator/symbolic/expression.hpp"

namespace estimator {

/// Expressions of one graph, made into a list of instructions that work on rows of numbers: a row
/// holds one quantity of several lanes, that is of several independent evaluations side by side.
///
/// Sections run one after the other and may be repeated, as long as all before them have run since
/// their inputs changed: what an earlier section computed, a later one uses without computing it
/// again. Section 0 is for what is the same in all lanes.
class LaneProgram {
 public:
  /// An unknown, and the first section that may use it.
  struct Input {
    Expression expression;
    int section;
  };

  LaneProgram() = default;

  /// @param outputs  one list a section
  LaneProgram(const ExpressionGraph& graph, const std::vector<Input>& inputs,
              const std::vector<std::vector<Expression>>& outputs);

  int row_count() const { return row_count_; }
  /// Instructions of a section.
  int size(int section) const {
    return static_cast<int>(sections_[static_cast<std::size_t>(section)].size());
  }

  /// Row of an input, in the order given.
  int input_row(int input) const { return input_rows_[static_cast<std::size_t>(input)]; }
  /// Row of an output; several outputs may share one, and one may be an input's or a constant's.
  int output_row(int section, int output) const {
    return output_rows_[static_cast<std::size_t>(section)][static_cast<std::size_t>(output)];
  }

  /// Writes the constants into rows of `width` numbers each.
  void fill_constants(double* rows, int width) const;

  /// Runs a section on all lanes.
  /// @tparam kWidth  lanes, a multiple of 4; rows are kWidth numbers long and aligned to 32 bytes
  template <int kWidth>
  void run(int section, double* rows) const;

 private:
  struct Instruction {
    Operation operation;
    int out, a, b, c;  // rows
  };
  struct Constant {
    int row;
    double value;
  };
  friend class LaneCompiler;

  std::vector<std::vector<Instruction>> sections_;
  std::vector<int> input_rows_;
  std::vector<std::vector<int>> output_rows_;
  std::vector<Constant> constants_;
  int row_count_ = 0;
};

extern template void LaneProgram::run<4>(int section, double* rows) const;
extern template void LaneProgram::run<8>(int section, double* rows) const;
extern template void LaneProgram::run<16>(int section, double* rows) const;

}  // namespace estimator
