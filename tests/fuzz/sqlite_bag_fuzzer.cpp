// Feeds arbitrary bytes to the reader of ROS 2 bags in SQLite files. Any file is refused in one
// sentence that names it, or its messages have a channel and are parsed or refused.

#include "proto/recording/joint_state.hpp"
#include "proto/recording/sqlite_bag.hpp"
#include "tests/fuzz/fuzzed_file.hpp"
#include "tests/fuzz/refusal.hpp"

namespace {

class Parser final : public proto::McapVisitor {
 public:
  bool on_message(const proto::McapChannel&, const proto::McapSchema* schema,
                  const proto::McapMessage& message) override {
    fuzz::require(schema != nullptr && schema->name == proto::kJointStateSchema);
    const auto state = proto::parse_joint_state(message.data);
    fuzz::require(!state || state->names.size() <= proto::kJointsMax);
    return true;
  }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string& path = fuzz::write_fuzzed_file(data, size);
  fuzz::expect_value_or_refusal(path, [&] {
    Parser parser;
    proto::scan_sqlite_bag(path, proto::kJointStateSchema, parser);
  });
  return 0;
}
