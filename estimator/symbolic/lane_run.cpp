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
  for (const Instruction& each : sections_[static_cast<std::size_t>(section)]) {
    double* const target = rows + each.out * kWidth;
    const double* const first = rows + each.a * kWidth;
    Vector4* const out = reinterpret_cast<Vector4*>(target);
    const Vector4* const a = reinterpret_cast<const Vector4*>(first);
    const Vector4* const b = reinterpret_cast<const Vector4*>(rows + each.b * kWidth);
    const Vector4* const c = reinterpret_cast<const Vector4*>(rows + each.c * kWidth);
    switch (each.operation) {
      case Operation::kAdd:
        for_each_vector<kVectors>([&](int i) { out[i] = a[i] + b[i]; });
        break;
      case Operation::kSubtract:
        for_each_vector<kVectors>([&](int i) { out[i] = a[i] - b[i]; });
        break;
      case Operation::kMultiply:
        for_each_vector<kVectors>([&](int i) { out[i] = a[i] * b[i]; });
        break;
      case Operation::kMultiplyAdd:
        for_each_vector<kVectors>([&](int i) { out[i] = a[i] * b[i] + c[i]; });
        break;
      case Operation::kMultiplySubtract:
        for_each_vector<kVectors>([&](int i) { out[i] = a[i] * b[i] - c[i]; });
        break;
      case Operation::kNegativeMultiplyAdd:
        for_each_vector<kVectors>([&](int i) { out[i] = c[i] - a[i] * b[i]; });
        break;
      case Operation::kDivide:
        for_each_vector<kVectors>([&](int i) { out[i] = a[i] / b[i]; });
        break;
      case Operation::kNegate:
        for_each_vector<kVectors>([&](int i) { out[i] = -a[i]; });
        break;
      case Operation::kSelect:
        for_each_vector<kVectors>([&](int i) { out[i] = a[i] > 0.0 ? b[i] : c[i]; });
        break;
      case Operation::kSign:
        for_each_vector<kVectors>(
            [&](int i) { out[i] = a[i] < 0.0 ? Vector4{} - 1.0 : Vector4{} + 1.0; });
        break;
      case Operation::kMagnitude:
        for_each_vector<kVectors>([&](int i) { out[i] = a[i] < 0.0 ? -a[i] : a[i]; });
        break;
      case Operation::kSquareRoot:
        for_each_lane<kWidth>(target, first, [](double x) { return std::sqrt(x); });
        break;
      case Operation::kSine:
        for_each_vector<kVectors>([&](int i) { sine(a[i], 0, out[i]); });
        break;
      case Operation::kCosine:
        for_each_vector<kVectors>([&](int i) { sine(a[i], 1, out[i]); });
        break;
      case Operation::kExponential:
        for_each_lane<kWidth>(target, first, [](double x) { return std::exp(x); });
        break;
      case Operation::kRound:
        for_each_lane<kWidth>(target, first, [](double x) { return std::nearbyint(x); });
        break;
      case Operation::kConstant:
      case Operation::kInput:
        break;
    }
  }
}

template void LaneProgram::run<4>(int section, double* rows) const;
template void LaneProgram::run<16>(int section, double* rows) const;

}  // namespace estimator
