#include "service/simulation/scenario.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "daq/scenario/scenario_message.hpp"
#include "estimator/model/joint_stop.hpp"
#include "estimator/model/spanning_tree.hpp"
#include "estimator/simulation/loops/loop_closure.hpp"
#include "estimator/simulation/statics/equilibrium.hpp"
#include "proto/text/files.hpp"
#include "proto/text/text_file.hpp"
#include "service/rig/rig_joints.hpp"
#include "service/text/number_format.hpp"

namespace service {
namespace {

constexpr double kAnywhere = std::numeric_limits<double>::quiet_NaN();

// Largest deviation of a joint from its given coordinate [rad; times the joint's scale]. Measured
// joints must match exactly; the others may be given with few digits.
constexpr double kReadNear = 1e-3, kPassiveNear = 0.05;

// Joints move to their given coordinates by steps of at most this [rad], so that the loops keep
// their assembly branch.
constexpr double kWayStep = 0.05;
constexpr int kWayStepsMax = 1000;

/// Solver that moves the joints of a mechanism with closed loops to their given coordinates.
class StartAssembly {
 public:
  StartAssembly(const estimator::Mechanism& mechanism, const Eigen::VectorXd& stated)
      : mechanism_(mechanism), stated_(stated), statics_(mechanism) {}

  bool has_loops() const { return statics_.has_loops(); }

  std::optional<Eigen::VectorXd> run() {
    const auto rest = estimator::find_stable_equilibrium(mechanism_);
    Eigen::VectorXd joints = rest ? rest->coordinates : where_described();
    if (stated_.array().isNaN().all()) {
      if (!rest && !statics_.close(joints, described())) return std::nullopt;
      return joints;
    }
    Eigen::VectorXd taken = joints, direct = joints;
    if (go(taken) && settle(taken)) return taken;
    if (statics_.close(direct, stated_) && settle(direct)) return direct;
    return search(joints);
  }

 private:
  const estimator::Joint& joint(Eigen::Index j) const {
    return mechanism_.joints[static_cast<std::size_t>(j)];
  }

  /// Returns the assembly guess of each joint in the rig file (assembly_guess).
  Eigen::VectorXd described() const {
    Eigen::VectorXd at(stated_.size());
    for (Eigen::Index j = 0; j < at.size(); ++j) at[j] = joint(j).assembly_guess;
    return at;
  }
  Eigen::VectorXd where_described() const {
    const Eigen::VectorXd at = described();
    return at.array().isNaN().select(0.0, at);
  }

  bool go(Eigen::VectorXd& joints) {
    const Eigen::VectorXd begin = joints;
    double way = 0.0;
    for (Eigen::Index j = 0; j < joints.size(); ++j) {
      if (std::isnan(stated_[j])) continue;
      way = std::max(way, std::abs(stated_[j] - begin[j]) / joint(j).units().scale);
    }
    const int steps = static_cast<int>(
        std::clamp(std::ceil(way / kWayStep), 1.0, static_cast<double>(kWayStepsMax)));
    for (int k = 1; k <= steps; ++k) {
      const double share = static_cast<double>(k) / steps;
      if (!statics_.close(joints, begin + share * (stated_ - begin))) return false;
    }
    return true;
  }

  /// Returns the assembly with the given joint coordinates that is nearest to the position `rest`.
  std::optional<Eigen::VectorXd> search(const Eigen::VectorXd& rest) {
    std::optional<Eigen::VectorXd> nearest;
    estimator::LoopClosure closure(mechanism_);
    Eigen::VectorXd open;
    for (estimator::AssemblyMode& way : find_assembly_modes(mechanism_, closure, stated_, open)) {
      if (!settle(way.angles)) continue;
      if (!nearest || apart(way.angles, rest) < apart(*nearest, rest)) nearest = way.angles;
    }
    return nearest;
  }

  double apart(const Eigen::VectorXd& a, const Eigen::VectorXd& b) const {
    double sum = 0.0;
    for (Eigen::Index j = 0; j < a.size(); ++j) {
      sum += std::abs(joint(j).coordinate_difference(a[j] - b[j])) / joint(j).units().scale;
    }
    return sum;
  }

  /// Moves the measured joints exactly to their given coordinates.
  /// @return false if a joint does not reach its given coordinate
  bool settle(Eigen::VectorXd& joints) {
    Eigen::VectorXd read = stated_;
    for (Eigen::Index j = 0; j < read.size(); ++j) {
      if (!joint(j).measured) read[j] = kAnywhere;
    }
    if (!read.array().isNaN().all() && !statics_.close(joints, read)) return false;
    for (Eigen::Index j = 0; j < joints.size(); ++j) {
      const double near = (joint(j).measured ? kReadNear : kPassiveNear) * joint(j).units().scale;
      if (std::abs(joint(j).coordinate_difference(joints[j] - stated_[j])) > near) return false;
    }
    return true;
  }

  const estimator::Mechanism& mechanism_;
  const Eigen::VectorXd& stated_;
  estimator::StaticPotential statics_;
};

namespace v1 = rigcal::v1;
using estimator::JointTraits;

/// Reader of the scenario message of a scenario file.
class ScenarioReader {
 public:
  ScenarioReader(const std::string& path, const v1::Scenario& source,
                 const proto::TextLocator& root, const Rig& rig)
      : source_(source), root_(root), rig_(rig), scenario_(make(path)) {}

  Scenario read() {
    if (source_.has_rate_hz()) scenario_.rate = source_.rate_hz();
    read_initial_state();
    read_command_limits();
    read_limits();
    read_noise(source_.noise());
    return scenario_;
  }

 private:
  Scenario make(const std::string& path) const {
    return {.excitation = daq::make_scenario(source_, path, root_, scenario_rig())};
  }

  daq::ScenarioRig scenario_rig() const {
    daq::ScenarioRig facts{.path = rig_.path, .has_operator = false};
    for (const estimator::Joint& joint : rig_.mechanism.joints) {
      facts.joints.push_back(joint.name);
      facts.slides.push_back(!joint.kind_traits().turns);
      if (joint.motor.present) facts.motors.push_back(joint.name);
    }
    return facts;
  }

  int find_joint(const std::string& name, const proto::TextLocator& place,
                 const char* field) const {
    std::string known;
    for (int j = 0; j < rig_.mechanism.joint_count(); ++j) {
      const std::string& joint = rig_.mechanism.joints[static_cast<std::size_t>(j)].name;
      if (joint == name) return j;
      known += (known.empty() ? "" : ", ") + joint;
    }
    place.at(field).fail("the rig has no joint \"" + name + "\"; " + field + " is one of " + known);
  }

  const JointTraits& traits_at(int joint) const {
    return rig_.mechanism.joints[static_cast<std::size_t>(joint)].kind_traits();
  }

  void read_noise(const v1::SensorNoise& noise) {
    using estimator::MeasuredQuantity;
    const auto of = [&](MeasuredQuantity reading) -> double& {
      return scenario_.sensor_noise[static_cast<std::size_t>(reading)];
    };
    scenario_.noise = noise.angle_standard_deviation_rad();
    scenario_.position_noise = noise.position_standard_deviation_m();
    of(MeasuredQuantity::kPosition) = scenario_.position_noise;
    of(MeasuredQuantity::kRate) = noise.gyroscope_standard_deviation_rad_per_s();
    of(MeasuredQuantity::kSpecificForce) = noise.accelerometer_standard_deviation_m_per_s2();
    of(MeasuredQuantity::kMoment) = noise.torque_standard_deviation_nm();
    of(MeasuredQuantity::kForce) = noise.force_standard_deviation_n();
    scenario_.quantize = noise.quantize();
    scenario_.seed = noise.seed();
  }

  void read_initial_state() {
    Eigen::VectorXd stated = Eigen::VectorXd::Constant(rig_.mechanism.joint_count(),
                                                       std::numeric_limits<double>::quiet_NaN());
    scenario_.initial_speeds.setZero(rig_.mechanism.joint_count());
    for (int i = 0; i < source_.initial_size(); ++i) {
      const proto::TextLocator place = root_.at("initial", i);
      const v1::InitialState& initial = source_.initial(i);
      if (read_initial_pose(initial, place, stated)) continue;
      const int joint = find_joint(initial.joint(), place, "joint");
      const JointTraits& is = traits_at(joint);
      stated[joint] = read_typed_number(initial, is, &JointTraits::coordinate_field, "", place);
      scenario_.initial_speeds[joint] =
          read_typed_number(initial, is, &JointTraits::rate_field, "", place);
    }
    if (source_.initial_size() == 0 && source_.release_size() > 0) start_at_held_position(stated);
    const auto assembled = assemble_initial_configuration(rig_.mechanism, stated);
    if (!assembled) refuse_open_loops();
    scenario_.initial_angles = *assembled;
    refuse_start_beyond_stops();
  }

  /// Returns the numbers of a field with the coordinates of a pose; the default if it is missing.
  template <int kSize>
  static Eigen::Vector<double, kSize> read_vector(
      const google::protobuf::RepeatedField<double>& field, const char* name,
      const Eigen::Vector<double, kSize>& otherwise, const proto::TextLocator& place) {
    if (field.empty()) return otherwise;
    if (field.size() != kSize) {
      place.at(name).fail("needs {} numbers, such as {}: [ {} ]", kSize, name,
                          kSize == 3 ? "0, 1, 0" : "1, 0, 0, 0");
    }
    return Eigen::Vector<double, kSize>::Map(field.data());
  }

  /// Reads the initial state of a SPHERICAL or FREE joint. Returns false for other joints.
  bool read_initial_pose(const v1::InitialState& initial, const proto::TextLocator& place,
                         Eigen::VectorXd& stated) {
    using estimator::Joint;
    const auto& joints = rig_.mechanism.joints;
    const auto found = std::ranges::find_if(joints, [&](const Joint& joint) {
      return joint.is_compound() && compound_name(joint) == initial.joint();
    });
    if (found == joints.end()) return false;
    const bool is_free = found->type == Joint::Type::kFree;
    const auto first = static_cast<Eigen::Index>(found - joints.begin());
    const Eigen::Vector3d none = Eigen::Vector3d::Zero();
    const Eigen::Vector3d position =
        read_vector<3>(initial.position_xyz_m(), "position_xyz_m", none, place);
    const Eigen::Vector3d velocity =
        read_vector<3>(initial.velocity_xyz_m_per_s(), "velocity_xyz_m_per_s", none, place);
    const Eigen::Vector3d omega = read_vector<3>(initial.angular_velocity_xyz_rad_per_s(),
                                                 "angular_velocity_xyz_rad_per_s", none, place);
    const Eigen::Vector4d given = read_vector<4>(initial.quaternion_wxyz(), "quaternion_wxyz",
                                                 Eigen::Vector4d(1.0, 0.0, 0.0, 0.0), place);
    if (!(given.norm() > 0.0)) {
      place.at("quaternion_wxyz").fail("has no length; write quaternion_wxyz: [ 1, 0, 0, 0 ]");
    }
    if (!is_free &&
        (initial.position_xyz_m_size() > 0 || initial.velocity_xyz_m_per_s_size() > 0)) {
      place.fail("joint {:?} is SPHERICAL and has no position. Remove position and velocity",
                 initial.joint());
    }
    const Eigen::Quaterniond r(given[0], given[1], given[2], given[3]);
    const Eigen::Quaterniond q = r.normalized();
    const Eigen::Quaterniond rate = q * Eigen::Quaterniond(0.0, omega[0], omega[1], omega[2]);
    const Eigen::Index turn = first + (is_free ? 3 : 0);
    if (is_free) {
      stated.segment<3>(first) = position;
      scenario_.initial_speeds.segment<3>(first) = velocity;
    }
    stated.segment<4>(turn) << q.w(), q.x(), q.y(), q.z();
    scenario_.initial_speeds.segment<4>(turn) << 0.5 * rate.w(), 0.5 * rate.x(), 0.5 * rate.y(),
        0.5 * rate.z();
    return true;
  }

  /// Starts the released joint where the operator holds it, and notes where the simulation starts.
  void start_at_held_position(Eigen::VectorXd& stated) {
    const v1::Release& release = source_.release(0);
    const bool is_named = !release.joint().empty();
    const int joint = is_named ? find_joint(release.joint(), root_.at("release", 0), "joint") : 0;
    const estimator::Joint& released = rig_.mechanism.joints[static_cast<std::size_t>(joint)];
    const JointTraits& is = traits_at(joint);
    const double held = is.turns ? release.held_angle_rad() : release.held_position_m();
    std::string start = estimator::has_closed_loops(rig_.mechanism)
                            ? "in static equilibrium"
                            : "with all joints at 0, where the rig may not move";
    if (is_named && held != 0.0) {
      stated[joint] = held;
      start = "with joint \"" + released.name + "\" at " + format_number(held, 6) + " " +
              is.units.coordinate + ", its held position";
    }
    scenario_.start_note = "the release starts " + start + "; add initial { joint: \"" +
                           released.name + "\" " + is.coordinate_field +
                           ": ... } to the scenario to set the start";
  }

  [[noreturn]] void refuse_open_loops() const {
    if (source_.initial_size() > 0) {
      root_.at("initial", 0)
          .fail(
              "the loops of {} cannot be closed with these initial joint positions. "
              "Write initial {{ }} for fewer joints, or with other values",
              rig_.path);
    }
    root_.fail(
        "has no initial joint positions, and the loops of {} cannot be closed near zero. "
        "Write initial {{ joint: ... angle_rad: ... }} for a joint, "
        "or assembly_guess for a joint in the rig file",
        rig_.path);
  }

  void refuse_start_beyond_stops() const {
    for (const estimator::JointStop& stop : estimator::joint_end_stops(rig_.mechanism)) {
      const double start = scenario_.initial_angles[stop.joint];
      if (stop.distance_from_stop(start) >= 0.0) continue;
      const estimator::Joint& joint = rig_.mechanism.joints[static_cast<std::size_t>(stop.joint)];
      const std::string unit = joint.units().coordinate;
      proto::TextLocator place = root_;
      for (int i = 0; i < source_.initial_size(); ++i) {
        if (source_.initial(i).joint() == joint.name) place = root_.at("initial", i);
      }
      place.fail(
          "joint {0:?} starts at {1} {2}, beyond its stop at {3} {2}; "
          "write initial {{ joint: {0:?} {4}: ... }} within its stops",
          joint.name, format_number(start, 6), unit, format_number(stop.position, 6),
          traits_at(stop.joint).coordinate_field);
    }
  }

  void read_command_limits() {
    std::vector<daq::CommandLimits> limits;
    std::vector<std::string> units;
    for (int j = 0; j < rig_.mechanism.joint_count(); ++j) {
      const auto joint = static_cast<std::size_t>(j);
      if (!rig_.mechanism.joints[joint].motor.present) continue;
      limits.push_back(motor_command_limits(rig_, j));
      units.push_back(rig_.joint_properties[joint].control_unit);
    }
    scenario_.command_limits =
        daq::merge_command_limits(std::move(limits), source_.limits(), root_);
    daq::check_command_limits(scenario_.excitation, scenario_.command_limits, units, scenario_rig(),
                              root_);
  }

  void read_limits() {
    const v1::Limits& limits = source_.limits();
    for (int i = 0; i < limits.joint_size(); ++i) {
      const v1::JointLimit& limit = limits.joint(i);
      const proto::TextLocator place = root_.at("limits").at("joint", i);
      const int joint = find_joint(limit.joint(), place, "joint");
      const JointTraits& is = traits_at(joint);
      scenario_.limits.push_back(
          {joint, read_typed_number(limit, is, &JointTraits::coordinate_field, "_max", place),
           read_typed_number(limit, is, &JointTraits::rate_field, "_max", place)});
    }
  }

  const v1::Scenario& source_;
  proto::TextLocator root_;
  const Rig& rig_;
  Scenario scenario_;
};

}  // namespace

std::optional<Eigen::VectorXd> assemble_initial_configuration(const estimator::Mechanism& mechanism,
                                                              const Eigen::VectorXd& stated) {
  if (mechanism.joint_count() <= estimator::kTreeJointsMax) {
    if (StartAssembly assembly(mechanism, stated); assembly.has_loops()) return assembly.run();
  }
  return Eigen::VectorXd(stated.array().isNaN().select(neutral_coordinates(mechanism), stated));
}

Scenario parse_scenario(const std::string& path, const std::string& text, const Rig& rig) {
  v1::Scenario message;
  proto::TextLocator::Tree tree;
  proto::parse_text(path, text, message, tree);
  return ScenarioReader(path, message, proto::TextLocator(path, v1::Scenario::descriptor(), &tree),
                        rig)
      .read();
}

daq::CommandLimits motor_command_limits(const Rig& rig, int motor) {
  const JointProperties& facts = rig.joint_properties[static_cast<std::size_t>(motor)];
  daq::CommandLimits limits;
  if (facts.control_max > 0.0) limits.command_max = facts.control_max;
  if (!facts.safety) return limits;
  return daq::rig_command_limits(
      facts.safety->command_max > 0.0 ? facts.safety->command_max : limits.command_max,
      facts.safety->command_slew_per_s_max);
}

Scenario load_scenario(const std::string& path, const Rig& rig) {
  return parse_scenario(path, proto::read_file(path), rig);
}

}  // namespace service
