#include <cmath>

#include "estimator/symbolic/lane_program.hpp"
#include "estimator/symbolic/lane_sine.hpp"

namespace estimator {
namespace {

#define RIG_LANES [[gnu::always_inline]] inline

template <int kVectors, typename Function>
RIG_LANES void for_each_vector(Function&& function) {
#pragma GCC unroll 4
  for (int i = 0; i < kVectors; ++i) function(i);
}

template <int kWidth, typename Function>
RIG_LANES void for_each_lane(double* out, const double* a, Function&& function) {
  for (int i = 0; i < kWidth; ++i) out[i] = function(a[i]);
}

}  // namespace

template <int kWidth>
void LaneProgram::run(int section, double* rows) const {
  constexpr int kVectors = kWidth / kVector;
  const std::vector<Instruction>& list = sections_[static_cast<std::size_t>(section)];
  const Instruction* next = list.data();
  const Instruction* const end = next + list.size();
  // Runs of instructions with the same operation, as grouped by the compiler.
  const auto run_alike = [&](auto&& work) {
    const Operation operation = next->operation;
    do {
      double* const out = rows + next->out * kWidth;
      const double* const a = rows + next->a * kWidth;
      const double* const b = rows + next->b * kWidth;
      const double* const c = rows + next->c * kWidth;
      work(out, a, b, c);
    } while (++next != end && next->operation == operation);
  };
  const auto by_vector = [&](auto&& work) {
    run_alike([&](double* out, const double* a, const double* b, const double* c) {
      for_each_vector<kVectors>([&](int i) {
        const auto at = [i](const double* row) -> const Vector4& {
          return reinterpret_cast<const Vector4*>(row)[i];
        };
        work(reinterpret_cast<Vector4*>(out)[i], at(a), at(b), at(c));
      });
    });
  };
  using V = Vector4;
  while (next != end) {
    switch (next->operation) {
      case Operation::kAdd:
        by_vector([](V& out, const V& a, const V& b, const V&) { out = a + b; });
        break;
      case Operation::kSubtract:
        by_vector([](V& out, const V& a, const V& b, const V&) { out = a - b; });
        break;
      case Operation::kMultiply:
        by_vector([](V& out, const V& a, const V& b, const V&) { out = a * b; });
        break;
      case Operation::kMultiplyAdd:
        by_vector([](V& out, const V& a, const V& b, const V& c) { out = a * b + c; });
        break;
      case Operation::kMultiplySubtract:
        by_vector([](V& out, const V& a, const V& b, const V& c) { out = a * b - c; });
        break;
      case Operation::kNegativeMultiplyAdd:
        by_vector([](V& out, const V& a, const V& b, const V& c) { out = c - a * b; });
        break;
      case Operation::kDivide:
        by_vector([](V& out, const V& a, const V& b, const V&) { out = a / b; });
        break;
      case Operation::kNegate:
        by_vector([](V& out, const V& a, const V&, const V&) { out = -a; });
        break;
      case Operation::kSelect:
        by_vector([](V& out, const V& a, const V& b, const V& c) { out = a > 0.0 ? b : c; });
        break;
      case Operation::kSign:
        by_vector(
            [](V& out, const V& a, const V&, const V&) { out = a < 0.0 ? V{} - 1.0 : V{} + 1.0; });
        break;
      case Operation::kMagnitude:
        by_vector([](V& out, const V& a, const V&, const V&) { out = a < 0.0 ? -a : a; });
        break;
      case Operation::kSine:
        by_vector([](V& out, const V& a, const V&, const V&) { sine(a, 0, out); });
        break;
      case Operation::kCosine:
        by_vector([](V& out, const V& a, const V&, const V&) { sine(a, 1, out); });
        break;
      case Operation::kSquareRoot:
        run_alike([](double* out, const double* a, const double*, const double*) {
          for_each_lane<kWidth>(out, a, [](double x) { return std::sqrt(x); });
        });
        break;
      case Operation::kExponential:
        run_alike([](double* out, const double* a, const double*, const double*) {
          for_each_lane<kWidth>(out, a, [](double x) { return std::exp(x); });
        });
        break;
      case Operation::kRound:
        run_alike([](double* out, const double* a, const double*, const double*) {
          for_each_lane<kWidth>(out, a, [](double x) { return std::nearbyint(x); });
        });
        break;
      case Operation::kConstant:
      case Operation::kInput:
        ++next;
        break;
    }
  }
}

template void LaneProgram::run<4>(int section, double* rows) const;
template void LaneProgram::run<8>(int section, double* rows) const;
template void LaneProgram::run<16>(int section, double* rows) const;

}  // namespace estimator
