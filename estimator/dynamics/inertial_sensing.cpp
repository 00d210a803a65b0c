#include "estimator/dynamics/parameter_vectors.hpp"
#include "estimator/dynamics/tree_inverse_dynamics.hpp"

namespace estimator {

template <typename T>
void TreeInverseDynamics<T>::make_inertial(const Mechanism& mechanism,
                                           const std::vector<T>& parameters) {
  for (int i = 0; i < mechanism.inertial_count(); ++i) {
    const InertialSensor& sensor = mechanism.inertial_sensors[static_cast<std::size_t>(i)];
    const auto vector = [&](InertialQuantity first) {
      return vector_at(parameters, mechanism.index_of_inertial(i, first));
    };
    const Seat& seat = seat_of(sensor.body);
    inertial_.push_back(
        {.link = seat.link,
         .frame = sensor.frame.transpose() * seat.frame,
         .point = seat.frame.transpose().template cast<T>() *
                  Vector3(vector(InertialQuantity::kPointX) - seat.point),
         .mount = vector(InertialQuantity::kMountX),
         .bias = {vector(InertialQuantity::kRateBiasX), vector(InertialQuantity::kForceBiasX)},
         .scale = {vector(InertialQuantity::kRateScaleX), vector(InertialQuantity::kForceScaleX)}});
  }
}

template <typename T>
std::array<T, InertialSensor::kAxes> TreeInverseDynamics<T>::inertial_readings(int sensor) const {
  const Inertial& own = inertial_[static_cast<std::size_t>(sensor)];
  Vector3 rate = Vector3::Constant(T(0.0)), force = up_;
  if (own.link >= 0) {
    const Motion& motion = motions_[static_cast<std::size_t>(own.link)];
    rate = motion.omega;
    const Vector3 swing = motion.omega.cross(own.point);
    force = motion.acceleration + motion.alpha.cross(own.point) + motion.omega.cross(swing);
  }
  std::array<T, InertialSensor::kAxes> readings;
  const Vector3 back = -own.mount;
  const Vector3 of_body[] = {rate, force};
  for (int kind = 0; kind < 2; ++kind) {
    const Vector3 nominal = own.frame.template cast<T>() * of_body[kind];
    const Vector3 along = turned<T>(back, nominal);
    for (int i = 0; i < 3; ++i) {
      readings[static_cast<std::size_t>(3 * kind + i)] =
          own.scale[kind][i] * along[i] + own.bias[kind][i];
    }
  }
  return readings;
}

template void TreeInverseDynamics<double>::make_inertial(const Mechanism&,
                                                         const std::vector<double>&);
template void TreeInverseDynamics<Dual>::make_inertial(const Mechanism&, const std::vector<Dual>&);
template void TreeInverseDynamics<Expression>::make_inertial(const Mechanism&,
                                                             const std::vector<Expression>&);
template std::array<double, InertialSensor::kAxes> TreeInverseDynamics<double>::inertial_readings(
    int) const;
template std::array<Dual, InertialSensor::kAxes> TreeInverseDynamics<Dual>::inertial_readings(
    int) const;
template std::array<Expression, InertialSensor::kAxes>
TreeInverseDynamics<Expression>::inertial_readings(int) const;

}  // namespace estimator
