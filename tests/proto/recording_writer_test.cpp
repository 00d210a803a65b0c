#include "proto/recording/recording_writer.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <map>
#include <thread>

#include "proto/recording/mcap/mcap_recover.hpp"
#include "proto/recording/recording_reader.hpp"
#include "proto/recording/topics.hpp"
#include "tests/proto/recording_support.hpp"
#include "tests/support/memory_input_file.hpp"
#include "tests/support/refusal.hpp"

namespace proto {
namespace {

using namespace test_support;
using test_support::TemporaryFolder;

struct MemoryRun {
  std::shared_ptr<Disk> disk = std::make_shared<Disk>();
  RecordingWriter writer = start();

  Result<Recording> read() const { return read_recording(*view_as_input_file(disk->content)); }

 private:
  RecordingWriter start() {
    auto created =
        RecordingWriter::create(std::make_unique<MemoryOutputFile>(disk), furuta_header());
    EXPECT_TRUE(ok(created));
    return std::move(created.value());
  }
};

Event make_trip(double timestamp_s, std::uint64_t sequence) {
  return {.timestamp_s = timestamp_s,
          .kind = EventKind::kTrip,
          .name = "speed_limit",
          .text = "arm turned at 31.5 rad/s, allowed are 30 rad/s",
          .channel = "arm",
          .value = 31.5,
          .limit = 30.0,
          .unit = "rad/s",
          .sequence = sequence,
          .last_frames = {{timestamp_s, LinkDirection::kFromUnit, {1, 2, 0, 255}},
                          {timestamp_s, LinkDirection::kToUnit, {}}}};
}

// Every field of every kind of message, written to a file and read back.
TEST(RecordingWriter, ReturnsWhatWasWritten) {
  MemoryRun run;
  const Command command{0.001, 9, 1, {-1.25}, {-3.5}, 2};
  const Gap gap{0.002, 2, 3, GapCause::kLink};
  const ClockFit fit{0.5, -187.25, 0.125, 1e-4, 2e-6, 500, 3};
  const LoopStats stats{0.5, 500, 1, 2, 3, 4, 7.5, 11.0, 40.0, 5.5, 9.25};
  ASSERT_TRUE(ok(run.writer.write(make_sample(0))));
  ASSERT_TRUE(ok(run.writer.write(command)));
  ASSERT_TRUE(ok(run.writer.write(make_sample(1))));
  ASSERT_TRUE(ok(run.writer.write(gap)));
  ASSERT_TRUE(ok(run.writer.write(make_sample(5))));
  ASSERT_TRUE(ok(run.writer.write(make_trip(0.005, 5))));
  ASSERT_TRUE(ok(run.writer.write(fit)));
  ASSERT_TRUE(ok(run.writer.write(stats)));
  ASSERT_TRUE(ok(run.writer.attach({"plan.csv", "text/csv", {'t', ',', 'u'}})));
  ASSERT_TRUE(ok(run.writer.finish()));

  const Recording recording = require(run.read());
  EXPECT_TRUE(recording.scan.container.intact());
  EXPECT_EQ(recording.header.joints, furuta_header().joints);
  EXPECT_EQ(recording.header.epoch_unix_ns, furuta_header().epoch_unix_ns);
  EXPECT_EQ(recording.header.facts, furuta_header().facts);
  ASSERT_EQ(recording.samples.size(), 3u);
  EXPECT_TRUE(same(recording.samples[2], make_sample(5)));
  ASSERT_EQ(recording.gaps.size(), 1u);  // the hole is listed once
  EXPECT_EQ(recording.gaps[0].first_sequence, 2u);
  EXPECT_EQ(recording.gaps[0].sample_count, 3u);
  EXPECT_EQ(recording.gaps[0].cause, GapCause::kLink);
  ASSERT_EQ(recording.commands.size(), 1u);
  EXPECT_EQ(recording.commands[0].command_sequence, 9u);
  EXPECT_EQ(recording.commands[0].command[0], -1.25);
  EXPECT_EQ(recording.commands[0].command_requested[0], -3.5);
  EXPECT_EQ(recording.commands[0].flags, 2u);
  ASSERT_EQ(recording.events.size(), 1u);
  const Event& trip = recording.events[0];
  EXPECT_EQ(trip.kind, EventKind::kTrip);
  EXPECT_EQ(trip.name + trip.text + trip.channel + trip.unit,
            make_trip(0, 0).name + make_trip(0, 0).text + "armrad/s");
  EXPECT_EQ(trip.value, 31.5);
  EXPECT_EQ(trip.limit, 30.0);
  ASSERT_EQ(trip.last_frames.size(), 2u);
  EXPECT_EQ(trip.last_frames[0].frame, (std::vector<std::uint8_t>{1, 2, 0, 255}));
  EXPECT_EQ(trip.last_frames[1].direction, LinkDirection::kToUnit);
  ASSERT_EQ(recording.clock_fits.size(), 1u);
  EXPECT_EQ(recording.clock_fits[0].rate_error_ppm, -187.25);
  EXPECT_EQ(recording.clock_fits[0].rate_error_ppm_sd, 0.125);
  EXPECT_EQ(recording.clock_fits[0].rejected_count, 3u);
  ASSERT_EQ(recording.loop_stats.size(), 1u);
  EXPECT_EQ(recording.loop_stats[0].damaged_frames, 4u);
  EXPECT_EQ(recording.loop_stats[0].cycle_us_max, 9.25);
  ASSERT_EQ(recording.attachments.size(), 1u);
  EXPECT_EQ(recording.attachments[0].name, "plan.csv");
}

// A crash loses the data not yet handed to the system: at 1 kHz at most 250 samples. Catches a
// writer that closes chunks by size only.
TEST(RecordingWriter, BuffersAtMostAQuarterOfASecond) {
  MemoryRun run;
  for (std::uint64_t k = 0; k < 3000; ++k) {
    ASSERT_TRUE(ok(run.writer.write(make_sample(k))));
    const auto so_far = run.read();
    if (k % 97 != 0 || k < 250) continue;
    ASSERT_TRUE(ok(so_far));
    ASSERT_GE(so_far.value().samples.size() + 250, k + 1);
  }
}

// At any message rate a chunk ends at its size limit, since a reader holds one in memory and a
// crash loses one. The last message that fits is in it, the next one starts another.
TEST(McapWriter, EndsAChunkAtItsSize) {
  for (const std::size_t extra : {0u, 1u}) {
    const auto disk = std::make_shared<Disk>();
    McapWriter writer(std::make_unique<MemoryOutputFile>(disk), {.chunk_size_bytes_max = 4096});
    ASSERT_TRUE(ok(writer.start()));
    const std::uint16_t channel = writer.add_channel("/t", "raw", "", "", {});
    const auto write = [&](std::size_t size) {
      const Bytes data(size, 7);
      ASSERT_TRUE(ok(writer.write_message({channel, 0, 5, 5, data})));
    };
    write(1000);
    Bytes declaration;  // one chunk holds it and the message with its header
    append_record(declaration, McapChannel{channel, 0, "/t", "raw", {}});
    const std::size_t held = declaration.size() + 9 + 22 + 1000;
    write(4096 - held + extra);
    EXPECT_EQ(writer.statistics().chunk_count, extra);
  }
}

// A silent unit sends nothing that would close the chunk, so flush must.
TEST(RecordingWriter, FlushPassesAllDataToTheOperatingSystem) {
  MemoryRun run;
  for (std::uint64_t k = 0; k < 10; ++k) ASSERT_TRUE(ok(run.writer.write(make_sample(k))));
  ASSERT_TRUE(ok(run.writer.flush()));
  ASSERT_TRUE(ok(run.writer.sync()));
  EXPECT_EQ(run.disk->sync_count, 1);
  ASSERT_TRUE(ok(run.read()));
  EXPECT_EQ(run.read().value().samples.size(), 10u);
}

// Samples must not disappear without a report. A disk that fails for a while costs the chunks of
// that time, and the recording lists their samples.
TEST(RecordingWriter, ListsSamplesLostToAFailingDisk) {
  for (const bool reserve : {true, false}) {
    MemoryRun run;
    run.disk->can_reserve = reserve;
    int errors = 0;
    for (std::uint64_t k = 0; k < 2000; ++k) {
      run.disk->appends_fail = k >= 600 && k < 1100;
      if (k == 700) {
        ASSERT_TRUE(ok(run.writer.write(make_trip(0.7, 700))));
      }
      const Status status = run.writer.write(make_sample(k));
      if (!status.ok()) {
        EXPECT_EQ(status.error().code, ErrorCode::kInputOutput);
        ++errors;
      }
    }
    ASSERT_TRUE(ok(run.writer.finish()));
    EXPECT_EQ(errors, 2);  // the chunks that ended at 750 and at 1000
    EXPECT_EQ(run.writer.lost_sample_count(), 500u);
    const auto recording = require(run.read());
    EXPECT_TRUE(recording.scan.container.intact());
    EXPECT_EQ(recording.samples.size(), 1500u);
    ASSERT_EQ(recording.gaps.size(), 1u);
    EXPECT_EQ(recording.gaps[0].cause, GapCause::kStorage);
    EXPECT_EQ(recording.gaps[0].first_sequence, 500u);
    EXPECT_EQ(recording.gaps[0].sample_count, 500u);
    // The trip was in a lost chunk, and must be in the recording nevertheless.
    ASSERT_EQ(recording.events.size(), 1u);
    EXPECT_EQ(recording.events[0].sequence, 700u);
  }
}

// The disk may become full at any time. The recorder reports it while there is room for the reason.
// The recording is finished, with the trip in it and every sample accounted for.
TEST(RecordingWriter, FinishesWithTheReasonOnADiskThatFillsUp) {
  MemoryRun sizing;
  const std::uint64_t empty_size = sizing.disk->content.size();
  for (std::uint64_t capacity = empty_size + 400'000; capacity < empty_size + 900'000;
       capacity += 17'321) {
    SCOPED_TRACE(capacity);
    MemoryRun run;
    run.disk->capacity = capacity;
    std::uint64_t k = 0;
    Status status = success();
    for (; status.ok() && k < 20'000; ++k) status = run.writer.write(make_sample(k));
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(status.error().code, ErrorCode::kDiskFull);
    Event trip = make_trip(1e-3 * static_cast<double>(k), k);
    trip.last_frames.resize(200, {0.0, LinkDirection::kFromUnit, std::vector<std::uint8_t>(25, 7)});
    static_cast<void>(run.writer.write(trip));
    ASSERT_TRUE(ok(run.writer.finish()));
    EXPECT_TRUE(run.disk->published);
    const auto recording = require(run.read());
    EXPECT_TRUE(recording.scan.container.intact());
    EXPECT_EQ(recording.samples.size(), k);
    EXPECT_EQ(run.writer.lost_sample_count(), 0u);
    ASSERT_EQ(recording.events.size(), 1u);
    EXPECT_EQ(recording.events[0].last_frames.size(), 200u);
  }
}

// Messages of each channel are numbered from zero, so that a reader can find a missing one.
TEST(RecordingWriter, NumbersTheMessagesOfEachChannel) {
  class Numbers final : public McapVisitor {
   public:
    bool on_message(const McapChannel& channel, const McapSchema*,
                    const McapMessage& message) override {
      EXPECT_EQ(message.sequence, counts[channel.topic]++) << channel.topic;
      return true;
    }
    std::map<std::string, std::uint32_t> counts;
  };
  MemoryRun run;
  for (std::uint64_t k = 0; k < 30; ++k) {
    ASSERT_TRUE(ok(run.writer.write(make_sample(k))));
    if (k % 3 == 0) ASSERT_TRUE(ok(run.writer.write(make_trip(1e-3 * static_cast<double>(k), k))));
  }
  ASSERT_TRUE(ok(run.writer.finish()));
  Numbers numbers;
  ASSERT_TRUE(ok(scan_mcap(*view_as_input_file(run.disk->content), numbers)));
  EXPECT_EQ(numbers.counts[std::string(kSampleTopic.name)], 30U);
  EXPECT_EQ(numbers.counts[std::string(kEventTopic.name)], 10U);
}

// A recording that loses its last samples lists them. If it cannot even do that, finishing it
// reports the loss, although the file is complete.
TEST(RecordingWriter, ReportsLossesThatItCannotList) {
  for (const int failures : {0, 1, 2}) {
    SCOPED_TRACE(failures);
    MemoryRun run;
    for (std::uint64_t k = 0; k < 100; ++k) ASSERT_TRUE(ok(run.writer.write(make_sample(k))));
    run.disk->failing_appends = failures;
    EXPECT_EQ(run.writer.finish().ok(), failures < 2);
    EXPECT_TRUE(run.disk->published);
    EXPECT_EQ(run.writer.lost_sample_count(), failures == 0 ? 0U : 100U);
    const auto recording = require(run.read());
    EXPECT_TRUE(recording.scan.container.intact());
    EXPECT_EQ(recording.samples.size(), failures == 0 ? 100U : 0U);
    ASSERT_EQ(recording.gaps.size(), failures == 1 ? 1U : 0U);
    if (failures == 1) EXPECT_EQ(recording.gaps[0].sample_count, 100U);
  }
}

// If space cannot be reserved, a full disk appears as a failed write. Earlier data stay readable,
// whether or not the summary still fits.
TEST(RecordingWriter, StaysRecoverableOnAFullDiskWithoutReserve) {
  for (std::uint64_t capacity = 100'000; capacity < 150'000; capacity += 1'733) {
    SCOPED_TRACE(capacity);
    MemoryRun run;
    run.disk->can_reserve = false;
    run.disk->capacity = capacity;
    std::uint64_t k = 0;
    Status status = success();
    for (; status.ok(); ++k) status = run.writer.write(make_sample(k));
    EXPECT_EQ(status.error().code, ErrorCode::kDiskFull);
    static_cast<void>(run.writer.write(make_trip(1e-3 * static_cast<double>(k), k)));
    const Status finished = run.writer.finish();
    EXPECT_EQ(finished.ok(), run.disk->published);
    const auto recording = require(run.read());
    EXPECT_EQ(recording.scan.container.damaged_chunk_count, 0u);
    EXPECT_EQ(recording.scan.container.skipped_bytes, 0u);
    EXPECT_EQ(recording.scan.container.finished, finished.ok());
    EXPECT_EQ(recording.samples.size() + run.writer.lost_sample_count(), k);
    for (const Sample& sample : recording.samples) {
      ASSERT_TRUE(same(sample, make_sample(sample.sequence)));
    }
  }
}

// If a torn chunk cannot be cut off again, the writer gives up and writes nothing after it.
TEST(RecordingWriter, WritesNothingAfterATornChunk) {
  MemoryRun run;
  for (std::uint64_t k = 0; k < 600; ++k) ASSERT_TRUE(ok(run.writer.write(make_sample(k))));
  run.disk->appends_fail = run.disk->truncate_fails = true;
  EXPECT_FALSE(run.writer.flush().ok());
  const std::size_t size = run.disk->content.size();
  run.disk->appends_fail = false;
  for (std::uint64_t k = 600; k < 1200; ++k) static_cast<void>(run.writer.write(make_sample(k)));
  EXPECT_FALSE(run.writer.finish().ok());
  EXPECT_FALSE(run.disk->published);
  EXPECT_EQ(run.disk->content.size(), size);
  ASSERT_TRUE(ok(run.read()));
  EXPECT_EQ(run.read().value().samples.size(), 500u);
}

// Neither a finished recording nor one that waits for recovery is overwritten.
TEST(RecordingWriter, NeverOverwritesAFile) {
  for (const std::string existing : {"run.mcap", "run.mcap.part"}) {
    const TemporaryFolder folder;
    write_bytes(folder.file(existing), std::vector<std::uint8_t>{'x'});
    const Error writer =
        require_error(RecordingWriter::create(folder.file("run.mcap"), furuta_header()));
    EXPECT_EQ(writer.code, ErrorCode::kExists);
    EXPECT_NE(writer.detail.find(existing), std::string::npos);
    EXPECT_EQ(read_bytes(folder.file(existing)).size(), 1u);
    EXPECT_EQ(folder.file_count(), 1u);
  }
}

// "Left by an interrupted run" invites the user to delete it, so it must not be reported for a
// recording that another run is writing.
TEST(RecordingWriter, DistinguishesALiveRecordingFromAnAbandonedOne) {
  const TemporaryFolder folder;
  const std::string path = folder.file("run.mcap");
  {
    const RecordingWriter live = require(RecordingWriter::create(path, furuta_header()));
    const Error second = require_error(RecordingWriter::create(path, furuta_header()));
    EXPECT_EQ(second.code, ErrorCode::kExists);
    expect_parts(second.detail, {"being written by another program"});
    EXPECT_EQ(second.detail.find("deleted"), std::string::npos);
  }
  expect_parts(require_error(RecordingWriter::create(path, furuta_header())).detail,
               {"rigcal recover"});
}

// A recording must not be readable by every user of the machine, whatever the umask.
TEST(RecordingWriter, IsNotReadableByEveryUser) {
  const TemporaryFolder folder;
  const mode_t before = ::umask(0);
  const auto writer = RecordingWriter::create(folder.file("run.mcap"), furuta_header());
  ::umask(before);
  ASSERT_TRUE(ok(writer));
  using std::filesystem::perms;
  EXPECT_EQ(std::filesystem::status(folder.file("run.mcap.part")).permissions(),
            perms::owner_read | perms::owner_write | perms::group_read);
}

// The final name appears only once the recording is complete, and replaces no other file.
TEST(RecordingWriter, TakesItsNameWhenFinished) {
  const TemporaryFolder folder;
  const std::string path = folder.file("run.mcap");
  auto writer = require(RecordingWriter::create(path, furuta_header()));
  ASSERT_TRUE(ok(writer.write(make_sample(0))));
  EXPECT_FALSE(std::filesystem::exists(path));
  write_bytes(path, std::vector<std::uint8_t>{'x'});
  const Status refused = writer.finish();
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::kExists);
  EXPECT_EQ(read_bytes(path).size(), 1u);

  const std::string other = folder.file("other.mcap");
  auto second = require(RecordingWriter::create(other, furuta_header()));
  ASSERT_TRUE(ok(second.write(make_sample(0))));
  ASSERT_TRUE(ok(second.finish()));
  EXPECT_TRUE(std::filesystem::exists(other));
  EXPECT_FALSE(std::filesystem::exists(part_file_path(other)));
  // No reserved blocks remain: a short recording needs little space.
  EXPECT_EQ(read_recording(other).value().samples.size(), 1u);
}

// A recording whose file was removed or moved is reported at the next sync, not at its end.
TEST(RecordingWriter, NoticesThatItsFileWasRemovedOrMovedAway) {
  for (const bool moved : {false, true}) {
    const TemporaryFolder folder;
    const std::string path = folder.file("run.mcap");
    auto writer = require(RecordingWriter::create(path, furuta_header()));
    ASSERT_TRUE(ok(writer.write(make_sample(0))));
    ASSERT_TRUE(ok(writer.sync()));
    if (moved) {
      std::filesystem::rename(path + ".part", folder.file("elsewhere"));
    } else {
      std::filesystem::remove(path + ".part");
    }
    for (const Status& status : {writer.sync(), writer.finish()}) {
      ASSERT_FALSE(status.ok());
      EXPECT_EQ(status.error().code, ErrorCode::kNotFound);
      EXPECT_EQ(status.error().detail,
                path + ".part: was removed or moved away while it was being written");
    }
  }
}

TEST(RecordingWriter, NamesTheFolderThatDoesNotExist) {
  const Error writer =
      require_error(RecordingWriter::create("/nonexistent/folder/run.mcap", furuta_header()));
  EXPECT_EQ(writer.code, ErrorCode::kNotFound);
  EXPECT_NE(writer.detail.find("/nonexistent/folder/run.mcap"), std::string::npos);
}

// Mounts a small file system that only this process can access.
bool mount_small_disk(const std::string& folder) {
  return (::unshare(CLONE_NEWNS) == 0 || ::unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0) &&
         ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
         ::mount("tmpfs", folder.c_str(), "tmpfs", 0, "size=700k") == 0;
}

enum ChildResult { kFine, kNoMount, kNotFull, kNotFinished, kNotIntact, kNoTrip };

ChildResult fill_small_disk(const std::string& folder) {
  if (!mount_small_disk(folder)) return kNoMount;
  auto writer = RecordingWriter::create(folder + "/run.mcap", furuta_header());
  std::uint64_t k = 0;
  Status status = writer.ok() ? success() : Status(writer.error());
  for (; status.ok() && k < 20'000; ++k) status = writer.value().write(make_sample(k));
  if (status.ok() || status.error().code != ErrorCode::kDiskFull) return kNotFull;
  static_cast<void>(writer.value().write(make_trip(1e-3 * static_cast<double>(k), k)));
  if (!writer.value().finish().ok()) return kNotFinished;
  const auto recording = read_recording(folder + "/run.mcap");
  if (!recording.ok() || !recording.value().scan.container.intact()) return kNotIntact;
  const auto& events = recording.value().events;
  return events.size() == 1 && recording.value().samples.size() == k ? kFine : kNoTrip;
}

// The same on a real file system of 700 KiB, in a child process that alone can access it.
TEST(RecordingWriter, FinishesWithTheReasonOnAFileSystemThatIsReallyFull) {
  const TemporaryFolder folder;
  const pid_t child = ::fork();
  if (child == 0) ::_exit(fill_small_disk(folder.file("")));
  int child_status = 0;
  ASSERT_EQ(::waitpid(child, &child_status, 0), child);
  ASSERT_TRUE(WIFEXITED(child_status));
  if (WEXITSTATUS(child_status) == kNoMount) GTEST_SKIP() << "may not mount a small file system";
  EXPECT_EQ(WEXITSTATUS(child_status), kFine);
}

// A killed process leaves everything handed to the system: all but the chunk in progress. Catches
// buffering inside the program after flush().
TEST(RecordingWriter, SurvivesAKill) {
  const TemporaryFolder folder;
  const std::string path = folder.file("run.mcap");
  const pid_t child = ::fork();
  if (child == 0) {
    auto writer = RecordingWriter::create(path, furuta_header());
    for (std::uint64_t k = 0; k < 1100; ++k)
      static_cast<void>(writer.value().write(make_sample(k)));
    ::raise(SIGKILL);
  }
  int child_status = 0;
  ASSERT_EQ(::waitpid(child, &child_status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(child_status));
  require(recover_mcap(part_file_path(path), path + ".whole"));
  const auto recording = require(read_recording(path + ".whole"));
  EXPECT_EQ(recording.samples.size(), 1000u);
}

// fdatasync may take 100 ms, so another thread calls it. Run under the thread sanitizer.
TEST(RecordingWriter, SyncsFromAnotherThreadWhileWriting) {
  const TemporaryFolder folder;
  auto writer = require(RecordingWriter::create(folder.file("run.mcap"), furuta_header()));
  std::thread syncer([&] {
    for (int k = 0; k < 5; ++k) EXPECT_TRUE(ok(writer.sync()));
  });
  for (std::uint64_t k = 0; k < 3000; ++k) ASSERT_TRUE(ok(writer.write(make_sample(k))));
  syncer.join();
  ASSERT_TRUE(ok(writer.finish()));
}

}  // namespace
}  // namespace proto
