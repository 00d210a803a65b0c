#include "service/import/mcap_kind.hpp"

#include "proto/recording/file.hpp"
#include "proto/recording/joint_state.hpp"
#include "proto/recording/mcap_reader.hpp"
#include "proto/recording/topics.hpp"

namespace service {
namespace {

/// Ends the scan as soon as it knows.
class KindFinder final : public proto::McapVisitor {
 public:
  bool on_metadata(const proto::McapMetadata& metadata) override {
    return metadata.name != proto::kHeaderMetadata;
  }
  bool on_message(const proto::McapChannel&, const proto::McapSchema* schema,
                  const proto::McapMessage&) override {
    if (schema == nullptr) return true;
    if (schema->name == proto::kJointStateSchema) kind = McapKind::kJointStates;
    if (schema->name == proto::kJointTopics.message_type) kind = McapKind::kStates;
    return kind == McapKind::kRecording;
  }

  McapKind kind = McapKind::kRecording;
};

}  // namespace

McapKind mcap_kind(const std::string& path) {
  KindFinder finder;
  // What cannot be read is told by who reads it.
  if (const auto file = proto::open_input_file(path); file.ok()) {
    (void)proto::scan_mcap(*file.value(), finder).ok();
  }
  return finder.kind;
}

}  // namespace service
