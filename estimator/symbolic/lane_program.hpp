#pragma once

#include <vector>

#include "estimator/symbolic/expression.hpp"

namespace estimator {

/// Expressions of one graph, compiled to instructions on rows of numbers. A row contains the values
/// of one quantity in several SIMD lanes, which are independent evaluations.
///
/// Sections of the program run in order and use results of earlier sections. A section may run
/// again if all earlier sections have run since their inputs changed. Section 0 computes values
/// common to all lanes.
class SimdProgram {
 public:
  /// An input variable of the expressions, and the first section that may use it.
  struct ProgramInput {
    Expression expression;
    int section;
  };

  /// One operation on rows: row `out` becomes the result of rows a, b and c; unused operands are
  /// row 0.
  struct Instruction {
    Operation operation;
    int out, a, b, c;
  };
  /// A row that contains the same constant in all lanes.
  struct ConstantRow {
    int row;
    double value;
  };

  SimdProgram() = default;

  /// @param outputs  expressions to compute, one list per section
  SimdProgram(const ExpressionGraph& graph, const std::vector<ProgramInput>& inputs,
              const std::vector<std::vector<Expression>>& outputs);

  int row_count() const { return row_count_; }
  /// Returns the number of instructions in a section.
  int size(int section) const { return static_cast<int>(sections_[section].size()); }

  /// Returns the instructions of a section, in order. Later instructions may reuse a row.
  const std::vector<Instruction>& instructions(int section) const { return sections_[section]; }
  const std::vector<ConstantRow>& constants() const { return constants_; }

  /// Returns the row of an input, by its index among the inputs.
  int input_row(int input) const { return input_rows_[input]; }
  /// Returns the row of an output. An output may share its row with another output, an input or a
  /// constant.
  int output_row(int section, int output) const { return output_rows_[section][output]; }

  /// Writes the constants into rows of `width` numbers each.
  void fill_constants(double* rows, int width) const;

  /// Runs a section on all lanes.
  /// @tparam kWidth  number of lanes, a multiple of 4; rows are aligned to 32 bytes
  template <int kWidth>
  void run(int section, double* rows) const;

 private:
  friend class SimdProgramCompiler;

  std::vector<std::vector<Instruction>> sections_;
  std::vector<int> input_rows_;
  std::vector<std::vector<int>> output_rows_;
  std::vector<ConstantRow> constants_;
  int row_count_ = 0;
};

extern template void SimdProgram::run<4>(int section, double* rows) const;
extern template void SimdProgram::run<8>(int section, double* rows) const;
extern template void SimdProgram::run<16>(int section, double* rows) const;

}  // namespace estimator
