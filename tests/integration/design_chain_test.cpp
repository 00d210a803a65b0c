#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "daq/config/scenario_config.hpp"
#include "daq/console/recording_sink.hpp"
#include "proto/text/files.hpp"
#include "service/calibration/pipeline.hpp"
#include "service/design/experiment.hpp"
#include "service/rig/rig_file.hpp"
#include "tests/daq/simulated_rig.hpp"
#include "tests/support/source_folder.hpp"
#include "tests/support/temporary_folder.hpp"

// A designed run from the rig file to the resulting precision, on the simulated unit in virtual
// time. The unit's pendulum is written in minimal coordinates and shares no code with the design.

namespace {

namespace sim = firmware_iface::sim;

/// The pendulum of configs/sim-furuta-hanging.textproto.
sim::FurutaParameters simulated_furuta() {
  sim::FurutaParameters furuta = daq::shipped_furuta();
  furuta.tilt = {0.006, 0.0, -0.004};
  return furuta;
}

constexpr int kDraws = 200;

std::string config(const std::string& name) {
  return test_support::source_folder() + "/configs/" + name;
}

/// Parameterized by the kind of plan; none: the better one.
class DesignChain : public ::testing::TestWithParam<service::CommandKind> {
 protected:
  std::string path(const std::string& name) const { return folder_.file(name); }

  /// Returns why the run ended; "" if its time was over.
  /// @param recording  file to write; "": none
  std::string run(const std::string& scenario_path, const std::string& recording,
                  const sim::FurutaParameters& furuta) {
    const daq::RigConfig rig = daq::load_rig_config(kRig);
    const daq::ScenarioConfig scenario = daq::load_scenario_config(scenario_path, rig);
    proto::RecordingHeader header;
    header.joints = {"1", "2"};
    std::optional<daq::RecordingSink> sink;
    if (!recording.empty()) {
      auto writer = proto::RecordingWriter::create(recording, header);
      EXPECT_TRUE(writer.ok()) << writer.error().detail;
      sink.emplace(std::move(writer.value()));
    }
    daq::SimulatedRig unit(scenario.scenario, daq::furuta_settings(), daq::simulation_settings(),
                           scenario.limits, sink ? &*sink : nullptr, furuta);
    unit.run();
    const std::string tripped = unit.loop().trip() == nullptr
                                    ? ""
                                    : daq::describe_trip(*unit.loop().trip(), scenario.limits);
    unit.finish();
    if (sink) {
      EXPECT_TRUE(sink->finish().ok());
    }
    return tripped;
  }

  /// Calibrates recordings jointly and writes `json`. Returns the standard deviations by parameter.
  std::map<std::string, double> calibrate(const std::vector<std::string>& recordings,
                                          const std::string& json) {
    service::CalibrationRequest request{
        .rig_name = kRig, .rig_text = proto::read_file(kRig), .recordings = {}};
    for (const std::string& recording : recordings) request.recordings.push_back({recording});
    service::CalibrationInput input = service::load_calibration_input(request);
    const estimator::Calibration calibration = service::run_calibration(input, {});
    EXPECT_TRUE(calibration.converged());
    proto::write_file(json, service::calibration_json(calibration, input.context));
    std::map<std::string, double> deviations;
    for (const estimator::ParameterEstimate& estimate : calibration.parameters) {
      deviations[estimate.name] = estimate.standard_deviation;
    }
    return deviations;
  }

  /// The largest standard deviation, in per cent of the simulation's value, of the parameters for
  /// which a relative deviation is meaningful.
  static double worst(const std::map<std::string, double>& deviations) {
    static const std::map<std::string, double> kTruth = {
        {"A.J_zz", 0.0044}, {"B.J_yy", 0.00396}, {"B.J_zz", 0.0039},  {"1.b", 0.001},
        {"2.b", 0.0001},    {"1.tau_c", 0.004},  {"2.tau_c", 0.0009}, {"1.K", 0.0729}};
    double worst = 0.0;
    for (const auto& [name, value] : kTruth) {
      worst = std::max(worst, 100.0 * deviations.at(name) / value);
    }
    return worst;
  }

  const std::string kRig = config("rig-furuta.textproto");
  const test_support::TemporaryFolder folder_;
};

// The manual's promises for a designed run, compared with the shipped multisine of the same command
// limit and duration: at most half its worst relative deviation; a precision of the order of the
// prediction; and no safety trip, for rigs drawn from the prior.
TEST_P(DesignChain, HalvesTheDeviationsOfTheShippedMultisine) {
  const std::string pulse = config("scenario-pulse.textproto");
  ASSERT_EQ(run(pulse, path("pulse.mcap"), simulated_furuta()), "");
  const auto known = calibrate({path("pulse.mcap")}, path("pulse.json"));
  ASSERT_EQ(run(config("scenario-multisine.textproto"), path("shipped.mcap"), simulated_furuta()),
            "");

  const service::DesignInput prior = service::load_design_input(kRig, path("pulse.json"));
  std::vector<std::string> progress;
  const service::ExperimentRequest request{
      .duration = 20.0,
      .command_max = 6.0,
      .at = {"1=0", "2=0"},
      .kind = GetParam(),
      .threads = 2,
      .progress = [&](const std::string& text) { progress.push_back(text); }};
  const service::DesignedExperiment experiment =
      service::design_experiment(prior, request, path("designed.textproto"));
  EXPECT_GE(progress.size(), 2U);
  EXPECT_TRUE(progress.back().starts_with("simulating 200 parameter samples with the best "))
      << progress.back();
  RecordProperty("kind", command_kind_name(experiment.kind));
  proto::write_file(path("designed.textproto"), experiment.scenario);
  ASSERT_EQ(run(path("designed.textproto"), path("designed.mcap"), simulated_furuta()), "");

  const auto with_shipped =
      calibrate({path("pulse.mcap"), path("shipped.mcap")}, path("with-shipped.json"));
  const auto with_designed =
      calibrate({path("pulse.mcap"), path("designed.mcap")}, path("with-designed.json"));
  RecordProperty("worst_before_percent", std::to_string(worst(known)));
  RecordProperty("worst_with_shipped_percent", std::to_string(worst(with_shipped)));
  RecordProperty("worst_with_designed_percent", std::to_string(worst(with_designed)));
  EXPECT_LT(worst(with_designed), 0.5 * worst(with_shipped));

  std::map<std::string, double> predicted;
  for (const service::ExperimentPrecision& parameter : experiment.parameters) {
    predicted[parameter.name] = parameter.after;
    const double ratio = with_designed.at(parameter.name) / parameter.after;
    RecordProperty(parameter.name + "_obtained_over_predicted", std::to_string(ratio));
    // Where a joint moves little, its readings repeat the same quantization errors. Calibrations
    // inflate standard deviations by these errors, averaged over similar motions. The prediction
    // considers one motion. Ratios up to 11.5 were measured, for 2.b.
    EXPECT_LT(ratio, 15.0) << parameter.name;
    EXPECT_GT(ratio, 0.33) << parameter.name;
  }
  EXPECT_GT(worst(with_designed), 0.6 * worst(predicted));

  std::mt19937_64 random(7);
  for (int k = 0; k < kDraws; ++k) {
    const estimator::Mechanism drawn =
        estimator::draw_parameters(prior.rig.mechanism, prior.knowledge, random);
    const auto value = [&](const char* name) {
      return drawn.parameters[static_cast<std::size_t>(drawn.find_parameter(name))].value;
    };
    sim::FurutaParameters furuta = simulated_furuta();
    furuta.arm_inertia_zz = value("A.J_zz");
    furuta.pendulum_inertia_yy = value("B.J_yy");
    furuta.pendulum_inertia_zz = value("B.J_zz");
    furuta.arm_friction.viscous = value("1.b");
    furuta.arm_friction.coulomb = value("1.tau_c");
    furuta.pendulum_friction.viscous = value("2.b");
    furuta.pendulum_friction.coulomb = value("2.tau_c");
    furuta.motor_gain = value("1.K");
    furuta.tilt = {value("gravity.tilt_x"), 0.0, value("gravity.tilt_z")};
    EXPECT_EQ(run(path("designed.textproto"), "", furuta), "");
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, DesignChain,
                         ::testing::Values(service::CommandKind::kMultisine,
                                           service::CommandKind::kPulses,
                                           service::CommandKind::kSwingUp),
                         [](const auto& kind) {
                           std::string name = command_kind_name(kind.param);
                           std::erase(name, '-');
                           return name;
                         });

}  // namespace
