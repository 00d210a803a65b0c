// Feeds arbitrary bytes to the MCAP reader and the recording decoder: once unchanged, once with
// corrected chunk checksums, so that damage reaches the code after them.

#include <cstdint>
#include <vector>

#include "proto/recording/recording_reader.hpp"
#include "tests/fuzz/refusal.hpp"
#include "tests/proto/mcap_repair.hpp"
#include "tests/support/memory_input_file.hpp"

namespace {

using fuzz::require;

// Invariants for any bytes: samples in order, and counts that match the delivered messages.
class Checker final : public proto::RecordingVisitor {
 public:
  void on_sample(const proto::Sample& sample) override {
    require(sample_count_ == 0 || sample.sequence > last_sequence_);
    require(sample.channel_count <= proto::kChannelCountMax);
    last_sequence_ = sample.sequence;
    ++sample_count_;
  }
  void on_gap(const proto::Gap& gap) override {
    require(gap.first_sequence + gap.sample_count >= gap.first_sequence);
  }

  std::uint64_t sample_count() const { return sample_count_; }

 private:
  std::uint64_t sample_count_ = 0;
  std::uint64_t last_sequence_ = 0;
};

void read(const std::vector<std::uint8_t>& bytes) {
  Checker checker;
  const auto file = proto::view_as_input_file(bytes);
  const auto scan = proto::scan_recording(*file, checker);
  if (!scan.ok()) return;
  require(scan.value().sample_count == checker.sample_count());
  require(scan.value().sample_count <= scan.value().container.message_count);
  require(scan.value().container.skipped_bytes <= bytes.size());
  require(scan.value().container.problems.size() <= 16);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::vector<std::uint8_t> bytes(data, data + size);
  read(bytes);
  test_support::repair_chunk_checksums(bytes);
  read(bytes);
  return 0;
}
