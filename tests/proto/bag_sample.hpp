#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "proto/recording/mcap/byte_cursor.hpp"

namespace test_support {

/// Returns a sensor_msgs/msg/JointState in plain little-endian CDR, with one joint "arm".
inline proto::Bytes make_joint_state(std::int64_t stamp_ns, double position, double effort) {
  proto::Bytes bytes = {0, 1, 0, 0};
  const auto align = [&](std::size_t size) {
    while ((bytes.size() - 4) % size != 0) bytes.push_back(0);
  };
  const auto put_text = [&](std::string_view text) {
    align(4);
    proto::put(bytes, static_cast<std::uint32_t>(text.size() + 1));
    proto::append_bytes(bytes, proto::as_bytes(text));
    bytes.push_back(0);
  };
  const auto put_number = [&](double number) {
    align(4);
    proto::put(bytes, std::uint32_t{1});
    align(8);
    std::uint64_t bits = 0;
    static_assert(sizeof(bits) == sizeof(number));
    __builtin_memcpy(&bits, &number, sizeof(bits));
    proto::put(bytes, bits);
  };
  proto::put(bytes, static_cast<std::uint32_t>(stamp_ns / 1'000'000'000));
  proto::put(bytes, static_cast<std::uint32_t>(stamp_ns % 1'000'000'000));
  put_text("base");
  align(4);
  proto::put(bytes, std::uint32_t{1});
  put_text("arm");
  put_number(position);
  align(4);
  proto::put(bytes, std::uint32_t{0});  // velocities
  put_number(effort);
  return bytes;
}

/// A bag in the form of rosbag2_storage_sqlite3, with the topics /joint_states and /rosout.
class SqliteBagWriter {
 public:
  explicit SqliteBagWriter(const std::string& path,
                           const std::string& type = "sensor_msgs/msg/JointState") {
    sqlite3_open(path.c_str(), &database_);
    run("PRAGMA page_size = 512");
    run("CREATE TABLE topics(id INTEGER PRIMARY KEY, name TEXT NOT NULL, type TEXT NOT NULL, "
        "serialization_format TEXT NOT NULL, offered_qos_profiles TEXT NOT NULL)");
    run("CREATE TABLE messages(id INTEGER PRIMARY KEY, topic_id INTEGER NOT NULL, "
        "timestamp INTEGER NOT NULL, data BLOB NOT NULL)");
    run("INSERT INTO topics VALUES (1, '/rosout', 'rcl_interfaces/msg/Log', 'cdr', '')");
    run("INSERT INTO topics VALUES (2, '/joint_states', '" + type + "', 'cdr', '')");
    run("INSERT INTO messages VALUES (NULL, 1, 0, x'0001')");
  }
  ~SqliteBagWriter() { sqlite3_close(database_); }
  SqliteBagWriter(const SqliteBagWriter&) = delete;
  SqliteBagWriter& operator=(const SqliteBagWriter&) = delete;

  void run(const std::string& statement) {
    is_fine_ = sqlite3_exec(database_, statement.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK &&
               is_fine_;
  }

  void add_message(std::int64_t time_ns, const proto::Bytes& data) {
    constexpr const char* kInsert = "INSERT INTO messages VALUES (NULL, 2, ?, ?)";
    sqlite3_stmt* statement = nullptr;
    sqlite3_prepare_v2(database_, kInsert, -1, &statement, nullptr);
    sqlite3_bind_int64(statement, 1, time_ns);
    sqlite3_bind_blob(statement, 2, data.data(), static_cast<int>(data.size()), SQLITE_TRANSIENT);
    is_fine_ = sqlite3_step(statement) == SQLITE_DONE && is_fine_;
    sqlite3_finalize(statement);
  }

  bool is_fine() const { return is_fine_; }

 private:
  sqlite3* database_ = nullptr;
  bool is_fine_ = true;
};

}  // namespace test_support
