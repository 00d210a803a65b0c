#include "estimator/symbolic/expression.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "estimator/symbolic/lane_program.hpp"

namespace estimator {
namespace {

// Values of expressions of two inputs for sixteen pairs of numbers at a time.
class Evaluator {
 public:
  Evaluator() : x(graph.input()), y(graph.input()) {}

  std::vector<std::vector<double>> run(const std::vector<Expression>& outputs,
                                       const std::vector<double>& xs,
                                       const std::vector<double>& ys) {
    const SimdProgram program(graph, {{x, 1}, {y, 1}}, {{}, outputs});
    std::vector<double, Eigen::aligned_allocator<double>> rows(
        static_cast<std::size_t>(program.row_count()) * kWidth, 0.5);
    program.fill_constants(rows.data(), kWidth);
    std::copy_n(xs.begin(), kWidth, rows.begin() + program.input_row(0) * kWidth);
    std::copy_n(ys.begin(), kWidth, rows.begin() + program.input_row(1) * kWidth);
    program.run<kWidth>(0, rows.data());
    program.run<kWidth>(1, rows.data());
    std::vector<std::vector<double>> values;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const double* row = rows.data() + program.output_row(1, static_cast<int>(i)) * kWidth;
      values.emplace_back(row, row + kWidth);
    }
    return values;
  }

  static constexpr int kWidth = 16;
  ExpressionGraph graph;
  Expression x, y;
};

std::vector<double> spread(double from, double to) {
  std::vector<double> values;
  for (int i = 0; i < Evaluator::kWidth; ++i) values.push_back(from + (to - from) * i / 15.0);
  return values;
}

// Trivial operations must leave no node. Otherwise every sample would multiply by the zeros of the
// mechanism's description.
TEST(Expression, OmitsTrivialOperations) {
  ExpressionGraph graph;
  const Expression x = graph.input(), y = graph.input();
  const std::size_t before = graph.nodes().size();
  EXPECT_TRUE((0.0 * x).is_constant(0.0));
  EXPECT_TRUE((x - x).is_constant(0.0));
  EXPECT_EQ((x + 0.0).node(), x.node());
  EXPECT_EQ((0.0 + x).node(), x.node());
  EXPECT_EQ((x - 0.0).node(), x.node());
  EXPECT_EQ((1.0 * x).node(), x.node());
  EXPECT_EQ((x * 1.0).node(), x.node());
  EXPECT_EQ((x / 1.0).node(), x.node());
  EXPECT_TRUE((0.0 / x).is_constant(0.0));
  EXPECT_TRUE(sin(Expression(0.0)).is_constant(0.0));
  EXPECT_TRUE(select_if_positive(x, 0.0, 0.0).is_constant(0.0));
  EXPECT_EQ(select_if_positive(x, y, y).node(), y.node());
  EXPECT_EQ(graph.nodes().size(), before);
  const Expression sum = x + y;
  EXPECT_EQ((y + x).node(), sum.node());
  EXPECT_EQ((x * y).node(), (y * x).node());
  EXPECT_EQ((-(-x)).node(), x.node());
  EXPECT_EQ((x - (-y)).node(), sum.node());
  EXPECT_EQ((-(x - y)).node(), (y - x).node());
}

// Every operation and derivative, compared with the same formula in plain numbers. Catches a wrong
// operand order, sign or fused product in any lane.
TEST(Expression, ComputesAndDifferentiatesEveryOperation) {
  Evaluator e;
  const Expression& x = e.x;
  const Expression& y = e.y;
  const std::vector<Expression> outputs = {x + y,
                                           x - y,
                                           x * y,
                                           x / y,
                                           -x,
                                           sqrt(y),
                                           sin(x),
                                           cos(x),
                                           exp(x),
                                           abs(x),
                                           x * y + x,
                                           x * y - y,
                                           y - x * x,
                                           2.0 * x * 3.0,
                                           select_if_positive(x, x * y, y * y),
                                           round_to_nearest(x),
                                           sqrt(x * x + y * y) / (y + exp(-x * x)),
                                           sin(x * y) * cos(x - y)};
  const auto plain = [](double a, double b) {
    return std::vector<double>{a + b,
                               a - b,
                               a * b,
                               a / b,
                               -a,
                               std::sqrt(b),
                               std::sin(a),
                               std::cos(a),
                               std::exp(a),
                               std::abs(a),
                               a * b + a,
                               a * b - b,
                               b - a * a,
                               6.0 * a,
                               a > 0.0 ? a * b : b * b,
                               std::nearbyint(a),
                               std::hypot(a, b) / (b + std::exp(-a * a)),
                               std::sin(a * b) * std::cos(a - b)};
  };
  const std::vector<double> xs = spread(-2.03, 2.21), ys = spread(0.3, 3.7);
  std::vector<Expression> all = outputs;
  const auto slopes = differentiate(e.graph, outputs, {x, y});
  for (const auto& row : slopes) all.insert(all.end(), row.begin(), row.end());
  const auto values = e.run(all, xs, ys);
  constexpr double kStep = 1e-6;
  for (std::size_t lane = 0; lane < xs.size(); ++lane) {
    const double a = xs[lane], b = ys[lane];
    const std::vector<double> expected = plain(a, b);
    const std::vector<double> right = plain(a + kStep, b), left = plain(a - kStep, b);
    const std::vector<double> up = plain(a, b + kStep), down = plain(a, b - kStep);
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      SCOPED_TRACE(testing::Message() << "output " << i << " at " << a << ", " << b);
      EXPECT_NEAR(values[i][lane], expected[i], 1e-14 * (1.0 + std::abs(expected[i])));
      // Central differences: truncation 1e-12, round-off 1e-16/1e-6.
      const std::size_t at = outputs.size() + 2 * i;
      EXPECT_NEAR(values[at][lane], (right[i] - left[i]) / (2.0 * kStep), 2e-8);
      EXPECT_NEAR(values[at + 1][lane], (up[i] - down[i]) / (2.0 * kStep), 2e-8);
    }
  }
}

// Its own sine is compared with the C library's: with argument reduction, beyond its range, and for
// NaN.
TEST(SimdProgram, ComputesSinesOfAnyAngle) {
  Evaluator e;
  const std::vector<double> small = spread(-1e-9, 1e-9), turns = spread(-4000.0, 4000.0),
                            edge = spread(99999.0, 100001.0), huge = spread(1e15, 1e18),
                            quadrant = spread(-4.0 * M_PI, 3.5 * M_PI);
  for (const std::vector<double>& angles : {small, turns, edge, huge, quadrant}) {
    const auto values = e.run({sin(e.x), cos(e.x)}, angles, angles);
    for (std::size_t lane = 0; lane < angles.size(); ++lane) {
      EXPECT_NEAR(values[0][lane], std::sin(angles[lane]), 3e-16) << angles[lane];
      EXPECT_NEAR(values[1][lane], std::cos(angles[lane]), 3e-16) << angles[lane];
    }
  }
  std::vector<double> odd(Evaluator::kWidth, std::numeric_limits<double>::quiet_NaN());
  odd[3] = std::numeric_limits<double>::infinity();
  odd[5] = 1.0;
  const auto values = e.run({sin(e.x)}, odd, odd);
  EXPECT_TRUE(std::isnan(values[0][0]) && std::isnan(values[0][3]));
  EXPECT_NEAR(values[0][5], std::sin(1.0), 2e-16);
}

// A later section may run repeatedly: values from earlier sections must persist, and it must not
// compute values that only an earlier one needs.
TEST(SimdProgram, RepeatsALaterSection) {
  ExpressionGraph graph;
  const Expression p = graph.input(), x = graph.input(), a = graph.input();
  const Expression shared = sin(p) + p * p;
  const Expression of_x = exp(x) * shared;
  const SimdProgram program(graph, {{p, 0}, {x, 1}, {a, 2}},
                            {{}, {of_x}, {of_x * a + shared, cos(x) * a}});
  EXPECT_EQ(program.size(0), 2);  // sin and a fused sum
  EXPECT_EQ(program.size(1), 2);  // exp and a product, no cosine
  std::vector<double, Eigen::aligned_allocator<double>> rows(
      static_cast<std::size_t>(program.row_count()) * 4);
  program.fill_constants(rows.data(), 4);
  std::fill_n(rows.begin() + program.input_row(0) * 4, 4, 0.7);
  std::fill_n(rows.begin() + program.input_row(1) * 4, 4, 0.3);
  program.run<4>(0, rows.data());
  program.run<4>(1, rows.data());
  const double s = std::sin(0.7) + 0.49;
  for (const double value : {1.0, -2.5, 4.0}) {
    std::fill_n(rows.begin() + program.input_row(2) * 4, 4, value);
    program.run<4>(2, rows.data());
    EXPECT_NEAR(rows[static_cast<std::size_t>(program.output_row(2, 0)) * 4 + 2],
                std::exp(0.3) * s * value + s, 1e-14);
    EXPECT_NEAR(rows[static_cast<std::size_t>(program.output_row(2, 1)) * 4 + 3],
                std::cos(0.3) * value, 1e-15);
  }
}

}  // namespace
}  // namespace estimator
