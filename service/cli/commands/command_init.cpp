#include <algorithm>
#include <iostream>
#include <ranges>

#include "estimator/simulation/statics/equilibrium.hpp"
#include "proto/text/command_line/command_line.hpp"
#include "proto/text/files.hpp"
#include "proto/text/input_error.hpp"
#include "service/cli/command.hpp"
#include "service/cli/commands/command_options.hpp"
#include "service/rig/drawing/rig_picture.hpp"
#include "service/rig/init/column_recognition.hpp"
#include "service/rig/init/rig_answers.hpp"
#include "service/rig/init/rig_interview.hpp"
#include "service/rig/rig_file.hpp"

namespace service {
namespace {

constexpr double kDegree = M_PI / 180.0;

/// Copies the link sizes that the command line gives to consecutive links, from index `first` on.
void take_sizes(const std::vector<double>& sizes, const char* option, std::size_t first,
                std::optional<double> LinkAnswer::*field, RigAnswers& answers) {
  const std::size_t room = answers.links.size() - first;
  if (sizes.size() > room) {
    throw proto::InputError("{}: is given {} times, but a {} needs it at most {} times", option,
                            sizes.size(), rig_kind_name(answers.kind), room);
  }
  for (std::size_t k = 0; k < sizes.size(); ++k) answers.links[first + k].*field = sizes[k];
}

/// Throws an error if options are given that belong to other kinds of rig.
void refuse_foreign_options(const InitOptions& options, RigKind kind) {
  const auto require = [&](bool given, bool fits, const std::string& what) {
    if (given && !fits) {
      throw proto::InputError(what + ", but this is a " + rig_kind_name(kind) + "; omit it");
    }
  };
  const bool chain = kind == RigKind::kChain;
  const bool plane = chain || kind == RigKind::kDoublePendulum;
  const bool cart = has_cart(kind);
  const ColumnChoice& columns = options.columns;
  require(options.links > 0, chain, "--links applies only to a chain");
  require(options.arm_length || options.arm_mass || options.arm_center, kind == RigKind::kFuruta,
          "--arm-length, --arm-mass and --arm-center apply only to a Furuta pendulum (furuta)");
  require(options.cart_mass.has_value(), cart, "--cart-mass applies only to a cart or cart-pole");
  require(!columns.position.empty() || !columns.position_unit.empty() || columns.counts_per_m > 0.0,
          cart, "--position, --position-unit and --counts-per-m apply only to a cart or cart-pole");
  require(options.ground.has_value(), kind == RigKind::kFourbar, "--ground applies to a four-bar");
  require(options.absolute, plane, "--absolute applies to a double-pendulum or chain");
  require(options.axis_tilt != 0.0, plane || kind == RigKind::kPendulum,
          "--axis-lean applies to a pendulum, double-pendulum or chain");
}

/// Copies the mechanism options of the command line to the answers, whose kind of rig is already
/// set.
void take_options(const InitOptions& options, RigAnswers& answers) {
  refuse_foreign_options(options, answers.kind);
  const std::size_t asked = answers.links.size();
  const int chain = options.links > 0 ? options.links : asked > 0 ? static_cast<int>(asked) : 3;
  answers.links.resize(link_names(answers.kind, chain).size());
  const std::size_t first = answers.kind == RigKind::kFuruta ? 1 : 0;
  take_sizes(options.lengths, "--length", first, &LinkAnswer::length, answers);
  take_sizes(options.centers, "--center", first, &LinkAnswer::center, answers);
  take_sizes(options.masses, "--mass", first, &LinkAnswer::mass, answers);
  if (options.arm_length) answers.links[0].length = options.arm_length;
  if (options.arm_mass) answers.links[0].mass = options.arm_mass;
  if (options.arm_center) answers.links[0].center = options.arm_center;
  answers.cart_mass = options.cart_mass;
  answers.ground = options.ground;
  answers.gravity = options.gravity;
  answers.absolute = options.absolute;
  answers.axis_tilt = options.axis_tilt * kDegree;
}

/// Copies the unit and the limits of the command line to the answers.
void take_unit(const InitOptions& options, RigAnswers& answers) {
  if (options.unit.empty()) {
    const bool given = !options.channels.empty() || !options.ranges.empty() ||
                       !options.speeds.empty() || options.command_max;
    if (!given) return;
    throw proto::InputError(
        "--channels, --range, --speed-max and --command-max need --unit, the unit's address");
  }
  const std::size_t count = answers.readings.size();
  if (options.ranges.size() != count || options.speeds.size() != count ||
      options.command_max.has_value() != answers.motor.has_value()) {
    const std::string per_joint = count == 1 ? "" : fmt::format(" {} times", count);
    throw proto::InputError(
        "--unit: give --range MIN:MAX{0} and --speed-max{0}, one per joint{1}", per_joint,
        answers.motor ? fmt::format(", and --command-max [{}]", answers.motor->unit)
                      : "; the rig has no motor, so omit --command-max");
  }
  answers.unit.emplace(UnitAnswer{options.unit, options.channels, {}, 0.0});
  answers.unit->command_max = options.command_max.value_or(0.0);
  for (std::size_t k = 0; k < count; ++k) {
    const bool slides = measures_cart_position(answers.kind, k);
    answers.unit->limits.push_back(parse_joint_range(options.ranges[k], slides));
    answers.unit->limits.back().speed = options.speeds[k];
  }
}

std::string rig_name(const InitOptions& options, const RigAnswers& answers) {
  const std::string name = options.name.empty() ? rig_kind_name(answers.kind) : options.name;
  if (name.find_first_of("\"\\\n") != std::string::npos) {
    throw proto::InputError("--name: must not contain quotes, backslashes or line breaks");
  }
  return name;
}

RigAnswers collect(const InitOptions& options, std::istream& in, std::ostream& out) {
  RigAnswers answers;
  answers.topic = options.topic;
  answers.column_names = options.columns.names;
  const auto read = [&](const std::string& path) {
    return read_column_profiles(path, answers.column_names, answers.topic, &answers.source_layout);
  };
  if (!options.kind.empty()) {
    answers.kind = parse_rig_kind(options.kind);
    take_options(options, answers);
    answers.source = options.from;
    const auto columns = options.from.empty() ? std::vector<ColumnProfile>{} : read(options.from);
    propose_columns(columns, options.columns, answers);
    take_unit(options, answers);
    return answers;
  }
  Interview interview(in, out);
  std::vector<ColumnProfile> columns;
  if (options.from.empty()) {
    answers.source = interview.ask_until_valid<std::string>(
        "recording of the rig (empty: none yet)", "", [&](const std::string& path) {
          if (!path.empty()) columns = read(path);
          return path;
        });
  } else {
    answers.source = options.from;
    columns = read(options.from);
  }
  ask_rig_kind(interview, answers);
  take_options(options, answers);
  ask_link_sizes(interview, answers);
  ask_recording_columns(interview, columns, options.columns, answers);
  if (!options.unit.empty()) {
    take_unit(options, answers);
  } else if (answers.source.empty()) {  // a recording has a unit of its own
    ask_unit(interview, answers);
  }
  return answers;
}

/// Prints the use of every column of the recording, one per line.
void print_column_uses(const RigAnswers& answers, std::ostream& out) {
  constexpr std::ptrdiff_t kLinesMax = 40;
  if (answers.columns.empty()) return;
  out << "  columns of " << answers.source << ":\n";
  for (const ColumnUse& each : answers.columns | std::views::take(kLinesMax)) {
    out << "    " << each.column << ": " << (each.use.empty() ? "not used" : each.use) << " ("
        << each.reason << ")\n";
  }
  const auto more = std::ssize(answers.columns) - kLinesMax;
  if (more > 0) out << "    " << more << " more columns are not listed\n";
}

/// Prints what is still to be tested at the rig, and the commands for it.
void print_commissioning(const InitOptions& options, const RigAnswers& answers, const Rig& rig,
                         std::ostream& out) {
  if (!rig.incomplete_safety.empty()) out << "note: " << rig.incomplete_safety << '\n';
  for (const EncoderProperties& encoder : rig.encoders) {
    if (encoder.counts > 0.0) continue;
    out << "note: " << encoder.place << ": write the encoder's counts per " << encoder.counts_of
        << "\n";
  }
  out << fmt::format(
      "Still to do at the rig: commissioning, which tests the direction{} of {} encoder{}{}, and "
      "the limits.\n\n"
      "Next:\n"
      "  rigcal-daq probe --url {}  # does the unit respond?\n"
      "  rigcal-daq commission --rig {}\n"
      "  rigcal-daq run --rig {} --scenario scenario.textproto --out run.mcap\n",
      answers.readings.size() == 1 ? "" : "s", answers.readings.size(),
      answers.readings.size() == 1 ? "" : "s", answers.motor ? " and of the motor" : "",
      options.unit.empty() ? answers.unit->url : options.unit, options.out, options.out);
}

void print_created_rig(const InitOptions& options, const RigAnswers& answers, const Rig& rig,
                       std::ostream& out) {
  out << options.out << ": " << rig_kind_name(answers.kind) << '\n';
  const auto rest = estimator::find_stable_equilibrium(rig.mechanism);
  const Eigen::VectorXd zero = Eigen::VectorXd::Zero(rig.mechanism.joint_count());
  for (const auto& line : describe_joints(rig, rest ? rest->coordinates : zero))
    out << "  " << line << '\n';
  for (const auto& line : describe_rest_position(rig, rest)) out << "  " << line << '\n';
  if (!answers.source_layout.empty()) {
    out << "  " << answers.source << ": " << answers.source_layout << '\n';
  }
  std::string free;
  for (const estimator::Parameter& parameter : rig.mechanism.parameters) {
    if (parameter.free) free += (free.empty() ? "" : ", ") + parameter.name;
  }
  print_column_uses(answers, out);
  out << "  estimated: " << free << "\n\n";
  if (answers.unit) return print_commissioning(options, answers, rig, out);
  const std::string recording = answers.source.empty() ? "run.csv" : answers.source;
  out << fmt::format(
      "Next:\n"
      "  rigcal info {0} --picture -\n{1}"
      "  rigcal check {2} --rig {0}\n"
      "  rigcal calibrate {2} --rig {0} --json result.json --plot result.html\n",
      options.out,
      answers.source.empty() ? "  (record run.csv with the columns of recording { }, or use "
                               "rigcal-daq: rigcal init --unit, docs/rig.md)\n"
                             : "",
      recording);
}

/// Returns column names of which a list separated by commas was split within parentheses, as in
/// "log(:,1)", in one piece.
std::vector<std::string> join_split_names(const std::vector<std::string>& parts) {
  std::vector<std::string> names;
  bool is_open = false;
  for (const std::string& part : parts) {
    if (is_open) {
      names.back() += "," + part;
    } else {
      names.push_back(part);
    }
    is_open = std::ranges::count(names.back(), '(') > std::ranges::count(names.back(), ')');
  }
  return names;
}

ExitCode run_init(InitOptions options, std::istream& in, std::ostream& out) {
  options.columns.angles = join_split_names(options.columns.angles);
  const std::vector<std::string> inputs =
      options.from.empty() ? std::vector<std::string>{} : std::vector<std::string>{options.from};
  proto::check_output_file(options.out, inputs);
  proto::check_overwriting(options.out, options.force);
  RigAnswers answers = collect(options, in, out);
  answers.name = rig_name(options, answers);
  const std::string text = make_rig_file_text(answers);
  const Rig rig = parse_rig(options.out, text);  // reports errors before the file is written
  proto::write_file(options.out, text);
  print_created_rig(options, answers, rig, out);
  return kDone;
}

}  // namespace

void add_options(CLI::App& command, InitOptions& options) {
  const auto text = [&](const char* name, std::string& value, const char* what, const char* type) {
    add_option(command, name, value, type, what);
  };
  const auto size = [&](const char* name, std::optional<double>& value, const char* what) {
    add_option(command, name, value, "NUMBER", what)->check(proto::positive_number());
  };
  const auto sizes = [&](const char* name, std::vector<double>& values, const char* what) {
    add_option(command, name, values, "NUMBER", what)
        ->delimiter(',')
        ->check(proto::positive_number());
  };
  const auto texts = [&](const char* name, std::vector<std::string>& values, const char* what,
                         const char* type) {
    add_option(command, name, values, type, what)->delimiter(',');
  };
  text("--out", options.out, "Rig file to write", "FILE.textproto");
  command.get_option("--out")->required();
  command.add_flag("--force", options.force, "Overwrite an existing file");
  text("--kind", options.kind,
       "pendulum, double-pendulum, chain, furuta, cart-pole, cart or four-bar; "
       "without it init asks",
       "KIND");
  text("--from", options.from,
       "Recording from which to choose columns: CSV, MAT, HDF5, NumPy, or a ROS 2 bag",
       "RECORDING");
  add_topic_option(command, options.topic);
  text("--name", options.name, "Name of the rig", "TEXT");
  add_option(command, "--links", options.links, "COUNT", "Links of a chain")
      ->check(proto::count_from_to(2, 16));
  sizes("--length", options.lengths,
        "Length of each link, joint to joint or tip [m]; for a furuta the pendulum's");
  sizes("--center", options.centers, "Distance from each link's joint to its centre of mass [m]");
  sizes("--mass", options.masses, "Mass of each link [kg]");
  size("--arm-length", options.arm_length,
       "Furuta: distance from the axis to the pendulum's joint [m]");
  size("--arm-center", options.arm_center,
       "Furuta: distance from the axis to the arm's centre of mass [m]");
  size("--arm-mass", options.arm_mass, "Furuta: mass of the arm [kg]");
  size("--cart-mass", options.cart_mass, "Cart and cart-pole: mass of the cart [kg]");
  size("--ground", options.ground, "Four-bar: distance between its fixed joints [m]");
  add_option(command, "--axis-lean", options.axis_tilt, "DEG",
             "Planar: angle between the joint axes and the horizontal [deg]")
      ->check(proto::number_from_to(-89.0, 89.0));
  command.add_option("--gravity", options.gravity, "Gravity [m/s²]")
      ->check(proto::nonnegative_number())
      ->capture_default_str();
  ColumnChoice& columns = options.columns;
  texts("--columns", columns.names, "Names of all columns of a text file without header line",
        "COLUMN");
  text("--time", columns.time, "Time column", "COLUMN");
  text("--time-unit", columns.time_unit,
       "s, ms, us, ns, min, h, d or 100ns, or the length of a unit in seconds", "UNIT");
  add_option(command, "--rate", columns.rate, "HZ", "Samples per second if there is no time column")
      ->check(proto::positive_number());
  texts("--angle", columns.angles, "Column of each joint's angle, in order", "COLUMN");
  text("--angle-unit", columns.angle_unit, "rad, deg, turn, count, mrad, gon or arcmin", "UNIT");
  text("--position", columns.position, "Cart and cart-pole: column of the cart's position",
       "COLUMN");
  text("--position-unit", columns.position_unit, "m, mm, cm, in, um or count", "UNIT");
  command.add_flag("--absolute", options.absolute,
                   "Angles of all links after the first are measured from the vertical");
  texts("--zero", columns.zeros,
        "Reading of each joint when its link hangs: hanging (0), upright (a half turn), or DEG",
        "ZERO");
  texts("--invert", columns.inverted,
        "Angle column that decreases in the positive direction of the rig's picture", "COLUMN");
  sizes("--counts", columns.counts, "Encoder counts per turn, one for all or one per joint");
  add_option(command, "--counts-per-m", columns.counts_per_m, "NUMBER",
             "Counts per metre of the cart's encoder")
      ->check(proto::positive_number());
  text("--command", columns.command, "Column of the motor's command", "COLUMN");
  text("--command-unit", columns.command_unit, "Unit of the command, such as V, A, N·m, duty",
       "UNIT");
  command.add_flag("--no-motor", columns.no_motor, "The rig has no motor");
  text("--unit", options.unit,
       "Address of the conversion unit, such as serial:///dev/ttyACM0: write the sections unit and "
       "safety",
       "URL");
  texts("--channels", options.channels,
        "With --unit: joints in the order of the unit's channels; default: the order of the rig",
        "JOINT");
  texts("--range", options.ranges, "With --unit: safe range of each joint [deg, or m of a cart]",
        "MIN:MAX");
  sizes("--speed-max", options.speeds,
        "With --unit: largest safe speed of each joint [rad/s, or m/s of a cart]");
  size("--command-max", options.command_max, "With --unit: largest command [unit of the motor]");
  text("--segment", columns.segment, "Column whose value changes at the start of each segment",
       "COLUMN");
}

void add_init(CLI::App& app, ExitCode& exit_code) {
  add_command<InitOptions>(
      app, exit_code, "init", "Describe a rig: write its rig file, with comments",
      "With --kind, init asks no questions: missing values are assumed or estimated, as noted in\n"
      "the file's comments. Without it, init asks on the terminal.\n"
      "Examples:\n"
      "  rigcal init --from run.csv --out rig.textproto\n"
      "  rigcal init --kind furuta --from run.csv --arm-length 0.2 --length 0.26 --mass 0.05 \\\n"
      "      --out rig.textproto\n"
      "  rigcal init --kind pendulum --no-motor --counts 4096 --unit serial:///dev/ttyACM0 \\\n"
      "      --range=-180:180 --speed-max 20 --out rig.textproto",
      [](const InitOptions& options) { return run_init(options, std::cin, std::cout); });
}

}  // namespace service
