#pragma once

#include <Eigen/Core>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <string>
#include <vector>

namespace estimator {

/// A lasting step in a sensor's readings: encoder counts lost or gained between two samples.
struct EncoderShift {
  int sensor = 0;     ///< index among the segment's sensors
  int sample = 0;     ///< first shifted sample; all later samples are shifted too
  int parameter = 0;  ///< index in the mechanism: increase of the readings [rad or m]
};

/// Consecutive samples of a recording over which the state is continuous.
///
/// Row k was sampled at start + time(k). The control in row k applies over [t_k, t_{k+1}). NaN
/// means "not observed": an encoder's channel was missing, or another sensor has a lower sampling
/// rate. Controls are finite.
struct Segment {
  double start = 0.0;        ///< time of row 0 [s]
  /// Time of the start of the recording [s]; NaN if it is the time of row 0.
  double recording_start = std::numeric_limits<double>::quiet_NaN();
  double period = 0.0;       ///< sampling period, the mean one if it varies [s], > 0
  Eigen::MatrixXd angles;    ///< samples × sensors, in their order [rad or m]
  Eigen::MatrixXd controls;  ///< samples × motors, in joint order [unit of the control]
  /// Standard deviation of the error of each control in each sample, of controls that are estimates
  /// (prescribed motions) [unit of the control]; no entries: exact controls.
  Eigen::VectorXd control_noise = {};
  Eigen::MatrixXd held_out;  ///< samples × held-out sensors; usually no columns
  /// Times of the rows relative to the first row [s], ascending from 0; empty if the rows are
  /// `period` apart.
  std::vector<double> times = {};
  std::vector<EncoderShift> shifts = {};
  bool is_first_of_recording = false;   ///< whether it is the first of its recording
  std::vector<int> absent_bodies = {};  ///< bodies of the mechanism that are not mounted
  /// Approximate joint coordinates at row 0, in the mechanism's order, predicted from earlier rows
  /// [rad or m]; empty: unknown. They select the assembly mode of loops.
  Eigen::VectorXd assembled = {};
  /// Samples × Sensor::kAxes of each inertial sensor in order: rates [rad/s], then specific
  /// forces [m/s²]. No columns: no inertial readings.
  Eigen::MatrixXd inertial = {};
  /// Samples × contacts of the mechanism: 1 where the contact with the ground is active, else 0.
  /// Row k applies over [t_k, t_{k+1}). No columns: no contact is ever active.
  Eigen::MatrixXd contacts = {};

  double time(Eigen::Index sample) const {
    return times.empty() ? static_cast<double>(sample) * period
                         : times[static_cast<std::size_t>(sample)];
  }
  /// Returns the time from the start of the recording to row 0 [s].
  double time_in_recording() const {
    return std::isnan(recording_start) ? 0.0 : start - recording_start;
  }
  /// Returns the index of the first sample at `time` or later; sample_count() if there is none.
  int first_sample_at_or_after(double time) const;
  /// Returns the time from the first sample to the last [s].
  double duration() const { return sample_count() > 0 ? time(sample_count() - 1) : 0.0; }
  int sample_count() const { return static_cast<int>(angles.rows()); }
};

/// Returns the rows [first, first + count) of a segment, with their times and encoder shifts.
Segment segment_rows(const Segment& segment, int first, int count);

/// Smallest and largest of the values that were added. NaN values are ignored.
struct ValueRange {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();

  bool is_empty() const { return !(low <= high); }
  double width() const { return is_empty() ? 0.0 : high - low; }
  void add(double value) {
    if (value < low) low = value;
    if (value > high) high = value;
  }
  /// Adds the readings of a sensor.
  void add(std::span<const Segment> segments, Eigen::Index sensor) {
    for (const Segment& segment : segments) {
      for (const double reading : segment.angles.col(sensor)) add(reading);
    }
  }
};

/// Tolerance within which an instant counts as the time of a sample.
inline constexpr double kSampleTolerance = 1e-6;  // of a sampling period

/// A recording: its name (for messages) and its gap-free segments in order of time.
struct Recording {
  std::string name;
  std::vector<Segment> segments;
};

/// Returns angles with full turns added to each sample, so that it lies within half a turn of the
/// last observed sample.
///
/// Continuous angles that move less than half a turn between samples are unchanged. NaN means "not
/// observed" and stays NaN. The angle continues from the last sample before a gap, so a motion of
/// more than half a turn within a gap loses full turns.
///
/// @param angles n samples [rad]
/// @return n samples [rad], the first observed one unchanged
Eigen::VectorXd unwrap(const Eigen::Ref<const Eigen::VectorXd>& angles);

}  // namespace estimator
