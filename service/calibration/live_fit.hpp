#pragma once

#include <atomic>
#include <future>
#include <optional>
#include <string>

#include "estimator/calibrate/continued_calibration.hpp"
#include "proto/recording/recording_reader.hpp"
#include "proto/stream.pb.h"
#include "service/rig/rig_file.hpp"

namespace service {

/// Returns the reason why a request for estimates during a recording is invalid, with the remedy:
/// an invalid rig file, an unknown or fixed parameter, a wrong unit. Empty if it is valid.
std::string find_live_problem(const rigcal::v1::CheckLive& request);

/// Estimates the parameters of a rig from a recording in progress. The first estimate is a complete
/// calibration like that of `run_calibration`: with a search for faults and a test of the model.
/// Each later estimate continues from the previous estimate (estimator::continue_calibration),
/// which takes a fraction of the time. Whenever the recording has grown by half of its length,
/// another thread calibrates it completely, and later estimates continue from the result.
class LiveFit {
 public:
  /// Required duration of recorded motion before the first estimate, and between two estimates [s].
  static constexpr double kFirst_s = 1.0;
  static constexpr double kPeriod_s = 0.25;
  /// Number of samples after which no further estimates follow, to limit memory and time.
  static constexpr std::size_t kSamplesMax = 1'000'000;

  /// @param names  joints, sensors and motors of the recording
  /// @throws proto::InputError for an invalid rig file
  LiveFit(const rigcal::v1::LiveRequest& request, proto::RecordingHeader names);

  /// Cancels a complete calibration that is in progress.
  ~LiveFit();
  LiveFit(const LiveFit&) = delete;
  LiveFit& operator=(const LiveFit&) = delete;

  /// Adds messages of the recording, in order. Ignores those that violate the schema.
  void add(const rigcal::v1::SampleBatch& batch);

  /// Returns whether enough new samples have arrived for another estimate.
  bool is_due() const;

  /// Estimates the parameters from all samples so far. If this is impossible, the result contains
  /// the reason; more samples may make it possible.
  rigcal::v1::LiveEstimate estimate();

  /// Returns whether no further estimates follow: the recording is too long.
  bool has_ended() const { return recording_.samples.size() >= kSamplesMax; }

 private:
  struct CompleteCalibration {
    std::optional<estimator::ContinuedCalibration> result;  // empty if it failed
    bool is_model_accepted = false;
  };

  CompleteCalibration calibrate_completely(Rig rig, const estimator::Recording& recording) const;
  /// Returns the rig with the latest estimates as initial values.
  Rig make_start() const;
  void begin_complete_calibration(const estimator::Recording& recording);
  /// Continues from a finished complete calibration.
  void continue_from_complete_calibration();
  estimator::ContinuedCalibration update(const estimator::Recording& recording);

  Rig rig_;
  proto::Recording recording_;
  double estimated_through_s_;     // time of the newest sample at the last estimate
  double complete_s_ = 0.0;        // duration of the motion at the last complete calibration
  std::atomic<bool> stop_{false};  // of complete calibrations
  std::future<CompleteCalibration> complete_;  // in progress
  bool is_model_accepted_ = false;             // by the last complete calibration
  std::optional<estimator::ContinuedCalibration> last_;
};

}  // namespace service
