#pragma once

#include <sqlite3.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "proto/recording/joint_state.hpp"
#include "proto/recording/mcap/byte_cursor.hpp"

namespace test_support {

/// Plain CDR, written according to its specification.
class CdrWriter {
 public:
  explicit CdrWriter(bool little_endian) : little_(little_endian) {}

  template <typename Number>
  void put(Number number) {
    while (bytes_.size() % sizeof(Number) != 0) bytes_.push_back(0);
    std::uint8_t raw[sizeof(Number)];
    std::memcpy(raw, &number, sizeof(Number));
    if (little_ != (std::endian::native == std::endian::little)) {
      std::reverse(std::begin(raw), std::end(raw));
    }
    for (const std::uint8_t byte : raw) bytes_.push_back(byte);
  }
  void append_text(const std::string& text) {
    put(static_cast<std::uint32_t>(text.size() + 1));
    bytes_.insert(bytes_.end(), text.begin(), text.end());
    bytes_.push_back(0);
  }
  void put_numbers(const std::vector<double>& numbers) {
    put(static_cast<std::uint32_t>(numbers.size()));
    for (const double number : numbers) put(number);
  }
  proto::Bytes message() const {
    proto::Bytes all = {0, static_cast<std::uint8_t>(little_ ? 1 : 0), 0, 0};
    for (const std::uint8_t byte : bytes_) all.push_back(byte);
    return all;
  }

 private:
  bool little_;
  proto::Bytes bytes_;
};

/// Returns a sensor_msgs/msg/JointState in plain CDR.
inline proto::Bytes encode_joint_state(const proto::JointState& state, bool little_endian = true) {
  CdrWriter writer(little_endian);
  writer.put(static_cast<std::int32_t>(state.stamp_ns / 1'000'000'000));
  writer.put(static_cast<std::uint32_t>(state.stamp_ns % 1'000'000'000));
  writer.append_text("base");
  writer.put(static_cast<std::uint32_t>(state.names.size()));
  for (const std::string& name : state.names) writer.append_text(name);
  writer.put_numbers(state.positions);
  writer.put_numbers(state.velocities);
  writer.put_numbers(state.efforts);
  return writer.message();
}

/// Returns a state of one joint "arm".
inline proto::JointState arm_state(std::int64_t stamp_ns, double position) {
  return {.stamp_ns = stamp_ns,
          .names = {"arm"},
          .positions = {position},
          .velocities = {},
          .efforts = {0.0}};
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
