#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "service/cli/commands/command_options.hpp"
#include "service/cli/remote/remote_calibration.hpp"
#include "service/options/option_message.hpp"
#include "service/recordings/recording_selection.hpp"
#include "tests/service/option_examples.hpp"
#include "tests/service/run_rigcal.hpp"
#include "tests/support/refusal.hpp"

// Every option of the commands is set to a value of its own and read back at its destination. The
// values reveal an option bound to its neighbour's variable, the count one that no test sets.

namespace service {
namespace {

/// A command with its options and arguments. Expects that the arguments use every option except the
/// named ones, which exclude others.
template <typename Options>
void parse(const std::string& arguments, Options& options, const std::set<std::string>& left_out) {
  CLI::App command;
  add_options(command, options);
  command.parse(arguments);
  for (const CLI::Option* option : command.get_options()) {
    const std::string name = option->get_name();
    if (name == "--help" || left_out.contains(name)) {
      EXPECT_EQ(option->count(), 0U) << name;
    } else {
      EXPECT_GT(option->count(), 0U) << name << " is set by no test";
    }
  }
}

std::string all_arguments() {
  std::string text;
  for (const estimator::OptionRow& row : estimator::kOptionRows) text += argument(row);
  return text;
}

const std::string kEstimation =
    "a.csv session:b --rig rig.textproto --from 1.5 --to 9.5 --segments 0-3,5 --free 1.b "
    "--free 2.b --fix 1.K=0.07 --start 2.b=0.25 --start 1.b=0.5 --threads 3 --quiet --verbose "
    "--hold-out 2 --parameters values.json --operator Ada --topic /joints "
    "--time-limit 90" +
    all_arguments() + " ";

void expect_estimation(const EstimationOptions& options) {
  EXPECT_EQ(options.recordings, (std::vector<std::string>{"a.csv", "session:b"}));
  EXPECT_EQ(options.rig, "rig.textproto");
  EXPECT_EQ(options.selection.from, 1.5);
  EXPECT_EQ(options.selection.to, 9.5);
  EXPECT_EQ(options.segments, "0-3,5");
  EXPECT_EQ(options.selection.topic, "/joints");
  EXPECT_EQ(options.edits.free, (std::vector<std::string>{"1.b", "2.b"}));
  EXPECT_EQ(options.edits.fix, (std::vector<std::string>{"1.K=0.07"}));
  EXPECT_EQ(options.edits.start, (std::vector<std::string>{"2.b=0.25", "1.b=0.5"}));
  EXPECT_EQ(options.edits.hold_out, std::vector<std::string>{"2"});
  EXPECT_EQ(options.values, "values.json");
  EXPECT_TRUE(options.quiet);
  EXPECT_TRUE(options.verbose);
  EXPECT_EQ(options.threads, 3);
  EXPECT_EQ(options.operator_name, "Ada");
  EXPECT_EQ(options.time_limit, 90.0);
  expect_examples(options.calibration, is_on_command_line);
}

const std::string kService =
    "--server here:1 --tls-cert cert.pem --tls-key key.pem --tls-ca ca.pem --job mine --detach "
    "--skip-cross-validation ";

const std::string kReport = "--json out.json --plot out.html ";

void expect_report(const ResultFiles& files) {
  EXPECT_EQ(files.json, "out.json");
  EXPECT_EQ(files.plot, "out.html");
}

const std::string kOutputs =
    kReport +
    "--rig-out out.textproto --rig-out-priors --urdf-out out.urdf --mjcf-out out.xml "
    "--force --trajectories ";

void expect_outputs(const ResultFiles& files) {
  expect_report(files);
  EXPECT_EQ(files.rig_out, "out.textproto");
  EXPECT_EQ(files.urdf_out, "out.urdf");
  EXPECT_EQ(files.mjcf_out, "out.xml");
  EXPECT_TRUE(files.rig_out_priors);
  EXPECT_TRUE(files.force);
  EXPECT_TRUE(files.trajectories);
}

TEST(OptionBinding, OfCalibrate) {
  CalibrateOptions options;
  parse(kEstimation + kService + kOutputs, options, {});
  expect_estimation(options.estimation);
  expect_outputs(options.files);
  EXPECT_EQ(options.remote.server.host_port, "here:1");
  EXPECT_EQ(options.remote.server.tls.certificate, "cert.pem");
  EXPECT_EQ(options.remote.server.tls.private_key, "key.pem");
  EXPECT_EQ(options.remote.server.tls.authority, "ca.pem");
  EXPECT_EQ(options.remote.job_id, "mine");
  EXPECT_TRUE(options.remote.detach);
  EXPECT_TRUE(options.remote.skip_cross_validation);
}

TEST(OptionBinding, OfCheck) {
  CheckOptions options;
  parse(kEstimation + kReport, options, {});
  expect_estimation(options.estimation);
  expect_report(options.files);
}

TEST(OptionBinding, OfRepeat) {
  RepeatOptions options;
  parse("run.json a.csv b.mcap --changed-data --threads 3 --quiet --verbose " + kOutputs, options,
        {});
  EXPECT_EQ(options.result, "run.json");
  EXPECT_EQ(options.recordings, (std::vector<std::string>{"a.csv", "b.mcap"}));
  EXPECT_TRUE(options.changed_data);
  EXPECT_EQ(options.threads, 3);
  EXPECT_TRUE(options.quiet);
  EXPECT_TRUE(options.verbose);
  expect_outputs(options.files);
}

TEST(OptionBinding, OfCrossvalidate) {
  CrossvalidateOptions options;
  parse(kEstimation + "--by segment " + kReport, options, {"--parts", "--part-length"});
  expect_estimation(options.estimation);
  EXPECT_EQ(options.cut.kind, HeldOutPartKind::kSegment);
  expect_report(options.files);

  CrossvalidateOptions counted;
  parse(kEstimation + "--parts 7 --json x --plot y", counted, {"--by", "--part-length"});
  EXPECT_EQ(counted.cut.count, 7);
  CrossvalidateOptions measured;
  parse(kEstimation + "--part-length 2.5 --json x --plot y", measured, {"--by", "--parts"});
  EXPECT_EQ(measured.cut.length, 2.5);
}

TEST(OptionBinding, OfValidate) {
  ValidateOptions options;
  parse(kEstimation + "--window 2.5 --start-window 0.75 " + kReport, options, {});
  expect_estimation(options.estimation);
  EXPECT_EQ(options.window, 2.5);
  EXPECT_EQ(options.start_window, 0.75);
  expect_report(options.files);
}

TEST(OptionBinding, OfEstimate) {
  EstimateOptions options;
  parse(kEstimation + "--out states.csv --only angle,force --causal --lag 0.25", options, {});
  expect_estimation(options.estimation);
  EXPECT_EQ(options.out, "states.csv");
  EXPECT_EQ(options.only, (std::vector<std::string>{"angle", "force"}));
  EXPECT_TRUE(options.causal);
  EXPECT_EQ(options.lag, 0.25);
}

TEST(OptionBinding, OfCompare) {
  CompareOptions options;
  parse(kEstimation +
            "--laws viscous,viscous+dry --joint 1 --joint 2 --by window --window 2.5 --folds 7 "
            "" +
            kReport,
        options, {});
  expect_estimation(options.estimation);
  EXPECT_EQ(options.laws, (std::vector<std::string>{"viscous", "viscous+dry"}));
  EXPECT_EQ(options.joints, (std::vector<std::string>{"1", "2"}));
  EXPECT_EQ(options.by, ComparisonParts::kWindow);
  EXPECT_EQ(options.window, 2.5);
  EXPECT_EQ(options.folds, 7);
  expect_report(options.files);
}

TEST(OptionBinding, OfSimulate) {
  SimulateOptions options;
  parse(
      "--rig r --scenario s --out o --plot p --step 0.003 --start 1.b=2 --parameters v.json "
      "--integrator physical --time-limit 90",
      options, {});
  EXPECT_EQ(options.time_limit, 90.0);
  EXPECT_EQ(options.plot, "p");
  EXPECT_EQ(options.values, "v.json");
  EXPECT_EQ(options.rig, "r");
  EXPECT_EQ(options.scenario, "s");
  EXPECT_EQ(options.out, "o");
  EXPECT_EQ(options.step, 0.003);
  EXPECT_EQ(options.edits.start, (std::vector<std::string>{"1.b=2"}));
  EXPECT_EQ(options.integrator, Integrator::kPhysical);
}

const std::string kExperiment =
    "--duration 12 --rate 500 --motor m --command-max 3 --kind pulses --at 1=0.5 --at 2=1 "
    "--threads 3 ";

void expect_experiment(const ExperimentRequest& experiment) {
  EXPECT_EQ(experiment.duration, 12.0);
  EXPECT_EQ(experiment.rate, 500.0);
  EXPECT_EQ(experiment.motor, "m");
  EXPECT_EQ(experiment.command_max, 3.0);
  EXPECT_EQ(experiment.kind, CommandKind::kPulses);
  EXPECT_EQ(experiment.at, (std::vector<std::string>{"1=0.5", "2=1"}));
  EXPECT_EQ(experiment.threads, 3);
}

TEST(OptionBinding, OfDesign) {
  DesignOptions options;
  parse(kExperiment + "--rig r --after a --for 1.b:2% 2.b --out o --quiet", options,
        {"--parameters"});
  expect_experiment(options.experiment);
  EXPECT_EQ(options.rig, "r");
  EXPECT_EQ(options.after, "a");
  EXPECT_EQ(options.targets, (std::vector<std::string>{"1.b:2%", "2.b"}));
  EXPECT_EQ(options.out, "o");
  EXPECT_TRUE(options.quiet);
  DesignOptions valued;
  parse(kExperiment + "--rig r --parameters v --for 2.b --out o", valued, {"--after", "--quiet"});
  EXPECT_EQ(valued.values, "v");
  EXPECT_EQ(valued.after, "");
}

TEST(OptionBinding, OfIdentify) {
  IdentifyOptions options;
  parse(kExperiment +
            "--rig r --until 1.b:2% 2.b:1 --folder f --parameters v --url u --runs 4 --pause 7 "
            "--daq d --quiet --not-commissioned",
        options, {});
  expect_experiment(options.experiment);
  EXPECT_EQ(options.rig, "r");
  EXPECT_EQ(options.targets, (std::vector<std::string>{"1.b:2%", "2.b:1"}));
  EXPECT_EQ(options.folder, "f");
  EXPECT_EQ(options.values, "v");
  EXPECT_EQ(options.url, "u");
  EXPECT_EQ(options.runs, 4);
  EXPECT_EQ(options.pause, 7.0);
  EXPECT_EQ(options.daq, "d");
  EXPECT_TRUE(options.not_commissioned);
  EXPECT_TRUE(options.quiet);
}

TEST(OptionBinding, OfInit) {
  InitOptions options;
  parse(
      "--out o --force --kind k --from f --name n --links 4 --length 1,2 --center 3,4 --mass 5,6 "
      "--arm-length 7 --arm-center 8 --arm-mass 9 --cart-mass 10 --ground 11 --axis-lean 12 "
      "--gravity 13 --time t --time-unit ms --rate 14 --angle a,b --angle-unit deg --position x "
      "--position-unit mm --absolute --zero upright,20 --invert b --counts 15,16 --counts-per-m 17 "
      "--command u --command-unit A --no-motor --segment s --topic /joints --columns t,a,b "
      "--unit tcp:h:1 --channels b,a --range -90:90,0:1 --speed-max 18,19 --command-max 20",
      options, {});
  EXPECT_EQ(options.unit, "tcp:h:1");
  EXPECT_EQ(options.channels, (std::vector<std::string>{"b", "a"}));
  EXPECT_EQ(options.ranges, (std::vector<std::string>{"-90:90", "0:1"}));
  EXPECT_EQ(options.speeds, (std::vector<double>{18, 19}));
  EXPECT_EQ(options.command_max, 20.0);
  EXPECT_EQ(options.out, "o");
  EXPECT_TRUE(options.force);
  EXPECT_EQ(options.kind, "k");
  EXPECT_EQ(options.from, "f");
  EXPECT_EQ(options.name, "n");
  EXPECT_EQ(options.links, 4);
  EXPECT_EQ(options.lengths, (std::vector<double>{1, 2}));
  EXPECT_EQ(options.centers, (std::vector<double>{3, 4}));
  EXPECT_EQ(options.masses, (std::vector<double>{5, 6}));
  EXPECT_EQ(options.arm_length, 7.0);
  EXPECT_EQ(options.arm_center, 8.0);
  EXPECT_EQ(options.arm_mass, 9.0);
  EXPECT_EQ(options.cart_mass, 10.0);
  EXPECT_EQ(options.ground, 11.0);
  EXPECT_EQ(options.axis_tilt, 12.0);
  EXPECT_EQ(options.gravity, 13.0);
  EXPECT_TRUE(options.absolute);
  const ColumnChoice& columns = options.columns;
  EXPECT_EQ(columns.names, (std::vector<std::string>{"t", "a", "b"}));
  EXPECT_EQ(columns.time, "t");
  EXPECT_EQ(columns.time_unit, "ms");
  EXPECT_EQ(columns.rate, 14.0);
  EXPECT_EQ(columns.angles, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(columns.angle_unit, "deg");
  EXPECT_EQ(columns.position, "x");
  EXPECT_EQ(columns.position_unit, "mm");
  EXPECT_EQ(columns.zeros, (std::vector<std::string>{"upright", "20"}));
  EXPECT_EQ(columns.inverted, std::vector<std::string>{"b"});
  EXPECT_EQ(columns.counts, (std::vector<double>{15, 16}));
  EXPECT_EQ(columns.counts_per_m, 17.0);
  EXPECT_EQ(columns.command, "u");
  EXPECT_EQ(columns.command_unit, "A");
  EXPECT_TRUE(columns.no_motor);
  EXPECT_EQ(columns.segment, "s");
  EXPECT_EQ(options.topic, "/joints");
}

// A job requests the same as a local run. Every field of the job is read back, except the deadline,
// which no option sets.
TEST(OptionBinding, OfJobSubmission) {
  const TemporaryFolder folder;
  CalibrateOptions options;
  parse(kEstimation + kService + kOutputs, options, {});
  options.estimation.rig = folder.write("mine.textproto", "name: \"mine\"");
  options.estimation.values.clear();  // ParameterValuesFile.ReachAJob
  const rigcal::v1::JobSpec spec =
      make_job_spec(options.remote, options.estimation,
                    [](const std::string& recording) { return "held-" + recording; });
  EXPECT_EQ(spec.rig_name(), "mine.textproto");
  EXPECT_EQ(spec.rig_text(), "name: \"mine\"");
  ASSERT_EQ(spec.recordings_size(), 2);
  for (const rigcal::v1::JobRecording& recording : spec.recordings()) {
    EXPECT_EQ(recording.from_s(), 1.5);
    EXPECT_EQ(recording.to_s(), 9.5);
    EXPECT_EQ(std::vector<int>(recording.segments().begin(), recording.segments().end()),
              (std::vector<int>{0, 1, 2, 3, 5}));
  }
  EXPECT_EQ(spec.recordings(0).session_id(), "held-a.csv");
  EXPECT_EQ(spec.recordings(0).name(), "a.csv");
  EXPECT_EQ(spec.recordings(1).session_id(), "held-session:b");
  EXPECT_EQ(spec.recordings(1).name(), "");
  EXPECT_EQ(spec.start_size(), 2);
  EXPECT_EQ(spec.start(0), "2.b=0.25");
  EXPECT_EQ(spec.free_size(), 2);
  EXPECT_EQ(spec.free(1), "2.b");
  EXPECT_EQ(spec.fix_size(), 1);
  EXPECT_EQ(spec.fix(0), "1.K=0.07");
  ASSERT_EQ(spec.hold_out_size(), 1);
  EXPECT_EQ(spec.hold_out(0), "2");
  EXPECT_TRUE(spec.skip_cross_validation());
  EXPECT_EQ(spec.time_limit_s(), 90.0);
  expect_examples(read_job_options(spec), is_on_command_line);
}

// The id of a job is a hash of its specification. Options for progress, threads and output files
// must not make the same calibration another job; options of the calibration must.
TEST(OptionBinding, OfDisplayDoesNotChangeAJob) {
  const TemporaryFolder folder;
  const std::string rig = folder.write("rig.textproto", "name: \"mine\"");
  const auto specification = [&](const std::string& more) {
    CLI::App command;
    CalibrateOptions options;
    add_options(command, options);
    command.parse("a.csv --rig " + rig + " --server here:1 " + more);
    return make_job_spec(options.remote, options.estimation,
                         [](const std::string& recording) { return recording; })
        .DebugString();
  };
  const std::string plain = specification("");
  for (const std::string& more :
       {std::string("--quiet"), std::string("--verbose"), std::string("--threads 3"),
        std::string("--detach"), kOutputs}) {
    EXPECT_EQ(specification(more), plain) << more;
  }
  for (const char* const more :
       {"--to 1", "--fix pivot.b", "--skip-cross-validation", "--time-limit 90"}) {
    EXPECT_NE(specification(more), plain) << more;
  }
}

// For a recording: from, to and segments, each omitted for all of it; from is before to.
TEST(OptionBinding, OfAJobsRecordings) {
  rigcal::v1::JobRecording recording;
  EXPECT_TRUE(std::isinf(read_job_selection(recording).from) &&
              read_job_selection(recording).from < 0.0);
  EXPECT_TRUE(std::isinf(read_job_selection(recording).to) &&
              read_job_selection(recording).to > 0.0);
  EXPECT_TRUE(read_job_selection(recording).segments.empty());
  recording.set_session_id("run");
  recording.set_from_s(0.0);
  recording.add_segments(2);
  EXPECT_EQ(read_job_selection(recording).from, 0.0);
  EXPECT_EQ(read_job_selection(recording).segments, std::vector<int>{2});
  recording.set_to_s(1.5);
  EXPECT_EQ(read_job_selection(recording).to, 1.5);
  for (const double to_s : {0.0, -1.0}) {
    recording.set_to_s(to_s);
    EXPECT_NE(test_support::refusal([&] { (void)read_job_selection(recording); }).find("\"run\""),
              std::string::npos);
  }
}

}  // namespace
}  // namespace service
