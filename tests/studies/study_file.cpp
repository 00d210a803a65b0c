#include "tests/studies/study_file.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <set>
#include <utility>

#include "estimator/model/spanning_tree.hpp"
#include "proto/text/files.hpp"
#include "proto/text/input_error.hpp"
#include "proto/text/text_file.hpp"
#include "service/simulation/scenario.hpp"
#include "tests/studies/arm/arm_file.hpp"
#include "tests/studies/given.hpp"
#include "tests/studies/leg/leg_file.hpp"
#include "tests/studies/study.pb.h"
#include "tests/studies/study_ranges.hpp"

namespace service {
namespace {

namespace v1 = rigcal::v1;

std::vector<std::string> texts(const google::protobuf::RepeatedPtrField<std::string>& list) {
  return {list.begin(), list.end()};
}

/// Reader of a study message, which checks its values.
class StudyReader {
 public:
  StudyReader(const std::string& path, const v1::Study& source, const proto::TextLocator& root)
      : source_(source), root_(root) {
    study_.path = path;
  }

  Study read() {
    study_.kind = read_kind();
    study_.title = source_.title();
    if (study_.kind == StudyKind::kRedundant) {
      study_.redundant = read_redundant();
      return std::move(study_);
    }
    if (study_.kind == StudyKind::kLeg) {
      study_.leg = read_leg(source_.leg(), root_.at("leg"), beside(""));
      return std::move(study_);
    }
    if (study_.kind == StudyKind::kArm) {
      study_.arms = read_arms(source_.arms(), root_);
      return std::move(study_);
    }
    const StudySettings common = read_settings(source_.settings(), root_.at("settings"));
    read_methods();
    if (source_.set_size() == 0) root_.fail("names no rig; write set { name: ... rig: ... }");
    for (int i = 0; i < source_.set_size(); ++i) {
      study_.sets.push_back(read_set(source_.set(i), root_.at("set", i), common));
    }
    check_names(study_.sets, "set");
    read_sweeps();
    read_starts();
    read_trace();
    return std::move(study_);
  }

 private:
  StudyKind read_kind() const {
    switch (source_.kind()) {
      case v1::Study::PENDULUM:
        return StudyKind::kPendulum;
      case v1::Study::FURUTA:
        return StudyKind::kFuruta;
      case v1::Study::SYNTHETIC:
        return StudyKind::kSynthetic;
      case v1::Study::ROBUSTNESS:
        return StudyKind::kRobustness;
      case v1::Study::REDUNDANT:
        return StudyKind::kRedundant;
      case v1::Study::LEG:
        return StudyKind::kLeg;
      case v1::Study::ARM:
        return StudyKind::kArm;
      default:
        root_.at("kind").fail(
            "write kind: PENDULUM, FURUTA, SYNTHETIC, ROBUSTNESS, REDUNDANT, LEG or ARM");
    }
  }

  template <typename Named>
  void check_names(const std::vector<Named>& items, const char* what) const {
    std::set<std::string> names;
    for (const Named& item : items) {
      if (item.name.empty()) root_.fail("every " + std::string(what) + " needs a name");
      if (names.insert(item.name).second) continue;
      root_.fail("the name \"" + item.name + "\" is used by more than one " + what +
                 "; give each a unique name");
    }
  }

  static StudySettings read_settings(const v1::StudySettings& source,
                                     const proto::TextLocator& place) {
    StudySettings settings;
    settings.step = given(source.step_s(), place, "step_s");
    settings.state_error_weight = given(source.state_error_weight(), place, "state_error_weight");
    if (source.has_compliance()) {
      settings.compliance = source.compliance();
    }
    if (source.has_damping_time_s()) {
      settings.damping_time = source.damping_time_s();
    }
    if (source.max_iterations() > 0) settings.max_iterations = source.max_iterations();
    return settings;
  }

  void read_methods() {
    for (int i = 0; i < source_.method_size(); ++i) {
      const v1::StudyMethod& method = source_.method(i);
      StudyMethod out;
      out.name = method.name();
      if (method.residual() == v1::StudyMethod::EXPLICIT) {
        out.residual = estimator::ResidualForm::kExplicit;
      }
      if (method.states() == v1::StudyMethod::FULL) out.states = estimator::StateForm::kFull;
      if (method.has_weighting_compliance()) {
        out.weighting_compliance = method.weighting_compliance();
      }
      out.approach = method.start_from_physical();
      out.physical = method.physical();
      study_.methods.push_back(std::move(out));
    }
    if (study_.methods.empty()) study_.methods.push_back({"implicit"});
    if (study_.methods.front().physical && source_.kind() != v1::Study::ROBUSTNESS) {
      root_.at("method", 0).fail("the first method must use the simulator, which the sweeps need");
    }
    check_names(study_.methods, "method");
  }

  StudySet read_set(const v1::StudySet& source, const proto::TextLocator& place,
                    const StudySettings& common) {
    StudySet set;
    set.name = source.name();
    if (source.rig().empty()) place.fail("names no rig file; write rig: \"rig-....textproto\"");
    const std::string rig_path = beside(source.rig());
    set.rig = load_rig(rig_path);
    set.folder = source.folder() == v1::RECORDINGS        ? StudyFolder::kRecordings
                 : source.folder() == v1::EVALUATION_DATA ? StudyFolder::kEvaluationData
                                                          : StudyFolder::kBesideStudy;
    set.settings =
        source.has_settings() ? read_settings(source.settings(), place.at("settings")) : common;
    for (int i = 0; i < source.truth_size(); ++i) {
      set.truth.push_back(read_truth(source.truth(i), set.rig, place.at("truth", i)));
    }
    for (int i = 0; i < source.recording_size(); ++i) {
      set.recordings.push_back(
          read_recording(source.recording(i), place.at("recording", i), set.rig));
    }
    if (set.recordings.empty()) place.fail("has no recording");
    for (int i = 0; i < source.model_size(); ++i) {
      const v1::StudyModel& model = source.model(i);
      set.models.push_back({model.name(), read_edits(model.start(), model.free(), model.fix(),
                                                     set.rig, place.at("model", i))});
    }
    if (set.models.empty()) set.models.push_back({"rig file", {}});
    check_names(set.recordings, "recording of a set");
    check_names(set.models, "model of a set");
    return set;
  }

  static TrueValue read_truth(const std::string& text, const Rig& rig,
                              const proto::TextLocator& place) {
    const std::size_t equals = text.find('=');
    TrueValue truth{text.substr(0, equals), 0.0};
    const char* begin = text.data() + std::min(equals, text.size() - 1) + 1;
    const char* end = text.data() + text.size();
    const auto number = std::from_chars(begin, end, truth.value);
    if (equals == std::string::npos || number.ec != std::errc() || number.ptr != end) {
      place.fail("truth: \"" + text + "\" is not NAME=VALUE");
    }
    if (rig.mechanism.find_parameter(truth.name) < 0) {
      place.fail("truth: the rig has no parameter \"" + truth.name +
                 "\" (rigcal info RIG lists all)");
    }
    return truth;
  }

  /// Reads edits of parameters and applies them on trial, so that errors are reported before a run.
  static ParameterEdits read_edits(const google::protobuf::RepeatedPtrField<std::string>& start,
                                   const google::protobuf::RepeatedPtrField<std::string>& free,
                                   const google::protobuf::RepeatedPtrField<std::string>& fix,
                                   const Rig& rig, const proto::TextLocator& place) {
    ParameterEdits edits{texts(start), texts(free), texts(fix)};
    estimator::Mechanism mechanism = rig.mechanism;
    try {
      apply_parameter_edits(edits, mechanism);
    } catch (const proto::InputError& error) {
      place.fail(error.what());
    }
    return edits;
  }

  StudyRecording read_recording(const v1::StudyRecording& source, const proto::TextLocator& place,
                                const Rig& rig) const {
    StudyRecording recording;
    recording.name = source.name();
    recording.file = source.file();
    if (source.file().empty() == !source.has_simulation()) {
      place.fail("needs either a file or a simulation { }");
    }
    if (source.has_simulation()) {
      recording.simulation = read_simulation(source.simulation(), place.at("simulation"), rig);
    }
    if (source.has_from_s()) recording.selection.from = source.from_s();
    if (source.has_to_s()) recording.selection.to = source.to_s();
    if (!(recording.selection.from < recording.selection.to)) {
      place.fail("from_s must be less than to_s");
    }
    if (!source.segments().empty()) {
      try {
        recording.selection.segments = parse_segment_list(source.segments());
      } catch (const proto::InputError& error) {
        place.at("segments").fail(error.what());
      }
    }
    recording.edits = read_edits({}, {}, source.fix(), rig, place);
    return recording;
  }

  StudySimulation read_simulation(const v1::StudySimulation& source,
                                  const proto::TextLocator& place, const Rig& rig) const {
    if (source.scenario().empty()) place.fail("names no scenario file");
    StudySimulation simulation{.scenario = load_scenario(beside(source.scenario()), rig),
                               .step = given(source.step_s(), place, "step_s")};
    if (source.has_compliance()) {
      simulation.compliance = source.compliance();
    }
    if (source.has_damping_time_s()) {
      simulation.damping_time = source.damping_time_s();
    }
    return simulation;
  }

  static std::vector<double> read_values(const google::protobuf::RepeatedField<double>& list,
                                         const proto::TextLocator& place, const char* field) {
    if (list.empty()) place.fail("has no " + std::string(field));
    return {list.begin(), list.end()};
  }

  void read_sweeps() {
    study_.sweep_recording = source_.sweep_recording();
    for (int i = 0; i < source_.sweep_size(); ++i) {
      const v1::StudySweep& sweep = source_.sweep(i);
      const proto::TextLocator place = root_.at("sweep", i);
      StudySweep out;
      switch (sweep.axis()) {
        case v1::StudySweep::STEP:
          out.axis = SweepAxis::kStep;
          break;
        case v1::StudySweep::COMPLIANCE:
          out.axis = SweepAxis::kCompliance;
          break;
        case v1::StudySweep::STATE_ERROR_WEIGHT:
          out.axis = SweepAxis::kStateErrorWeight;
          break;
        default:
          place.fail("write axis: STEP, COMPLIANCE or STATE_ERROR_WEIGHT");
      }
      out.values = read_values(sweep.value(), place, "value");
      if (out.axis != SweepAxis::kCompliance && out.values.front() == 0.0) {
        place.at("value", 0).fail("only a compliance may be 0");
      }
      if (!std::is_sorted(out.values.begin(), out.values.end(), std::less_equal<>())) {
        place.at("value", 0).fail("values must increase");
      }
      study_.sweeps.push_back(std::move(out));
    }
    check_recording(study_.sweep_recording, root_, "sweep_recording");
  }

  void read_starts() {
    if (!source_.has_starts()) return;
    const proto::TextLocator place = root_.at("starts");
    study_.starts.factor = source_.starts().factor();
    if (study_.starts.factor == 0.0) place.at("factor").fail("factor must be given, above 1");
    study_.starts.random = source_.starts().random();
    study_.starts.seed = source_.starts().seed();
  }

  void read_trace() {
    if (!source_.has_trace()) return;
    const proto::TextLocator place = root_.at("trace");
    study_.trace.recording = source_.trace().recording();
    check_recording(study_.trace.recording, place, "recording");
    study_.trace.state_error_weights =
        read_values(source_.trace().state_error_weight(), place, "state_error_weight");
  }

  /// Checks that the name of a recording for sweeps or traces is in the first set.
  void check_recording(const std::string& name, const proto::TextLocator& place,
                       const char* field) const {
    if (name.empty()) return;
    for (const StudyRecording& recording : study_.sets.front().recordings) {
      if (recording.name == name) return;
    }
    place.at(field).fail("set \"" + study_.sets.front().name + "\" has no recording \"" + name +
                         "\"");
  }

  RedundantStudy read_redundant() const {
    const v1::StudyRedundant& source = source_.redundant();
    const proto::TextLocator place = root_.at("redundant");
    if (!source.has_chain() && !source.has_robot())
      place.fail("has neither chain { } nor robot { }");
    const proto::TextLocator at_noise = place.at("noise");
    const v1::StudyNoise& noise = source.noise();
    RedundantStudy redundant;
    redundant.noise = {
        .gyroscope = given(noise.gyroscope_rad_s(), at_noise, "gyroscope_rad_s"),
        .accelerometer = given(noise.accelerometer_m_s2(), at_noise, "accelerometer_m_s2"),
        .force = given(noise.force_n(), at_noise, "force_N"),
        .moment = given(noise.moment_nm(), at_noise, "moment_Nm"),
        .encoder = given(noise.encoder_rad(), at_noise, "encoder_rad")};
    if (source.has_chain()) redundant.chain = read_chain(source.chain(), place.at("chain"));
    if (source.has_robot()) redundant.robot = read_robot(source.robot(), place.at("robot"));
    return redundant;
  }

  static RedundantChain read_chain(const v1::StudyChain& source, const proto::TextLocator& place) {
    RedundantChain chain;
    chain.links = given(source.links(), place, "links");
    chain.draws = given(source.repetitions(), place, "repetitions");
    chain.seed = source.seed();
    chain.angle_error = given(source.angle_error_rad(), place, "angle_error_rad");
    chain.rate_error = given(source.rate_error_rad_s(), place, "rate_error_rad_s");
    chain.dynamics_error = given(source.dynamics_error(), place, "dynamics_error");
    chain.records = source.records();
    if (chain.records == 0) return chain;
    chain.duration = given(source.duration_s(), place, "duration_s");
    chain.period = 1.0 / given(source.rate_hz(), place, "rate_Hz");
    chain.jerk = given(source.jerk(), place, "jerk");
    return chain;
  }

  RedundantRobot read_robot(const v1::StudyRobot& source, const proto::TextLocator& place) const {
    if (source.rig().empty()) place.fail("names no rig file; write rig: \"rig-....textproto\"");
    RedundantRobot robot;
    robot.path = beside(source.rig());
    if (!std::filesystem::exists(robot.path)) return robot;
    robot.mechanism = parse_rig(robot.path, proto::read_file(robot.path)).mechanism;
    const estimator::Mechanism& mechanism = *robot.mechanism;
    if (!estimator::is_tree_mechanism(mechanism)) {
      place.at("rig").fail("the robot's joints close loops; a redundant study needs a tree");
    }
    robot.gyroscopes =
        read_names(source.gyroscope(), mechanism.sensors, "inertial sensor", place, "gyroscope");
    robot.wrenches = read_names(source.wrench(), mechanism.joints, "joint", place, "wrench");
    robot.held_out = read_names(source.joints_without_encoder(), mechanism.joints, "joint", place,
                                "joints_without_encoder");
    robot.about.setZero(mechanism.joint_count());
    for (int i = 0; i < source.about_size(); ++i) {
      const proto::TextLocator at = place.at("about", i);
      robot.about[index_of(source.about(i).name(), mechanism.joints, "joint", at, "name")] =
          source.about(i).angle_rad();
    }
    robot.amplitude = source.amplitude_rad();
    robot.slowest = given(source.frequency_min_hz(), place, "frequency_min_Hz");
    robot.fastest = given(source.frequency_max_hz(), place, "frequency_max_Hz");
    if (robot.slowest > robot.fastest) {
      place.at("frequency_min_Hz").fail("frequency_min_Hz must not exceed frequency_max_Hz");
    }
    robot.seed = source.seed();
    robot.duration = given(source.duration_s(), place, "duration_s");
    robot.period = 1.0 / given(source.rate_hz(), place, "rate_Hz");
    robot.jerk = given(source.jerk(), place, "jerk");
    robot.external_force = source.external_force_deviation_n();
    robot.external_moment = source.external_moment_deviation_nm();
    return robot;
  }

  template <typename Named>
  static int index_of(const std::string& name, const std::vector<Named>& items, const char* what,
                      const proto::TextLocator& place, const char* field) {
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (items[i].name == name) return static_cast<int>(i);
    }
    place.at(field).fail("the rig has no " + std::string(what) + " \"" + name +
                         "\" (rigcal info RIG lists all)");
  }

  template <typename Named>
  static std::vector<int> read_names(const google::protobuf::RepeatedPtrField<std::string>& names,
                                     const std::vector<Named>& items, const char* what,
                                     const proto::TextLocator& place, const char* field) {
    std::vector<int> indices;
    for (const std::string& name : names) {
      indices.push_back(index_of(name, items, what, place, field));
    }
    return indices;
  }

  std::string beside(const std::string& file) const {
    return (std::filesystem::path(study_.path).parent_path() / file).string();
  }

  const v1::Study& source_;
  proto::TextLocator root_;
  Study study_;
};

}  // namespace

Study load_study(const std::string& path) {
  v1::Study message;
  proto::TextLocator::Tree tree;
  proto::parse_text(path, proto::read_file(path), message, tree, study_ranges());
  return StudyReader(path, message, proto::TextLocator(path, v1::Study::descriptor(), &tree))
      .read();
}

}  // namespace service
