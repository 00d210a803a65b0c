#include <algorithm>
#include <cmath>
#include <numeric>

#include "proto/text/input_error.hpp"
#include "service/recordings/formats/recording_file.hpp"
#include "service/text/csv_row.hpp"
#include "service/text/number_format.hpp"
#include "service/work/fingerprint.hpp"
#include "tests/studies/leg/leg.hpp"
#include "tests/studies/study_kinds.hpp"

namespace service {
namespace {

constexpr double kLoopWanted = 1.1;    // limit of the torque error with the linkage, over the noise
constexpr int kLegIterations = 200;    // weakly identifiable bodies converge slowly
constexpr double kNearlyOne = 0.02;    // |transmission − 1| up to which a constant ratio fits
constexpr double kPictureStart = 2.0;  // of the plotted torques [s]
constexpr double kPictureLength = 4.0;  // [s]

/// Torques predicted by a model, with the model's name in tables.
struct LegPrediction {
  std::string model;
  LegTorques torques;
};

/// Results for a leg. The last prediction uses the leg's true parameters if they are known.
struct LegResult {
  LegRecordings leg;
  StudyRun ratio, loop;
  std::vector<LegPrediction> predictions;
};

std::shared_ptr<const StudyData> recording_of(const LegRecordings& leg, const std::string& text,
                                              const std::string& path, const Rig& rig) {
  ImportedRecording imported =
      text.empty() ? import_recording(path, rig) : import_csv_text(leg.name, text, *rig.format);
  auto data = std::make_shared<StudyData>();
  data->name = leg.name;
  Fingerprint fingerprint;
  for (const estimator::Segment& segment : imported.recording.segments) {
    fingerprint.add(segment.start).add(segment.period).add(segment.angles).add(segment.controls);
    data->duration += segment.duration();
  }
  data->fingerprint = fingerprint.value();
  data->recordings.push_back(std::move(imported.recording));
  return data;
}

std::shared_ptr<const StudyData> training_of(const LegStudy& study, const LegRecordings& leg,
                                             const Rig& rig) {
  return recording_of(leg, leg.training, study.files ? study.files->training : "", rig);
}

/// Returns the longest segment of the recording that is not used for calibration.
estimator::Segment held_out_of(const LegStudy& study, const LegRecordings& leg, const Rig& rig) {
  const auto data = recording_of(leg, leg.held_out, study.files ? study.files->held_out : "", rig);
  const std::vector<estimator::Segment>& segments = data->recordings.front().segments;
  return *std::ranges::max_element(segments, {}, &estimator::Segment::sample_count);
}

StudyTask task_of(const std::string& model, const Rig& rig,
                  const std::shared_ptr<const StudyData>& data) {
  const StudyMethod method{.name = "physical", .physical = true};
  RunLabels place;
  place.stage = "fit";
  place.set = rig.mechanism.name;
  place.model = model;
  place.method = method.name;
  StudySettings settings;
  settings.max_iterations = kLegIterations;
  return make_task(place, data, rig.mechanism, make_options(method, settings));
}

estimator::Mechanism estimate_of(const Rig& rig, const StudyRun& run) {
  if (!run.error.empty()) throw proto::InputError(rig.path + ": " + run.error);
  return with_estimates(rig.mechanism, run);
}

void predict(const LegStudy& study, LegResult& result) {
  const estimator::Segment of_loop = held_out_of(study, result.leg, study.loop);
  const estimator::Segment of_ratio = held_out_of(study, result.leg, study.ratio);
  const auto add_ratio = [&](const std::string& name, const estimator::Mechanism& model) {
    result.predictions.push_back({name, predict_torques(model, of_ratio, study.cutoff)});
  };
  const auto add_loop = [&](const std::string& name, const estimator::Mechanism& model) {
    result.predictions.push_back(
        {name, predict_torques(model, of_loop, study.cutoff, study.crank, study.knee)});
  };
  add_ratio("nominal", study.nominal);
  add_ratio("constant ratio", estimate_of(study.ratio, result.ratio));
  add_loop("linkage", estimate_of(study.loop, result.loop));
  if (result.leg.truth) add_loop("truth", *result.leg.truth);
}

std::vector<std::string> motors_of(const LegStudy& study) {
  std::vector<std::string> names;
  for (const estimator::Joint& joint : study.loop.mechanism.joints) {
    if (joint.motor.present) names.push_back(joint.name);
  }
  return names;
}

/// Returns the root mean square of a value over all legs, one per motor.
template <typename Value>
Eigen::VectorXd over_legs(const std::vector<LegResult>& results, const Value& value) {
  Eigen::VectorXd squares = value(results.front()).cwiseAbs2();
  for (std::size_t i = 1; i < results.size(); ++i) squares += value(results[i]).cwiseAbs2();
  return (squares / static_cast<double>(results.size())).cwiseSqrt();
}

StudyTable torque_table(const LegStudy& study, const std::vector<LegResult>& results) {
  StudyTable table;
  table.name = "table-torque";
  table.title = "Torques of the motors, predicted along held-out motions";
  table.caption = "Root mean square over " + std::to_string(results.size()) +
                  (results.size() == 1 ? " leg" : " legs") +
                  " of inverse dynamics minus measured torque [N·m], also relative to the noise of "
                  "the measured torque, " +
                  format_number(study.torque_noise) + " N·m.";
  table.header = {"model"};
  for (const std::string& motor : motors_of(study)) {
    table.header.push_back(motor + " [N·m]");
    table.header.push_back("over the noise");
  }
  for (std::size_t m = 0; m < results.front().predictions.size(); ++m) {
    const Eigen::VectorXd errors = over_legs(
        results, [&](const LegResult& result) { return result.predictions[m].torques.errors(); });
    std::vector<std::string> row{results.front().predictions[m].model};
    for (const double error : errors) {
      row.push_back(format_number(error, 3));
      row.push_back(format_number(error / study.torque_noise, 3));
    }
    table.rows.push_back(std::move(row));
  }
  std::vector<std::string> row{"RMS torque"};
  const Eigen::VectorXd sizes = over_legs(results, [](const LegResult& result) {
    const Eigen::MatrixXd& measured = result.predictions.front().torques.measured;
    return Eigen::VectorXd(measured.cwiseAbs2().colwise().mean().cwiseSqrt().transpose());
  });
  for (const double size : sizes) {
    row.push_back(format_number(size, 3));
    row.push_back(format_number(size / study.torque_noise, 3));
  }
  table.rows.push_back(std::move(row));
  return table;
}

/// Returns the index of the crank's motor among all motors.
Eigen::Index driven_of(const LegStudy& study) {
  const auto motors = motors_of(study);
  const auto& name = study.loop.mechanism.joints[static_cast<std::size_t>(study.crank)].name;
  return std::ranges::find(motors, name) - motors.begin();
}

/// Returns a table of the torque errors at the crank, with a row per leg.
StudyTable leg_table(const LegStudy& study, const std::vector<LegResult>& results) {
  StudyTable table;
  table.name = "table-legs";
  table.title = "Torque of the crank's motor, leg by leg";
  table.caption =
      "Root mean square of predicted minus measured torque over the noise; the smallest and the "
      "largest transmission d knee / d crank, and the estimated constant ratio.";
  table.header = {"", "least", "largest", "ratio"};
  for (const LegPrediction& each : results.front().predictions) table.header.push_back(each.model);
  const Eigen::Index motor = driven_of(study);
  const auto& knee = study.loop.mechanism.joints[static_cast<std::size_t>(study.knee)].name;
  for (const LegResult& result : results) {
    const Eigen::VectorXd& transmission = result.predictions[2].torques.transmission;
    const RunParameter* ratio = result.ratio.find(knee + ".K");
    std::vector<std::string> row{result.leg.name, format_number(transmission.minCoeff(), 3),
                                 format_number(transmission.maxCoeff(), 3),
                                 ratio == nullptr ? "-" : format_number(ratio->value)};
    for (const LegPrediction& each : result.predictions) {
      row.push_back(format_number(each.torques.errors()[motor] / study.torque_noise, 3));
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

/// Returns a table of torque errors at the crank, grouped by the deviation of the transmission from
/// 1.
StudyTable transmission_table(const LegStudy& study, const std::vector<LegResult>& results) {
  constexpr double kEdges[] = {0.0, kNearlyOne, 0.05, 0.1, 1e3};
  StudyTable table;
  table.name = "table-transmission";
  table.title = "Torque of the crank's motor, by the linkage's transmission";
  table.caption =
      "Root mean square of predicted minus measured torque [N·m] where |d knee / d crank − 1| lies "
      "within the bounds, over all legs.";
  table.header = {"|d knee / d crank − 1|", "share of the time"};
  const auto& models = results.front().predictions;
  for (const LegPrediction& each : models) table.header.push_back(each.model);
  const Eigen::Index motor = driven_of(study);
  for (std::size_t edge = 0; edge + 1 < std::size(kEdges); ++edge) {
    std::vector<double> squares(models.size(), 0.0);
    double count = 0.0, all = 0.0;
    for (const LegResult& result : results) {
      const Eigen::VectorXd& transmission = result.predictions[2].torques.transmission;
      all += static_cast<double>(transmission.size());
      for (Eigen::Index k = 0; k < transmission.size(); ++k) {
        const double off = std::abs(transmission[k] - 1.0);
        if (off < kEdges[edge] || off >= kEdges[edge + 1]) continue;
        count += 1.0;
        for (std::size_t m = 0; m < models.size(); ++m) {
          const LegTorques& torques = result.predictions[m].torques;
          squares[m] += std::pow(torques.predicted(k, motor) - torques.measured(k, motor), 2);
        }
      }
    }
    const bool last = edge + 2 == std::size(kEdges);
    std::vector<std::string> row{(last ? "above " : format_number(kEdges[edge]) + " to ") +
                                     format_number(kEdges[last ? edge : edge + 1]),
                                 format_number(100.0 * count / all, 3) + " %"};
    for (const double sum : squares) {
      row.push_back(count > 0.0 ? format_number(std::sqrt(sum / count), 3) : "-");
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

/// Returns a table of the friction and rotor inertia of each joint of the first leg [MTM, Fig. 14].
StudyTable parameter_table(const LegStudy& study, const LegResult& result) {
  StudyTable table;
  table.name = "table-parameters";
  table.title = "Estimated parameters of " + result.leg.name;
  table.caption =
      "Parameters other than those of bodies: friction of driven and passive joints, and rotors.";
  table.header = {"parameter", "unit", "truth", "linkage", "± sd", "constant ratio", "± sd"};
  for (const RunParameter& parameter : result.loop.parameters) {
    const int index = study.loop.mechanism.find_parameter(parameter.name);
    if (index <
        study.loop.mechanism.joint_parameter_index(0, estimator::JointParameter::kPointAx)) {
      continue;
    }
    const MeasuredText loop = format_measured(parameter.value, parameter.standard_deviation);
    const RunParameter* of_ratio = result.ratio.find(parameter.name);
    const MeasuredText ratio = of_ratio == nullptr
                                   ? MeasuredText{"-", "-"}
                                   : format_measured(of_ratio->value, of_ratio->standard_deviation);
    const std::string truth = result.leg.truth
                                  ? QuantityFormat(parameter.value, parameter.standard_deviation)
                                        .number(result.leg.truth->at(index).value)
                                  : "-";
    table.rows.push_back({parameter.name, parameter.unit, truth, loop.value,
                          loop.standard_deviation, ratio.value, ratio.standard_deviation});
  }
  return table;
}

/// Plots measured and predicted torques, with a row per model and a column per motor [MTM, Fig.
/// 15].
Figure torque_figure(const LegStudy& study, const LegResult& result) {
  Figure figure;
  figure.name = "figure-torque";
  figure.title = "Measured and predicted torques of " + result.leg.name;
  figure.caption =
      "Inverse dynamics along a held-out motion, as in the paper's Fig. 15; one row per model.";
  const std::vector<std::string> motors = motors_of(study);
  figure.columns = static_cast<int>(motors.size());
  for (std::size_t m = 0; m < 3; ++m) {
    const auto& [model, torques] = result.predictions[m];
    const auto begin = static_cast<Eigen::Index>(kPictureStart / torques.period);
    const Eigen::Index first = std::min(begin, torques.measured.rows() / 2);
    const Eigen::Index count = std::min(static_cast<Eigen::Index>(kPictureLength / torques.period),
                                        torques.measured.rows() - first);
    std::vector<double> times(static_cast<std::size_t>(count));
    for (std::size_t k = 0; k < times.size(); ++k) {
      times[k] =
          torques.start + (static_cast<double>(first) + static_cast<double>(k)) * torques.period;
    }
    for (std::size_t i = 0; i < motors.size(); ++i) {
      Chart chart;
      chart.title = motors[i] + ", " + model;
      chart.x_label = "time [s]";
      chart.y_label = "torque [N·m]";
      const auto add = [&](const std::string& label, std::size_t style,
                           const Eigen::MatrixXd& values) {
        const auto part = values.col(static_cast<Eigen::Index>(i)).segment(first, count);
        chart.series.push_back(
            {label, series_css_class(style), times, std::vector<double>(part.begin(), part.end())});
      };
      add("measured", 0, torques.measured);
      add("predicted", 1, torques.predicted);
      figure.panels.push_back(std::move(chart));
    }
  }
  return figure;
}

/// Returns a CSV file with the data of the torque figure for the whole recording.
StudyFile torque_file(const LegStudy& study, const LegResult& result) {
  const std::vector<std::string> motors = motors_of(study);
  StudyFile file{"torques.csv", "t_s"};
  for (const std::string& motor : motors) {
    file.text.append(",").append(motor).append(" measured [N·m]");
    for (const LegPrediction& each : result.predictions) {
      file.text.append(",").append(motor).append(" ").append(each.model).append(" [N·m]");
    }
  }
  const LegTorques& first = result.predictions.front().torques;
  for (Eigen::Index k = 0; k < first.measured.rows(); ++k) {
    file.text.append("\n").append(
        format_csv_number(first.start + static_cast<double>(k) * first.period));
    for (Eigen::Index i = 0; i < first.measured.cols(); ++i) {
      file.text.append(",").append(format_csv_number(first.measured(k, i)));
      for (const LegPrediction& each : result.predictions) {
        file.text.append(",").append(format_csv_number(each.torques.predicted(k, i)));
      }
    }
  }
  file.text += '\n';
  return file;
}

/// Plots the transmission of the linkage over the knee's motion [MTM, Fig. 13, c and d].
Figure linkage_figure(const LegResult& result) {
  Figure figure;
  figure.name = "figure-linkage";
  figure.title = "The linkage";
  figure.caption =
      "Transmission d knee / d crank, and the knee torque per motor torque, for example of "
      "friction, as in the paper's Fig. 13 (c) and (d).";
  const LegTorques& torques = result.predictions[2].torques;
  std::vector<Eigen::Index> order(static_cast<std::size_t>(torques.knee.size()));
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, {}, [&](Eigen::Index k) { return torques.knee[k]; });
  const auto panel = [&](const std::string& label, const auto& value) {
    Chart chart;
    chart.x_label = "knee [rad]";
    chart.y_label = label;
    ChartSeries series{"", series_css_class(0), {}, {}};
    for (const Eigen::Index k : order) {
      series.x.push_back(torques.knee[k]);
      series.y.push_back(value(torques.transmission[k]));
    }
    chart.series.push_back(std::move(series));
    figure.panels.push_back(std::move(chart));
  };
  panel("d knee / d crank", [](double transmission) { return transmission; });
  panel("knee's over motor's torque", [](double transmission) { return 1.0 / transmission; });
  return figure;
}

/// Writes the study's result in a sentence: the errors of three models and whether the goal is
/// reached.
void conclude_leg(const LegStudy& study, const std::vector<LegResult>& results,
                  StudyReport& report) {
  const auto over_noise = [&](std::size_t model) {
    return Eigen::VectorXd(over_legs(results,
                                     [&](const LegResult& result) {
                                       return result.predictions[model].torques.errors();
                                     }) /
                           study.torque_noise);
  };
  const Eigen::Index motor = driven_of(study);
  const Eigen::VectorXd nominal = over_noise(0), ratio = over_noise(1), loop = over_noise(2);
  report.good =
      loop.maxCoeff() <= kLoopWanted && ratio[motor] > loop[motor] && nominal[motor] > ratio[motor];
  const auto converged =
      std::ranges::count_if(results, [](const LegResult& result) { return result.loop.converged; });
  report.good &= converged == static_cast<std::ptrdiff_t>(results.size());
  report.outcome = format_sentence(
      "torque error over the noise with the linkage at most " + format_number(loop.maxCoeff(), 3) +
      " (wanted ≤ " + format_number(kLoopWanted) + "); at the crank " +
      format_number(loop[motor], 3) + ", with a constant ratio " + format_number(ratio[motor], 3) +
      ", nominal " + format_number(nominal[motor], 3) + "; with the linkage " +
      std::to_string(converged) + " of " + std::to_string(results.size()) +
      " calibrations converged");
}

}  // namespace

std::optional<StudyReport> study_leg(const Study& study, const std::vector<LoadedSet>&,
                                     const TaskRunner& run) {
  const LegStudy& leg = *study.leg;
  std::vector<LegResult> results;
  std::vector<StudyTask> tasks;
  const int legs = leg.drawing ? leg.drawing->legs : 1;
  for (int i = 0; i < legs; ++i) {
    if (!run({}).has_value()) return std::nullopt;
    LegResult& result = results.emplace_back();
    result.leg.name = "recorded leg";
    if (leg.drawing) result.leg = draw_leg(leg, static_cast<std::uint64_t>(i));
    tasks.push_back(task_of("constant ratio", leg.ratio, training_of(leg, result.leg, leg.ratio)));
    tasks.push_back(task_of("linkage", leg.loop, training_of(leg, result.leg, leg.loop)));
  }
  std::optional<std::vector<StudyRun>> runs = run(tasks);
  if (!runs) return std::nullopt;
  for (std::size_t i = 0; i < results.size(); ++i) {
    results[i].ratio = (*runs)[2 * i];
    results[i].loop = (*runs)[2 * i + 1];
    predict(leg, results[i]);
  }

  StudyReport report;
  report.tables.push_back(torque_table(leg, results));
  report.tables.push_back(leg_table(leg, results));
  report.tables.push_back(transmission_table(leg, results));
  report.tables.push_back(parameter_table(leg, results.front()));
  report.figures.push_back(torque_figure(leg, results.front()));
  report.figures.push_back(linkage_figure(results.front()));
  report.files.push_back(torque_file(leg, results.front()));
  if (leg.drawing) {
    report.files.push_back({"training.csv", results.front().leg.training});
    report.files.push_back({"held-out.csv", results.front().leg.held_out});
  }
  conclude_leg(leg, results, report);
  report.runs = std::move(*runs);
  return report;
}

}  // namespace service
