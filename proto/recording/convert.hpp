#pragma once

#include <optional>

#include "proto/recording/recording_types.hpp"
#include "proto/sample.pb.h"

namespace proto {

/// Between the plain structs and their Protobuf messages. to_message overwrites every field of a
/// message that may be reused.
void to_message(const Sample& sample, rigcal::v1::Sample& message);
void to_message(const Command& command, rigcal::v1::Command& message);
void to_message(const Gap& gap, rigcal::v1::Gap& message);
void to_message(const Event& event, rigcal::v1::Event& message);
void to_message(const ClockFit& fit, rigcal::v1::ClockFit& message);
void to_message(const LoopStats& stats, rigcal::v1::LoopStats& message);

/// Nothing if the message cannot be what it claims: a timestamp that is not finite, channel arrays
/// of different lengths or with more than kChannelCountMax entries, an angle that is not finite on
/// a valid channel, a command that is not finite. An unknown enumerator becomes kUnspecified.
std::optional<Sample> from_message(const rigcal::v1::Sample& message);
std::optional<Command> from_message(const rigcal::v1::Command& message);
std::optional<Gap> from_message(const rigcal::v1::Gap& message);
std::optional<Event> from_message(const rigcal::v1::Event& message);
std::optional<ClockFit> from_message(const rigcal::v1::ClockFit& message);
std::optional<LoopStats> from_message(const rigcal::v1::LoopStats& message);

}  // namespace proto
