#include "proto/recording/sqlite_bag.hpp"

#include <sqlite3.h>

#include <array>
#include <filesystem>
#include <map>
#include <memory>

#include "proto/recording/mcap/byte_cursor.hpp"
#include "proto/recording/mcap/file.hpp"
#include "proto/text/input_error.hpp"

namespace proto {
namespace {

constexpr int kValueSizeMax = 64 << 20;  // of a message or a text [byte]
constexpr std::size_t kTopicsMax = 10'000;
constexpr std::uint64_t kProgressPeriod = 10'000;  // instructions of SQLite between calls
constexpr std::uint64_t kInstructionsMin = 10'000'000;
constexpr std::uint64_t kInstructionsPerByte = 10;

using Database = std::unique_ptr<sqlite3, int (*)(sqlite3*)>;
using Statement = std::unique_ptr<sqlite3_stmt, int (*)(sqlite3_stmt*)>;

/// Returns a URI that opens a file alone, without the files that SQLite keeps beside it.
std::string make_uri(const std::string& path) {
  std::string uri = "file:";
  for (const char c : std::filesystem::absolute(path).string()) {
    if (c == '%') {
      uri += "%25";
    } else if (c == '?') {
      uri += "%3f";
    } else if (c == '#') {
      uri += "%23";
    } else {
      uri += c;
    }
  }
  return uri + "?immutable=1";
}

/// Refuses a bag whose last messages are in a file beside it.
void check_closed(const std::string& path) {
  for (const char* ending : {"-wal", "-journal"}) {
    std::error_code none;
    const auto size = std::filesystem::file_size(path + ending, none);
    if (none || size == 0) continue;
    throw InputError(
        "{0}: the recorder did not close the bag, and {0}{1} contains a part of it. "
        "Complete the bag with: sqlite3 {0} 'PRAGMA wal_checkpoint(TRUNCATE)'",
        path, ending);
  }
}

/// A SQLite file that may be hostile: it is read with limits on time and memory.
class BagDatabase {
 public:
  explicit BagDatabase(const std::string& path) : path_(path), database_(nullptr, sqlite3_close) {
    const auto file = open_input_file(path);
    if (!file.ok()) throw InputError(file.error().detail);
    check_closed(path);
    instructions_left_ = kInstructionsMin + kInstructionsPerByte * file.value()->size_bytes();
    sqlite3* opened = nullptr;
    const int status = sqlite3_open_v2(make_uri(path).c_str(), &opened,
                                       SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, nullptr);
    database_.reset(opened);
    if (status != SQLITE_OK) refuse();
    sqlite3_db_config(opened, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
    sqlite3_db_config(opened, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
    sqlite3_limit(opened, SQLITE_LIMIT_LENGTH, kValueSizeMax);
    sqlite3_progress_handler(opened, static_cast<int>(kProgressPeriod), count_instructions, this);
    step(prepare("PRAGMA cell_size_check = ON"));
  }

  Statement prepare(const char* query) const {
    sqlite3_stmt* statement = nullptr;
    if (sqlite3_prepare_v2(database_.get(), query, -1, &statement, nullptr) != SQLITE_OK) refuse();
    return {statement, sqlite3_finalize};
  }

  /// Returns whether there is a next row.
  bool step(const Statement& statement) const {
    const int status = sqlite3_step(statement.get());
    if (status != SQLITE_ROW && status != SQLITE_DONE) refuse();
    return status == SQLITE_ROW;
  }

 private:
  static int count_instructions(void* self) {
    auto& own = *static_cast<BagDatabase*>(self);
    if (own.instructions_left_ < kProgressPeriod) return 1;  // interrupts the statement
    own.instructions_left_ -= kProgressPeriod;
    return 0;
  }

  [[noreturn]] void refuse() const {
    throw InputError(
        "{}: is not a ROS 2 bag with the tables \"topics\" and \"messages\", or is damaged; "
        "convert it with ros2 bag convert",
        path_);
  }

  std::string path_;
  Database database_;
  std::uint64_t instructions_left_ = 0;
};

std::string text_in(const Statement& statement, int column) {
  const auto* const text = sqlite3_column_text(statement.get(), column);
  const int size = sqlite3_column_bytes(statement.get(), column);
  return text == nullptr
             ? ""
             : std::string(reinterpret_cast<const char*>(text), static_cast<std::size_t>(size));
}

}  // namespace

bool is_sqlite_file(const std::string& path) {
  std::array<std::uint8_t, kSqliteBegin.size()> begin{};
  const auto file = open_input_file(path);
  return file.ok() && file.value()->size_bytes() >= begin.size() &&
         file.value()->read(0, begin).ok() && as_text(begin) == kSqliteBegin;
}

void scan_sqlite_bag(const std::string& path, std::string_view message_type, McapVisitor& visitor) {
  BagDatabase bag(path);
  const Statement topics = bag.prepare("SELECT id, name, type, serialization_format FROM topics");
  std::map<std::int64_t, McapChannel> channels;
  std::string others;
  for (std::size_t k = 0; k < kTopicsMax && bag.step(topics); ++k) {
    if (const std::string type = text_in(topics, 2); type != message_type) {
      if (k < 20) others += (others.empty() ? "" : ", ") + text_in(topics, 1) + " (" + type + ")";
      continue;
    }
    McapChannel channel;
    channel.id = static_cast<std::uint16_t>(k);
    channel.topic = text_in(topics, 1);
    channel.message_encoding = text_in(topics, 3);
    channels[sqlite3_column_int64(topics.get(), 0)] = channel;
  }
  if (channels.empty()) {
    throw InputError(
        "{}: has no topic of the type {}; its topics are {}. Record the joint states too", path,
        message_type, others.empty() ? "none" : others);
  }
  const McapSchema schema{
      .id = 1, .name = std::string(message_type), .encoding = "ros2msg", .data = {}};
  const Statement rows = bag.prepare("SELECT topic_id, timestamp, data FROM messages");
  while (bag.step(rows)) {
    const auto channel = channels.find(sqlite3_column_int64(rows.get(), 0));
    if (channel == channels.end()) continue;
    const auto time_ns = static_cast<std::uint64_t>(sqlite3_column_int64(rows.get(), 1));
    const auto* const data = static_cast<const std::uint8_t*>(sqlite3_column_blob(rows.get(), 2));
    const int size = data == nullptr ? 0 : sqlite3_column_bytes(rows.get(), 2);
    const McapMessage message{.channel_id = channel->second.id,
                              .sequence = 0,
                              .log_time_ns = time_ns,
                              .publish_time_ns = time_ns,
                              .data = {data, static_cast<std::size_t>(size)}};
    if (!visitor.on_message(channel->second, &schema, message)) return;
  }
}

}  // namespace proto
