#pragma once

#include <Eigen/Core>
#include <memory>
#include <span>
#include <vector>

#include "daq/scenario/catalog.hpp"
#include "service/rig/rig_file.hpp"
#include "service/simulation/scenario.hpp"

namespace service {

/// Simulated mechanism that advances in time step by step.
class Plant {
 public:
  virtual ~Plant() = default;
  Plant(const Plant&) = delete;
  Plant& operator=(const Plant&) = delete;

  /// Returns the coordinates of all joints, unwrapped [rad or m].
  const Eigen::VectorXd& angles() const { return angles_; }
  const Eigen::VectorXd& speeds() const { return speeds_; }

  /// Returns the states of all joints for a scenario. The result is valid until the next call.
  std::span<const daq::JointState> joints();

  /// Advances the simulation by one step with constant controls.
  /// @param control  control of each motor, in joint order
  /// @param time     time at the start of the step for messages [s]
  /// @throws proto::InputError if the model cannot be stepped
  virtual void advance(const Eigen::VectorXd& control, double time) = 0;

  /// Returns the motion of all joints at the beginning of the last step. The columns are
  /// coordinates, speeds and accelerations. SPOOK has one speed and one acceleration per step.
  virtual Eigen::MatrixXd motion() const = 0;

 protected:
  explicit Plant(const Scenario& scenario);

  Eigen::VectorXd angles_, speeds_;

 private:
  std::vector<daq::JointState> joints_;
};

/// Creates the simulated mechanism of a rig with the requested integration method. For kAutomatic,
/// the joint types determine the method.
/// @param step  simulation step [s]
/// @throws std::invalid_argument if SPOOK is requested and does not support all joints
std::unique_ptr<Plant> make_plant(const Rig& rig, const Scenario& scenario, double step,
                                  Integrator integrator);

/// Returns the integration method for a mechanism. It is `asked`, unless that is kAutomatic; the
/// joint types then determine the method.
Integrator choose_integrator(const estimator::Mechanism& mechanism, Integrator asked);

}  // namespace service
