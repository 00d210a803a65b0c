#include "proto/recording/mcap/mcap_recover.hpp"

#include <fmt/core.h>

#include <filesystem>
#include <utility>
#include <vector>

#include "proto/recording/mcap/byte_cursor.hpp"
#include "proto/recording/mcap/mcap_writer.hpp"

namespace proto {
namespace {

// Hashes the whole content of all messages, in order.
std::uint32_t extend_digest(std::uint32_t digest, const McapChannel& channel,
                            const McapSchema* schema, const McapMessage& message) {
  Bytes facts;
  append_text(facts, channel.topic);
  append_text(facts, schema != nullptr ? schema->name : "");
  put(facts, message.sequence);
  put(facts, message.log_time_ns);
  put(facts, message.publish_time_ns);
  put(facts, std::uint64_t{message.data.size()});
  return crc32(message.data, crc32(facts, digest));
}

class Copier final : public McapVisitor {
 public:
  explicit Copier(McapWriter& writer) : writer_(writer) {}

  bool on_message(const McapChannel& channel, const McapSchema* schema,
                  const McapMessage& message) override {
    McapMessage copy = message;
    copy.channel_id = destination_channel(channel, schema);
    ++message_count_;
    digest_ = extend_digest(digest_, channel, schema, message);
    return keep(writer_.write_message(copy));
  }

  void add(const McapAddedMessage& addition) {
    for (const KnownChannel& known : known_) {
      if (known.channel.topic != addition.topic) continue;
      on_message(known.channel, known.channel.schema_id == 0 ? nullptr : &known.schema,
                 {0, 0, addition.time_ns, addition.time_ns, as_bytes(addition.data)});
      return;
    }
  }

  bool on_metadata(const McapMetadata& metadata) override {
    return keep(writer_.write_metadata(metadata));
  }

  bool on_attachment(const McapAttachment& attachment) override {
    return keep(writer_.write_attachment(attachment));
  }

  const Status& status() const { return status_; }
  std::uint32_t digest() const { return digest_; }
  std::uint64_t message_count() const { return message_count_; }

 private:
  struct KnownChannel {
    McapChannel channel;
    McapSchema schema;
    std::uint16_t destination_id;
  };

  std::uint16_t destination_channel(const McapChannel& channel, const McapSchema* schema) {
    for (const KnownChannel& known : known_) {
      if (known.channel == channel && known.schema == (schema ? *schema : McapSchema{})) {
        return known.destination_id;
      }
    }
    const std::uint16_t id =
        schema ? writer_.add_channel(channel.topic, channel.message_encoding, schema->name,
                                     schema->encoding, schema->data, channel.metadata)
               : writer_.add_channel(channel.topic, channel.message_encoding, "", "", {},
                                     channel.metadata);
    known_.push_back({channel, schema ? *schema : McapSchema{}, id});
    return id;
  }

  bool keep(Status status) {
    if (status_.ok()) status_ = std::move(status);
    return status_.ok();
  }

  McapWriter& writer_;
  std::vector<KnownChannel> known_;
  std::uint64_t message_count_ = 0;
  std::uint32_t digest_ = 0;
  Status status_ = success();
};

class Digester final : public McapVisitor {
 public:
  bool on_message(const McapChannel& channel, const McapSchema* schema,
                  const McapMessage& message) override {
    digest_ = extend_digest(digest_, channel, schema, message);
    return true;
  }

  std::uint32_t digest() const { return digest_; }

 private:
  std::uint32_t digest_ = 0;
};

McapMetadata describe_recovery(const std::string& source, const McapScan& scan) {
  McapMetadata metadata{"recovered", {}};
  metadata.values["source"] = source;
  metadata.values["intact_chunks"] = std::to_string(scan.intact_chunk_count);
  metadata.values["damaged_chunks"] = std::to_string(scan.damaged_chunk_count);
  metadata.values["skipped_bytes"] = std::to_string(scan.skipped_bytes);
  for (std::size_t k = 0; k < scan.problems.size(); ++k) {
    metadata.values["problem_" + std::to_string(k + 1)] = scan.problems[k];
  }
  return metadata;
}

Status verify(const std::string& path, std::uint64_t message_count, std::uint32_t digest) {
  auto file = open_input_file(path);
  if (!file.ok()) return file.error();
  Digester digester;
  auto scan = scan_mcap(*file.value(), digester);
  if (!scan.ok()) return scan.error();
  if (!scan.value().intact() || scan.value().message_count != message_count ||
      digester.digest() != digest) {
    return Error{ErrorCode::kVerifyMismatch,
                 fmt::format("{}: data read back differ from the written data", path)};
  }
  return success();
}

Result<McapScan> copy_and_verify(const std::string& source, const InputFile& input,
                                 const McapAddedMessage* addition, McapWriter& writer,
                                 const std::string& part) {
  if (Status started = writer.start(); !started.ok()) return started.error();
  Copier copier(writer);
  auto scan = scan_mcap(input, copier);
  if (!scan.ok()) return Error{scan.error().code, source + ": " + scan.error().detail};
  if (addition != nullptr) copier.add(*addition);
  if (!copier.status().ok()) return copier.status().error();
  if (scan.value().intact_chunk_count == 0) {
    return Error{
        ErrorCode::kDamaged,
        fmt::format("{}: contains no intact chunk, so there is nothing to recover", source)};
  }
  if (Status noted = writer.write_metadata(describe_recovery(source, scan.value())); !noted.ok()) {
    return noted.error();
  }
  if (Status completed = writer.complete(); !completed.ok()) return completed.error();
  if (Status verified = verify(part, copier.message_count(), copier.digest()); !verified.ok()) {
    return verified.error();
  }
  return scan;
}

}  // namespace

Result<McapRecovery> recover_mcap(const std::string& source, const std::string& destination,
                                  const McapAddedMessage* addition) {
  auto input = open_input_file(source);
  if (!input.ok()) return input.error();
  auto output = create_output_file(destination);
  if (!output.ok()) return output.error();
  McapWriter writer(std::move(output.value()), {});
  auto scan =
      copy_and_verify(source, *input.value(), addition, writer, part_file_path(destination));
  const Status published = scan.ok() ? writer.publish() : Status(scan.error());
  if (!published.ok()) {
    std::error_code ignored;
    std::filesystem::remove(part_file_path(destination), ignored);
    return published.error();
  }
  return McapRecovery{std::move(scan.value()), destination};
}

std::string default_recovery_path(const std::string& source) {
  std::filesystem::path path(source);
  if (path.extension() == ".part") path.replace_extension();
  const std::string extension = path.extension().string();
  return path.replace_extension(".recovered" + extension).string();
}

}  // namespace proto
