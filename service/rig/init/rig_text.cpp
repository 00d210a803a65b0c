#include "service/rig/init/rig_text.hpp"

#include <algorithm>
#include <cmath>

#include "proto/notation/number_format.hpp"
#include "proto/text/input_error.hpp"
#include "service/rig/init/rig_text_parts.hpp"

namespace service {
namespace {

// Defaults for a table-top rig.
constexpr double kLinkLength = 0.3, kArmLength = 0.2;  // [m]
constexpr double kLinkMass = 0.1, kCartMass = 0.5;     // [kg]
constexpr double kArmMass = 0.1;
constexpr double kCommandMax = 10.0;
// Initial friction, relative to the link's gravity torque when horizontal and to critical damping.
constexpr double kDryShare = 2e-3, kDampingShare = 5e-3;
constexpr double kMotorShare = 0.3;  // relative to that torque, at the largest command

double square(double x) { return x * x; }

/// Values of a link for the rig file, with their sources.
struct LinkValues {
  std::string name;
  SourcedValue length, center, mass;
  double weight = 0.0;   ///< gravity torque about its joint when horizontal [N·m]
  double inertia = 0.0;  ///< initial value, of a slender rod about its centre of mass [kg·m²]

  double about_joint() const { return inertia + mass.value * square(center.value); }
  double dry() const { return kDryShare * weight; }
  double viscous() const { return kDampingShare * 2.0 * std::sqrt(weight * about_joint()); }
};

/// Returns the length of a slender rod whose small oscillations have the frequency `swing` [m]. A
/// point mass on a string of 2/3 of that length has the same frequency.
double rod_length(double swing, double gravity) {
  return 1.5 * gravity / square(2.0 * M_PI * swing);
}

LinkValues link_values(const RigAnswers& answers, std::size_t index, double length, double mass,
                       bool free_mass) {
  const LinkAnswer given = index < answers.links.size() ? answers.links[index] : LinkAnswer{};
  LinkValues link;
  link.mass =
      given_or_default(given.mass, mass, free_mass ? ValueSource::kUnknown : ValueSource::kAssumed);
  const bool seen = !given.length && !given.center && answers.swing && answers.links.size() < 3;
  if (given.length) {
    link.length = {*given.length, ValueSource::kGiven};
  } else if (given.center) {
    link.length = {2.0 * *given.center, ValueSource::kAssumed};
  } else if (seen && (answers.kind == RigKind::kPendulum || answers.kind == RigKind::kCartPole ||
                      (answers.kind == RigKind::kFuruta && index == 1))) {
    link.length = {rod_length(*answers.swing, answers.gravity), ValueSource::kFromRecording};
  } else {
    link.length = {length, ValueSource::kAssumed};
  }
  link.center = given_or_default(given.center, 0.5 * link.length.value,
                                 link.length.source == ValueSource::kFromRecording
                                     ? ValueSource::kFromRecording
                                     : ValueSource::kAssumed);
  link.weight = link.mass.value * answers.gravity * link.center.value;
  link.inertia = link.mass.value * square(link.length.value) / 12.0;
  return link;
}

/// Returns a component of a unit vector as a plain decimal that can be compared with tables of
/// sines.
std::string direction_number(double value) {
  constexpr double kSteps = 1e8;  // per unit
  return notation::format_exact(std::round(kSteps * value) / kSteps);
}

std::string in_metres(double value) { return number(value) + " m"; }

class Writer {
 public:
  explicit Writer(const RigAnswers& answers) : answers_(answers) {}

  std::string write() {
    check_sizes(answers_);
    head();
    switch (answers_.kind) {
      case RigKind::kPendulum:
      case RigKind::kDoublePendulum:
      case RigKind::kChain:
        write_chain();
        break;
      case RigKind::kFuruta:
        write_furuta();
        break;
      case RigKind::kCartPole:
        write_cart_pole();
        break;
      case RigKind::kFourbar:
        write_fourbar();
        break;
    }
    return text_.text();
  }

 private:
  void head() {
    text_.comment("proto-file: proto/rig.proto");
    text_.comment("proto-message: rigcal.v1.Rig");
    text_.line("#");
    text_.comment("Written by rigcal init" +
                  (answers_.source.empty() ? "" : " from the columns of " + answers_.source) + ".");
    text_.comment(
        "\"given\": entered by you. \"assumed\": a default; measure it if you can. \"free: "
        "true\":");
    text_.comment("estimated by rigcal calibrate, starting from this value. World y is up.");
    text_.line("#");
  }

  void name_rig() { text_.line("name: \"" + answers_.name + "\""); }

  /// Writes a body that turns only about its z axis. Its moments of inertia xx and yy are
  /// unidentifiable.
  void planar_body(const LinkValues& link, const std::string& mass_comment,
                   bool beside_the_line = false) {
    text_.open("body");
    text_.line("name: \"" + link.name + "\"");
    text_.value("mass", link.mass, "[kg]" + mass_comment);
    if (beside_the_line) {
      text_.comment(
          "Offset of the centre of mass from the line between the joints [m], for a bent link.");
      text_.line("center_of_mass { y { value: 0 free: true } }");
    }
    // Large enough to satisfy the triangle inequality for any zz of a link of that length.
    const double unseen = link.mass.value * square(link.length.value);
    text_.open("inertia");
    text_.comment(
        "About the centre of mass [kg·m²]. The body turns about z only: xx and yy have no effect.");
    text_.line("xx { value: " + number(unseen) + " }");
    text_.line("yy { value: " + number(unseen) + " }");
    text_.free("zz", link.inertia, "from a slender rod: estimated");
    text_.close();
    text_.close();
  }

  void friction(double viscous, double dry, bool slides = false) {
    text_.open("friction");
    text_.free("viscous", viscous, slides ? "[N·s/m]" : "[N·m·s/rad]");
    text_.free(slides ? "coulomb_force" : "coulomb_torque", dry, slides ? "[N]" : "[N·m]");
    text_.close();
  }

  void air(const LinkValues& link) {
    // A rod in air: ½ ρ c_d d L⁴/4 with d = L/15 is about 0.01 kg/m³ L⁵.
    text_.free("quadratic_drag", 0.01 * std::pow(link.length.value, 5.0),
               "[N·m·s²/rad²] of the air");
  }

  void side(const std::string& which, const std::string& body, const std::string& axis,
            const std::string& zero, const std::string& zero_comment = "",
            const SourcedValue* at = nullptr, const std::string& at_comment = "") {
    text_.open(which);
    text_.line("body: \"" + body + "\"");
    if (at != nullptr) {
      text_.line(
          "point { x { value: " + number(at->value) + (at->is_free() ? " free: true" : "") + " } }",
          at_comment);
    }
    text_.line("axis { " + axis + " }");
    text_.line("zero_direction { " + zero + " }", zero_comment);
    text_.close();
  }

  const ReadingAnswer* reading(std::size_t k) const {
    const auto& readings = answers_.readings;
    return k < readings.size() && !readings[k].column.empty() ? &readings[k] : nullptr;
  }

  double command_max() const { return answers_.command_max.value_or(kCommandMax); }

  void motor(double torque, const char* force) {
    const double gain = answers_.motor->unit == force ? 1.0 : torque / command_max();
    write_motor(text_, *answers_.motor, gain, force);
  }

  void gravity(bool tilted) {
    text_.open("gravity");
    text_.line("magnitude { value: " + number(answers_.gravity) + " }", "[m/s²]");
    if (tilted) {
      text_.comment("Tilt of the base.");
      text_.line("tilt_x { value: 0 free: true }", "[rad]");
      text_.line("tilt_z { value: 0 free: true }");
    }
    text_.close();
  }

  std::string planar_axis() const {
    const double lean = answers_.axis_tilt;
    if (lean == 0.0) return "z: 1";
    return "y: " + direction_number(std::sin(lean)) + " z: " + direction_number(std::cos(lean));
  }

  void write_chain();
  void write_link(const std::vector<LinkValues>& links, std::size_t k);
  void write_furuta();
  void write_pendulum_of_furuta(const LinkValues& arm, const LinkValues& rod);
  void write_cart_pole();
  void write_fourbar();

  const RigAnswers& answers_;
  RigTextBuilder text_;
};

/// Writes the bodies and joints of a chain of links. Without a motor only mass ratios are
/// identifiable, so the first link's mass is fixed. Each other link's first moment (mass times
/// distance) is identifiable; the rig file represents it by a free mass.
void Writer::write_chain() {
  std::vector<LinkValues> links;
  const auto names = link_names(answers_.kind, static_cast<int>(answers_.links.size()));
  for (std::size_t k = 0; k < names.size(); ++k) {
    links.push_back(link_values(answers_, k, kLinkLength, kLinkMass, k > 0));
    links.back().name = names[k];
  }
  text_.comment(
      "Links hang from one another and turn about world z; a link's x points from its "
      "joint to its");
  text_.comment(std::string("centre of mass. ") +
                (answers_.motor ? ""
                                : "Without a motor only ratios of inertia, friction and weight are "
                                  "identifiable: one mass is fixed."));
  name_rig();
  for (const LinkValues& link : links) planar_body(link, "");
  for (std::size_t k = 0; k < links.size(); ++k) write_link(links, k);
  std::vector<std::string> encoders = reading_names(answers_.kind, static_cast<int>(links.size()));
  const std::string driven = encoders[0];
  for (std::size_t k = 1; answers_.absolute && k < links.size(); ++k) {
    if (reading(k) == nullptr) continue;
    encoders[k] = links[k].name + "_angle";
    text_.comment("Measured from the vertical: the sum of this joint and the joints above.");
    text_.open("body_encoder");
    text_.line("name: \"" + encoders[k] + "\"");
    text_.line("body: \"" + links[k].name + "\"");
    write_encoder(text_, *reading(k), false, true);
    text_.close();
  }
  gravity(false);
  write_recording(text_, answers_, encoders, driven);
}

void Writer::write_link(const std::vector<LinkValues>& links, std::size_t k) {
  const LinkValues& link = links[k];
  const bool first = k == 0;
  text_.open("joint");
  text_.line("name: \"" + reading_names(answers_.kind, static_cast<int>(links.size()))[k] + "\"");
  if (first) {
    side("parent", "ground", planar_axis(), "y: -1", "hanging is zero");
  } else {
    const LinkValues& above = links[k - 1];
    SourcedValue beyond{
        above.length.value - above.center.value,
        above.length.source == ValueSource::kGiven ? ValueSource::kGiven : ValueSource::kUnknown};
    side("parent", above.name, "z: 1", "x: 1", "in line is zero", &beyond,
         in_metres(above.length.value) + " from joint to joint, " +
             (beyond.is_free() ? "not known: estimated" : "given"));
  }
  const SourcedValue to_joint{-link.center.value, link.center.source};
  side("child", link.name, "z: 1", "x: 1", "", &to_joint,
       "the joint, from the centre of mass [m]; " +
           std::string(link.center.source == ValueSource::kGiven ? "given"
                       : link.center.source == ValueSource::kFromRecording
                           ? "from the oscillation frequency in the recording"
                           : "assumed halfway"));
  text_.open("friction");
  text_.free("viscous", link.viscous(), "[N·m·s/rad]");
  text_.free("coulomb_torque", link.dry(), "[N·m]");
  if (!answers_.motor) air(link);
  text_.close();
  if (first && answers_.motor) motor(kMotorShare * link.weight, "N·m");
  if (reading(k) != nullptr && (first || !answers_.absolute)) {
    write_encoder(text_, *reading(k), false, true);
  }
  text_.close();
}

/// Writes a Furuta pendulum. The arm turns about the vertical, so the arm's centre of mass does not
/// affect the motion.
void Writer::write_furuta() {
  LinkValues arm = link_values(answers_, 0, kArmLength, kArmMass, false);
  LinkValues rod = link_values(answers_, 1, kLinkLength, kLinkMass, false);
  arm.name = "arm";
  rod.name = "pendulum";
  text_.comment(
      "The arm turns about world y (up); its x points along it, its z up. The "
      "pendulum's x points");
  text_.comment(
      "from its joint to its centre of mass, its y along the joint, which is along the "
      "arm.");
  text_.comment("The pendulum's mass sets the scale of all inertias, frictions and the motor.");
  name_rig();
  text_.open("body");
  text_.line("name: \"arm\"");
  text_.value("mass", arm.mass, "[kg]");
  const double about_axis = arm.about_joint() + rod.mass.value * square(arm.length.value) * 0.1;
  const bool centered = arm.mass.source == ValueSource::kGiven;
  text_.open("inertia");
  text_.comment(
      centered ? "About the centre of mass. The arm turns about z only."
               : "About the axis, on which the arm's mass is placed. The arm turns about z only.");
  text_.line("xx { value: " + number(about_axis) + " }");
  text_.line("yy { value: " + number(about_axis) + " }");
  text_.free("zz", centered ? arm.inertia : about_axis, "[kg·m²], with the motor's rotor");
  text_.close();
  text_.close();
  text_.open("body");
  text_.line("name: \"pendulum\"");
  text_.value("mass", rod.mass, "[kg]");
  text_.open("inertia");
  text_.comment(
      "About the centre of mass. xx, along the rod, is not identifiable apart from the arm's zz.");
  text_.line("xx { value: " + number(0.01 * rod.inertia) + " }");
  text_.free("yy", rod.inertia, "from a slender rod: estimated");
  text_.free("zz", rod.inertia);
  text_.close();
  text_.close();
  text_.open("joint");
  text_.line("name: \"1\"");
  side("parent", "ground", "y: 1", "x: 1", "direction of the arm at reading zero");
  const SourcedValue center{-arm.center.value, arm.center.source};
  side("child", "arm", "z: 1", "x: 1", "", centered ? &center : nullptr,
       "the axis, from the centre of mass [m]");
  friction(rod.viscous(), rod.dry());
  if (answers_.motor) motor(kMotorShare * rod.weight, "N·m");
  if (reading(0) != nullptr) write_encoder(text_, *reading(0), false, false);
  text_.close();
  write_pendulum_of_furuta(arm, rod);
  gravity(true);
  write_recording(text_, answers_, {"1", "2"}, "1");
}

void Writer::write_pendulum_of_furuta(const LinkValues& arm, const LinkValues& rod) {
  const bool centered = arm.mass.source == ValueSource::kGiven;
  const bool known = arm.length.source == ValueSource::kGiven;
  const SourcedValue tip{centered ? arm.length.value - arm.center.value : arm.length.value,
                         known ? ValueSource::kGiven : ValueSource::kUnknown};
  text_.open("joint");
  text_.line("name: \"2\"");
  side("parent", "arm", "x: 1", "z: -1", "hanging is zero", &tip,
       in_metres(arm.length.value) + " from the axis, " +
           (known ? "given" : "not known: estimated"));
  const SourcedValue to_joint{-rod.center.value, rod.center.source};
  side("child", "pendulum", "y: 1", "x: 1", "", &to_joint,
       "the joint, from the centre of mass [m]; " +
           std::string(rod.center.source == ValueSource::kGiven ? "given"
                       : rod.center.source == ValueSource::kFromRecording
                           ? "from the oscillation frequency in the recording"
                           : "assumed halfway"));
  friction(0.1 * rod.viscous(), 0.1 * rod.dry());
  if (reading(1) != nullptr) write_encoder(text_, *reading(1), false, true);
  text_.close();
}

/// Writes a cart with a pole. Motions and commands identify only ratios of forces to masses, so the
/// cart's mass is fixed. The pole's mass is identifiable through its force on the cart.
void Writer::write_cart_pole() {
  LinkValues pole = link_values(answers_, 0, kLinkLength, kLinkMass, true);
  pole.name = "pole";
  const SourcedValue cart = given_or_default(answers_.cart_mass, kCartMass);
  const double total = cart.value + pole.mass.value;
  text_.comment(
      "The rail is along world x; the pole turns about z, its x points from the pivot to "
      "its centre of");
  text_.comment("mass. The cart's mass sets the scale of all masses and forces.");
  name_rig();
  text_.open("body");
  text_.line("name: \"cart\"");
  text_.value("mass", cart, "[kg]");
  text_.line("inertia { xx { value: 1e-3 } yy { value: 1e-3 } zz { value: 1e-3 } }",
             "it does not turn");
  text_.close();
  planar_body(pole, "");
  text_.open("joint");
  text_.line("name: \"rail\"");
  text_.line("type: PRISMATIC");
  side("parent", "ground", "x: 1", "y: 1");
  side("child", "cart", "x: 1", "y: 1");
  friction(total, 0.02 * total * answers_.gravity, true);
  if (answers_.motor) motor(kMotorShare * total * answers_.gravity, "N");
  if (reading(0) != nullptr) write_encoder(text_, *reading(0), true, false);
  text_.close();
  text_.open("joint");
  text_.line("name: \"pivot\"");
  side("parent", "cart", "z: 1", "y: -1", "hanging is zero");
  const SourcedValue to_joint{-pole.center.value, pole.center.source};
  side("child", "pole", "z: 1", "x: 1", "", &to_joint,
       "the pivot, from the centre of mass [m]; " +
           std::string(pole.center.source == ValueSource::kGiven ? "given"
                       : pole.center.source == ValueSource::kFromRecording
                           ? "from the oscillation frequency in the recording"
                           : "assumed halfway"));
  text_.open("friction");
  text_.free("viscous", pole.viscous(), "[N·m·s/rad]");
  text_.free("coulomb_torque", pole.dry(), "[N·m]");
  air(pole);
  text_.close();
  if (reading(1) != nullptr) write_encoder(text_, *reading(1), false, true);
  text_.close();
  gravity(false);
  write_recording(text_, answers_, {"rail", "pivot"}, "rail");
}

/// Writes a four-bar linkage. Its single degree of freedom identifies few parameters per link:
/// inertias, friction, and the coupler's centre of mass.
void Writer::write_fourbar() {
  std::vector<LinkValues> links;
  for (std::size_t k = 0; k < 3; ++k) {
    const bool given = k < answers_.links.size() && answers_.links[k].length;
    if (!given || !answers_.ground) {
      throw proto::InputError(
          "a four-bar needs the lengths of crank, coupler and rocker and the "
          "distance between its fixed joints; give --length for each of the "
          "three, and --ground [m]");
    }
    links.push_back(link_values(answers_, k, 0.0, *answers_.links[k].length, false));
    links.back().name = link_names(RigKind::kFourbar, 0)[k];
  }
  text_.comment(
      "A closed loop in the vertical plane: crank on O, coupler from P to Q, rocker on R. "
      "A link's x is");
  text_.comment(
      "along it, from the crank's side. Angles of O and R are zero along world x, from O "
      "to R and on.");
  name_rig();
  for (std::size_t k = 0; k < 3; ++k) planar_body(links[k], "", k == 1);
  struct Joint {
    const char *name, *parent, *child;
    SourcedValue on_parent, on_child;
    int reading;  // −1: not measured
  };
  const auto near = [&](std::size_t k) {
    return SourcedValue{-links[k].center.value, ValueSource::kGiven};
  };
  const auto far = [&](std::size_t k) {
    return SourcedValue{links[k].length.value - links[k].center.value, ValueSource::kGiven};
  };
  const SourcedValue origin{0.0, ValueSource::kGiven};
  // The rocker's own joint is R, from which its centre of mass is measured; its x points from R to
  // Q.
  const Joint joints[] = {
      {"O", "ground", "crank", origin, near(0), 0},
      {"P", "crank", "coupler", far(0), near(1), -1},
      {"Q", "coupler", "rocker", far(1), far(2), -1},
      {"R", "ground", "rocker", {*answers_.ground, ValueSource::kGiven}, near(2), 1}};
  for (const Joint& joint : joints) {
    text_.open("joint");
    text_.line(std::string("name: \"") + joint.name + "\"");
    side("parent", joint.parent, "z: 1", "x: 1", "", &joint.on_parent, "[m]");
    side("child", joint.child, "z: 1", "x: 1", "", &joint.on_child, "[m]");
    const LinkValues& link = links[joint.reading == 0 ? 0 : 2];
    friction(link.viscous(), link.dry());
    if (joint.reading >= 0) {
      if (joint.reading == 0 && answers_.motor) motor(links[1].weight, "N·m");
      const ReadingAnswer* const read = reading(static_cast<std::size_t>(joint.reading));
      if (read != nullptr) write_encoder(text_, *read, false, false);
    }
    text_.close();
  }
  gravity(false);
  write_recording(text_, answers_, {"O", "R"}, "O");
}

}  // namespace

std::string rig_text(const RigAnswers& answers) { return Writer(answers).write(); }

}  // namespace service
