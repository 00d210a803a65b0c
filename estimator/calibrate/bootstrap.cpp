#include "estimator/calibrate/bootstrap.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <stdexcept>

#include "estimator/assessment/quantization.hpp"
#include "estimator/calibrate/calibrate.hpp"
#include "estimator/model/encoder.hpp"

namespace estimator {
namespace {

/// Number of standard deviations beyond which a ratio of scatter above 1 is significant. Many
/// parameters are tested. Ratios from few blocks have a heavy tail: for correct models of
/// pendulums, 1 of 80 exceeded three standard deviations.
constexpr double kScatterDeviations = 4.0;
/// Coverage of an interval that is narrower than a nominal 95 % interval by a sixth. On recordings
/// of 4 s, the intervals of correct models of pendulums cover 90 % to 96 %.
constexpr double kAcceptableCoverage = 0.90;
/// Probability of finding at least one of the parameters with an acceptable coverage missed.
constexpr double kFalseMissProbability = 0.01;
/// Largest ratio of the median interval of draws of blocks to that of all blocks, and its smallest
/// inverse, for which their scatters can be compared.
constexpr double kIntervalRatioMax = 3.0;

/// Returns the columns of the encoders that are not held out among the columns of all encoders.
std::vector<Eigen::Index> used_columns(const Mechanism& mechanism) {
  std::vector<Eigen::Index> columns;
  const std::vector<Encoder> encoders = all_encoders(mechanism);
  for (std::size_t i = 0; i < encoders.size(); ++i) {
    if (!is_held_out(mechanism, encoders[i].name)) columns.push_back(static_cast<Eigen::Index>(i));
  }
  return columns;
}

const SegmentTrajectory* find_trajectory(const Calibration& calibration,
                                         const std::string& recording, const Segment& segment) {
  const auto found = std::ranges::find_if(calibration.trajectories, [&](const auto& trajectory) {
    return trajectory.recording == recording && trajectory.start == segment.start &&
           trajectory.simulated.rows() == segment.angles.rows();
  });
  return found == calibration.trajectories.end() ? nullptr : &*found;
}

/// Returns the recordings with predicted readings. Segments that were not fitted, and missing
/// readings, remain missing.
std::vector<Recording> predict_recordings(const Mechanism& rig,
                                          const std::vector<Recording>& recordings,
                                          const Calibration& calibration) {
  const std::vector<Eigen::Index> columns = used_columns(rig);
  std::vector<Recording> predicted;
  for (const Recording& recording : recordings) {
    Recording copy{recording.name, {}};
    for (const Segment& segment : recording.segments) {
      const SegmentTrajectory* trajectory = find_trajectory(calibration, recording.name, segment);
      if (trajectory == nullptr) continue;
      Segment& own = copy.segments.emplace_back(segment);
      for (std::size_t i = 0; i < columns.size(); ++i) {
        auto readings = own.angles.col(columns[i]);
        const auto simulated = trajectory->simulated.col(static_cast<Eigen::Index>(i));
        readings = readings.array().isNaN().select(readings, simulated);
      }
    }
    if (!copy.segments.empty()) predicted.push_back(std::move(copy));
  }
  return predicted;
}

std::vector<Segment> segments_of(const std::vector<Recording>& recordings) {
  std::vector<Segment> segments;
  for (const Recording& recording : recordings) {
    segments.insert(segments.end(), recording.segments.begin(), recording.segments.end());
  }
  return segments;
}

std::mt19937_64 make_random(const BootstrapInput& input, BootstrapMethod method, int index) {
  std::seed_seq seeds{static_cast<std::uint32_t>(input.seed),
                      static_cast<std::uint32_t>(input.seed >> 32),
                      static_cast<std::uint32_t>(method), static_cast<std::uint32_t>(index)};
  return std::mt19937_64(seeds);
}

/// Adds the errors of an encoder to its predicted readings. The grid of quantization has a random
/// phase in each segment, as in [Wid08, ch. 5].
void add_encoder_errors(const EncoderErrors& errors, std::mt19937_64& random,
                        Eigen::Ref<Eigen::VectorXd> readings) {
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform;
  const double disc_phase = 2.0 * M_PI * uniform(random);
  const double grid_phase = errors.quantum * uniform(random);
  for (double& reading : readings) {
    const double disc = errors.disc * std::sin(reading + disc_phase);
    reading += disc + errors.noise * normal(random);
    if (errors.quantum > 0.0) {
      reading = errors.quantum * std::round((reading - grid_phase) / errors.quantum) + grid_phase;
    }
  }
}

/// Returns the significant deviation of a ratio of standard deviations from 1: those from `draws`
/// draws of `blocks` blocks have a relative standard deviation √(1/(2 draws) + 1/(2 (blocks − 1))).
double significant_excess(int draws, int blocks) {
  return kScatterDeviations * std::sqrt(0.5 / std::max(draws, 1) + 0.5 / std::max(blocks - 1, 1));
}

double compute_coverage(const std::vector<BootstrapDraw>& draws, std::size_t parameter,
                        double truth) {
  double inside = 0.0, count = 0.0;
  for (const BootstrapDraw& draw : draws) {
    if (std::isnan(draw.values[parameter])) continue;
    count += 1.0;
    if (std::abs(draw.values[parameter] - truth) <= draw.half_intervals[parameter]) inside += 1.0;
  }
  return inside / count;  // NaN without draws
}

/// Returns the probability that at least `least` of `count` trials succeed.
double binomial_tail_probability(int count, int least, double probability) {
  double below = 0.0;
  for (int k = 0; k < least; ++k) {
    below +=
        std::exp(std::lgamma(count + 1.0) - std::lgamma(k + 1.0) - std::lgamma(count - k + 1.0) +
                 k * std::log(probability) + (count - k) * std::log1p(-probability));
  }
  return 1.0 - below;
}

/// Returns whether a coverage is significantly below the acceptable one. The normal approximation
/// would be too strict for few draws: it reports 4 misses of 20, which are frequent.
bool is_missed(double coverage, int draws, std::size_t parameters) {
  if (draws == 0 || !(coverage < kAcceptableCoverage)) return false;
  const int misses = static_cast<int>(std::lround((1.0 - coverage) * draws));
  return binomial_tail_probability(draws, misses, 1.0 - kAcceptableCoverage) <
         kFalseMissProbability / static_cast<double>(parameters);
}

/// Returns how much draws of blocks scatter, relative to the scatter that sensor noise explains.
///
/// A few of the blocks may contain most of the information about a parameter. Draws without these
/// blocks scatter more, and have wider intervals. A model error increases both the scatter relative
/// to the interval of all blocks, and that relative to the interval of each draw. The smaller one
/// is returned; NaN if the intervals of the draws and of all blocks differ too much, as they do
/// beside a bound of the parameter or between two minima of the cost.
double compute_block_ratio(const std::vector<BootstrapDraw>& draws, std::size_t parameter,
                           const BootstrapParameter& result) {
  std::vector<double> relative, half_intervals;
  for (const BootstrapDraw& draw : draws) {
    const double half = draw.half_intervals[parameter];
    if (std::isnan(draw.values[parameter])) continue;
    half_intervals.push_back(half);
    if (half > 0.0) relative.push_back((draw.values[parameter] - result.blocks_value) / half);
  }
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  if (half_intervals.empty()) return kNaN;
  const auto middle = half_intervals.begin() + std::ssize(half_intervals) / 2;
  std::ranges::nth_element(half_intervals, middle);
  const double ratio = *middle / result.blocks_half_interval;
  if (!(ratio <= kIntervalRatioMax && ratio >= 1.0 / kIntervalRatioMax)) return kNaN;
  return std::fmin(result.blocks.half_interval() / result.blocks_half_interval,
                   summarize_draws(std::move(relative), 0.0, 0.0).half_interval());
}

std::vector<double> values_of(const std::vector<BootstrapDraw>& draws, std::size_t parameter) {
  std::vector<double> values;
  for (const BootstrapDraw& draw : draws) values.push_back(draw.values[parameter]);
  return values;
}

/// @param parameters  number of parameters that are assessed
BootstrapParameter assess_parameter(const ParameterEstimate& reported, std::size_t index,
                                    std::size_t parameters, const BootstrapDraws& draws) {
  BootstrapParameter result;
  result.reported = reported;
  if (!draws.all_blocks.values.empty()) {
    result.blocks_value = draws.all_blocks.values[index];
    result.blocks_half_interval = draws.all_blocks.half_intervals[index];
  }
  const std::vector<double> left_out = values_of(draws.left_out, index);
  const double acceleration = estimate_bca_acceleration(left_out);
  result.jackknife_deviation = compute_jackknife_deviation(left_out);
  result.noise = summarize_draws(values_of(draws.noise, index), reported.value, acceleration);
  result.blocks =
      summarize_draws(values_of(draws.blocks, index), result.blocks_value, acceleration);
  result.coverage = compute_coverage(draws.noise, index, reported.value);
  result.block_ratio = compute_block_ratio(draws.blocks, index, result);
  result.missed_by_noise = is_missed(result.coverage, result.noise.draws, parameters);
  result.exceeded_by_blocks =
      result.block_ratio > 1.0 + significant_excess(result.blocks.draws, draws.block_count);
  return result;
}

IntervalVerdict judge_intervals(const std::vector<BootstrapParameter>& parameters) {
  int draws = parameters.empty() ? 0 : std::numeric_limits<int>::max();
  for (const BootstrapParameter& p : parameters) {
    if (p.missed_by_noise || p.exceeded_by_blocks) return IntervalVerdict::kTooNarrow;
    draws =
        std::min(draws, std::max(p.noise.draws, std::isnan(p.block_ratio) ? 0 : p.blocks.draws));
  }
  return draws < kDecisiveDrawsMin ? IntervalVerdict::kUndecided : IntervalVerdict::kHold;
}

/// Removes the priors of initial states, which apply to the start of a recording, not of a block.
Mechanism without_initial_priors(Mechanism mechanism) {
  for (Joint& joint : mechanism.joints) joint.start = {};
  return mechanism;
}

/// Returns options for draws whose intervals are due to sensor noise alone.
CalibrationOptions without_part_comparison(CalibrationOptions options) {
  options.compare_parts = false;
  return options;
}

BootstrapDraw calibrate_draw(const BootstrapInput& input, const Mechanism& mechanism,
                             const std::vector<Recording>& recordings,
                             const CalibrationOptions& options, const CalibrationMonitor& monitor) {
  const Calibration calibration = calibrate(mechanism, recordings, options, monitor);
  if (!calibration.converged()) throw std::invalid_argument("the calibration did not converge");
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  BootstrapDraw draw;
  for (const std::string& name : input.parameters) {
    const auto found = std::ranges::find(calibration.parameters, name, &ParameterEstimate::name);
    const bool identified =
        found != calibration.parameters.end() && std::isfinite(found->standard_deviation);
    draw.values.push_back(identified ? found->value : kNaN);
    draw.half_intervals.push_back(identified ? found->half_interval : kNaN);
  }
  return draw;
}

}  // namespace

BootstrapInput make_bootstrap_input(const Mechanism& rig, const std::vector<Recording>& recordings,
                                    const Calibration& calibration,
                                    const CalibrationOptions& options, double disc_error) {
  if (calibration.kind != EstimateKind::kPhysical) {
    throw std::invalid_argument(
        "a bootstrap needs physical parameters; leave out the options of a "
        "simulator, and load-proportional friction of loops");
  }
  if (!calibration.converged()) {
    throw std::invalid_argument(
        "the calibration of the recordings has not converged, so its intervals cannot be checked; "
        "correct the rig file or the recordings with \"rigcal calibrate\" first");
  }
  BootstrapInput input;
  input.mechanism = rig;
  copy_parameter_values(calibration.mechanism, input.mechanism);
  for (const ParameterEstimate& p : calibration.parameters) input.parameters.push_back(p.name);
  input.predicted = predict_recordings(rig, recordings, calibration);
  input.options = options;
  const std::vector<Segment> segments = segments_of(recordings);
  const std::vector<Eigen::Index> columns = used_columns(rig);
  const std::vector<Encoder> encoders = used_encoders(rig);
  for (std::size_t i = 0; i < encoders.size(); ++i) {
    const int column = static_cast<int>(columns[i]);
    EncoderErrors& errors = input.errors.emplace_back();
    errors.quantum = find_quantization_step(segments, column, encoders[i].units().scale);
    errors.noise =
        errors.quantum > 0.0
            ? std::sqrt(estimate_noise_before_quantization(segments, column, errors.quantum))
            : calibration.angle_noise[static_cast<Eigen::Index>(i)];
    if (encoders[i].kind == JointKind::kRevolute) errors.disc = disc_error;
  }
  return input;
}

bool can_simulate_readings(const Mechanism& rig, const Calibration& calibration) {
  return rig.sensors.empty() && calibration.refined;
}

std::vector<Recording> make_bootstrap_recordings(const BootstrapInput& input,
                                                 BootstrapMethod method, int index) {
  std::mt19937_64 random = make_random(input, method, index);
  if (method == BootstrapMethod::kNoise) {
    std::vector<Recording> recordings = input.predicted;
    const std::vector<Eigen::Index> columns = used_columns(input.mechanism);
    for (Recording& recording : recordings) {
      for (Segment& segment : recording.segments) {
        for (std::size_t i = 0; i < columns.size(); ++i) {
          add_encoder_errors(input.errors[i], random, segment.angles.col(columns[i]));
        }
      }
    }
    return recordings;
  }
  if (method == BootstrapMethod::kLeaveOut) {
    std::vector<Recording> recordings = input.parts;
    recordings.erase(recordings.begin() + index);
    return recordings;
  }
  std::vector<Recording> recordings;
  std::uniform_int_distribution<std::size_t> choose(0, input.blocks.size() - 1);
  for (std::size_t i = 0; i < input.blocks.size(); ++i) {
    recordings.push_back(input.blocks[choose(random)]);
  }
  return recordings;
}

BootstrapDraw compute_bootstrap_draw(const BootstrapInput& input, BootstrapMethod method, int index,
                                     const CalibrationMonitor& monitor) {
  const std::vector<Recording> recordings = make_bootstrap_recordings(input, method, index);
  if (method == BootstrapMethod::kNoise) {
    return calibrate_draw(input, input.mechanism, recordings, input.options, monitor);
  }
  const bool of_blocks = method == BootstrapMethod::kBlocks || input.leaves_out_blocks;
  return calibrate_draw(input,
                        of_blocks ? without_initial_priors(input.mechanism) : input.mechanism,
                        recordings, without_part_comparison(input.options), monitor);
}

BootstrapDraw calibrate_all_blocks(const BootstrapInput& input, const CalibrationMonitor& monitor) {
  return calibrate_draw(input, without_initial_priors(input.mechanism), input.blocks,
                        without_part_comparison(input.options), monitor);
}

Bootstrap assess_bootstrap(const Calibration& calibration, const BootstrapDraws& draws) {
  Bootstrap result;
  for (std::size_t i = 0; i < calibration.parameters.size(); ++i) {
    const ParameterEstimate& reported = calibration.parameters[i];
    if (!std::isfinite(reported.half_interval)) continue;
    result.parameters.push_back(
        assess_parameter(reported, i, calibration.parameters.size(), draws));
  }
  result.verdict = judge_intervals(result.parameters);
  return result;
}

}  // namespace estimator
