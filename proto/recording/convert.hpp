#pragma once

#include <google/protobuf/descriptor.h>

#include <cstdint>
#include <optional>
#include <string>

#include "proto/recording/mcap/mcap_writer.hpp"
#include "proto/recording/recording_types.hpp"
#include "proto/sample.pb.h"

namespace proto {

/// Conversions between the structs of recording_types.hpp and Protobuf messages. to_message
/// overwrites every field of a message, so that a message can be reused.
void to_message(const Sample& sample, rigcal::v1::Sample& message);
void to_message(const InertialReading& reading, rigcal::v1::InertialReading& message);
void to_message(const Command& command, rigcal::v1::Command& message);
void to_message(const Gap& gap, rigcal::v1::Gap& message);
void to_message(const Event& event, rigcal::v1::Event& message);
void to_message(const ClockFit& fit, rigcal::v1::ClockFit& message);
void to_message(const LoopStats& stats, rigcal::v1::LoopStats& message);

/// Protobuf message type that corresponds to a struct: MessageOf<Sample> is rigcal::v1::Sample.
template <typename Plain, typename Message>
Message type_of_message(void (*)(const Plain&, Message&));
template <typename Plain>
using MessageOf = decltype(type_of_message<Plain>(&to_message));

/// Converts a Protobuf message to a struct. Returns nullopt for a sample whose channel arrays
/// differ in length, or that has more than kChannelCountMax channels or kMotorCountMax commands.
/// Likewise for an inertial reading without a count for each axis. An unknown enumerator becomes
/// kUnspecified. RecordingRules check whether a recording may contain the result.
std::optional<Sample> from_message(const rigcal::v1::Sample& message);
std::optional<InertialReading> from_message(const rigcal::v1::InertialReading& message);
std::optional<Command> from_message(const rigcal::v1::Command& message);
std::optional<Gap> from_message(const rigcal::v1::Gap& message);
std::optional<Event> from_message(const rigcal::v1::Event& message);
std::optional<ClockFit> from_message(const rigcal::v1::ClockFit& message);
std::optional<LoopStats> from_message(const rigcal::v1::LoopStats& message);

/// Declares a channel of Protobuf messages with their schema.
/// @return id of the channel
std::uint16_t add_message_channel(McapWriter& writer, const std::string& topic,
                                  const google::protobuf::Descriptor& type, McapMap metadata = {});

}  // namespace proto
