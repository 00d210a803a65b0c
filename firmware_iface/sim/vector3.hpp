#pragma once

#include <array>
#include <cmath>

namespace firmware_iface::sim {

/// A vector in world coordinates, y up.
using Vector3 = std::array<double, 3>;

inline Vector3 scaled(double s, const Vector3& a) { return {s * a[0], s * a[1], s * a[2]}; }
inline Vector3 sum(const Vector3& a, const Vector3& b) {
  return {a[0] + b[0], a[1] + b[1], a[2] + b[2]};
}
inline Vector3 difference(const Vector3& a, const Vector3& b) { return sum(a, scaled(-1.0, b)); }
inline double dot(const Vector3& a, const Vector3& b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}
inline Vector3 cross(const Vector3& a, const Vector3& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}
inline double norm(const Vector3& a) { return std::sqrt(dot(a, a)); }

/// Returns a vector rotated by a rotation vector [rad] (Rodrigues' formula).
inline Vector3 rotated(const Vector3& a, const Vector3& turn) {
  const double angle = norm(turn);
  if (angle == 0.0) return a;
  const Vector3 axis = scaled(1.0 / angle, turn);
  return sum(sum(scaled(std::cos(angle), a), scaled(std::sin(angle), cross(axis, a))),
             scaled((1.0 - std::cos(angle)) * dot(axis, a), axis));
}

/// Returns gravity (0, −g, 0) [m/s²], rotated by a rotation vector.
inline Vector3 tilted_gravity(double g, const Vector3& tilt) {
  return rotated({0.0, -g, 0.0}, tilt);
}

}  // namespace firmware_iface::sim
