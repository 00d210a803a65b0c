#pragma once

#include <Eigen/Core>
#include <memory>
#include <span>
#include <vector>

#include "daq/scenario/catalog.hpp"
#include "service/import/rig_file.hpp"
#include "service/simulation/integrator.hpp"
#include "service/simulation/scenario.hpp"

namespace service {

/// Simulated mechanism that advances step by step.
class Plant {
 public:
  virtual ~Plant() = default;
  Plant(const Plant&) = delete;
  Plant& operator=(const Plant&) = delete;

  /// Returns the coordinates of all joints, unwrapped [rad or m].
  const Eigen::VectorXd& angles() const { return angles_; }
  const Eigen::VectorXd& speeds() const { return speeds_; }

  /// Returns the joint states that a scenario reads; valid until the next call.
  std::span<const daq::JointState> joints();

  /// Advances by one step under constant controls.
  /// @param control  one per motor, in joint order
  /// @param time     at the start of the step, for messages [s]
  /// @throws proto::InputError if the model cannot be stepped
  virtual void advance(const Eigen::VectorXd& control, double time) = 0;

  /// Returns coordinates, rates and accelerations of all joints at the beginning of the last step,
  /// under its controls (3 columns). SPOOK has one velocity and one acceleration per step.
  virtual Eigen::MatrixXd motion() const = 0;

 protected:
  explicit Plant(const Scenario& scenario);

  Eigen::VectorXd angles_, speeds_;

 private:
  std::vector<daq::JointState> joints_;
};

/// Makes the requested kind of plant, or the kind that the mechanism's joints need.
/// @param step  [s]
/// @throws std::invalid_argument if SPOOK is requested and does not support all joints
std::unique_ptr<Plant> make_plant(const Rig& rig, const Scenario& scenario, double step,
                                  Integrator integrator);

/// Returns `asked`, or the method that replaces kAutomatic for this mechanism.
Integrator choose_integrator(const estimator::Mechanism& mechanism, Integrator asked);

}  // namespace service
