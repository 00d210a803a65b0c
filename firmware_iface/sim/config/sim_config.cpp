#include "firmware_iface/sim/config/sim_config.hpp"

#include <cmath>
#include <memory>

#include "proto/check/number_check.hpp"
#include "proto/sim.pb.h"
#include "proto/text/files.hpp"
#include "proto/text/input_error.hpp"
#include "proto/text/text_file.hpp"

namespace firmware_iface::sim {
namespace {

using proto::TextLocator;
namespace pb = rigcal::v1;

// The parser has checked the ranges in proto/check/number_ranges.cpp. Omitted numbers are 0.
void require_given(double value, const TextLocator& at, const std::string& field) {
  if (value == 0.0) at.at(field).fail(field + " must be given and positive");
}

Nanoseconds from_ms(double ms) { return Nanoseconds(std::llround(ms * 1e6)); }

JointFriction to_friction(const pb::SimFriction& in) {
  return {in.viscous(),         in.quadratic_drag(), in.coulomb_torque(),
          in.stribeck_torque(), in.stribeck_rate(),  in.load_arm()};
}

JointStops to_stops(const pb::SimStops& in, double start_angle_rad, const TextLocator& at) {
  JointStops stops;
  if (in.has_lower_rad()) stops.lower_rad = in.lower_rad();
  if (in.has_upper_rad()) stops.upper_rad = in.upper_rad();
  stops.restitution = in.restitution();
  if (!(stops.lower_rad < stops.upper_rad)) {
    at.fail("the lower stop must lie below the upper one; exchange lower_rad and upper_rad");
  }
  if (start_angle_rad < stops.lower_rad || start_angle_rad > stops.upper_rad) {
    at.fail("the joint starts at " + std::to_string(start_angle_rad) +
            " rad, beyond a stop; correct the start angle or the stop");
  }
  return stops;
}

PendulumParameters to_pendulum(const pb::SimPendulum& in, const TextLocator& at) {
  require_given(in.mass_kg(), at, "mass_kg");
  require_given(in.center_distance_m(), at, "center_distance_m");
  PendulumParameters p;
  p.mass = in.mass_kg();
  p.center_distance = in.center_distance_m();
  p.inertia = in.inertia();
  p.motor_gain = in.motor().gain();
  p.back_emf = in.motor().back_emf();
  p.friction = to_friction(in.friction());
  p.stops = to_stops(in.stops(), in.start_angle_rad(), at.at("stops"));
  return p;
}

FurutaParameters to_furuta(const pb::SimFuruta& in, const TextLocator& at) {
  require_given(in.arm_mass_kg(), at, "arm_mass_kg");
  require_given(in.arm_length_m(), at, "arm_length_m");
  require_given(in.pendulum_mass_kg(), at, "pendulum_mass_kg");
  require_given(in.pendulum_center_distance_m(), at, "pendulum_center_distance_m");
  FurutaParameters p;
  p.arm_mass = in.arm_mass_kg();
  p.arm_center_distance = in.arm_center_distance_m();
  p.arm_length = in.arm_length_m();
  p.arm_inertia_zz = in.arm_inertia_zz();
  p.shaft_inertia = in.shaft_inertia();
  p.pendulum_mass = in.pendulum_mass_kg();
  p.pendulum_center_distance = in.pendulum_center_distance_m();
  p.pendulum_inertia_xx = in.pendulum_inertia_xx();
  p.pendulum_inertia_yy = in.pendulum_inertia_yy();
  p.pendulum_inertia_zz = in.pendulum_inertia_zz();
  p.motor_gain = in.motor().gain();
  p.back_emf = in.motor().back_emf();
  p.arm_friction = to_friction(in.arm_friction());
  p.pendulum_friction = to_friction(in.pendulum_friction());
  p.arm_stops = to_stops(in.arm_stops(), in.arm_start_angle_rad(), at.at("arm_stops"));
  p.pendulum_stops =
      to_stops(in.pendulum_stops(), in.pendulum_start_angle_rad(), at.at("pendulum_stops"));
  return p;
}

Vector3 to_vector(const pb::SimVector& in) { return {in.x(), in.y(), in.z()}; }

InertialSensorSettings to_inertial(const pb::SimInertialSensor& in, int joint_count,
                                   const TextLocator& at) {
  if (in.joint() >= static_cast<std::uint32_t>(joint_count)) {
    at.at("joint").fail("the rig has joints 0 to " + std::to_string(joint_count - 1));
  }
  InertialSensorSettings sensor;
  sensor.joint = static_cast<int>(in.joint());
  sensor.point = to_vector(in.point_m());
  sensor.mounting = to_vector(in.mounting_rad());
  sensor.gyro_bias = to_vector(in.gyro_bias_rad_s());
  sensor.accel_bias = to_vector(in.accel_bias_m_s2());
  sensor.gyro_noise = in.gyro_noise_rad_s();
  sensor.accel_noise = in.accel_noise_m_s2();
  if (in.has_gyro_counts_per_rad_s()) sensor.gyro_counts = in.gyro_counts_per_rad_s();
  if (in.has_accel_counts_per_m_s2()) sensor.accel_counts = in.accel_counts_per_m_s2();
  sensor.gyro_range = in.gyro_range_rad_s();
  sensor.accel_range = in.accel_range_m_s2();
  if (in.divider() > 0) sensor.divider = static_cast<int>(in.divider());
  sensor.dropout = in.dropout();
  return sensor;
}

UnitSettings to_unit(const pb::SimUnit& in, int joint_count, const TextLocator& at) {
  UnitSettings unit;
  if (in.has_unit_id()) unit.unit_id = in.unit_id();
  if (in.encoder_size() > joint_count) {
    at.at("encoder", joint_count)
        .fail("the rig has " + std::to_string(joint_count) + " joints; remove this encoder");
  }
  for (int k = 0; k < in.encoder_size(); ++k) {
    const pb::SimEncoder& encoder = in.encoder(k);
    EncoderSettings& own = unit.encoder[static_cast<std::size_t>(k)];
    if (encoder.has_counts_per_turn()) own.counts_per_turn = encoder.counts_per_turn();
    own.zero_offset_rad = encoder.zero_offset_rad();
    own.modulus = encoder.modulus();
    own.absolute = encoder.absolute();
    own.index = encoder.index();
  }
  if (in.has_tick_rate_hz()) unit.tick_rate_Hz = static_cast<int>(in.tick_rate_hz());
  if (in.has_command_max_v()) unit.motor[0].command_max = in.command_max_v();
  if (in.has_command_bits()) unit.command_bits = static_cast<int>(in.command_bits());
  if (unit.command_bits == 1) at.at("command_bits").fail("command_bits must be 0, or from 2 to 16");
  if (in.has_ttl_max_ms()) unit.ttl_max_ms = static_cast<int>(in.ttl_max_ms());
  if (in.inertial_size() > INERTIAL_SENSORS_MAX) {
    at.at("inertial", INERTIAL_SENSORS_MAX)
        .fail("a unit reads at most " + std::to_string(INERTIAL_SENSORS_MAX) +
              " inertial sensors; remove this one");
  }
  unit.inertial_count = in.inertial_size();
  for (int k = 0; k < in.inertial_size(); ++k) {
    unit.inertial[static_cast<std::size_t>(k)] =
        to_inertial(in.inertial(k), joint_count, at.at("inertial", k));
  }
  unit.clock_error_ppm = in.clock_error_ppm();
  unit.clock_start_us = in.clock_start_us();
  return unit;
}

HandSettings to_hand(const pb::SimHand& in) {
  HandSettings hand;
  switch (in.release()) {
    case pb::SimHand::AFTER_STREAM_START:
      hand.release = HandSettings::ReleaseTime::kAfterStreamStart;
      break;
    case pb::SimHand::AFTER_FIRST_COMMAND:
      hand.release = HandSettings::ReleaseTime::kAfterFirstCommand;
      break;
    default:
      hand.release = HandSettings::ReleaseTime::kFree;
  }
  if (in.has_hold_s()) hand.hold_time = from_ms(1e3 * in.hold_s());
  return hand;
}

LineFaults to_line_faults(const pb::SimLineFaults& in, std::uint64_t seed) {
  LineFaults faults;
  faults.seed = seed;
  faults.frame_lost = in.frame_lost();
  faults.frame_duplicated = in.frame_duplicated();
  faults.frame_delayed = in.frame_delayed();
  faults.stall = in.stall();
  faults.burst = in.burst();
  faults.byte_lost = in.byte_lost();
  faults.byte_duplicated = in.byte_duplicated();
  faults.bit_flipped = in.bit_flipped();
  if (in.has_delay_max_ms()) faults.delay_max = from_ms(in.delay_max_ms());
  if (in.has_stall_max_ms()) faults.stall_max = from_ms(in.stall_max_ms());
  if (in.has_burst_size_bytes_max()) {
    faults.burst_size_bytes_max = static_cast<int>(in.burst_size_bytes_max());
  }
  return faults;
}

UnitFaults to_unit_faults(const pb::SimUnitFaults& in, std::uint64_t seed, int joint_count,
                          const TextLocator& at) {
  UnitFaults faults;
  faults.seed = seed;
  faults.channel_dropout = in.channel_dropout();
  faults.reset = in.reset();
  if (in.has_dropout_max_ms()) {
    faults.dropout_max = from_ms(in.dropout_max_ms());
  }
  if (in.dropout_channel_size() == 0) return faults;
  faults.dropout_channels = 0;
  for (int k = 0; k < in.dropout_channel_size(); ++k) {
    const std::uint32_t channel = in.dropout_channel(k);
    if (channel >= static_cast<std::uint32_t>(joint_count)) {
      at.at("dropout_channel", k)
          .fail("the rig has channels 0 to " + std::to_string(joint_count - 1));
    }
    faults.dropout_channels = static_cast<std::uint16_t>(faults.dropout_channels | (1U << channel));
  }
  return faults;
}

void apply(const SimOverrides& overrides, pb::Simulation& simulation) {
  if (overrides.baud_rate) simulation.mutable_line()->set_baud(*overrides.baud_rate);
  if (overrides.clock_error_ppm) {
    simulation.mutable_unit()->set_clock_error_ppm(*overrides.clock_error_ppm);
  }
  if (overrides.seed) simulation.set_seed(*overrides.seed);
  if (const auto fault = proto::find_number_error(simulation)) {
    throw proto::InputError("on the command line: " + fault->sentence);
  }
}

// Sets rig and start; returns the joint count.
int set_rig(const pb::Simulation& in, const TextLocator& root, SimConfig& config) {
  const double g = in.gravity().has_magnitude() ? in.gravity().magnitude() : 9.82;
  const Vector3 tilt = {in.gravity().tilt_x_rad(), 0.0, in.gravity().tilt_z_rad()};
  if (in.has_pendulum()) {
    PendulumParameters pendulum = to_pendulum(in.pendulum(), root.at("pendulum"));
    pendulum.gravity = g;
    pendulum.tilt = tilt;
    config.rig = pendulum;
    config.start.angle_rad[0] = in.pendulum().start_angle_rad();
    config.start.speed_rad_s[0] = in.pendulum().start_speed_rad_s();
    return 1;
  }
  if (!in.has_furuta()) root.fail("no rig; add pendulum { ... } or furuta { ... }");
  FurutaParameters furuta = to_furuta(in.furuta(), root.at("furuta"));
  furuta.gravity = g;
  furuta.tilt = tilt;
  config.rig = furuta;
  config.start.angle_rad = {in.furuta().arm_start_angle_rad(),
                            in.furuta().pendulum_start_angle_rad()};
  return 2;
}

pb::Simulation parse_simulation(const std::string& path, const SimOverrides& overrides,
                                TextLocator::Tree& tree) {
  pb::Simulation in;
  if (!path.empty()) proto::parse_text(path, proto::read_file(path), in, tree);
  apply(overrides, in);
  return in;
}

/// Reads everything except the rig.
void set_unit_and_line(const pb::Simulation& in, int joint_count, const TextLocator& root,
                       SimConfig& config) {
  SimulationSettings& settings = config.settings;
  settings.unit = to_unit(in.unit(), joint_count, root.at("unit"));
  settings.unit.hand = to_hand(in.hand());
  // Three independent random streams of faults from one seed.
  settings.unit.faults =
      to_unit_faults(in.unit_faults(), 3 * in.seed(), joint_count, root.at("unit_faults"));
  settings.to_host.faults = to_line_faults(in.line().to_host(), 3 * in.seed() + 1);
  settings.to_unit.faults = to_line_faults(in.line().to_unit(), 3 * in.seed() + 2);
  const std::uint32_t baud = in.line().has_baud() ? in.line().baud() : 921'600;
  settings.to_host.baud_rate = settings.to_unit.baud_rate = static_cast<int>(baud);
  settings.to_host.latency = settings.to_unit.latency = from_ms(in.line().latency_ms());
  config.resolved_text =
      "# proto-file: proto/sim.proto\n# proto-message: rigcal.v1.Simulation\n" + in.DebugString();
}

/// Rejects a part of the rig in a simulation file beside a rig file.
void reject_part_of_rig(bool is_given, const TextLocator& place, const std::string& part) {
  if (!is_given) return;
  place.fail(part + " comes from the rig file; remove it here, or start rigcal-sim without --rig");
}

}  // namespace

Plant SimConfig::make_plant() const {
  if (const auto* pendulum = std::get_if<PendulumParameters>(&rig)) {
    return {std::make_unique<PendulumModel>(*pendulum), start};
  }
  return {std::make_unique<FurutaModel>(std::get<FurutaParameters>(rig)), start};
}

SimConfig load_sim_config(const std::string& path, const SimOverrides& overrides) {
  TextLocator::Tree tree;
  const pb::Simulation in = parse_simulation(path, overrides, tree);
  const TextLocator root(path, in.GetDescriptor(), &tree);
  SimConfig config;
  const int joint_count = set_rig(in, root, config);
  set_unit_and_line(in, joint_count, root, config);
  return config;
}

SimConfig load_unit_config(const std::string& path, int joint_count,
                           const SimOverrides& overrides) {
  TextLocator::Tree tree;
  const pb::Simulation in = parse_simulation(path, overrides, tree);
  const TextLocator root(path, in.GetDescriptor(), &tree);
  const TextLocator unit = root.at("unit");
  reject_part_of_rig(in.has_pendulum(), root.at("pendulum"), "the rig");
  reject_part_of_rig(in.has_furuta(), root.at("furuta"), "the rig");
  reject_part_of_rig(in.has_gravity(), root.at("gravity"), "gravity");
  reject_part_of_rig(in.unit().encoder_size() > 0, unit.at("encoder", 0), "this encoder");
  reject_part_of_rig(in.unit().inertial_size() > 0, unit.at("inertial", 0), "this sensor");
  reject_part_of_rig(in.unit().has_command_max_v(), unit.at("command_max_V"), "the command range");
  SimConfig config;
  set_unit_and_line(in, joint_count, root, config);
  return config;
}

}  // namespace firmware_iface::sim
