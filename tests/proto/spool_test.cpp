#include <gtest/gtest.h>

#include <signal.h>
#include <sys/resource.h>

#include <filesystem>

#include "proto/stream/content_hash.hpp"
#include "proto/stream/spool.hpp"
#include "tests/proto/recording_support.hpp"
#include "tests/proto/stream_payload.hpp"
#include "tests/support/refusal.hpp"

namespace proto {
namespace {

using namespace test_support;
using test_support::TemporaryFolder;

// A power cut tears the last record at any byte. Synced data are kept, numbering continues after
// them, and the torn batch's number is free again.
TEST(Spool, OpensAfterAPowerCutAtAnyByte) {
  const TemporaryFolder folder;
  const std::string path = folder.file("spool");
  {
    auto spool = require(Spool::open(path));
    for (std::uint64_t k = 0; k < 3; ++k) ASSERT_TRUE(ok(spool.append(make_payload(k))));
    ASSERT_TRUE(ok(spool.sync()));
  }
  const std::string file = std::filesystem::directory_iterator(path)->path().string();
  const test_support::Bytes bytes = read_bytes(file);
  std::vector<std::size_t> ends = {8};
  for (std::uint64_t k = 0; k < 3; ++k) ends.push_back(ends.back() + 16 + make_payload(k).size());
  ASSERT_EQ(ends.back(), bytes.size());
  for (std::size_t size = 0; size <= bytes.size(); ++size) {
    SCOPED_TRACE(size);
    write_bytes(file, std::span(bytes).first(size));
    auto spool = require(Spool::open(path));
    std::uint64_t whole = 0;
    while (whole < 3 && ends[whole + 1] <= size) ++whole;
    ASSERT_EQ(spool.end(), whole + 1);
    EXPECT_EQ(spool.durable_batch_end(), whole + 1);
    for (std::uint64_t k = 0; k < whole; ++k) {
      const auto payload = require(spool.read(k + 1));
      EXPECT_EQ(payload, make_payload(k));
    }
    const auto appended = require(spool.append("again"));
    EXPECT_EQ(appended, whole + 1);
    EXPECT_EQ(spool.read(whole + 1).value(), "again");
  }
}

// A write that fails after any number of bytes appends nothing. The next batch gets its number, and
// nothing of the torn record is read after it, whether the next batch is shorter or longer.
TEST(Spool, ReplacesTheIncompleteRecordOfAFailedWrite) {
  ::signal(SIGXFSZ, SIG_IGN);
  rlimit normal{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &normal), 0);
  const std::string torn(200, 't');
  for (rlim_t written = 0; written < 16 + torn.size(); written += 9) {
    for (const std::size_t next_size : {1, 150, 400}) {
      SCOPED_TRACE(::testing::Message() << written << " bytes, then " << next_size);
      const TemporaryFolder folder;
      auto spool = require(Spool::open(folder.file("spool")));
      ASSERT_TRUE(ok(spool.append("first")));
      const rlimit full{spool.size_bytes() + written, normal.rlim_max};
      ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &full), 0);
      const auto failed = spool.append(torn);
      ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &normal), 0);
      ASSERT_FALSE(failed.ok());
      EXPECT_EQ(failed.error().code, ErrorCode::kDiskFull);
      const std::string next(next_size, 'n');
      EXPECT_EQ(require(spool.append(next)), 2u);
      ASSERT_TRUE(ok(spool.sync()));
      EXPECT_EQ(require(spool.read(2)), next);
      auto again = require(Spool::open(folder.file("spool")));
      ASSERT_EQ(again.end(), 3u);
      EXPECT_EQ(require(again.read(1)), "first");
      EXPECT_EQ(require(again.read(2)), next);
    }
  }
}

// A full spool refuses whole batches, and accepts them again once there is room.
TEST(Spool, AcceptsBatchesUpToItsLimit) {
  const TemporaryFolder folder;
  auto spool =
      Spool::open(folder.file("spool"), {.size_bytes_max = 1000, .segment_size_bytes = 200});
  ASSERT_TRUE(ok(spool));
  const std::string payload(80, 'x');
  std::uint64_t count = 0;
  while (spool.value().append(payload).ok()) ++count;
  EXPECT_LE(spool.value().size_bytes(), 1000u);
  EXPECT_GE(count, 8u);
  EXPECT_EQ(require_error(spool.value().append(payload)).code, ErrorCode::kDiskFull);
  ASSERT_TRUE(ok(spool.value().sync()));
  ASSERT_TRUE(ok(spool.value().acknowledge(count / 2)));
  const auto appended = require(spool.value().append(payload));
  EXPECT_EQ(appended, count + 1);
}

// Numbering continues across a restart even if all batches were acknowledged. Otherwise the service
// would drop new batches as duplicates.
TEST(Spool, ContinuesNumberingAfterAcknowledgements) {
  const TemporaryFolder folder;
  const SpoolLimits limits{.segment_size_bytes = 60};
  {
    auto spool = Spool::open(folder.file("spool"), limits);
    for (std::uint64_t k = 0; k < 20; ++k) ASSERT_TRUE(ok(spool.value().append(make_payload(k))));
    ASSERT_TRUE(ok(spool.value().sync()));
    ASSERT_TRUE(ok(spool.value().acknowledge(20)));
  }
  auto spool = require(Spool::open(folder.file("spool"), limits));
  EXPECT_EQ(spool.end(), 21u);
}

// A damaged record in an older file costs the later records of that file. All others keep their
// numbers.
TEST(Spool, KeepsNumbersAfterLosses) {
  const TemporaryFolder folder;
  const std::string path = folder.file("spool");
  const SpoolLimits limits{.segment_size_bytes = 100};
  {
    auto spool = Spool::open(path, limits);
    for (std::uint64_t k = 0; k < 20; ++k) ASSERT_TRUE(ok(spool.value().append(make_payload(k))));
    ASSERT_TRUE(ok(spool.value().sync()));
  }
  const std::string first = folder.file("spool/00000000000000000001.spool");
  test_support::Bytes bytes = read_bytes(first);
  bytes[8 + 16 + 1] ^= 0x40;  // in the first payload
  write_bytes(first, bytes);
  auto spool = require(Spool::open(path, limits));
  EXPECT_EQ(spool.end(), 21u);
  EXPECT_GT(spool.damaged_count(), 0u);
  for (std::uint64_t k = 0; k < 20; ++k) {
    const auto payload = require(spool.read(k + 1));
    EXPECT_EQ(payload, k < spool.damaged_count() ? "" : make_payload(k)) << k;
  }
}

// A batch that the disk has altered must not be sent.
TEST(Spool, DoesNotReadAnAlteredBatch) {
  const TemporaryFolder folder;
  auto spool = require(Spool::open(folder.file("spool")));
  for (std::uint64_t k = 0; k < 3; ++k) ASSERT_TRUE(ok(spool.append(make_payload(k))));
  ASSERT_TRUE(ok(spool.sync()));
  const std::string file = folder.file("spool/00000000000000000001.spool");
  test_support::Bytes bytes = read_bytes(file);
  bytes[8 + 16 + make_payload(0).size() + 16 + 1] ^= 0x40;  // in the second payload
  write_bytes(file, bytes);
  EXPECT_EQ(spool.read(1).value(), make_payload(0));
  EXPECT_EQ(spool.read(2).value(), "");
  EXPECT_EQ(spool.read(3).value(), make_payload(2));
}

// Data written to a spool that was removed or moved are lost, so they must not be reported as
// durable.
TEST(Spool, NoticesThatItWasRemovedOrMovedAway) {
  for (const bool moved : {false, true}) {
    const TemporaryFolder folder;
    auto spool = require(Spool::open(folder.file("spool")));
    ASSERT_TRUE(ok(spool.append(make_payload(0))));
    ASSERT_TRUE(ok(spool.sync()));
    if (moved) {
      std::filesystem::rename(folder.file("spool"), folder.file("elsewhere"));
    } else {
      std::filesystem::remove_all(folder.file("spool"));
    }
    ASSERT_TRUE(ok(spool.append(make_payload(1))));
    const Status synced = spool.sync();
    ASSERT_FALSE(synced.ok());
    expect_parts(synced.error().detail, {"was removed or moved away"});
    EXPECT_EQ(spool.durable_batch_end(), 2u);
    EXPECT_FALSE(spool.append(make_payload(2)).ok());
  }
}

// Records must have the numbers of their file: a file under another name has none.
TEST(Spool, IgnoresRecordsOfAnotherNumber) {
  const TemporaryFolder folder;
  const std::string path = folder.file("spool");
  {
    auto spool = Spool::open(path);
    for (std::uint64_t k = 0; k < 3; ++k) ASSERT_TRUE(ok(spool.value().append(make_payload(k))));
    ASSERT_TRUE(ok(spool.value().sync()));
  }
  std::filesystem::rename(path + "/00000000000000000001.spool",
                          path + "/00000000000000000009.spool");
  auto spool = require(Spool::open(path));
  EXPECT_EQ(spool.end(), 9u);
}

// Data after a damaged record are cut off. Otherwise a new batch of the same size in its place
// would make the old one after it readable again.
TEST(Spool, DiscardsRecordsAfterADamagedOne) {
  const TemporaryFolder folder;
  const std::string path = folder.file("spool");
  const std::string payload(50, 'o');
  {
    auto spool = Spool::open(path);
    for (int k = 0; k < 3; ++k) ASSERT_TRUE(ok(spool.value().append(payload)));
    ASSERT_TRUE(ok(spool.value().sync()));
  }
  const std::string file = path + "/00000000000000000001.spool";
  test_support::Bytes bytes = read_bytes(file);
  bytes[8 + 16 + payload.size() + 16 + 1] ^= 0x40;  // in the second payload
  write_bytes(file, bytes);
  {
    auto spool = require(Spool::open(path));
    ASSERT_EQ(spool.end(), 2u);
    ASSERT_TRUE(ok(spool.append(std::string(50, 'n'))));
    ASSERT_TRUE(ok(spool.sync()));
  }
  auto spool = require(Spool::open(path));
  EXPECT_EQ(spool.end(), 3u);
  EXPECT_EQ(spool.read(2).value(), std::string(50, 'n'));
}

// A late acknowledgement of a smaller number revokes nothing.
TEST(Spool, AcknowledgesForwardsOnly) {
  const TemporaryFolder folder;
  auto spool = Spool::open(folder.file("spool"));
  for (std::uint64_t k = 0; k < 5; ++k) ASSERT_TRUE(ok(spool.value().append(make_payload(k))));
  ASSERT_TRUE(ok(spool.value().sync()));
  ASSERT_TRUE(ok(spool.value().acknowledge(3)));
  ASSERT_TRUE(ok(spool.value().acknowledge(1)));
  EXPECT_EQ(spool.value().acknowledged_through(), 3u);
}

// FIPS 180-2, appendix B.1: SHA-256 of "abc" is ba7816bf 8f01cfea 414140de 5dae2223 b00361a3 ...
constexpr const char* kNameOfAbc = "ba7816bf8f01cfea414140de5dae2223b00361a3";

// The name must not depend on how the content is split.
TEST(ContentHash, IsAPrefixOfTheSha256) {
  ContentHash whole;
  whole.add("abc");
  EXPECT_EQ(whole.text(), kNameOfAbc);
  ContentHash parts;
  parts.add("a");
  parts.add("");
  parts.add("bc");
  EXPECT_EQ(parts.text(), kNameOfAbc);
  ContentHash all;
  all.add("abc");
  EXPECT_EQ(all.sha256(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

// Upload ids made from a name contain it, in every attempt. Any other id promises no content.
TEST(ContentHash, IsPartOfUploadIdsOnly) {
  const std::string name = kNameOfAbc;
  EXPECT_EQ(make_upload_id(name, 1), "file-" + name);
  for (int attempt = 1; attempt <= kUploadIdsMax; ++attempt) {
    EXPECT_EQ(extract_content_hash(make_upload_id(name, attempt)), name) << attempt;
  }
  std::string capital = name;
  capital[0] = 'B';
  for (const std::string& id :
       {std::string(), name, std::string("file-"), "File-" + name, "file-" + capital,
        "file-" + name.substr(1), "file-" + name + "0", "file-" + name + "-", "file-" + name + "-1",
        "file-" + name + "-10", "file-" + name + "-a", "file-" + name + "x2"}) {
    EXPECT_EQ(extract_content_hash(id), "") << id;
  }
}

}  // namespace
}  // namespace proto
