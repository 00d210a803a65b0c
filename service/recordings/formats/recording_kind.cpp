#include "service/recordings/formats/recording_kind.hpp"

#include <algorithm>
#include <array>

#include "proto/recording/export/hdf5_file.hpp"
#include "proto/recording/joint_state.hpp"
#include "proto/recording/mcap/file.hpp"
#include "proto/recording/mcap/mcap_reader.hpp"
#include "proto/recording/topics.hpp"
#include "proto/text/input_error.hpp"
#include "service/recordings/formats/mcap_recording.hpp"

namespace service {
namespace {

/// Visitor that finds the format of an MCAP file and ends the scan as soon as it is known.
class KindFinder final : public proto::McapVisitor {
 public:
  bool on_metadata(const proto::McapMetadata& metadata) override {
    return metadata.name != proto::kHeaderMetadata;
  }
  bool on_message(const proto::McapChannel&, const proto::McapSchema* schema,
                  const proto::McapMessage&) override {
    if (schema == nullptr) return true;
    if (schema->name == proto::kJointStateSchema) kind = RecordingKind::kJointState;
    if (schema->name == proto::kJointTopics.message_type) kind = RecordingKind::kStateMcap;
    return kind == RecordingKind::kDaqMcap;
  }

  RecordingKind kind = RecordingKind::kDaqMcap;
};

RecordingKind mcap_kind(const std::string& path) {
  KindFinder finder;
  // The reader reports unreadable files.
  if (const auto file = proto::open_input_file(path); file.ok()) {
    (void)proto::scan_mcap(*file.value(), finder).ok();
  }
  return finder.kind;
}

/// Returns the first bytes of a file, enough to recognize its format.
std::string beginning_of(const std::string& path) {
  std::array<std::uint8_t, 64> bytes{};
  const auto file = proto::open_input_file(path);
  if (!file.ok()) return "";
  const auto size =
      static_cast<std::size_t>(std::min<std::uint64_t>(bytes.size(), file.value()->size_bytes()));
  if (!file.value()->read(0, std::span(bytes).first(size)).ok()) return "";
  return std::string(proto::as_text(std::span(bytes).first(size)));
}

}  // namespace

RecordingKind recording_kind(const std::string& path) {
  if (is_mcap(path)) return mcap_kind(path);
  if (path.ends_with(".mat")) return RecordingKind::kMat;
  if (proto::is_hdf5(path)) return RecordingKind::kHdf5;
  const std::string begin = beginning_of(path);
  if (begin.starts_with(proto::as_text(proto::kMcapMagic))) return mcap_kind(path);
  if (begin.starts_with("\x89HDF\r\n")) return RecordingKind::kHdf5;
  if (begin.starts_with("MATLAB ")) return RecordingKind::kMat;
  if (begin.starts_with("PAR1")) return RecordingKind::kParquet;
  const std::size_t first = begin.find_first_not_of(" \t\r\n");
  const bool json = first != std::string::npos && begin[first] == '{';
  return json ? RecordingKind::kJson : RecordingKind::kTable;
}

void refuse_unsupported_kind(const std::string& path, RecordingKind kind) {
  if (kind == RecordingKind::kParquet) {
    throw proto::InputError(
        path +
        ": Parquet files are not supported. Convert it to CSV in Python: pandas.read_parquet('" +
        path + "').to_csv('run.csv', index=False)");
  }
  if (kind == RecordingKind::kJson) {
    throw proto::InputError(path +
                            ": JSON, such as a result of rigcal, is not a recording. Give a "
                            "recording, and the result as --parameters " +
                            path);
  }
}

}  // namespace service
