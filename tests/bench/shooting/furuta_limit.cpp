#include "tests/bench/shooting/furuta_limit.hpp"

#include <array>
#include <cstddef>

#include "estimator/symbolic/lane_sine.hpp"

namespace bench {
namespace {

using Lanes = double __attribute__((vector_size(32)));

constexpr int kParameters = 10, kDirections = 4 + kParameters;

inline __attribute__((always_inline)) Lanes sine_of(const Lanes& x, int quarter) {
  estimator::Vector4 result;
  estimator::sine(reinterpret_cast<const estimator::Vector4&>(x), quarter, result);
  return reinterpret_cast<const Lanes&>(result);
}
Lanes sign(Lanes x) { return x > 0.0 ? x * 0.0 + 1.0 : x * 0.0 - 1.0; }

// The rig of configs/rig-synthetic-furuta.textproto: known quantities, and the ten free ones.
constexpr double kMassA = 0.238, kMassB = 0.428, kCentreA = 0.128, kArm = 0.376, kCentreB = 0.092;
constexpr double kShaft = 4e-4, kGravity = 9.82, kJxxB = 1e-4;
constexpr double kJzzA = 0.0044, kJyyB = 0.00396, kJzzB = 0.0039, kB1 = 1e-3, kB2 = 1e-4;
constexpr double kTau1 = 4e-3, kTau2 = 9e-4, kGain = 0.0729, kTiltX = 0.05, kTiltZ = -0.04;

using State = std::array<Lanes, 4>;  // θ₁ θ₂ ω₁ ω₂
using Sensitivities = std::array<std::array<Lanes, kDirections>, 4>;

struct Acceleration {
  Lanes a1, a2;
  std::array<Lanes, kDirections> d1, d2;
};

inline __attribute__((always_inline)) void accelerate(const State& x, const Sensitivities& S,
                                                      Lanes u, Acceleration& out) {
  const Lanes s1 = sine_of(x[0], 0), c1 = sine_of(x[0], 1);
  const Lanes s = sine_of(x[1], 0), c = sine_of(x[1], 1);
  const Lanes w1 = x[2], w2 = x[3], zero = 0.0 * s1;
  constexpr double kCoupling = kMassB * kArm * kCentreB;
  constexpr double kMomentA = kMassA * kCentreA + kMassB * kArm, kMomentB = kMassB * kCentreB;
  constexpr double kSwing = kMassB * kCentreB * kCentreB + kJzzB - kJxxB;
  constexpr double kInertia2 = kJyyB + kMassB * kCentreB * kCentreB;
  const Lanes M11 =
      kJzzA + kShaft + kMassA * kCentreA * kCentreA + kMassB * kArm * kArm + kJxxB + kSwing * s * s;
  const Lanes M12 = kCoupling * c;
  const Lanes p = kTiltX * c1 - kTiltZ * s1, q = -kTiltX * s1 - kTiltZ * c1;
  const Lanes slip1 = sign(w1), slip2 = sign(w2);
  const Lanes r1 = 2.0 * kSwing * s * c * w1 * w2 - kCoupling * s * w2 * w2 - kMomentA * q +
                   kMomentB * s * p - kGain * u + kB1 * w1 + kTau1 * slip1;
  const Lanes r2 =
      -kSwing * s * c * w1 * w1 - kMomentB * (c * q - s * kGravity) + kB2 * w2 + kTau2 * slip2;
  const Lanes inverse = 1.0 / (M11 * kInertia2 - M12 * M12);
  const Lanes i11 = kInertia2 * inverse, i12 = -M12 * inverse, i22 = M11 * inverse;
  const Lanes a1 = -(i11 * r1 + i12 * r2), a2 = -(i12 * r1 + i22 * r2);
  out.a1 = a1;
  out.a2 = a2;
  const Lanes dM11 = 2.0 * kSwing * s * c, dM12 = -kCoupling * s, turn = c * c - s * s;
  // Derivatives of r by the state and the parameters, at given accelerations.
  const Lanes f1[4] = {kMomentA * p + kMomentB * s * q,
                       dM11 * a1 + dM12 * a2 + 2.0 * kSwing * turn * w1 * w2 -
                           kCoupling * c * w2 * w2 + kMomentB * c * p,
                       dM11 * w2 + kB1, dM11 * w1 + 2.0 * dM12 * w2};
  const Lanes f2[4] = {kMomentB * c * p,
                       dM12 * a1 - kSwing * turn * w1 * w1 + kMomentB * (s * q + c * kGravity),
                       -dM11 * w1, kB2 + zero};
  const Lanes g1[kParameters] = {a1,
                                 zero,
                                 s * s * a1 + 2.0 * s * c * w1 * w2,
                                 w1,
                                 zero,
                                 slip1,
                                 zero,
                                 -u,
                                 kMomentA * s1 + kMomentB * s * c1,
                                 kMomentA * c1 - kMomentB * s * s1};
  const Lanes g2[kParameters] = {zero,
                                 a2,
                                 -s * c * w1 * w1,
                                 zero,
                                 w2,
                                 zero,
                                 slip2,
                                 zero,
                                 kMomentB * c * s1,
                                 kMomentB * c * c1};
  Lanes F1[4], F2[4];
  for (int i = 0; i < 4; ++i) {
    F1[i] = i11 * f1[i] + i12 * f2[i];
    F2[i] = i12 * f1[i] + i22 * f2[i];
  }
  for (std::size_t d = 0; d < kDirections; ++d) {
    Lanes y1 = F1[0] * S[0][d] + F1[1] * S[1][d] + F1[2] * S[2][d] + F1[3] * S[3][d];
    Lanes y2 = F2[0] * S[0][d] + F2[1] * S[1][d] + F2[2] * S[2][d] + F2[3] * S[3][d];
    if (d >= 4) {
      y1 += i11 * g1[d - 4] + i12 * g2[d - 4];
      y2 += i12 * g1[d - 4] + i22 * g2[d - 4];
    }
    out.d1[d] = -y1;
    out.d2[d] = -y2;
  }
}

/// from + h · (rates of `by`, accelerations).
State moved(const State& from, double h, const State& by, const Acceleration& a) {
  return {from[0] + h * by[2], from[1] + h * by[3], from[2] + h * a.a1, from[3] + h * a.a2};
}
void move(const Sensitivities& from, double h, const Sensitivities& by, const Acceleration& a,
          Sensitivities& to) {
  for (std::size_t d = 0; d < kDirections; ++d) {
    to[0][d] = from[0][d] + h * by[2][d];
    to[1][d] = from[1][d] + h * by[3][d];
    to[2][d] = from[2][d] + h * a.d1[d];
    to[3][d] = from[3][d] + h * a.d2[d];
  }
}

}  // namespace

double shoot_by_hand(int intervals, int steps, double step) {
  std::array<Lanes, kDirections*(kDirections + 1) / 2> normal{};
  std::array<Lanes, kDirections> right{};
  Lanes last{};
  for (int batch = 0; batch < intervals / 4; ++batch) {
    State x = {Lanes{0.1, 0.2, 0.3, 0.4}, Lanes{1.1, 1.2, 2.3, 2.4}, Lanes{0.5, 0.6, 0.7, 0.8},
               Lanes{3.0, 4.0, -5.0, 6.0}};
    Sensitivities S{};
    for (std::size_t i = 0; i < 4; ++i) S[i][i] = Lanes{1.0, 1.0, 1.0, 1.0};
    for (int k = 0; k < steps; ++k) {
      const Lanes u = {1.0, 2.0, 1.0, 0.0};
      Acceleration k1, k2, k3, k4;
      Sensitivities S2, S3, S4;
      accelerate(x, S, u, k1);
      const State x2 = moved(x, 0.5 * step, x, k1);
      move(S, 0.5 * step, S, k1, S2);
      accelerate(x2, S2, u, k2);
      const State x3 = moved(x, 0.5 * step, x2, k2);
      move(S, 0.5 * step, S2, k2, S3);
      accelerate(x3, S3, u, k3);
      const State x4 = moved(x, step, x3, k3);
      move(S, step, S3, k3, S4);
      accelerate(x4, S4, u, k4);
      const State x0 = x;
      const Sensitivities S0 = S;
      const double sixth = step / 6.0;
      for (std::size_t j = 0; j < 2; ++j) {
        x[j] += sixth * (x0[2 + j] + 2.0 * (x2[2 + j] + x3[2 + j]) + x4[2 + j]);
      }
      x[2] += sixth * (k1.a1 + 2.0 * (k2.a1 + k3.a1) + k4.a1);
      x[3] += sixth * (k1.a2 + 2.0 * (k2.a2 + k3.a2) + k4.a2);
      for (std::size_t d = 0; d < kDirections; ++d) {
        for (std::size_t j = 0; j < 2; ++j) {
          S[j][d] += sixth * (S0[2 + j][d] + 2.0 * (S2[2 + j][d] + S3[2 + j][d]) + S4[2 + j][d]);
        }
        S[2][d] += sixth * (k1.d1[d] + 2.0 * (k2.d1[d] + k3.d1[d]) + k4.d1[d]);
        S[3][d] += sixth * (k1.d2[d] + 2.0 * (k2.d2[d] + k3.d2[d]) + k4.d2[d]);
      }
      // A reading halfway, by Hermite interpolation, and one at the end, for both joints.
      for (std::size_t j = 0; j < 2; ++j) {
        for (const bool is_end : {false, true}) {
          const auto between = [&](Lanes a, Lanes b, Lanes rate_a, Lanes rate_b) {
            return is_end ? b : 0.5 * (a + b) + step / 8.0 * (rate_a - rate_b);
          };
          std::array<Lanes, kDirections> J;
          for (std::size_t d = 0; d < kDirections; ++d) {
            J[d] = between(S0[j][d], S[j][d], S0[2 + j][d], S[2 + j][d]);
          }
          const Lanes r = between(x0[j], x[j], x0[2 + j], x[2 + j]);
          std::size_t at = 0;
          for (std::size_t a = 0; a < kDirections; ++a) {
            right[a] += J[a] * r;
            for (std::size_t b = 0; b <= a; ++b) normal[at++] += J[a] * J[b];
          }
        }
      }
    }
    last += x[0] + S[0][5];
  }
  double sum = last[0] + last[1] + last[2] + last[3];
  for (const Lanes& each : normal) sum += each[0] + each[3];
  for (const Lanes& each : right) sum += each[1] + each[2];
  return sum;
}

}  // namespace bench
