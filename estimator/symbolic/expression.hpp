#pragma once

#include <Eigen/Core>
#include <cmath>
#include <cstddef>
#include <unordered_map>
#include <vector>

namespace estimator {

/// Operation of a node in an expression graph, with operands a, b and c.
enum class Operation : unsigned char {
  kConstant,
  kInput,
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,
  kNegate,
  kSquareRoot,
  kSine,
  kCosine,
  kExponential,
  kMagnitude,            ///< |a|
  kSign,                 ///< −1 for a < 0, else 1
  kRound,                ///< nearest integer; its derivative is taken as zero
  kSelect,               ///< b if a > 0, else c
  kMultiplyAdd,          ///< a b + c; only SimdProgram creates this and the next two
  kMultiplySubtract,     ///< a b − c
  kNegativeMultiplyAdd,  ///< c − a b
};

class ExpressionGraph;

/// A symbolic number: a constant, or a node of an expression graph, which must outlive the
/// expression. Arithmetic on expressions records operations. A formula with a template scalar type
/// can thus be recorded once, differentiated exactly, and evaluated on many data at once.
class Expression {
 public:
  Expression() = default;
  Expression(double constant) : constant_(constant) {}  // NOLINT: numbers are expressions
  Expression(ExpressionGraph* graph, int node) : graph_(graph), node_(node) {}

  bool is_constant() const { return graph_ == nullptr; }
  bool is_constant(double value) const { return is_constant() && constant_ == value; }
  double constant_value() const { return constant_; }
  ExpressionGraph* graph() const { return graph_; }
  int node() const { return node_; }

  Expression& operator+=(const Expression& other);
  Expression& operator-=(const Expression& other);
  Expression& operator*=(const Expression& other);
  Expression& operator/=(const Expression& other);

 private:
  ExpressionGraph* graph_ = nullptr;
  int node_ = -1;
  double constant_ = 0.0;
};

Expression operator+(const Expression& a, const Expression& b);
Expression operator-(const Expression& a, const Expression& b);
Expression operator*(const Expression& a, const Expression& b);
Expression operator/(const Expression& a, const Expression& b);
Expression operator-(const Expression& a);
Expression sqrt(const Expression& a);
Expression sin(const Expression& a);
Expression cos(const Expression& a);
Expression exp(const Expression& a);
Expression abs(const Expression& a);
/// Returns the nearest integer.
Expression round_to_nearest(const Expression& a);
inline double round_to_nearest(double x) { return std::nearbyint(x); }
/// Returns `yes` if `condition` > 0, else `no`. The value that is not selected may be undefined.
Expression select_if_positive(const Expression& condition, const Expression& yes,
                              const Expression& no);

/// Directed acyclic graph of expressions. Equal subexpressions share one node. Trivial operations
/// (sums with zero, products with one, constants) create no node. Operands precede the nodes that
/// use them.
class ExpressionGraph {
 public:
  struct Node {
    Operation operation;
    int a, b, c;      ///< operands, −1: none
    double constant;  ///< value of a kConstant
  };

  ExpressionGraph() = default;
  ExpressionGraph(const ExpressionGraph&) = delete;  // expressions point to it
  ExpressionGraph& operator=(const ExpressionGraph&) = delete;

  /// Returns a new unknown.
  Expression input();

  const std::vector<Node>& nodes() const { return nodes_; }

  /// Returns the node of an operation, and reuses an equal node if there is one. The operation is
  /// not simplified.
  Expression find_or_add_node(Operation operation, const Expression& a,
                              const Expression& b = Expression(),
                              const Expression& c = Expression());

  /// Returns the index of the node that represents an expression of this graph. Creates a node for
  /// a constant that has none.
  int node_index(const Expression& x);

  /// Returns the expression that refers to a node.
  Expression at(int node);

 private:
  struct NodeHash {
    std::size_t operator()(const Node& node) const;
  };
  struct NodeEqual {
    bool operator()(const Node& x, const Node& y) const;
  };
  int add(const Node& node);

  std::vector<Node> nodes_;
  std::unordered_map<Node, int, NodeHash, NodeEqual> index_;
};

/// Returns exact derivatives of expressions with respect to inputs, as expressions of the same
/// graph.
///
/// @param inputs   unknowns (of ExpressionGraph::input)
/// @param outputs  expressions to differentiate
/// @return outputs × inputs, row by row
std::vector<std::vector<Expression>> differentiate(ExpressionGraph& graph,
                                                   const std::vector<Expression>& outputs,
                                                   const std::vector<Expression>& inputs);

}  // namespace estimator

namespace Eigen {

template <>
struct NumTraits<estimator::Expression> : NumTraits<double> {
  using Real = estimator::Expression;
  using NonInteger = estimator::Expression;
  using Nested = estimator::Expression;
  enum {
    IsComplex = 0,
    IsInteger = 0,
    IsSigned = 1,
    RequireInitialization = 1,
    ReadCost = 1,
    AddCost = 10,
    MulCost = 10
  };
};

}  // namespace Eigen
