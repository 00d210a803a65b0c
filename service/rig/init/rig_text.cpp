#include "service/rig/init/rig_answers.hpp"

#include <fmt/core.h>

#include <cmath>
#include <optional>
#include <utility>

#include "proto/text/input_error.hpp"
#include "service/text/number_format.hpp"

namespace service {
namespace {

// Defaults for a table-top rig.
constexpr double kLinkLength = 0.3, kArmLength = 0.2;               // [m]
constexpr double kLinkMass = 0.1, kArmMass = 0.1, kCartMass = 0.5;  // [kg]
constexpr double kCommandMax = 10.0;
// Initial friction, relative to the link's gravity torque when horizontal and to critical damping.
constexpr double kDryShare = 2e-3, kDampingShare = 5e-3;
constexpr double kMotorShare = 0.3;  // relative to that torque, at the largest command

double square(double x) { return x * x; }

/// Source of a value in a rig file. The comment of the value names it.
enum class ValueSource { kGiven, kAssumed, kFromRecording, kUnknown };

std::string number(double value) { return format_number(value, 8); }

/// Value for a rig file with its source. A value with ValueSource::kUnknown becomes a free
/// parameter.
struct SourcedValue {
  double value = 0.0;
  ValueSource source = ValueSource::kAssumed;

  bool is_given() const { return source == ValueSource::kGiven; }
  const char* source_words() const {
    static const char* const kWords[] = {"given", "assumed",
                                         "from the oscillation frequency in the recording",
                                         "not known: estimated"};
    return kWords[static_cast<int>(source)];
  }
  std::string text() const {
    return "{ value: " + number(value) + (source == ValueSource::kUnknown ? " free: true }" : " }");
  }
};

/// Returns a value that is free unless the value `from` is given.
SourcedValue given_or_free(double value, const SourcedValue& from) {
  return {value, from.is_given() ? ValueSource::kGiven : ValueSource::kUnknown};
}

SourcedValue given_or_default(const std::optional<double>& given, double otherwise,
                              ValueSource source = ValueSource::kAssumed) {
  return given ? SourcedValue{*given, ValueSource::kGiven} : SourcedValue{otherwise, source};
}

/// Values of a link for the rig file, with their sources.
struct LinkValues {
  std::string name;
  SourcedValue length, center, mass;
  double weight = 0.0;   ///< gravity torque about its joint when horizontal [N·m]
  double inertia = 0.0;  ///< initial value, of a slender rod about its centre of mass [kg·m²]

  double about_joint() const { return inertia + mass.value * square(center.value); }
  double dry() const { return kDryShare * weight; }
  /// Returns the initial value of the air's drag: ½ ρ c_d d L⁴/4 with a diameter d = L/15 is about
  /// 0.01 kg/m³ L⁵.
  double air_drag() const { return 0.01 * std::pow(length.value, 5.0); }
  double viscous() const { return kDampingShare * 2.0 * std::sqrt(weight * about_joint()); }
};

/// Returns the length of a slender rod whose small oscillations have the frequency `swing` [m]. A
/// point mass on a string of 2/3 of that length has the same frequency.
double rod_length(double swing, double gravity) {
  return 1.5 * gravity / square(2.0 * M_PI * swing);
}

std::string free_value(double start) {
  return "{ value: " + format_number(start, 2) + " free: true }";
}

std::string with_comment(const std::string& line, const std::string& comment) {
  return line + (comment.empty() ? "\n" : "  # " + comment + "\n");
}

/// Returns a name in quotes, with special characters escaped.
std::string quoted(const std::string& name) {
  std::string text = "\"";
  for (const char c : name) {
    if (c == '"' || c == '\\') text += '\\';
    text += c;
  }
  return text + "\"";
}

/// One of the two bodies that a joint connects.
struct Side {
  std::string body, axis, zero_direction, zero_comment = "", point = "";

  /// Returns the side with the joint at this x coordinate.
  Side at(const SourcedValue& x, const std::string& comment) && {
    point = with_comment("    point { x " + x.text() + " }", comment);
    return std::move(*this);
  }
  std::string text(const char* which) const {
    return fmt::format("  {} {{\n    body: \"{}\"\n{}    axis {{ {} }}\n{}  }}\n", which, body,
                       point, axis,
                       with_comment("    zero_direction { " + zero_direction + " }", zero_comment));
  }
};

/// Initial values of a joint's friction.
struct FrictionStart {
  double viscous, dry;
  double air = 0.0;  ///< quadratic drag of the air [N·m·s²/rad²]; 0: none
  bool slides = false;
};

/// Returns the block "joint" of a rig file.
/// @param devices  blocks of a motor and an encoder
std::string joint_text(const std::string& name, const Side& parent, const Side& child,
                       const FrictionStart& friction, const std::string& devices) {
  const bool slides = friction.slides;
  return fmt::format(
      R"(joint {{
  name: "{}"
{}{}{}  friction {{
    viscous {}  # [{}]
    {} {}  # [{}]
{}  }}
{}}}
)",
      name, slides ? "  type: PRISMATIC\n" : "", parent.text("parent"), child.text("child"),
      free_value(friction.viscous), slides ? "N·s/m" : "N·m·s/rad",
      slides ? "coulomb_force" : "coulomb_torque", free_value(friction.dry), slides ? "N" : "N·m",
      friction.air > 0.0
          ? "    quadratic_drag " + free_value(friction.air) + "  # [N·m·s²/rad²] of the air\n"
          : "",
      devices);
}

std::string fixed_value(double value) { return SourcedValue{value}.text(); }

/// Returns the block "body" of a rig file.
/// @param comment     on the moments of inertia
/// @param xx, yy, zz  moments of inertia: value and comment
/// @param extra       further lines
std::string body_text(const std::string& name, const SourcedValue& mass, const std::string& comment,
                      const std::string& xx, const std::string& yy, const std::string& zz,
                      const std::string& extra = "") {
  return fmt::format(R"(body {{
  name: "{}"
  mass {}  # [kg] {}
{}  inertia {{
    # {}
    xx {}
    yy {}
    zz {}
  }}
}}
)",
                     name, mass.text(), mass.source_words(), extra, comment, xx, yy, zz);
}

/// Returns a body that turns only about its z axis, so that xx and yy are unidentifiable.
std::string planar_body(const LinkValues& link, const std::string& extra = "") {
  // Satisfies the triangle inequality for any zz of a link of that length.
  const std::string unseen = fixed_value(link.mass.value * square(link.length.value));
  return body_text(
      link.name, link.mass,
      "About the centre of mass [kg·m²]. The body turns about z only: xx and yy have no effect.",
      unseen, unseen, free_value(link.inertia) + "  # from a slender rod: estimated", extra);
}

/// Returns the side of a joint on the link that hangs from it.
/// @param name  of the joint in the comment
Side side_of(const LinkValues& link, const char* axis, const std::string& name) {
  const bool assumed = link.center.source == ValueSource::kAssumed;
  return Side{link.name, axis, "x: 1"}.at(
      {-link.center.value, link.center.source},
      "the " + name + ", from the centre of mass [m]; " +
          (assumed ? "assumed halfway" : link.center.source_words()));
}

class Writer {
 public:
  explicit Writer(const RigAnswers& answers)
      : answers_(answers), joints_(measured_joint_names(answers.kind, link_count())) {}

  std::string write() const {
    check_link_sizes(answers_);
    const RigKind kind = answers_.kind;
    if (kind == RigKind::kFuruta) return furuta();
    if (has_cart(kind)) return cart();
    return kind == RigKind::kFourbar ? fourbar() : chain();
  }

 private:
  int link_count() const { return static_cast<int>(answers_.links.size()); }

  std::string head(const std::string& comment) const {
    return fmt::format(R"(# proto-file: proto/rig.proto
# proto-message: rigcal.v1.Rig
#
# Written by rigcal init{}.
# "given": entered by you. "assumed": a default; measure it if you can. "free: true":
# estimated by rigcal calibrate, starting from this value. World y is up.
#
{}
name: "{}"
)",
                       answers_.source.empty() ? "" : " from the columns of " + answers_.source,
                       comment, answers_.name);
  }

  /// Returns the values of a link, with defaults for those that are not given.
  LinkValues link(std::size_t index, double length, double mass, bool free_mass = false) const {
    const LinkAnswer given = index < answers_.links.size() ? answers_.links[index] : LinkAnswer{};
    const bool swings = answers_.kind == RigKind::kPendulum ||
                        answers_.kind == RigKind::kCartPole ||
                        (answers_.kind == RigKind::kFuruta && index == 1);
    LinkValues link;
    link.name = link_names(answers_.kind, link_count())[index];
    link.mass = given_or_default(given.mass, mass,
                                 free_mass ? ValueSource::kUnknown : ValueSource::kAssumed);
    if (given.length) {
      link.length = {*given.length, ValueSource::kGiven};
    } else if (given.center) {
      link.length = {2.0 * *given.center, ValueSource::kAssumed};
    } else if (answers_.swing && swings) {
      link.length = {rod_length(*answers_.swing, answers_.gravity), ValueSource::kFromRecording};
    } else {
      link.length = {length, ValueSource::kAssumed};
    }
    const bool seen = link.length.source == ValueSource::kFromRecording;
    link.center = given_or_default(given.center, 0.5 * link.length.value,
                                   seen ? ValueSource::kFromRecording : ValueSource::kAssumed);
    link.weight = link.mass.value * answers_.gravity * link.center.value;
    link.inertia = link.mass.value * square(link.length.value) / 12.0;
    return link;
  }

  /// Returns the encoder of a reading; empty if the reading has no column.
  /// @param offset  true to estimate the encoder's offset, starting at zero; false to omit it
  std::string encoder(std::size_t k, bool offset) const {
    if (k >= answers_.readings.size() || answers_.readings[k].column.empty()) return "";
    std::string fields = offset ? " offset { value: 0 free: true }" : "";
    if (const auto counts = answers_.readings[k].counts) {
      fields +=
          (measures_cart_position(answers_.kind, k) ? " counts_per_m: " : " counts_per_turn: ") +
          number(*counts);
    }
    return with_comment("  encoder {" + fields + (fields.empty() ? "}" : " }"),
                        offset ? "exact zero: estimated" : "");
  }

  /// Returns the motor with a free gain; empty if the rig has no motor.
  /// @param torque  torque or force at the largest command, in the unit `force`
  std::string motor(double torque, const char* force) const {
    if (!answers_.motor) return "";
    const std::string& unit = answers_.motor->unit;
    const double most = answers_.command_max.value_or(unit == "duty" ? 1.0 : kCommandMax);
    const double gain = unit == force ? 1.0 : torque / most;
    return fmt::format(R"(  motor {{
    control_unit: {}
    gain {}  # [{}/{}] not known: estimated
    # If the command takes effect with a delay, add:
    # input_delay {{ value: 0.002 free: true upper: 0.02 }}  # [s]
  }}
)",
                       quoted(unit), free_value(gain), force, unit);
  }

  std::string gravity(bool tilted) const {
    constexpr const char* kTilt = R"(  # Tilt of the base.
  tilt_x { value: 0 free: true }  # [rad]
  tilt_z { value: 0 free: true }
)";
    return fmt::format("gravity {{\n  magnitude {{ value: {} }}  # [m/s²]\n{}}}\n",
                       number(answers_.gravity), tilted ? kTilt : "");
  }

  /// Returns the axis of a planar rig, as decimals that can be compared with tables of sines.
  std::string planar_axis() const {
    const double lean = answers_.axis_tilt;
    const auto part = [](double x) { return notation::format_exact(std::round(1e8 * x) / 1e8); };
    return lean == 0.0 ? "z: 1" : "y: " + part(std::sin(lean)) + " z: " + part(std::cos(lean));
  }

  /// Returns a chain of links. Without a motor only mass ratios are identifiable, so the first
  /// link's mass is fixed. Each other link's first moment (mass times distance) is identifiable;
  /// the rig file represents it by a free mass.
  std::string chain() const {
    std::vector<LinkValues> links;
    const std::size_t count = link_names(answers_.kind, link_count()).size();
    std::string text = head(fmt::format(
        "# Links hang from one another and turn about world z; a link's x points from its joint to "
        "its\n# centre of mass.{}",
        answers_.motor ? ""
                       : " Without a motor only ratios of inertia, friction and weight are "
                         "identifiable: one mass is fixed."));
    for (std::size_t k = 0; k < count; ++k) {
      links.push_back(link(k, kLinkLength, kLinkMass, k > 0));
      text += planar_body(links[k]);
    }
    for (std::size_t k = 0; k < count; ++k) {
      const LinkValues& own = links[k];
      Side parent{"ground", planar_axis(), "y: -1", "hanging is zero"};
      if (k > 0) {
        const LinkValues& above = links[k - 1];
        const auto beyond = given_or_free(above.length.value - above.center.value, above.length);
        parent = Side{above.name, "z: 1", "x: 1", "in line is zero"}.at(
            beyond,
            number(above.length.value) + " m from joint to joint, " + beyond.source_words());
      }
      text += joint_text(joints_[k], parent, side_of(own, "z: 1", "joint"),
                         {own.viscous(), own.dry(), answers_.motor ? 0.0 : own.air_drag()},
                         (k == 0 ? motor(kMotorShare * own.weight, "N·m") : "") +
                             (k == 0 || !answers_.absolute ? encoder(k, true) : ""));
    }
    std::vector<std::string> encoders = joints_;
    for (std::size_t k = 1; answers_.absolute && k < count; ++k) {
      const std::string own = encoder(k, true);
      if (own.empty()) continue;
      encoders[k] = links[k].name + "_angle";
      text += fmt::format(
          "# Measured from the vertical: the sum of this joint and the joints above.\n"
          "body_encoder {{\n  name: \"{}\"\n  body: \"{}\"\n{}}}\n",
          encoders[k], links[k].name, own);
    }
    return text + gravity(false) + recording(encoders);
  }

  /// Returns a Furuta pendulum. The arm turns about the vertical, so the arm's centre of mass does
  /// not affect the motion.
  std::string furuta() const {
    const LinkValues arm = link(0, kArmLength, kArmMass), rod = link(1, kLinkLength, kLinkMass);
    const double about_axis = arm.about_joint() + rod.mass.value * square(arm.length.value) * 0.1;
    const bool centered = arm.mass.is_given();
    const std::string arm_text = body_text(
        "arm", arm.mass,
        std::string("About the ") +
            (centered ? "centre of mass" : "axis, on which the arm's mass is placed") +
            ". The arm turns about z only.",
        fixed_value(about_axis), fixed_value(about_axis),
        free_value(centered ? arm.inertia : about_axis) + "  # [kg·m²], with the motor's rotor");
    const std::string rod_text = body_text(
        "pendulum", rod.mass,
        "About the centre of mass. xx, along the rod, is not identifiable separately from the "
        "arm's zz.",
        fixed_value(0.01 * rod.inertia),
        free_value(rod.inertia) + "  # from a slender rod: estimated", free_value(rod.inertia));
    const Side on_axis{"arm", "z: 1", "x: 1"};
    const SourcedValue tip =
        given_or_free(arm.length.value - (centered ? arm.center.value : 0.0), arm.length);
    return head(
               "# The arm turns about world y (up); its x points along it, its z up. The "
               "pendulum's x points\n# from its joint to its centre of mass, its y along the "
               "joint, which is along the arm.\n# The pendulum's mass sets the scale of all "
               "inertias, frictions and the motor.") +
           arm_text + rod_text +
           joint_text("1", {"ground", "y: 1", "x: 1", "direction of the arm at reading zero"},
                      centered ? Side(on_axis).at({-arm.center.value, arm.center.source},
                                                  "the axis, from the centre of mass [m]")
                               : on_axis,
                      {rod.viscous(), rod.dry()},
                      motor(kMotorShare * rod.weight, "N·m") + encoder(0, false)) +
           joint_text(
               "2",
               Side{"arm", "x: 1", "z: -1", "hanging is zero"}.at(
                   tip, number(arm.length.value) + " m from the axis, " + tip.source_words()),
               side_of(rod, "y: 1", "joint"), {0.1 * rod.viscous(), 0.1 * rod.dry()},
               encoder(1, true)) +
           gravity(true) + recording(joints_);
  }

  /// Returns a cart, with or without a pole. Only ratios of forces to masses are identifiable, so
  /// the cart's mass is fixed.
  std::string cart() const {
    const bool has_pole = answers_.kind == RigKind::kCartPole;
    const LinkValues pole = has_pole ? link(0, kLinkLength, kLinkMass, true) : LinkValues{};
    const SourcedValue cart = given_or_default(answers_.cart_mass, kCartMass);
    const double total = cart.value + pole.mass.value;
    return head(std::string("# The rail is along world x. ") +
                (has_pole ? "The pole turns about z, its x points to its centre of mass. " : "") +
                "The cart's mass sets the scale of all masses and forces.") +
           fmt::format(R"(body {{
  name: "cart"
  mass {}  # [kg] {}
  inertia {{ xx {{ value: 1e-3 }} yy {{ value: 1e-3 }} zz {{ value: 1e-3 }} }}  # it does not turn
}}
)",
                       cart.text(), cart.source_words()) +
           (has_pole ? planar_body(pole) : "") +
           joint_text("rail", {"ground", "x: 1", "y: 1"}, {"cart", "x: 1", "y: 1"},
                      {.viscous = total, .dry = 0.02 * total * answers_.gravity, .slides = true},
                      motor(kMotorShare * total * answers_.gravity, "N") + encoder(0, false)) +
           (has_pole ? joint_text("pivot", {"cart", "z: 1", "y: -1", "hanging is zero"},
                                  side_of(pole, "z: 1", "pivot"),
                                  {pole.viscous(), pole.dry(), pole.air_drag()}, encoder(1, true))
                     : "") +
           gravity(false) + recording(joints_);
  }

  /// Returns a four-bar linkage. Its single degree of freedom identifies few parameters per link:
  /// inertias, friction, and the coupler's centre of mass.
  std::string fourbar() const {
    std::string text = head(
        "# A closed loop in the vertical plane: crank on O, coupler from P to Q, rocker on R. "
        "A link's x is\n# along it, from the crank's side. Angles of O and R are zero along "
        "world x, from O to R and on.");
    std::vector<LinkValues> links;
    for (std::size_t k = 0; k < 3; ++k) {
      if (k >= answers_.links.size() || !answers_.links[k].length || !answers_.ground) {
        throw proto::InputError(
            "a four-bar needs the lengths of crank, coupler and rocker and the distance between "
            "its fixed joints; give --length for each of the three, and --ground [m]");
      }
      links.push_back(link(k, 0.0, *answers_.links[k].length));
      text += planar_body(
          links[k],
          k == 1 ? "  # Offset of the centre of mass from the line between the joints [m], for a "
                   "bent link.\n  center_of_mass { y { value: 0 free: true } }\n"
                 : "");
    }
    const auto near = [&](std::size_t k) { return -links[k].center.value; };
    const auto far = [&](std::size_t k) { return links[k].length.value + near(k); };
    const auto side = [](const char* body, double at) {
      return Side{body, "z: 1", "x: 1"}.at({at, ValueSource::kGiven}, "[m]");
    };
    const FrictionStart crank{links[0].viscous(), links[0].dry()};
    const FrictionStart rocker{links[2].viscous(), links[2].dry()};
    // The rocker's own joint is R, from which its centre of mass is measured; its x points from R
    // to Q.
    return text +
           joint_text("O", side("ground", 0.0), side("crank", near(0)), crank,
                      motor(links[1].weight, "N·m") + encoder(0, false)) +
           joint_text("P", side("crank", far(0)), side("coupler", near(1)), rocker, "") +
           joint_text("Q", side("coupler", far(1)), side("rocker", far(2)), rocker, "") +
           joint_text("R", side("ground", *answers_.ground), side("rocker", near(2)), rocker,
                      encoder(1, false)) +
           gravity(false) + recording(joints_);
  }

  /// Returns the block "recording" with the columns of time, encoder readings and command.
  /// @param names  names of the readings' joints, or of the encoders between bodies
  std::string recording(const std::vector<std::string>& names) const {
    std::string text = "# Columns of a CSV recording.\nrecording {\n  time { ";
    text += answers_.time_column.empty() ? "rate_hz: " + number(answers_.rate)
                                         : "column: " + quoted(answers_.time_column);
    if (answers_.time_unit != TimeUnit{}) text += " " + time_unit_field(answers_.time_unit);
    text += " }\n";
    for (std::size_t k = 0; k < answers_.readings.size(); ++k) {
      if (!answers_.readings[k].column.empty()) text += reading_text(names[k], k);
    }
    if (answers_.motor && !answers_.motor->column.empty()) {
      const MotorAnswer& motor = *answers_.motor;
      text += "  control { joint: " + quoted(joints_[0]) + " column: " + quoted(motor.column) +
              (motor.has_scale ? " scale: " + number(motor.scale) : "") + " }\n";
    }
    const std::string& segment = answers_.segment_column;
    if (!segment.empty()) text += "  segment_column: " + quoted(segment) + "\n";
    for (const auto& name : answers_.column_names) text += "  columns: " + quoted(name) + "\n";
    if (!answers_.topic.empty()) text += "  topic: " + quoted(answers_.topic) + "\n";
    return text + "}\n" + make_driving_sections(answers_, names);
  }

  std::string reading_text(const std::string& name, std::size_t k) const {
    const EncoderAnswer& reading = answers_.readings[k];
    const bool position = measures_cart_position(answers_.kind, k);
    if (reading.unit == ReadingUnit::kCount && !reading.counts) {
      throw proto::InputError("column " + reading.column +
                              " is in counts. Give the encoder's counts " +
                              (position ? "per metre (--counts-per-m)" : "per turn (--counts)"));
    }
    const double rest = (reading.inverted ? -1.0 : 1.0) * reading.rest;
    const bool upright = std::abs(std::abs(rest) - M_PI) < 1e-12;
    std::string more = reading.inverted ? " inverted: true" : "";
    const double n = reading.counts_modulo;
    if (n > 0.0) more += " counts_modulo: " + format_number(n, 16);
    if (reading.allow_missing) more += " allow_missing: true";
    if (rest != 0.0) more += " offset_rad: " + format_number(-rest, 16);
    return with_comment(
        fmt::format("  {} {{ joint: {} column: {} {}{} }}", position ? "position" : "angle",
                    quoted(name), quoted(reading.column), reading_unit_field(reading.unit), more),
        rest == 0.0 ? ""
        : upright   ? "reads a half turn when hanging"
                    : "reads the negative of this when hanging");
  }

  const RigAnswers& answers_;
  std::vector<std::string> joints_;  // names of the measured joints; a motor drives the first
};

}  // namespace

std::string make_rig_file_text(const RigAnswers& answers) { return Writer(answers).write(); }

}  // namespace service
