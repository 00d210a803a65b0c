#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/studies/runs/study_run.hpp"

// Randomly drawn arms, simulated and calibrated: settings and results of the study.

namespace service {

/// One kind of arm (StudyArm of tests/studies/study.proto).
struct StudyArm {
  int links = 0;
  int draws = 0;  ///< at each noise level
  int tied = 0;   ///< number of draws that are repeated with dependent friction
  std::uint64_t seed = 0;
  double duration = 0.0;         ///< [s]
  double period = 0.0;           ///< [s]
  double amplitude = 0.0;        ///< root mean square per joint [rad]
  double slowest = 0.0;          ///< [Hz]
  double fastest = 0.0;          ///< [Hz]
  double dither = 0.0;           ///< dither of the controls relative to their size [-]
  double initial_error = 0.0;    ///< relative error of the initial values [-]
  std::vector<double> noise;     ///< of angles [rad] and controls [N·m]
  int energy_starts = 0;         ///< initial values of the energy experiment; 0: skip it
  double energy_duration = 0.0;  ///< [s]
  double energy_noise = 0.0;     ///< of angles [rad] and controls [N·m]
};

/// Outcome of one calibration. Errors are relative and cover the base parameters, friction and
/// gains.
struct ArmResult {
  double noise = 0.0;
  bool fits_noise =
      false;  ///< residuals are at noise level; otherwise the result is known to be wrong
  std::vector<double> errors, torque_errors, energy_errors;  ///< the latter two: of the regressions
  int covering_intervals = 0, intervals = 0;  ///< 95 % intervals that contain the truth, and all
  bool has_consistent_inertias = false;       ///< all inertias are physically consistent
  double seconds = 0.0;                       ///< on one core
  int iterations = 0;
  std::vector<double> tied_ratios;  ///< base parameters' deviations: dependent friction over free
};

/// Time of a calibration with 10 mrad and 10 mN·m of noise on one core.
struct ArmTime {
  int links = 0;
  double duration = 0.0;  ///< [s]
  double seconds = 0.0;   ///< of the whole calibration
  int iterations = 0;
};

/// One estimate with or without energy observations.
struct EnergyRun {
  bool fits_noise = false;  ///< it converged near the truth
  int iterations = 0;
  double cost = 0.0;
  double trajectory = 0.0;  ///< largest error of an angle [rad]
  double inertia = 0.0;     ///< relative error of base parameters, by norms
  double friction = 0.0;    ///< likewise of friction
  double reported = 0.0;  ///< root mean square of friction's errors over their standard deviations
};

/// Estimates without and with energy, each first with inflated control noise, then continued with
/// the correct noise. Iterations of the continued ones include both.
struct EnergyRuns {
  EnergyRun without, with, inflated_without, inflated_with;
};

/// Estimates from one of several initial values with the same recording.
EnergyRuns run_energy(const StudyArm& arm, std::uint64_t start, const std::atomic<bool>* stop);

/// Converts to named numbers for storage, and back.
std::vector<RunParameter> parameters_of(const EnergyRuns& runs);
EnergyRuns energy_runs_of(const StudyRun& kept);

/// Formats a draw for other programs as a line with one JSON object: the arm, initial values,
/// readings, and true rates.
std::string arm_line(const StudyArm& arm, double noise, std::uint64_t index);

}  // namespace service
