// Writes small recordings as seeds for the MCAP reader's fuzzer.
//   mcap_seeds FOLDER

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>

#include "proto/recording/mcap/mcap_reader.hpp"
#include "proto/recording/mcap/mcap_writer.hpp"
#include "proto/recording/recording_writer.hpp"
#include "tests/proto/mcap_compress.hpp"

namespace {

// A recording with each kind of message, in chunks of a quarter of a second.
bool write_recording(const std::string& path, std::size_t channel_count) {
  proto::RecordingHeader header{
      .joints = {}, .epoch_unix_ns = 1'000'000'000, .facts = {{"rig", "seed"}}};
  for (std::size_t c = 0; c < channel_count; ++c)
    header.joints.push_back("joint" + std::to_string(c));
  auto writer = proto::RecordingWriter::create(path, header);
  if (!writer.ok()) return false;
  bool fine = writer.value().attach({"plan.csv", "text/csv", {'t', ',', 'u'}}).ok();
  for (std::uint64_t k = 0; k < 12; ++k) {
    proto::Sample sample;
    sample.timestamp_s = 0.1 * static_cast<double>(k);
    sample.sequence = k < 6 ? k : k + 4;
    sample.channel_count = static_cast<std::uint32_t>(channel_count);
    sample.valid.fill(k % 3 != 0);
    fine = fine && writer.value().write(sample).ok();
  }
  proto::Event trip{.timestamp_s = 1.2, .kind = proto::EventKind::kTrip, .name = "speed_limit"};
  trip.last_frames = {{1.2, proto::LinkDirection::kFromUnit, {1, 2, 3}}};
  return fine && writer.value().write(proto::Command{1.2, 1, 1, {0.5}, {0.5}, 1}).ok() &&
         writer.value().write(proto::Gap{0.6, 6, 4, proto::GapCause::kLink}).ok() &&
         writer.value().write(trip).ok() && writer.value().write(proto::ClockFit{}).ok() &&
         writer.value().write(proto::LoopStats{}).ok() && writer.value().finish().ok();
}

// An MCAP file of another program: no schema, so that it is small.
bool write_foreign(const std::string& path) {
  auto file = proto::create_output_file(path);
  if (!file.ok()) return false;
  proto::McapWriter writer(std::move(file.value()), {});
  const std::array<std::uint8_t, 3> payload = {1, 2, 3};
  bool fine = writer.start().ok() && writer.write_metadata({"a", {{"b", "c"}}}).ok();
  const std::uint16_t channel = writer.add_channel("/t", "raw", "", "", {});
  for (std::uint64_t k = 0; k < 4; ++k) {
    fine = fine && writer.write_message({channel, 0, k * 200'000'000, 0, payload}).ok();
  }
  return fine && writer.complete().ok() && writer.publish().ok();
}

// Copies a recording without the schemas' definitions, nine tenths of so small a file.
class WithoutDefinitions : public proto::McapVisitor {
 public:
  explicit WithoutDefinitions(proto::McapWriter& writer) : writer_(writer) {}

  bool on_metadata(const proto::McapMetadata& metadata) override {
    return writer_.write_metadata(metadata).ok();
  }
  bool on_message(const proto::McapChannel& channel, const proto::McapSchema* schema,
                  const proto::McapMessage& message) override {
    const auto [place, is_new] = channels_.try_emplace(channel.id);
    if (is_new) {
      place->second = writer_.add_channel(channel.topic, channel.message_encoding, schema->name,
                                          schema->encoding, {}, channel.metadata);
    }
    proto::McapMessage copy = message;
    copy.channel_id = place->second;
    return writer_.write_message(copy).ok();
  }

 private:
  proto::McapWriter& writer_;
  std::map<std::uint16_t, std::uint16_t> channels_;  // from source to copy
};

bool write_bare(const std::string& path, const std::string& source_path) {
  const auto source = proto::open_input_file(source_path);
  auto file = proto::create_output_file(path);
  if (!source.ok() || !file.ok()) return false;
  proto::McapWriter writer(std::move(file.value()), {});
  WithoutDefinitions visitor(writer);
  return writer.start().ok() && proto::scan_mcap(*source.value(), visitor).ok() &&
         writer.complete().ok() && writer.publish().ok();
}

bool write_compressed(const std::string& path, const std::string& source_path,
                      const char* compression) {
  std::ifstream source(source_path, std::ios::binary);
  const std::string plain{std::istreambuf_iterator<char>(source), {}};
  const proto::Bytes packed = test_support::compress_chunks(proto::as_bytes(plain), compression);
  std::ofstream out(path, std::ios::binary);
  return static_cast<bool>(out << proto::as_text(packed));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: mcap_seeds FOLDER\n", stderr);
    return 2;
  }
  const std::filesystem::path folder(argv[1]);
  std::filesystem::create_directories(folder);
  bool fine = true;
  for (const auto& [name, channel_count] : {std::pair{"one.mcap", 1u}, std::pair{"two.mcap", 2u}}) {
    if (std::filesystem::exists(folder / name)) continue;
    fine = fine && write_recording((folder / name).string(), channel_count);
  }
  if (!std::filesystem::exists(folder / "foreign.mcap")) {
    fine = fine && write_foreign((folder / "foreign.mcap").string());
  }
  if (!std::filesystem::exists(folder / "bare.mcap")) {
    fine = fine && write_bare((folder / "bare.mcap").string(), (folder / "two.mcap").string());
  }
  for (const char* compression : {"zstd", "lz4"}) {
    const std::filesystem::path packed = folder / (std::string(compression) + ".mcap");
    if (std::filesystem::exists(packed)) continue;
    fine = fine && write_compressed(packed.string(), (folder / "bare.mcap").string(), compression);
  }
  return fine ? 0 : 1;
}
