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
void SimdProgram::run(int section, double* rows) const {
  constexpr int kVectors = kWidth / kVector;
  const std::vector<Instruction>& list = sections_[section];
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
  const auto run_next = [&] {
    switch (next->operation) {
      case Operation::kAdd:
        return by_vector([](V& out, const V& a, const V& b, const V&) { out = a + b; });
      case Operation::kSubtract:
        return by_vector([](V& out, const V& a, const V& b, const V&) { out = a - b; });
      case Operation::kMultiply:
        return by_vector([](V& out, const V& a, const V& b, const V&) { out = a * b; });
      case Operation::kMultiplyAdd:
        return by_vector([](V& out, const V& a, const V& b, const V& c) { out = a * b + c; });
      case Operation::kMultiplySubtract:
        return by_vector([](V& out, const V& a, const V& b, const V& c) { out = a * b - c; });
      case Operation::kNegativeMultiplyAdd:
        return by_vector([](V& out, const V& a, const V& b, const V& c) { out = c - a * b; });
      case Operation::kDivide:
        return by_vector([](V& out, const V& a, const V& b, const V&) { out = a / b; });
      case Operation::kNegate:
        return by_vector([](V& out, const V& a, const V&, const V&) { out = -a; });
      case Operation::kSelect:
        return by_vector([](V& out, const V& a, const V& b, const V& c) { out = a > 0.0 ? b : c; });
      case Operation::kSign:
        return by_vector(
            [](V& out, const V& a, const V&, const V&) { out = a < 0.0 ? V{} - 1.0 : V{} + 1.0; });
      case Operation::kMagnitude:
        return by_vector([](V& out, const V& a, const V&, const V&) { out = a < 0.0 ? -a : a; });
      case Operation::kSine:
        return by_vector([](V& out, const V& a, const V&, const V&) { sine(a, 0, out); });
      case Operation::kCosine:
        return by_vector([](V& out, const V& a, const V&, const V&) { sine(a, 1, out); });
      case Operation::kSquareRoot:
        return run_alike([](double* out, const double* a, const double*, const double*) {
          for_each_lane<kWidth>(out, a, [](double x) { return std::sqrt(x); });
        });
      case Operation::kExponential:
        return run_alike([](double* out, const double* a, const double*, const double*) {
          for_each_lane<kWidth>(out, a, [](double x) { return std::exp(x); });
        });
      case Operation::kRound:
        return run_alike([](double* out, const double* a, const double*, const double*) {
          for_each_lane<kWidth>(out, a, [](double x) { return std::nearbyint(x); });
        });
      case Operation::kConstant:
      case Operation::kInput:
        ++next;
    }
  };
  while (next != end) run_next();
}

template void SimdProgram::run<4>(int section, double* rows) const;
template void SimdProgram::run<8>(int section, double* rows) const;
template void SimdProgram::run<16>(int section, double* rows) const;

}  // namespace estimator
