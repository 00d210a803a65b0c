#pragma once

#include <atomic>
#include <optional>
#include <string>

#include "estimator/calibrate/continued_calibration.hpp"
#include "proto/recording/recording_reader.hpp"
#include "proto/stream.pb.h"
#include "service/rig/rig_file.hpp"

namespace service {

/// Returns the reason why a request for estimates during a recording cannot be fulfilled, with the
/// remedy: an invalid rig file, an unknown or fixed parameter, a wrong unit. Empty if it can.
std::string find_live_problem(const rigcal::v1::CheckLive& request);

/// Estimates the parameters of a rig from a recording in progress. The first estimate, and the
/// estimate whenever the recording has become half as long again, is a calibration as by
/// `run_calibration`, with a search for faults and a test of the model. The estimates in between
/// continue from the last one (estimator::continue_calibration).
class LiveFit {
 public:
  /// Motion that must have been recorded before the first estimate, and between two estimates [s].
  static constexpr double kFirst_s = 1.0;
  static constexpr double kPeriod_s = 0.25;
  /// Number of samples after which no further estimates follow, to limit memory and time.
  static constexpr std::size_t kSamplesMax = 1'000'000;

  /// @param names  joints, sensors and motors of the recording
  /// @throws proto::InputError for an invalid rig file
  LiveFit(const rigcal::v1::LiveRequest& request, proto::RecordingHeader names);

  /// Adds messages of the recording, in order. Ignores those that violate the schema.
  void add(const rigcal::v1::SampleBatch& batch);

  /// Returns whether enough new samples have arrived for another estimate.
  bool is_due() const;

  /// Estimates the parameters from all samples so far. If that is not possible, the result contains
  /// the reason, and the next samples may make it possible.
  rigcal::v1::LiveEstimate estimate(const std::atomic<bool>* stop = nullptr);

  /// Returns whether no further estimates follow: the recording is too long.
  bool has_ended() const { return recording_.samples.size() >= kSamplesMax; }

 private:
  estimator::ContinuedCalibration calibrate_completely(const estimator::Recording& recording,
                                                       const std::atomic<bool>* stop);

  Rig rig_;
  std::string rig_text_;
  proto::Recording recording_;
  double estimated_through_s_;      // time of the newest sample at the last estimate
  double complete_s_ = 0.0;         // duration of the motion at the last complete calibration
  bool is_model_accepted_ = false;  // by the last complete calibration
  std::optional<estimator::ContinuedCalibration> last_;
};

}  // namespace service
