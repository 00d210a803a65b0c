#include "proto/recording/convert.hpp"

#include <google/protobuf/descriptor.pb.h>

#include <algorithm>
#include <cassert>
#include <limits>
#include <utility>

namespace proto {
namespace {

using CommandField = google::protobuf::RepeatedField<double>;

// The plain enumerators are listed in the order of the schema's numbers.
static_assert(static_cast<int>(GapCause::kNotListed) == rigcal::v1::Gap::CAUSE_NOT_LISTED);
static_assert(static_cast<int>(EventKind::kStorage) == rigcal::v1::Event::KIND_STORAGE);
static_assert(static_cast<int>(LinkDirection::kToUnit) == rigcal::v1::LinkFrame::DIRECTION_TO_UNIT);
static_assert(rigcal::v1::Gap::Cause_MAX == kGapCauseCount - 1);

LinkFrame from_frame(const rigcal::v1::LinkFrame& message) {
  LinkFrame frame;
  frame.timestamp_s = message.timestamp();
  if (rigcal::v1::LinkFrame::Direction_IsValid(message.direction())) {
    frame.direction = static_cast<LinkDirection>(message.direction());
  }
  frame.frame.assign(message.frame().begin(), message.frame().end());
  return frame;
}

void write_vector(const double* from, rigcal::v1::Vector3& to) {
  to.set_x(from[0]);
  to.set_y(from[1]);
  to.set_z(from[2]);
}

void read_vector(const rigcal::v1::Vector3& from, double* to) {
  to[0] = from.x();
  to[1] = from.y();
  to[2] = from.z();
}

bool are_commands(const CommandField& field) {
  return field.size() <= static_cast<int>(kMotorCountMax);
}

// With a single command field, protobuf omitted a command of zero.
std::uint32_t read_commands(const CommandField& from, MotorCommands& to) {
  std::copy(from.begin(), from.end(), to.begin());
  return static_cast<std::uint32_t>(std::max(from.size(), 1));
}

void add_file(const google::protobuf::FileDescriptor& file,
              google::protobuf::FileDescriptorSet& set) {
  for (int k = 0; k < file.dependency_count(); ++k) add_file(*file.dependency(k), set);
  for (const auto& present : set.file()) {
    if (present.name() == file.name()) return;
  }
  file.CopyTo(set.add_file());
}

// Returns a message's schema in MCAP's form: a FileDescriptorSet with all its dependencies.
std::string file_descriptor_set(const google::protobuf::Descriptor& type) {
  google::protobuf::FileDescriptorSet set;
  add_file(*type.file(), set);
  return set.SerializeAsString();
}

}  // namespace

void to_message(const Sample& sample, rigcal::v1::Sample& message) {
  assert(sample.channel_count <= kChannelCountMax);
  assert(sample.motor_count <= kMotorCountMax);
  message.Clear();
  message.set_timestamp(sample.timestamp_s);
  message.set_sequence(sample.sequence);
  message.set_device_time_us(sample.device_time_us);
  for (std::size_t k = 0; k < sample.channel_count; ++k) {
    message.add_angle_rad(sample.valid[k] ? sample.angle_rad[k]
                                          : std::numeric_limits<double>::quiet_NaN());
    message.add_encoder_counts(sample.encoder_counts[k]);
    message.add_valid(sample.valid[k]);
  }
  for (std::size_t k = 0; k < sample.motor_count; ++k) message.add_command(sample.command[k]);
  message.set_command_sequence(sample.command_sequence);
  message.set_tripped(sample.tripped);
  message.set_driving(sample.driving);
  message.set_fault_flags(sample.fault_flags);
  message.set_error_count(sample.error_count);
}

std::optional<Sample> from_message(const rigcal::v1::Sample& message) {
  const int count = message.angle_rad_size();
  if (count > static_cast<int>(kChannelCountMax) || message.encoder_counts_size() != count ||
      message.valid_size() != count || !are_commands(message.command())) {
    return std::nullopt;
  }
  Sample sample;
  sample.timestamp_s = message.timestamp();
  sample.sequence = message.sequence();
  sample.device_time_us = message.device_time_us();
  sample.channel_count = static_cast<std::uint32_t>(count);
  for (int k = 0; k < count; ++k) {
    const auto channel = static_cast<std::size_t>(k);
    sample.angle_rad[channel] = message.angle_rad(k);
    sample.encoder_counts[channel] = message.encoder_counts(k);
    sample.valid[channel] = message.valid(k);
  }
  sample.motor_count = read_commands(message.command(), sample.command);
  sample.command_sequence = message.command_sequence();
  sample.tripped = message.tripped();
  sample.driving = message.driving();
  sample.fault_flags = message.fault_flags();
  sample.error_count = message.error_count();
  return sample;
}

void to_message(const InertialReading& reading, rigcal::v1::InertialReading& message) {
  message.Clear();
  message.set_timestamp(reading.timestamp_s);
  message.set_sequence(reading.sequence);
  message.set_sensor(reading.sensor);
  write_vector(reading.value.data(), *message.mutable_angular_velocity());
  write_vector(reading.value.data() + 3, *message.mutable_linear_acceleration());
  for (const std::int32_t count : reading.counts) message.add_counts(count);
  message.set_saturated(reading.saturated);
}

std::optional<InertialReading> from_message(const rigcal::v1::InertialReading& message) {
  if (message.counts_size() != static_cast<int>(kInertialAxes)) return std::nullopt;
  InertialReading reading{.timestamp_s = message.timestamp(),
                          .sequence = message.sequence(),
                          .sensor = message.sensor(),
                          .saturated = message.saturated()};
  read_vector(message.angular_velocity(), reading.value.data());
  read_vector(message.linear_acceleration(), reading.value.data() + 3);
  for (std::size_t k = 0; k < kInertialAxes; ++k) {
    reading.counts[k] = message.counts(static_cast<int>(k));
  }
  return reading;
}

void to_message(const Command& command, rigcal::v1::Command& message) {
  message.Clear();
  message.set_timestamp(command.timestamp_s);
  message.set_command_sequence(command.command_sequence);
  for (std::size_t k = 0; k < command.motor_count; ++k) {
    message.add_command(command.command[k]);
    message.add_command_requested(command.command_requested[k]);
  }
  message.set_flags(command.flags);
}

std::optional<Command> from_message(const rigcal::v1::Command& message) {
  if (!are_commands(message.command()) || !are_commands(message.command_requested())) {
    return std::nullopt;
  }
  Command command{.timestamp_s = message.timestamp(),
                  .command_sequence = message.command_sequence(),
                  .flags = message.flags()};
  command.motor_count = read_commands(message.command(), command.command);
  const auto requested = read_commands(message.command_requested(), command.command_requested);
  if (requested != command.motor_count) return std::nullopt;
  return command;
}

void to_message(const Gap& gap, rigcal::v1::Gap& message) {
  message.Clear();
  message.set_timestamp(gap.timestamp_s);
  message.set_first_sequence(gap.first_sequence);
  message.set_sample_count(gap.sample_count);
  message.set_cause(static_cast<rigcal::v1::Gap::Cause>(gap.cause));
}

std::optional<Gap> from_message(const rigcal::v1::Gap& message) {
  Gap gap{.timestamp_s = message.timestamp(),
          .first_sequence = message.first_sequence(),
          .sample_count = message.sample_count()};
  if (rigcal::v1::Gap::Cause_IsValid(message.cause())) {
    gap.cause = static_cast<GapCause>(message.cause());
  }
  return gap;
}

void to_message(const Event& event, rigcal::v1::Event& message) {
  message.Clear();
  message.set_timestamp(event.timestamp_s);
  message.set_kind(static_cast<rigcal::v1::Event::Kind>(event.kind));
  message.set_name(event.name);
  message.set_text(event.text);
  message.set_channel(event.channel);
  message.set_value(event.value);
  message.set_limit(event.limit);
  message.set_unit(event.unit);
  message.set_sequence(event.sequence);
  for (const LinkFrame& frame : event.last_frames) {
    auto* entry = message.add_last_frames();
    entry->set_timestamp(frame.timestamp_s);
    entry->set_direction(static_cast<rigcal::v1::LinkFrame::Direction>(frame.direction));
    entry->set_frame(frame.frame.data(), frame.frame.size());
  }
}

std::optional<Event> from_message(const rigcal::v1::Event& message) {
  Event event;
  event.timestamp_s = message.timestamp();
  if (rigcal::v1::Event::Kind_IsValid(message.kind())) {
    event.kind = static_cast<EventKind>(message.kind());
  }
  event.name = message.name();
  event.text = message.text();
  event.channel = message.channel();
  event.value = message.value();
  event.limit = message.limit();
  event.unit = message.unit();
  event.sequence = message.sequence();
  for (const auto& frame : message.last_frames()) event.last_frames.push_back(from_frame(frame));
  return event;
}

void to_message(const ClockFit& fit, rigcal::v1::ClockFit& message) {
  message.Clear();
  message.set_timestamp(fit.timestamp_s);
  message.set_rate_error_ppm(fit.rate_error_ppm);
  message.set_rate_error_ppm_sd(fit.rate_error_ppm_sd);
  message.set_offset_s(fit.offset_s);
  message.set_residual_s_rms(fit.residual_s_rms);
  message.set_point_count(fit.point_count);
  message.set_rejected_count(fit.rejected_count);
}

std::optional<ClockFit> from_message(const rigcal::v1::ClockFit& message) {
  return ClockFit{.timestamp_s = message.timestamp(),
                  .rate_error_ppm = message.rate_error_ppm(),
                  .rate_error_ppm_sd = message.rate_error_ppm_sd(),
                  .offset_s = message.offset_s(),
                  .residual_s_rms = message.residual_s_rms(),
                  .point_count = message.point_count(),
                  .rejected_count = message.rejected_count()};
}

void to_message(const LoopStats& stats, rigcal::v1::LoopStats& message) {
  message.Clear();
  message.set_timestamp(stats.timestamp_s);
  message.set_cycle_count(stats.cycle_count);
  message.set_skipped_periods(stats.skipped_periods);
  message.set_dropped_samples(stats.dropped_samples);
  message.set_link_timeouts(stats.link_timeouts);
  message.set_damaged_frames(stats.damaged_frames);
  message.set_wakeup_us_mean(stats.wakeup_us_mean);
  message.set_wakeup_us_p99(stats.wakeup_us_p99);
  message.set_wakeup_us_max(stats.wakeup_us_max);
  message.set_cycle_us_mean(stats.cycle_us_mean);
  message.set_cycle_us_max(stats.cycle_us_max);
}

std::optional<LoopStats> from_message(const rigcal::v1::LoopStats& message) {
  return LoopStats{.timestamp_s = message.timestamp(),
                   .cycle_count = message.cycle_count(),
                   .skipped_periods = message.skipped_periods(),
                   .dropped_samples = message.dropped_samples(),
                   .link_timeouts = message.link_timeouts(),
                   .damaged_frames = message.damaged_frames(),
                   .wakeup_us_mean = message.wakeup_us_mean(),
                   .wakeup_us_p99 = message.wakeup_us_p99(),
                   .wakeup_us_max = message.wakeup_us_max(),
                   .cycle_us_mean = message.cycle_us_mean(),
                   .cycle_us_max = message.cycle_us_max()};
}

std::uint16_t add_message_channel(McapWriter& writer, const std::string& topic,
                                  const google::protobuf::Descriptor& type, McapMap metadata) {
  const std::string schema = file_descriptor_set(type);
  return writer.add_channel(topic, "protobuf", std::string(type.full_name()), "protobuf",
                            as_bytes(schema), std::move(metadata));
}

}  // namespace proto
