#include "estimator/symbolic/expression.hpp"

#include <bit>
#include <cassert>
#include <cstdint>

namespace estimator {
namespace {

ExpressionGraph& graph_of(const Expression& a, const Expression& b) {
  return a.is_constant() ? *b.graph() : *a.graph();
}

Operation operation_of(const Expression& x) {
  if (x.is_constant()) return Operation::kConstant;
  return x.graph()->nodes()[x.node()].operation;
}

/// Returns the operand a of an expression's node.
Expression first_of(const Expression& x) { return x.graph()->at(x.graph()->nodes()[x.node()].a); }

Expression second_of(const Expression& x) { return x.graph()->at(x.graph()->nodes()[x.node()].b); }

bool is_negation(const Expression& x) { return operation_of(x) == Operation::kNegate; }

bool is_same(const Expression& a, const Expression& b) {
  return !a.is_constant() && !b.is_constant() && a.node() == b.node();
}

/// Returns a sum or product with ordered operands, so that equal ones share a node.
Expression commutative(Operation operation, const Expression& a, const Expression& b) {
  ExpressionGraph& graph = graph_of(a, b);
  const bool swap = graph.node_index(b) < graph.node_index(a);
  return swap ? graph.find_or_add_node(operation, b, a) : graph.find_or_add_node(operation, a, b);
}

double sign_of(double x) { return x < 0.0 ? -1.0 : 1.0; }

template <typename Function>
Expression unary(Operation operation, const Expression& a, const Function& function) {
  if (a.is_constant()) return function(a.constant_value());
  return a.graph()->find_or_add_node(operation, a);
}

Expression sign(const Expression& a) { return unary(Operation::kSign, a, sign_of); }

/// Returns the derivative of a node from the derivatives of its operands.
Expression derivative_of(ExpressionGraph& graph, int index, const std::vector<Expression>& along) {
  const ExpressionGraph::Node node = graph.nodes()[index];
  const auto slope = [&](int operand) { return along[operand]; };
  const Expression self = graph.at(index);
  switch (node.operation) {
    case Operation::kAdd:
      return slope(node.a) + slope(node.b);
    case Operation::kSubtract:
      return slope(node.a) - slope(node.b);
    case Operation::kMultiply:
      return slope(node.a) * graph.at(node.b) + graph.at(node.a) * slope(node.b);
    case Operation::kDivide:
      return (slope(node.a) - self * slope(node.b)) / graph.at(node.b);
    case Operation::kNegate:
      return -slope(node.a);
    case Operation::kSquareRoot:
      return 0.5 * slope(node.a) / self;
    case Operation::kSine:
      return cos(graph.at(node.a)) * slope(node.a);
    case Operation::kCosine:
      return -(sin(graph.at(node.a)) * slope(node.a));
    case Operation::kExponential:
      return self * slope(node.a);
    case Operation::kMagnitude:
      return sign(graph.at(node.a)) * slope(node.a);
    case Operation::kSelect:
      return select_if_positive(graph.at(node.a), slope(node.b), slope(node.c));
    default:
      return 0.0;
  }
}

}  // namespace

Expression operator+(const Expression& a, const Expression& b) {
  if (a.is_constant() && b.is_constant()) return a.constant_value() + b.constant_value();
  if (a.is_constant(0.0)) return b;
  if (b.is_constant(0.0)) return a;
  if (is_negation(b)) return a - first_of(b);
  if (is_negation(a)) return b - first_of(a);
  return commutative(Operation::kAdd, a, b);
}

Expression operator-(const Expression& a, const Expression& b) {
  if (a.is_constant() && b.is_constant()) return a.constant_value() - b.constant_value();
  if (b.is_constant(0.0)) return a;
  if (a.is_constant(0.0)) return -b;
  if (is_same(a, b)) return 0.0;
  if (is_negation(b)) return a + first_of(b);
  if (is_negation(a)) return -(first_of(a) + b);
  return graph_of(a, b).find_or_add_node(Operation::kSubtract, a, b);
}

Expression operator*(const Expression& a, const Expression& b) {
  if (a.is_constant() && b.is_constant()) return a.constant_value() * b.constant_value();
  if (b.is_constant()) return b * a;
  if (a.is_constant(0.0)) return 0.0;
  if (a.is_constant(1.0)) return b;
  if (a.is_constant(-1.0)) return -b;
  if (is_negation(a)) return -(first_of(a) * b);
  if (is_negation(b)) return -(a * first_of(b));
  if (a.is_constant()) {
    if (operation_of(b) == Operation::kMultiply && first_of(b).is_constant()) {
      return Expression(a.constant_value() * first_of(b).constant_value()) * second_of(b);
    }
    return b.graph()->find_or_add_node(Operation::kMultiply, a, b);
  }
  return commutative(Operation::kMultiply, a, b);
}

Expression operator/(const Expression& a, const Expression& b) {
  if (a.is_constant() && b.is_constant()) return a.constant_value() / b.constant_value();
  if (b.is_constant()) return Expression(1.0 / b.constant_value()) * a;
  if (a.is_constant(0.0)) return 0.0;
  return graph_of(a, b).find_or_add_node(Operation::kDivide, a, b);
}

Expression operator-(const Expression& a) {
  if (a.is_constant()) return -a.constant_value();
  if (is_negation(a)) return first_of(a);
  if (operation_of(a) == Operation::kSubtract) return second_of(a) - first_of(a);
  return a.graph()->find_or_add_node(Operation::kNegate, a);
}

Expression& Expression::operator+=(const Expression& other) { return *this = *this + other; }
Expression& Expression::operator-=(const Expression& other) { return *this = *this - other; }
Expression& Expression::operator*=(const Expression& other) { return *this = *this * other; }
Expression& Expression::operator/=(const Expression& other) { return *this = *this / other; }

Expression sqrt(const Expression& a) {
  return unary(Operation::kSquareRoot, a, [](double x) { return std::sqrt(x); });
}
Expression sin(const Expression& a) {
  if (is_negation(a)) return -sin(first_of(a));
  return unary(Operation::kSine, a, [](double x) { return std::sin(x); });
}
Expression cos(const Expression& a) {
  if (is_negation(a)) return cos(first_of(a));
  return unary(Operation::kCosine, a, [](double x) { return std::cos(x); });
}
Expression exp(const Expression& a) {
  return unary(Operation::kExponential, a, [](double x) { return std::exp(x); });
}
Expression abs(const Expression& a) {
  return unary(Operation::kMagnitude, a, [](double x) { return std::abs(x); });
}
Expression round_to_nearest(const Expression& a) {
  return unary(Operation::kRound, a, [](double x) { return std::nearbyint(x); });
}

Expression select_if_positive(const Expression& condition, const Expression& yes,
                              const Expression& no) {
  if (condition.is_constant()) return condition.constant_value() > 0.0 ? yes : no;
  if (is_same(yes, no)) return yes;
  if (yes.is_constant() && no.is_constant(yes.constant_value())) return yes;
  return condition.graph()->find_or_add_node(Operation::kSelect, condition, yes, no);
}

// --- graph --------------------------------------------------------------------------------------

std::size_t ExpressionGraph::NodeHash::operator()(const Node& node) const {
  std::uint64_t hash = std::bit_cast<std::uint64_t>(node.constant);
  for (const int part : {static_cast<int>(node.operation), node.a, node.b, node.c}) {
    hash = (hash ^ static_cast<std::uint64_t>(static_cast<unsigned>(part))) * 0x9E3779B97F4A7C15u;
    hash ^= hash >> 32;
  }
  return static_cast<std::size_t>(hash);
}

bool ExpressionGraph::NodeEqual::operator()(const Node& x, const Node& y) const {
  return x.operation == y.operation && x.a == y.a && x.b == y.b && x.c == y.c &&
         std::bit_cast<std::uint64_t>(x.constant) == std::bit_cast<std::uint64_t>(y.constant);
}

int ExpressionGraph::add(const Node& node) {
  const auto [position, is_new] = index_.try_emplace(node, static_cast<int>(nodes_.size()));
  if (is_new) nodes_.push_back(node);
  return position->second;
}

Expression ExpressionGraph::input() {
  nodes_.push_back({Operation::kInput, -1, -1, -1, 0.0});
  return {this, static_cast<int>(nodes_.size()) - 1};
}

int ExpressionGraph::node_index(const Expression& x) {
  if (x.is_constant()) return add({Operation::kConstant, -1, -1, -1, x.constant_value()});
  assert(x.graph() == this);
  return x.node();
}

Expression ExpressionGraph::at(int node) {
  const Node& found = nodes_[node];
  if (found.operation == Operation::kConstant) return found.constant;
  return {this, node};
}

Expression ExpressionGraph::find_or_add_node(Operation operation, const Expression& a,
                                             const Expression& b, const Expression& c) {
  const bool is_unary = operation >= Operation::kNegate && operation <= Operation::kRound;
  const int first = node_index(a);
  const int second = is_unary ? -1 : node_index(b);
  const int third = operation == Operation::kSelect ? node_index(c) : -1;
  return {this, add({operation, first, second, third, 0.0})};
}

// --- derivatives --------------------------------------------------------------------------------

std::vector<std::vector<Expression>> differentiate(ExpressionGraph& graph,
                                                   const std::vector<Expression>& outputs,
                                                   const std::vector<Expression>& inputs) {
  int count = 0;
  for (const Expression& output : outputs) {
    if (!output.is_constant()) count = std::max(count, output.node() + 1);
  }
  std::vector<bool> needed(static_cast<std::size_t>(count), false);
  for (const Expression& output : outputs) {
    if (!output.is_constant()) needed[output.node()] = true;
  }
  for (int i = count; i-- > 0;) {
    if (!needed[i]) continue;
    const ExpressionGraph::Node& node = graph.nodes()[i];
    for (const int operand : {node.a, node.b, node.c}) {
      if (operand >= 0) needed[operand] = true;
    }
  }
  std::vector<std::vector<Expression>> result(outputs.size());
  for (const Expression& input : inputs) {
    std::vector<Expression> along(static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i) {
      if (!needed[i]) continue;
      along[i] = i == input.node() ? Expression(1.0) : derivative_of(graph, i, along);
    }
    for (std::size_t k = 0; k < outputs.size(); ++k) {
      result[k].push_back(outputs[k].is_constant() ? Expression(0.0) : along[outputs[k].node()]);
    }
  }
  return result;
}

}  // namespace estimator
