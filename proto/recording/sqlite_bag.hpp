#pragma once

#include <string>
#include <string_view>

#include "proto/recording/mcap/mcap_reader.hpp"

namespace proto {

/// First bytes of a SQLite file, the format of ROS 2 bags with the extension .db3.
inline constexpr std::string_view kSqliteBegin{"SQLite format 3\0", 16};

/// Returns whether a file begins as a SQLite file.
bool is_sqlite_file(const std::string& path);

/// Passes the messages of one type in a ROS 2 bag of rosbag2_storage_sqlite3 to a visitor, in the
/// order of recording. Channels have the name, type and serialization format of the bag's topics.
/// Only the file itself is read, and never changed.
/// @param message_type  e.g. "sensor_msgs/msg/JointState"
/// @throws InputError naming the file if it is not such a bag or is damaged, if it has no topic of
///         this type, or if the recorder did not close it
void scan_sqlite_bag(const std::string& path, std::string_view message_type, McapVisitor& visitor);

}  // namespace proto
