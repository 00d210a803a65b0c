#include <cmath>

#include "estimator/symbolic/lane_program.hpp"
#include "estimator/symbolic/lane_sine.hpp"

namespace estimator {
namespace {

#define RIG_LANES [[gnu::always_inline]] inline

constexpr double kExponentMin = -708.0;  // below, exp is close to denormal numbers, which are slow

template <int kVectors, typename Function>
RIG_LANES void for_each_vector(Function&& function) {
#pragma GCC unroll 4
  for (int i = 0; i < kVectors; ++i) function(i);
}

template <int kWidth, typename Function>
RIG_LANES void for_each_lane(double* out, const double* a, Function&& function) {
  for (int i = 0; i < kWidth; ++i) out[i] = function(a[i]);
}

/// Calls work(out, a, b, c) with the rows of consecutive instructions of the same operation.
/// Arguments are copies, so that they stay in registers: stores to rows could change variables that
/// are captured by reference.
/// @return the first instruction of another operation, or `end`
template <int kWidth, typename Work>
RIG_LANES const SimdProgram::Instruction* run_by_row(const SimdProgram::Instruction* each,
                                                     const SimdProgram::Instruction* end,
                                                     double* rows, const Work& work) {
  const Operation operation = each->operation;
  do {
    work(rows + each->out * kWidth, rows + each->a * kWidth, rows + each->b * kWidth,
         rows + each->c * kWidth);
  } while (++each != end && each->operation == operation);
  return each;
}

/// As run_by_row, but with each vector of the rows.
template <int kWidth, typename Work>
RIG_LANES const SimdProgram::Instruction* run_by_vector(const SimdProgram::Instruction* first,
                                                        const SimdProgram::Instruction* end,
                                                        double* rows, const Work& work) {
  return run_by_row<kWidth>(first, end, rows,
                            [&](double* out, const double* a, const double* b, const double* c) {
                              for_each_vector<kWidth / kVector>([&](int i) {
                                const auto at = [i](const double* row) -> const Vector4& {
                                  return reinterpret_cast<const Vector4*>(row)[i];
                                };
                                work(reinterpret_cast<Vector4*>(out)[i], at(a), at(b), at(c));
                              });
                            });
}

}  // namespace

template <int kWidth>
void SimdProgram::run(int section, double* rows) const {
  using V = Vector4;
  const std::vector<Instruction>& list = sections_[section];
  const Instruction* next = list.data();
  const Instruction* const end = next + list.size();
  const auto by_vector = [&](const auto& work) {
    next = run_by_vector<kWidth>(next, end, rows, work);
  };
  const auto by_lane = [&](const auto& function) {
    next = run_by_row<kWidth>(next, end, rows,
                              [&](double* out, const double* a, const double*, const double*) {
                                for_each_lane<kWidth>(out, a, function);
                              });
  };
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
        by_lane([](double x) { return std::sqrt(x); });
        break;
      case Operation::kExponential:
        by_lane([](double x) { return x < kExponentMin ? 0.0 : std::exp(x); });
        break;
      case Operation::kRound:
        by_lane([](double x) { return std::nearbyint(x); });
        break;
      case Operation::kConstant:
      case Operation::kInput:
        ++next;
    }
  }
}

template void SimdProgram::run<4>(int section, double* rows) const;
template void SimdProgram::run<8>(int section, double* rows) const;
template void SimdProgram::run<16>(int section, double* rows) const;

}  // namespace estimator
