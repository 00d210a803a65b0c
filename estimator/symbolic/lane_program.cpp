#include "estimator/symbolic/lane_program.hpp"

#include <algorithm>
#include <array>
#include <cassert>

namespace estimator {

/// Assigns a section, an order and a row to every node that an output needs.
class SimdProgramCompiler {
 public:
  SimdProgramCompiler(const ExpressionGraph& graph, SimdProgram& program)
      : nodes_(graph.nodes()), program_(program) {}

  void compile(const std::vector<SimdProgram::ProgramInput>& inputs,
               const std::vector<std::vector<Expression>>& outputs) {
    const std::size_t count = nodes_.size();
    section_.assign(count, 0);
    uses_.assign(count, 0);
    row_.assign(count, -1);
    fused_.assign(count, false);
    for (const SimdProgram::ProgramInput& input : inputs) {
      const auto node = static_cast<std::size_t>(input.expression.node());
      section_[node] = input.section;
      row_[node] = new_row();
      program_.input_rows_.push_back(row_[node]);
    }
    order(outputs);
    delay(outputs);
    fuse();
    program_.sections_.resize(outputs.size());
    for (std::size_t section = 0; section < outputs.size(); ++section) {
      emit(static_cast<int>(section));
    }
    for (const std::vector<Expression>& list : outputs) {
      std::vector<int>& rows = program_.output_rows_.emplace_back();
      for (const Expression& output : list) rows.push_back(row_of_output(output));
    }
  }

 private:
  using Node = ExpressionGraph::Node;

  const Node& node(int index) const { return nodes_[index]; }

  /// Lists the nodes that outputs need. Operands come first, close to their uses.
  void order(const std::vector<std::vector<Expression>>& outputs) {
    std::vector<bool> seen(nodes_.size(), false);
    std::vector<int> stack;
    pinned_.assign(nodes_.size(), false);
    for (const std::vector<Expression>& list : outputs) {
      for (const Expression& output : list) {
        if (output.is_constant()) continue;
        pinned_[output.node()] = true;
        stack.push_back(output.node());
        while (!stack.empty()) visit(stack, seen);
      }
    }
  }

  /// Takes one step of a depth-first search: visits an operand, or emits the node on top of the
  /// stack.
  void visit(std::vector<int>& stack, std::vector<bool>& seen) {
    const int top = stack.back();
    if (seen[top]) {
      stack.pop_back();
      return;
    }
    const Node& n = node(top);
    for (const int operand : {n.a, n.b, n.c}) {
      if (operand >= 0 && !seen[operand]) {
        stack.push_back(operand);
        return;
      }
    }
    for (const int operand : {n.a, n.b, n.c}) {
      if (operand < 0) continue;
      section_[top] = std::max(section_[top], section_[operand]);
      ++uses_[operand];
    }
    seen[top] = true;
    stack.pop_back();
    order_.push_back(top);
  }

  /// Moves nodes that differ between lanes to the first section that uses them.
  void delay(const std::vector<std::vector<Expression>>& outputs) {
    std::vector<int> first_use(nodes_.size(), static_cast<int>(outputs.size()));
    const auto use = [&](int index, int section) {
      int& first = first_use[index];
      first = std::min(first, section);
    };
    for (std::size_t section = 0; section < outputs.size(); ++section) {
      for (const Expression& output : outputs[section]) {
        if (!output.is_constant()) use(output.node(), static_cast<int>(section));
      }
    }
    for (std::size_t i = order_.size(); i-- > 0;) {
      const auto at = static_cast<std::size_t>(order_[i]);
      const Node& n = nodes_[at];
      if (section_[at] > 0 && n.operation != Operation::kInput) section_[at] = first_use[at];
      for (const int operand : {n.a, n.b, n.c}) {
        if (operand >= 0) use(operand, section_[at]);
      }
    }
  }

  /// Marks products that only one sum of the same section uses, to fuse them with the sum.
  void fuse() {
    for (const int index : order_) {
      const Node& n = node(index);
      if (n.operation != Operation::kAdd && n.operation != Operation::kSubtract) continue;
      const int product = is_private_product(n.b, index)   ? n.b
                          : is_private_product(n.a, index) ? n.a
                                                           : -1;
      if (product >= 0) fused_[product] = true;
    }
  }

  bool is_private_product(int index, int user) const {
    return node(index).operation == Operation::kMultiply && uses_[index] == 1 && !pinned_[index] &&
           !fused_[index] && section_[index] == section_[user];
  }

  SimdProgram::Instruction instruction(int index) const {
    const Node& n = node(index);
    const auto is_fused = [&](int operand) { return operand >= 0 && fused_[operand]; };
    if (is_fused(n.b)) {
      const Node& product = node(n.b);
      const Operation operation = n.operation == Operation::kAdd ? Operation::kMultiplyAdd
                                                                 : Operation::kNegativeMultiplyAdd;
      return {operation, index, product.a, product.b, n.a};
    }
    if (is_fused(n.a)) {
      const Node& product = node(n.a);
      const Operation operation =
          n.operation == Operation::kAdd ? Operation::kMultiplyAdd : Operation::kMultiplySubtract;
      return {operation, index, product.a, product.b, n.b};
    }
    return {n.operation, index, n.a, n.b, n.c};
  }

  /// Groups instructions of one operation where operands allow it, since changing the operation
  /// takes longer than most operations.
  static std::vector<SimdProgram::Instruction> in_runs(
      const std::vector<SimdProgram::Instruction>& list) {
    std::vector<int> place(1 + maximum_row(list), -1);  // of the instruction that computes a node
    for (std::size_t i = 0; i < list.size(); ++i) {
      place[list[i].out] = static_cast<int>(i);
    }
    std::vector<bool> done(list.size(), false);
    const auto is_ready = [&](const SimdProgram::Instruction& each) {
      return std::ranges::all_of(std::array{each.a, each.b, each.c}, [&](int operand) {
        const int maker = operand < 0 ? -1 : place[operand];
        return maker < 0 || done[maker];
      });
    };
    std::vector<SimdProgram::Instruction> result;
    std::size_t first = 0;  // of the remaining ones
    while (first < list.size()) {
      const Operation operation = list[first].operation;
      for (std::size_t i = first; i < list.size(); ++i) {
        if (done[i] || list[i].operation != operation || !is_ready(list[i])) continue;
        done[i] = true;
        result.push_back(list[i]);
      }
      while (first < list.size() && done[first]) ++first;
    }
    return result;
  }

  static std::size_t maximum_row(const std::vector<SimdProgram::Instruction>& list) {
    int largest = 0;
    for (const SimdProgram::Instruction& each : list) {
      largest = std::max({largest, each.out, each.a, each.b, each.c});
    }
    return static_cast<std::size_t>(largest);
  }

  /// Emits the instructions of one section. A row is reused after the last use of its node, unless
  /// the node belongs to an earlier section, which is not run again.
  void emit(int section) {
    std::vector<SimdProgram::Instruction> list;
    for (const int index : order_) {
      const Operation operation = node(index).operation;
      if (section_[index] != section || fused_[index] || operation == Operation::kInput) continue;
      if (operation == Operation::kConstant) continue;
      list.push_back(instruction(index));
    }
    list = in_runs(list);
    std::vector<int> last(nodes_.size(), -1);
    for (std::size_t i = 0; i < list.size(); ++i) {
      for (const int operand : {list[i].a, list[i].b, list[i].c}) {
        if (operand >= 0) last[operand] = static_cast<int>(i);
      }
    }
    free_rows_.clear();
    for (std::size_t i = 0; i < list.size(); ++i) {
      SimdProgram::Instruction& each = list[i];
      const int operands[] = {each.a, each.b, each.c};
      each.a = row_of(each.a);
      each.b = row_of(each.b);
      each.c = row_of(each.c);
      for (const int operand : operands) release(operand, section, static_cast<int>(i), last);
      row_[each.out] = take_row(is_fixed(each.out, section));
      each.out = row_[each.out];
    }
    program_.sections_[section] = std::move(list);
  }

  /// Returns whether a node's value is used after its section.
  bool is_fixed(int index, int section) {
    if (pinned_[index]) return true;
    if (used_later_.empty()) find_used_later();
    return used_later_[index] > section;
  }

  /// Finds the last section that uses each node.
  void find_used_later() {
    used_later_.assign(nodes_.size(), 0);
    for (const int index : order_) {
      const Node& n = node(index);
      for (const int operand : {n.a, n.b, n.c}) {
        if (operand < 0) continue;
        int& latest = used_later_[operand];
        latest = std::max(latest, section_[index]);
      }
    }
  }

  void release(int operand, int section, int at, const std::vector<int>& last) {
    if (operand < 0) return;
    const Operation operation = node(operand).operation;
    if (operation == Operation::kInput || operation == Operation::kConstant) return;
    if (section_[operand] != section || last[operand] != at || is_fixed(operand, section)) return;
    if (std::find(free_rows_.begin(), free_rows_.end(), row_[operand]) != free_rows_.end()) return;
    free_rows_.push_back(row_[operand]);
  }

  int new_row() { return program_.row_count_++; }

  int take_row(bool keep) {
    if (keep || free_rows_.empty()) return new_row();
    const int row = free_rows_.back();
    free_rows_.pop_back();
    return row;
  }

  int row_of(int index) {
    if (index < 0) return 0;
    int& row = row_[index];
    if (row < 0) {
      assert(node(index).operation == Operation::kConstant);
      row = new_row();
      program_.constants_.push_back({row, node(index).constant});
    }
    return row;
  }

  int row_of_output(const Expression& output) {
    if (!output.is_constant()) return row_of(output.node());
    for (const SimdProgram::ConstantRow& constant : program_.constants_) {
      if (constant.value == output.constant_value()) return constant.row;
    }
    program_.constants_.push_back({new_row(), output.constant_value()});
    return program_.constants_.back().row;
  }

  const std::vector<Node>& nodes_;
  SimdProgram& program_;
  std::vector<int> order_;
  std::vector<int> section_, uses_, row_, used_later_, free_rows_;
  std::vector<bool> pinned_, fused_;
};

SimdProgram::SimdProgram(const ExpressionGraph& graph, const std::vector<ProgramInput>& inputs,
                         const std::vector<std::vector<Expression>>& outputs) {
  SimdProgramCompiler(graph, *this).compile(inputs, outputs);
}

void SimdProgram::fill_constants(double* rows, int width) const {
  for (const ConstantRow& constant : constants_) {
    std::fill_n(rows + constant.row * width, width, constant.value);
  }
}

}  // namespace estimator
