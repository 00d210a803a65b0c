#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <string>
#include <vector>

namespace estimator {

/// A lasting step in what a sensor reads: counts lost or gained between two samples.
struct ZeroShift {
  int sensor = 0;     ///< index among the segment's sensors
  int sample = 0;     ///< the first that is shifted; all later ones are
  int parameter = 0;  ///< of the mechanism: by how much readings are larger since [rad or m]
};

/// Stretch of a recording over which its state goes on.
///
/// Row k was sampled at start + time(k). The control in row k is held over [t_k, t_{k+1}).
/// A NaN angle means "not observed" (a sensor's channel was missing), as does one of an inertial
/// sensor, whose own rate may be lower; controls are finite.
struct Segment {
  double start = 0.0;        ///< time of row 0 [s]
  double period = 0.0;       ///< sampling period, the mean one where it varies [s], > 0
  Eigen::MatrixXd angles;    ///< samples × sensors, in their order [rad or m]
  Eigen::MatrixXd controls;  ///< samples × motorised hinges, in hinge order [unit of the control]
  Eigen::MatrixXd withheld;  ///< samples × sensors whose readings are not used; mostly none
  /// Of the rows from the first on, rising from 0 [s]; empty: every `period`.
  std::vector<double> times = {};
  std::vector<ZeroShift> shifts = {};
  bool begins = false;                  ///< its recording begins with it
  std::vector<int> absent_bodies = {};  ///< of the mechanism, that are not there (Body::only_in)
  /// Where joints stand about at row 0, in the mechanism's order, as far as it is known of what was
  /// recorded before [rad or m]; empty: nothing is. It tells in which way loops are assembled.
  Eigen::VectorXd assembled = {};
  /// Samples × InertialSensor::kAxes of each inertial sensor in order: rates [rad/s], then specific
  /// forces [m/s²]. No columns: none is read.
  Eigen::MatrixXd inertial = {};

  double time(Eigen::Index sample) const {
    return times.empty() ? static_cast<double>(sample) * period
                         : times[static_cast<std::size_t>(sample)];
  }
  /// The first sample at `time` or later; sample_count() where there is none.
  int first_sample_from(double time) const;
  /// From the first sample to the last [s].
  double duration() const { return sample_count() > 0 ? time(sample_count() - 1) : 0.0; }
  int sample_count() const { return static_cast<int>(angles.rows()); }
};

/// Rows [first, first + count) of a segment, with their times and shifts.
Segment rows_of(const Segment& segment, int first, int count);

/// Whether an instant lies so little after a sample that it is meant to be the sample's own.
inline constexpr double kSampleTolerance = 1e-6;  // of a sampling period

/// A recording: its name (for messages) and its gap-free segments in order of time.
struct Recording {
  std::string name;
  std::vector<Segment> segments;
};

}  // namespace estimator
