#include "service/rig/robot/robot_checks.hpp"

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "estimator/math/decompositions.hpp"
#include "estimator/model/inertia/inertia_parameterization.hpp"
#include "proto/notation/number_format.hpp"
#include "proto/text/input_error.hpp"
#include "proto/text/spelling_suggestions.hpp"

namespace service {
namespace {

using notation::format_number;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Smallest and largest typical length of a rig; the largest also limits a radius of gyration.
constexpr double kTypicalLengthMin = 1e-3, kTypicalLengthMax = 20.0;  // [m]

// Largest usual ratio of lengths to radii of gyration. A steel ball with a diameter of 2 cm on a
// rod of 1 m has 160; robots have 1 to 10, and a thousand times that with lengths in mm.
constexpr double kLengthRatioMax = 300.0;

// Largest usual ratio of radii of gyration to lengths. A flywheel with a diameter of 0.5 m whose
// centre is 1 cm from its joint has 25.
constexpr double kGyrationRatioMax = 100.0;

constexpr std::size_t kListedJointsMax = 30;

/// Returns a quantity of a joint with its unit.
std::string with_unit(double value, const std::string& unit) {
  return format_number(value) + " " + unit;
}

/// Returns the first kListedJointsMax names of a list.
std::string list_joints(const std::vector<std::string>& names) {
  std::string list;
  for (std::size_t k = 0; k < std::min(names.size(), kListedJointsMax); ++k) {
    list += (k == 0 ? "" : ", ") + names[k];
  }
  return names.size() > kListedJointsMax
             ? fmt::format("{} and {} more", list, names.size() - kListedJointsMax)
             : list;
}

/// Checks the names of an option --joints.
void check_joint_names(const Robot& robot, const JointIndex& index,
                       const std::set<std::string>& names, const std::string& source) {
  for (const std::string& name : names) {
    const RobotJoint* const joint = index.find(name);
    if (joint == nullptr || !joint->moves()) {
      std::vector<std::string> moving;
      for (const RobotJoint& each : robot.joints) {
        if (each.moves()) moving.push_back(each.name);
      }
      throw proto::InputError("{}: --joints: has no moving joint {:?}{}; its moving joints are {}",
                              source, name, proto::suggest_spelling(name, moving),
                              list_joints(moving));
    }
    const RobotJoint& independent = index.find_independent(*joint);
    if (!names.contains(independent.name)) {
      throw proto::InputError("{}: --joints: joint {:?} mimics {:?}; name that joint, too", source,
                              name, independent.name);
    }
  }
}

/// Returns the coordinate at which a joint is fixed, also if it mimics a fixed joint.
double position_of(const RobotJoint& joint, const JointIndex& index,
                   const std::map<std::string, double>& positions) {
  if (joint.follows) {
    const double other = position_of(*index.find(joint.follows->joint), index, positions);
    return joint.follows->ratio * other + joint.follows->offset;
  }
  const auto given = positions.find(joint.name);
  return given == positions.end() ? 0.0 : given->second;
}

/// Checks that positions are those of fixed joints that mimic no other joint.
void check_positions(const std::map<std::string, double>& positions,
                     const std::map<const RobotJoint*, double>& fixed, const std::string& source) {
  for (const auto& [name, position] : positions) {
    const bool is_fixed = std::ranges::any_of(
        fixed, [&](const auto& each) { return each.first->name == name && !each.first->follows; });
    if (is_fixed) continue;
    throw proto::InputError(
        "{}: --at {}: gives the position of a joint that --joints fixes; {:?} is not such a joint",
        source, name, name);
  }
}

/// Makes a fixed joint of a joint at this coordinate.
void fix_at(double coordinate, RobotJoint& joint) {
  Placement motion;
  if (joint.kind_traits().turns) {
    motion.rotation = Eigen::AngleAxisd(coordinate, joint.axis.normalized()).toRotationMatrix();
    motion.translation = joint.at - motion.rotation * joint.at;
  } else {
    motion.translation = coordinate * joint.axis.normalized();
  }
  joint.origin = joint.origin * motion;
  joint.kind.reset();
  joint.motor.reset();
  joint.follows.reset();
}

/// Leaves out the loops that contain one of these joints.
void leave_out_loops(Robot& robot, const std::map<const RobotJoint*, double>& fixed) {
  const std::vector<std::size_t> above = robot.find_parent_joints();
  std::erase_if(robot.loops, [&](const RobotLoop& loop) {
    std::set<const RobotJoint*> around;
    for (std::size_t link : loop.links) {
      while (above[link] < robot.joints.size()) {
        const RobotJoint* const joint = &robot.joints[above[link]];
        if (!around.insert(joint).second) around.erase(joint);  // on both branches: above the loop
        link = joint->parent;
      }
    }
    const bool is_locked =
        std::ranges::any_of(around, [&](const RobotJoint* joint) { return fixed.contains(joint); });
    if (is_locked) {
      proto::add_note(robot.notes,
                      "loop {:?} is left out, because it contains joints that --joints fixes",
                      loop.name);
    }
    return is_locked;
  });
}

void correct_range(RobotJoint& joint, std::vector<std::string>& notes) {
  if (!joint.moves()) return;
  const std::string unit = joint.kind_traits().units.coordinate;
  if (joint.lower < joint.upper) {
    if (std::isfinite(joint.lower) == std::isfinite(joint.upper)) return;
    const double limit = std::isfinite(joint.lower) ? joint.lower : joint.upper;
    proto::add_note(
        notes,
        "joint {:?} has a limit on one side only ({}), which a rig file cannot represent. "
        "The limit is left out",
        joint.name, with_unit(limit, unit));
  } else if (joint.lower != 0.0 || joint.upper != 0.0) {
    // Both limits are zero in files without limits.
    proto::add_note(
        notes,
        "joint {:?}: the lower limit ({}) is not below the upper limit ({}), so both are left "
        "out. Correct the file, or give the limits in safety {{ }} of the rig file",
        joint.name, with_unit(joint.lower, unit), with_unit(joint.upper, unit));
  }
  joint.lower = -kInfinity;
  joint.upper = kInfinity;
}

/// Replaces a negative quantity by zero, which stands for an unknown one.
void correct_negative(const RobotJoint& joint, const char* what, const std::string& unit,
                      double& value, std::vector<std::string>& notes) {
  if (!(value < 0.0)) return;
  proto::add_note(notes, "joint {:?}: the {} ({}) is negative, so it is left out. Correct the file",
                  joint.name, what, with_unit(value, unit));
  value = 0.0;
}

void correct_joint(RobotJoint& joint, std::vector<std::string>& notes) {
  correct_range(joint, notes);
  if (!joint.moves()) return;
  const estimator::JointUnits& units = joint.kind_traits().units;
  const std::string force = units.force, rate = units.rate;
  correct_negative(joint, "damping", force + "·s/" + units.coordinate, joint.damping, notes);
  correct_negative(joint, "dry friction", force, joint.friction, notes);
  correct_negative(joint, "armature", units.inertia, joint.armature, notes);
  correct_negative(joint, "stiffness", units.stiffness, joint.stiffness, notes);
  correct_negative(joint, "largest speed", rate, joint.velocity, notes);
  if (joint.motor) {
    correct_negative(joint, "largest effort", joint.motor->control_unit, joint.motor->control_max,
                     notes);
  }
}

void correct_inertia(const RobotLink& link, RobotInertial& inertial,
                     std::vector<std::string>& notes) {
  const Eigen::Matrix3d consistent =
      estimator::nearest_consistent_inertia_matrix(inertial.mass, inertial.inertia);
  if (consistent == inertial.inertia) return;
  const Eigen::Vector3d moments = estimator::symmetric_eigen3(inertial.inertia).values;
  proto::add_note(
      notes,
      "link {:?} has a physically inconsistent inertia (principal moments {}, {} and {} kg·m²: "
      "{}). It was replaced by the nearest consistent inertia",
      link.name, format_number(moments(0)), format_number(moments(1)), format_number(moments(2)),
      moments(0) < 0.0    ? "one is negative"
      : moments(2) == 0.0 ? "all are zero"
                          : "one exceeds the sum of the others");
  inertial.inertia = consistent;
}

/// Returns the median of positive numbers; 0 if there are none.
double positive_median(std::vector<double> values) {
  std::erase_if(values, [](double value) { return !(value > 0.0); });
  if (values.empty()) return 0.0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

double radius_of_gyration(const RobotInertial& inertial) {
  // Half of the trace is the sum of mass times squared distance from the centre of mass.
  return std::sqrt(inertial.inertia.trace() / 2.0 / inertial.mass);
}

/// Typical sizes of a robot [m]; 0 if unknown.
struct TypicalSizes {
  double length;    ///< of the positions of joints or centres of mass, the larger ones
  double gyration;  ///< radius of gyration of a link
};

TypicalSizes typical_sizes(const Robot& robot) {
  std::vector<double> centers, joints, gyrations;
  for (const RobotLink& link : robot.links) {
    if (!link.inertial) continue;
    centers.push_back(link.inertial->center.norm());
    gyrations.push_back(radius_of_gyration(*link.inertial));
  }
  for (const RobotJoint& joint : robot.joints) joints.push_back(joint.origin.translation.norm());
  return {std::max(positive_median(std::move(centers)), positive_median(std::move(joints))),
          positive_median(std::move(gyrations))};
}

/// Notes limits that are probably in degrees or millimetres.
void note_probable_units_of_limits(Robot& robot) {
  constexpr double kAngleMax = 20.0, kLengthMax = 20.0;  // [rad], [m]: larger limits are rare
  for (const RobotJoint& joint : robot.joints) {
    if (!joint.moves() || !joint.has_finite_range()) continue;
    const bool turns = joint.kind_traits().turns;
    const double most = std::max(std::abs(joint.lower), std::abs(joint.upper));
    if (!(most > (turns ? kAngleMax : kLengthMax))) continue;
    proto::add_note(
        robot.notes,
        "joint {:?}: the limits ({} … {} {}) are probably in {}. If so, correct the file",
        joint.name, format_number(joint.lower), format_number(joint.upper),
        joint.kind_traits().units.coordinate, turns ? "degrees" : "millimetres");
  }
}

/// Returns the distance of the centre of mass, or of the farthest other joint, from the joint of
/// each link.
std::vector<double> link_lengths(const Robot& robot) {
  std::vector<double> lengths;
  for (const RobotLink& link : robot.links) {
    lengths.push_back(link.inertial ? link.inertial->center.norm() : 0.0);
  }
  for (const RobotJoint& joint : robot.joints) {
    double& length = lengths[joint.parent];
    length = std::max(length, joint.origin.translation.norm());
  }
  return lengths;
}

/// Notes the probable unit of inertias with a radius of gyration far above the lengths: for the
/// whole robot if they are most of them, or for single links.
/// @param unit     unit of the lengths [m]
/// @param typical  typical length [unit]
/// @param sizes    clause with the typical sizes
void note_probable_units_of_inertias(Robot& robot, double unit, double typical,
                                     const std::string& sizes) {
  // The radius of gyration is √1e6 or √1e9 times too large; the likelier unit brings it closer to
  // the lengths.
  constexpr double kUnitBoundary = 5623.0;  // √(√1e6 √1e9)
  struct WideLink {
    std::string name;
    double gyration, length;  // [m]
    bool in_grams() const { return length > 0.0 && gyration > kUnitBoundary * length; }
    const char* unit() const { return in_grams() ? "g·mm²" : "kg·mm²"; }
  };
  std::vector<WideLink> wide;
  int count = 0;
  const std::vector<double> lengths = link_lengths(robot);
  for (std::size_t k = 0; k < robot.links.size(); ++k) {
    if (!robot.links[k].inertial) continue;
    const double gyration = radius_of_gyration(*robot.links[k].inertial);
    if (!(gyration > 0.0)) continue;
    ++count;
    const double length = unit * std::max(lengths[k], typical);
    const bool is_wide =
        gyration > kTypicalLengthMax || (length > 0.0 && gyration > kGyrationRatioMax * length);
    if (is_wide) wide.push_back({robot.links[k].name, gyration, length});
  }
  if (wide.empty()) return;
  if (2 * std::ssize(wide) > count) {
    proto::add_note(robot.notes, "inertias are probably in {} {}. If so, add --scale-inertia {}",
                    wide.front().unit(), sizes, wide.front().in_grams() ? "1e-9" : "1e-6");
    return;
  }
  for (const WideLink& link : wide) {
    proto::add_note(robot.notes,
                    "link {:?}: the inertia is probably in {}, unlike those of other links (its "
                    "radius of gyration is {} m, and lengths are up to {} m). If so, correct the "
                    "file",
                    link.name, link.unit(), format_number(link.gyration),
                    format_number(link.length));
  }
}

/// Notes single positions that are probably in millimetres: far above the other lengths and the
/// radii of gyration, but usual if divided by 1000.
void note_probable_millimetres(Robot& robot, double length, double gyration) {
  constexpr double kMillimetre = 1e-3;
  const double most = kLengthRatioMax * std::max(length, gyration);
  const auto check = [&](const char* what, const std::string& name, const Eigen::Vector3d& at) {
    const double size = at.norm();
    if (!(size > most || size > kTypicalLengthMax) || kMillimetre * size > most) return;
    proto::add_note(robot.notes,
                    "{} {:?}: the position ({} m) is probably in mm, unlike other lengths "
                    "(typically {} m). If so, correct the file",
                    what, name, format_number(size), format_number(length));
  };
  for (const RobotLink& link : robot.links) {
    if (link.inertial) check("centre of mass of link", link.name, link.inertial->center);
  }
  for (const RobotJoint& joint : robot.joints) {
    check("joint", joint.name, joint.origin.translation);
  }
}

}  // namespace

std::string select_moving_joints(Robot& robot, const RobotConversionOptions& choice) {
  if (choice.joints.empty()) return "";
  const std::set<std::string> selected(choice.joints.begin(), choice.joints.end());
  const JointIndex index(robot);
  check_joint_names(robot, index, selected, choice.source);
  std::map<const RobotJoint*, double> fixed;  // with their coordinates
  for (const RobotJoint& joint : robot.joints) {
    if (joint.moves() && !selected.contains(index.find_independent(joint).name)) {
      fixed.emplace(&joint, position_of(joint, index, choice.positions));
    }
  }
  check_positions(choice.positions, fixed, choice.source);
  if (fixed.empty()) return "";
  leave_out_loops(robot, fixed);
  std::vector<std::string> list;
  for (RobotJoint& joint : robot.joints) {
    const auto at = fixed.find(&joint);
    if (at == fixed.end()) continue;
    const std::string position = with_unit(at->second, joint.kind_traits().units.coordinate);
    list.push_back(joint.name + (at->second == 0.0 ? "" : " at " + position));
    if (joint.has_finite_range() && (joint.lower > at->second || joint.upper < at->second)) {
      proto::add_note(robot.notes, "joint {:?} is fixed at {}, outside its range {} … {}",
                      joint.name, position, format_number(joint.lower), format_number(joint.upper));
    }
    fix_at(at->second, joint);
  }
  const std::string listed = list_joints(list);
  proto::add_note(robot.notes,
                  "fixed, at zero unless another position is given, since --joints does not name "
                  "them: {}. Robot descriptions written from the rig file contain them as fixed "
                  "joints",
                  listed);
  return listed;
}

void scale_lengths(Robot& robot, double factor) {
  const JointIndex index(robot);
  const auto scale_of = [&](const RobotJoint& joint) {
    return joint.kind_traits().turns ? 1.0 : factor;
  };
  for (RobotLink& link : robot.links) {
    if (link.inertial) link.inertial->center *= factor;
  }
  for (RobotJoint& joint : robot.joints) {
    joint.origin.translation *= factor;
    joint.at *= factor;
    if (!joint.moves()) continue;
    const double own = scale_of(joint);
    for (double* const coordinate : {&joint.lower, &joint.upper, &joint.velocity, &joint.rest}) {
      *coordinate *= own;
    }
    if (!joint.follows) continue;
    joint.follows->offset *= own;
    joint.follows->ratio *= own / scale_of(*index.find(joint.follows->joint));
  }
  for (RobotLoop& loop : robot.loops) {
    for (Eigen::Vector3d& point : loop.points) point *= factor;
  }
}

void scale_inertias(Robot& robot, double factor) {
  for (RobotLink& link : robot.links) {
    if (link.inertial) link.inertial->inertia *= factor;
  }
}

void correct_impossible_values(Robot& robot) {
  for (RobotLink& link : robot.links) {
    if (link.inertial) correct_inertia(link, *link.inertial, robot.notes);
  }
  for (RobotJoint& joint : robot.joints) correct_joint(joint, robot.notes);
}

void note_probable_units(Robot& robot) {
  constexpr double kMillimetre = 1e-3;
  note_probable_units_of_limits(robot);
  const auto [length, gyration] = typical_sizes(robot);
  if (gyration == 0.0) return;
  const std::string sizes =
      fmt::format("(lengths are typically {} m, and the radius of gyration of a link is {} m)",
                  format_number(length), format_number(gyration));
  const bool is_long = length > kLengthRatioMax * gyration;
  const bool in_mm =
      length > kTypicalLengthMax || (is_long && kMillimetre * length >= kTypicalLengthMin);
  if (in_mm) {
    proto::add_note(robot.notes, "lengths are probably in mm {}. If so, add --scale-length 0.001",
                    sizes);
  } else if (is_long) {
    proto::add_note(robot.notes, "inertias are probably too small {}. Correct the file", sizes);
  }
  if (!in_mm) note_probable_millimetres(robot, length, gyration);
  note_probable_units_of_inertias(robot, in_mm ? kMillimetre : 1.0, length, sizes);
}

}  // namespace service
