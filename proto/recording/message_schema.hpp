#pragma once

#include <google/protobuf/descriptor.h>

#include <cstdint>
#include <string>

#include "proto/recording/mcap/mcap_writer.hpp"

namespace proto {

/// Declares a channel of Protobuf messages with their schema.
/// @return id of the channel
std::uint16_t add_message_channel(McapWriter& writer, const std::string& topic,
                                  const google::protobuf::Descriptor& type, McapMap metadata = {});

}  // namespace proto
