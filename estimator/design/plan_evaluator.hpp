#pragma once

#include <Eigen/Core>
#include <functional>
#include <span>
#include <vector>

#include "estimator/model/encoder.hpp"
#include "estimator/model/mechanism.hpp"
#include "estimator/simulation/interval_motion.hpp"
#include "estimator/simulation/segment_controls.hpp"

namespace estimator {

/// Data common to all plans of a design.
struct PlanSettings {
  double period = 0.0;    ///< of the commands, each held constant [s]
  double rate = 0.0;      ///< sampling rate of the sensors [Hz]
  int motor = 0;          ///< commanded motor, index among the motors
  Eigen::VectorXd start;  ///< joint coordinates at rest before a run [rad or m]
  Eigen::VectorXd noise;  ///< standard deviation of a reading, one per sensor [rad or m]
  double coast = 0.0;     ///< simulated time after the last command [s]
  /// Quantization step of each sensor with quantization errors [rad or m]; 0: white noise.
  Eigen::VectorXd quantum = Eigen::VectorXd::Zero(noise.size());
};

/// Extremes of a motion, coasting included, one per sensor; not finite if it diverges.
struct MotionExtremes {
  Eigen::VectorXd lowest, highest;  ///< [rad or m]
  Eigen::VectorXd fastest;          ///< magnitude [rad/s or m/s]
};

/// Predicted information of a recording of a plan.
struct PlanInformation {
  Eigen::MatrixXd information;  ///< Σ TᵀT over the whitened readings: free × free
  Eigen::MatrixXd scatter;  ///< covariance of Σ Tᵀe for reading errors e; differs for quantization
  Eigen::VectorXd scale;    ///< diagonal of the information for a known initial state
  double initial_state_sensitivity =
      0.0;  ///< largest sensitivity of a reading to an initial coordinate
};

/// Simulated motions of plans.
struct PlanMotion {
  std::vector<SegmentControls> controls;
  std::vector<MotionInterval> intervals;
  std::vector<MotionExtremes> excursions;  ///< per plan
  std::vector<Eigen::MatrixXd> joints;     ///< per plan, samples × joints, without coasting
  Eigen::MatrixXd end;  ///< joint coordinates at the last command, joints × plans
};

/// Computes the command of one plan, given by its index, at a sample.
/// @param time    since the start of the run [s]
/// @param joints  all joint coordinates [rad or m]
/// @param rates   [rad/s or m/s]
using PlanFeedback = std::function<double(
    Eigen::Index plan, double time, const Eigen::VectorXd& joints, const Eigen::VectorXd& rates)>;

/// Simulates many plans at once from rest, and computes the information of their recordings about
/// the free parameters. The initial states count as unknown.
class PlanEvaluator {
 public:
  /// @param mechanism  defines the free parameters and the structure of the equations
  /// @throws std::invalid_argument if its loops cannot be closed at the start
  PlanEvaluator(const Mechanism& mechanism, PlanSettings facts, int threads);

  const PlanSettings& facts() const { return facts_; }

  /// Returns the commands that result from feedback, samples × plans; the last is zero. `move` with
  /// these commands reproduces the motion.
  Eigen::MatrixXd simulate_feedback(const Mechanism& values, Eigen::Index samples,
                                    Eigen::Index plans, const PlanFeedback& feedback) const;

  /// @param values    a mechanism of the same structure
  /// @param commands  samples × plans
  PlanMotion move(const Mechanism& values, const Eigen::MatrixXd& commands) const;

  /// Computes the information of the plans with these indices.
  std::vector<PlanInformation> predict_information(const Mechanism& values,
                                                   const PlanMotion& motion,
                                                   const std::vector<std::size_t>& places) const;

 private:
  std::vector<SegmentControls> hold(const Mechanism& values, const Eigen::MatrixXd& commands) const;
  Eigen::VectorXd start_state() const;
  MotionInterval interval_of(const SegmentControls& controls, Eigen::Index samples) const;
  void coast(const Mechanism& values, const PlanMotion& motion,
             std::vector<Eigen::MatrixXd>& joints) const;
  Eigen::VectorXd turn_of(int sensor, const Eigen::MatrixXd& joints) const;
  MotionExtremes excursion_of(const Eigen::MatrixXd& joints) const;
  Eigen::MatrixXd scatter_of(int sensor, const Eigen::MatrixXd& rows,
                             const Eigen::VectorXd& turn) const;
  PlanInformation information_of(const IntervalSensitivities::Result& slopes,
                                 const Eigen::MatrixXd& joints) const;

  PlanSettings facts_;
  std::vector<Encoder> sensors_;
  Eigen::VectorXd start_;  // of the joints, loops closed
  TreeProgram program_;
  std::vector<Eigen::Index> moving_;  // positions among the free parameters
  struct Source {
    Eigen::Index place;  // likewise
    double factor;
  };
  std::vector<std::vector<Source>> offsets_, delays_;  // parameters behind offset and delay
  Eigen::Index free_count_;
  int steps_a_sample_;
  double near_rest_;  // longest step with creeping joints near rest [s]
  int threads_;
};

}  // namespace estimator
