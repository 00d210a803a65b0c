#include <cmath>
#include <limits>
#include <optional>

#include "estimator/fit/free_parameters.hpp"
#include "estimator/model/encoder.hpp"
#include "estimator/model/parameter_dependencies.hpp"
#include "proto/text/files.hpp"
#include "proto/text/input_error.hpp"
#include "service/calibration/calibration_input.hpp"
#include "service/design/experiment.hpp"
#include "service/options/parameter_values.hpp"
#include "service/result/stored_result.hpp"
#include "service/rig/parameters/parameter_edits.hpp"
#include "service/text/number_format.hpp"

namespace service {
namespace {

constexpr double kUsualNoise = 1e-3;  // default for an encoder of unknown noise [rad]

/// Largest ratio of an encoder's noise to its quantization noise at which quantization dominates
/// the noise.
constexpr double kCountingNoise = 1.5;

void find_noise(const StoredResult* stored, DesignInput& input) {
  const std::vector<estimator::Encoder> sensors = estimator::used_encoders(input.rig.mechanism);
  const auto count = static_cast<Eigen::Index>(sensors.size());
  input.noise.resize(count);
  input.quantum.setZero(count);
  for (std::size_t i = 0; i < sensors.size(); ++i) {
    const auto at = static_cast<Eigen::Index>(i);
    const estimator::JointUnits units = sensors[i].units();
    const double quantum = input.rig.encoders[i].count;
    const double counting = quantum / std::sqrt(12.0);
    double& noise = input.noise[at];
    noise = counting;
    if (stored != nullptr && stored->noise.contains(sensors[i].name)) {
      noise = stored->noise.at(sensors[i].name);
    } else if (quantum == 0.0) {
      noise = kUsualNoise * units.scale;
      proto::add_note(
          input.notes,
          "encoder {}: neither a result nor the rig file gives its noise; {} {} is assumed",
          sensors[i].name, format_number(noise), units.coordinate);
    }
    if (noise <= kCountingNoise * counting) input.quantum[at] = quantum;
  }
}

/// Returns the covariance of the free parameters from a result; zero for parameters that the result
/// does not contain or could not identify.
Eigen::MatrixXd covariance_of(const ParameterValues& result,
                              const estimator::Mechanism& mechanism) {
  const std::vector<int> free = estimator::FreeParameters(mechanism).parameter_indices();
  std::vector<Eigen::Index> places;  // index in the result; −1: not in it
  for (const int index : free) {
    const std::string& name = mechanism.parameters[static_cast<std::size_t>(index)].name;
    Eigen::Index place = -1;
    for (Eigen::Index k = 0; k < result.covariance.rows(); ++k) {
      const ParameterValues::ParameterValue& entry = result.entries[static_cast<std::size_t>(k)];
      if (entry.name == name && std::isfinite(entry.deviation)) place = k;
    }
    places.push_back(place);
  }
  const auto n = static_cast<Eigen::Index>(free.size());
  Eigen::MatrixXd covariance = Eigen::MatrixXd::Zero(n, n);
  for (Eigen::Index i = 0; i < n; ++i) {
    for (Eigen::Index k = 0; k < n; ++k) {
      const Eigen::Index row = places[static_cast<std::size_t>(i)];
      const Eigen::Index column = places[static_cast<std::size_t>(k)];
      if (row >= 0 && column >= 0) covariance(i, k) = result.covariance(row, column);
    }
  }
  return covariance;
}

/// Loads the recordings of a result. If a recording cannot be read, the result's covariance is used
/// instead.
void find_recordings(const StoredResult& stored, DesignInput& input) {
  try {
    input.recordings = load_calibration_input(stored.request).recordings;
  } catch (const proto::InputError& missing) {
    proto::add_note(
        input.notes,
        "a recording of {} cannot be read again ({}), so only the covariance of the result is "
        "used. A calibration of all recordings together can be less precise than predicted",
        stored.file, missing.what());
  }
}

/// Reads the parameter values of a result file and rejects parameters of a SPOOK simulator.
/// @param path  result file; empty: no file, returns no values
ParameterValues read_physical_values(const std::string& path) {
  ParameterValues values = read_parameter_values(path);
  if (values.kind != estimator::EstimateKind::kShadow) return values;
  throw proto::InputError(
      "{}: contains shadow parameters of a SPOOK simulator; experiment design needs "
      "physical parameters. Calibrate with --parameters physical",
      path);
}

/// Restores the rig file's values of free parameters that a result has at a bound other than zero,
/// such as an inertia of 1e-9 kg·m². Such a value is implausible, and hardly affects the motion.
void restore_values_at_bounds(const estimator::Mechanism& in_file,
                              estimator::Mechanism& mechanism) {
  const estimator::FreeParameters free(mechanism);
  for (const int index : free.parameter_indices()) {
    const auto place = static_cast<std::size_t>(index);
    estimator::Parameter& parameter = mechanism.parameters[place];
    if (parameter.value != 0.0 && is_at_bound(parameter)) {
      parameter.value = in_file.parameters[place].value;
    }
  }
  estimator::apply_dependencies(mechanism);
}

/// Returns the prior standard deviations of the free parameters; infinite for parameters without
/// information.
Eigen::VectorXd known_deviations(const estimator::PriorInformation& knowledge) {
  Eigen::VectorXd deviations = knowledge.root.rowwise().norm();
  for (Eigen::Index i = 0; i < deviations.size(); ++i) {
    if (knowledge.information(i, i) > 0.0) continue;
    deviations[i] = std::numeric_limits<double>::infinity();
  }
  return deviations;
}

}  // namespace

void add_result_recordings(const std::string& rig_path, const std::string& values,
                           DesignInput& input) {
  try {
    CalibrationRequest request = read_stored_result(values).request;
    request.rig_name = rig_path;
    request.rig_text = proto::read_file(rig_path);
    request.values = {};
    request.edits = {};
    input.recordings = load_calibration_input(request).recordings;
    input.sources = std::move(request.recordings);
  } catch (const proto::InputError& missing) {
    proto::add_note(input.notes,
                    "the recordings of {} cannot be read ({}), so only its parameter values are "
                    "used; the next estimates do not use the information in these recordings",
                    values, missing.what());
  }
}

DesignInput load_design_input(const std::string& rig_path, const std::string& result,
                              const std::string& values) {
  DesignInput input;
  input.rig = load_rig(rig_path);
  estimator::Mechanism& mechanism = input.rig.mechanism;
  const ParameterValues given = read_physical_values(result.empty() ? values : result);
  std::optional<StoredResult> stored;
  if (!result.empty()) {
    stored = read_stored_result(result);
    ParameterEdits edits = stored->request.edits;
    edits.start.clear();
    apply_parameter_edits(edits, mechanism);
  }
  const estimator::Mechanism in_file = mechanism;
  apply_parameter_values(given, mechanism);
  restore_values_at_bounds(in_file, mechanism);
  if (estimator::FreeParameters(mechanism).size() == 0) {
    throw proto::InputError(
        "{}: no parameter is free. Mark the parameters to estimate with free: true", rig_path);
  }
  find_noise(stored ? &*stored : nullptr, input);
  const Eigen::MatrixXd covariance = covariance_of(given, mechanism);
  input.is_estimated = stored.has_value() || covariance.diagonal().maxCoeff() > 0.0;
  input.knowledge = estimator::compute_estimate_information(mechanism, covariance);
  input.deviations = known_deviations(input.knowledge);
  if (stored) {
    find_recordings(*stored, input);
  } else {
    // The next calibration uses the priors of the rig file but no recordings of the result.
    const estimator::PriorInformation priors = estimator::compute_prior_information(mechanism);
    input.knowledge.information = priors.information;
    if (!input.is_estimated) {
      input.knowledge.root = priors.root;
      input.deviations = known_deviations(priors);
    }
  }
  return input;
}

}  // namespace service
