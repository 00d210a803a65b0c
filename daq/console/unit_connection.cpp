#include "daq/console/unit_connection.hpp"

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <numbers>
#include <numeric>
#include <ostream>
#include <sstream>

#include "firmware_iface/open/open_transport.hpp"

namespace daq {
namespace {

using firmware_iface::Error;
using firmware_iface::ErrorCode;
using firmware_iface::UnitDescription;

// Returns how the unit contradicts the rig file's motors; empty if it does not.
std::string motor_contradiction(const RigConfig& rig, const UnitDescription& facts) {
  std::ostringstream what;
  if (static_cast<int>(rig.motor.size()) > facts.motor_count) {
    what << "the unit drives " << facts.motor_count
         << (facts.motor_count == 1 ? " motor, " : " motors, ") << rig.path << " has "
         << rig.motor.size() << "; remove motor { ... } of a joint, or use another unit";
    return what.str();
  }
  for (std::size_t m = 0; m < rig.motor.size(); ++m) {
    const MotorConfig& motor = rig.motor[m];
    const std::string in_unit = firmware_iface::motor_command_unit(facts.motor[m].kind);
    const double most = facts.motor[m].command_max;
    if (motor.command_unit != in_unit && motor.command_unit != "1") {
      what << "the unit's motor " << m << " is commanded in " << in_unit << ", " << rig.path
           << " gives " << motor.command_unit << " for joint \"" << motor.joint
           << "\"; correct control_unit, or the order in unit { motor { ... } }";
      return what.str();
    }
    if (m < rig.limits.motor.size() && rig.limits.motor[m].command_max > most) {
      what << "the unit commands motor " << m << " up to " << most << ' ' << in_unit << ", "
           << rig.path << " allows joint \"" << motor.joint << "\" up to "
           << rig.limits.motor[m].command_max << "; lower safety { command_max }";
      return what.str();
    }
  }
  return {};
}

}  // namespace

std::string find_rig_contradiction(const RigConfig& rig, const UnitDescription& facts) {
  std::ostringstream what;
  const auto channels = static_cast<int>(rig.channel.size());
  if (channels != facts.encoder_count) {
    what << "the unit has " << facts.encoder_count
         << (facts.encoder_count == 1 ? " encoder, " : " encoders, ") << rig.path << " lists "
         << channels << "; list each in unit { channel { ... } }";
    return what.str();
  }
  for (std::size_t j = 0; j < rig.channel.size(); ++j) {
    const ChannelConfig& channel = rig.channel[j];
    const std::uint32_t in_unit = facts.encoder[j].counts_per_turn;
    if (channel.slides || in_unit == 0) continue;  // the unit does not describe counts per metre
    if (channel.counts_per_turn == static_cast<double>(in_unit)) continue;
    what << "the unit counts " << in_unit << " per turn on channel " << j << ", " << rig.path
         << " gives " << channel.counts_per_turn << " for joint \"" << channel.joint
         << "\"; correct counts_per_turn, or the order of the channels";
    return what.str();
  }
  if (static_cast<int>(rig.inertial.size()) > facts.inertial_count) {
    what << "the unit has " << facts.inertial_count << " inertial sensors, " << rig.path
         << " lists " << rig.inertial.size() << "; correct unit { inertial { ... } }";
    return what.str();
  }
  for (std::size_t i = 0; i < rig.limits.inertial.size(); ++i) {  // empty without a safety section
    const InertialLimits& own = rig.limits.inertial[i];
    const double period_s = 1e-9 * static_cast<double>(compute_sample_period(rig, facts).count()) *
                            compute_inertial_dividers(rig, facts)[i];
    if (own.missing_s_max == 0.0 || own.missing_s_max > period_s) continue;
    what << "inertial sensor \"" << own.sensor << "\" is read every " << 1e3 * period_s << " ms, "
         << rig.path << " allows " << 1e3 * own.missing_s_max
         << " ms without a reading; raise missing_ms_max";
    return what.str();
  }
  if (std::string of_motors = motor_contradiction(rig, facts); !of_motors.empty()) return of_motors;
  if (rig.ttl_ms > facts.ttl_max_ms) {
    what << "the unit accepts a time to live of up to " << facts.ttl_max_ms << " ms, " << rig.path
         << " gives " << rig.ttl_ms << " ms; lower unit { ttl_ms }";
  } else if (rig.host_paced && !facts.can_be_host_paced) {
    what << "the unit does not support host-paced sampling; remove host_paced from " << rig.path;
  } else if (rig.compact && !facts.can_compact) {
    what << "the unit does not support compact messages; remove compact from " << rig.path;
  }
  return what.str();
}

namespace {

void print_facts(const firmware_iface::Transport& transport, const UnitDescription& facts,
                 std::ostream& out) {
  out << transport.report().description << '\n';
  for (const std::string& note : transport.report().notes) out << "  " << note << '\n';
  out << "unit " << std::hex << std::setw(16) << std::setfill('0') << facts.unit_id << std::dec
      << std::setfill(' ') << ": protocol " << facts.protocol_version << ", " << facts.encoder_count
      << (facts.encoder_count == 1 ? " encoder, " : " encoders, ") << facts.tick_rate_Hz << " Hz, ";
  for (int k = 0; k < facts.motor_count; ++k) {
    const firmware_iface::MotorDescription& motor = facts.motor[static_cast<std::size_t>(k)];
    out << "±" << motor.command_max << ' ' << firmware_iface::motor_command_unit(motor.kind)
        << ", ";
  }
  out << "time to live up to " << facts.ttl_max_ms << " ms, started " << facts.boot_count
      << (facts.boot_count == 1 ? " time\n" : " times\n");
  for (int i = 0; i < facts.inertial_count; ++i) {
    out << "  inertial sensor " << i << ", read "
        << facts.tick_rate_Hz / facts.inertial_ticks[static_cast<std::size_t>(i)]
        << " times a second\n";
  }
}

}  // namespace

firmware_iface::StreamSettings make_stream_settings(const RigConfig& rig,
                                                    const UnitDescription& facts) {
  return {.compact = rig.compact,
          .host_paced = rig.host_paced,
          .divider = rig.divider,
          .inertial_divider = compute_inertial_dividers(rig, facts)};
}

std::array<int, INERTIAL_SENSORS_MAX> compute_inertial_dividers(const RigConfig& rig,
                                                                const UnitDescription& facts) {
  std::array<int, INERTIAL_SENSORS_MAX> dividers{};
  const std::size_t count =
      std::min(rig.inertial.size(), static_cast<std::size_t>(facts.inertial_count));
  for (std::size_t i = 0; i < count; ++i) {
    const int ticks = std::max(facts.inertial_ticks[i], 1);
    dividers[i] = rig.inertial[i].divider > 0 ? rig.inertial[i].divider
                                              : ticks / std::gcd(ticks, rig.divider);
  }
  return dividers;
}

SafetyLimits fill_in_reading_time_limits(SafetyLimits limits, const RigConfig& rig,
                                         const UnitDescription& facts) {
  constexpr double kMissingDefault_s = 10e-3;
  constexpr double kMissingDefaultReadings = 3.0;
  const auto dividers = compute_inertial_dividers(rig, facts);
  for (std::size_t i = 0; i < limits.inertial.size(); ++i) {
    double& missing_s = limits.inertial[i].missing_s_max;
    if (missing_s > 0.0) continue;
    const double period_s =
        1e-9 * static_cast<double>(compute_sample_period(rig, facts).count()) * dividers[i];
    missing_s = std::max(kMissingDefault_s, kMissingDefaultReadings * period_s);
  }
  return limits;
}

Nanoseconds compute_sample_period(const RigConfig& rig, const UnitDescription& facts) {
  return Nanoseconds(std::llround(1e9 * rig.divider / facts.tick_rate_Hz));
}

std::array<ChannelScale, kJointsMax> compute_channel_scales(const RigConfig& rig) {
  std::array<ChannelScale, kJointsMax> scales{};
  for (std::size_t j = 0; j < rig.channel.size(); ++j) {
    const ChannelConfig& channel = rig.channel[j];
    const double sign = channel.inverted ? -1.0 : 1.0;
    const double whole = channel.slides ? 1.0 : 2.0 * std::numbers::pi;
    scales[j] = {sign * whole / channel.counts_per_turn, channel.offset_rad};
  }
  return scales;
}

LoopSettings make_loop_settings(const RigConfig& rig, const UnitDescription& facts) {
  LoopSettings settings{.period = compute_sample_period(rig, facts),
                        .host_paced = rig.host_paced,
                        .ttl_ms = rig.ttl_ms,
                        .joint_count = rig.channel.size(),
                        .channel = compute_channel_scales(rig),
                        .inertial_count = rig.inertial.size()};
  std::ranges::transform(rig.inertial, settings.inertial.begin(), &InertialSensorConfig::scale);
  return settings;
}

firmware_iface::Result<std::unique_ptr<UnitConnection>> connect_to_unit(const RigConfig& rig,
                                                                        std::ostream& out) {
  auto transport = firmware_iface::open_transport(rig.unit_url);
  if (!transport.ok()) return transport.error();
  auto session = std::make_unique<UnitConnection>();
  session->transport = std::move(transport.value());
  session->unit =
      std::make_unique<firmware_iface::UnitLink>(*session->transport, &session->black_box);
  const auto facts = session->unit->connect();
  if (!facts.ok()) return facts.error();
  print_facts(*session->transport, session->unit->facts(), out);
  if (const std::string what = find_rig_contradiction(rig, session->unit->facts()); !what.empty()) {
    return Error{ErrorCode::kBadConfig, rig.unit_url + ": " + what};
  }
  return session;
}

}  // namespace daq
