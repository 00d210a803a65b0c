#pragma once

#include <cmath>

// Sine and cosine of four numbers at a time, for the kernel of SimdProgram.

namespace estimator {

// Four numbers in one AVX register. Never passed by value: without AVX that would change the ABI.
inline constexpr int kVector = 4;
typedef double Vector4 __attribute__((vector_size(kVector * sizeof(double)), may_alias));
typedef long long Integer4 __attribute__((vector_size(kVector * sizeof(long long)), may_alias));

/// Largest angle for which the range reduction of `sine` is accurate [rad].
inline constexpr double kReducedSineMax = 1e5;

/// Computes out = sin(x + quarter π/2) within 1.5 units in the last place of the C library.
///
/// x is reduced by a multiple of π/2 in three parts of 33 bits, so that the products are exact
/// [Cody & Waite 1980]. The polynomials on [−π/4, π/4] come from Cephes [Moshier 1989].
[[gnu::always_inline]] inline void sine(const Vector4& x, int quarter, Vector4& out) {
  const Vector4 shift = Vector4{} + 0x1.8p52;  // adding it rounds to the nearest integer
  const Vector4 sum = x * 0.63661977236758134308 + shift;
  const Vector4 multiple = sum - shift;
  const Integer4 quadrant = reinterpret_cast<const Integer4&>(sum) + quarter;
  const Vector4 r =
      ((x - multiple * 1.57079632673412561417e+00) - multiple * 6.07710050630396597660e-11) -
      multiple * 2.02226624871116645580e-21;
  const Vector4 z = r * r;
  const Vector4 odd =
      r + r * z *
              (-1.66666666666666307295e-1 +
               z * (8.33333333332211858878e-3 +
                    z * (-1.98412698295895385996e-4 +
                         z * (2.75573136213857245213e-6 +
                              z * (-2.50507477628578072866e-8 + z * 1.58962301576546568060e-10)))));
  const Vector4 even =
      (1.0 - 0.5 * z) +
      z * z *
          (4.16666666666665929218e-2 +
           z * (-1.38888888888730564116e-3 +
                z * (2.48015872888517045348e-5 +
                     z * (-2.75573141792967388112e-7 +
                          z * (2.08757008419747316778e-9 + z * -1.13585365213876817300e-11)))));
  const Vector4 value = (quadrant & 1) != 0 ? even : odd;
  out = (quadrant & 2) != 0 ? -value : value;
  for (int i = 0; i < kVector; ++i) {
    if (std::abs(x[i]) <= kReducedSineMax) continue;
    out[i] = quarter == 0 ? std::sin(x[i]) : std::cos(x[i]);  // NaN too
  }
}

}  // namespace estimator
