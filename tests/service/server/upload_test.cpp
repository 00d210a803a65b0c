#include "service/server/sessions/upload.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "service/server/storage/durable_file.hpp"
#include "tests/service/server/played_service.hpp"

namespace service {
namespace {

using rigcal::v1::ServiceError;
using rigcal::v1::UploadState;

std::string name_of(const std::string& content) {
  proto::ContentHash name;
  name.add(content);
  return name.text();
}

class Uploads : public ::testing::Test {
 protected:
  Uploads() {
    EXPECT_TRUE(open_store(service_.context.data_folder).ok());
    record_.set_upload_size_bytes(10);
    record_.mutable_info()->set_session_id("file");
    record_.mutable_info()->set_state(rigcal::v1::SESSION_UPLOADING);
    record_.mutable_info()->set_file_name("recording.csv");
    open();
  }

  /// Opens the uploads as at the service's start, with the existing files.
  void open() {
    upload_ = std::make_shared<Upload>(
        service_.context, folder(), record_,
        [this](const Upload& ended) { ++(ended.is_stored() ? stored_ : gone_); });
    upload_->open(answer());
    service_.run_all();
  }

  std::string folder() const { return service_.context.data_folder + "/file"; }
  Upload::Answer answer() {
    return [this](const ReplyOrError<UploadState>& outcome) { last_ = outcome; };
  }
  void append(std::uint64_t offset, const std::string& data) {
    upload_->append(offset, data, answer());
    service_.run_all();
  }
  bool refused() const { return std::holds_alternative<ServiceError>(last_); }
  UploadState state() const { return std::get<UploadState>(last_); }

  /// Opens one under an id that promises this content.
  void open_named(const std::string& content) {
    record_.mutable_info()->set_session_id(proto::upload_id(name_of(content), 1));
    record_.set_upload_size_bytes(content.size());
    open();
  }

  test_support::PlayedService service_;
  rigcal::v1::SessionRecord record_;
  std::shared_ptr<Upload> upload_;
  ReplyOrError<UploadState> last_;
  int stored_ = 0;
  int gone_ = 0;
};

// One byte more than announced is refused, at the start and at the end, without a change to the
// stored data. Exactly the announced size completes the file.
TEST_F(Uploads, AcceptNoMoreThanAnnounced) {
  append(0, std::string(11, 'x'));
  EXPECT_TRUE(refused());
  append(0, std::string(6, 'a'));
  EXPECT_EQ(state().durable_bytes(), 6u);
  append(6, std::string(5, 'x'));
  EXPECT_TRUE(refused());
  EXPECT_EQ(stored_, 0);
  append(6, std::string(4, 'b'));
  EXPECT_TRUE(state().complete());
  EXPECT_EQ(stored_, 1);
  EXPECT_EQ(read_small_file(folder() + "/recording.csv", 100).value(), "aaaaaabbbb");
}

// Parts follow one another without gap or overlap, and none is empty.
TEST_F(Uploads, AcceptOnlyThePartThatIsDue) {
  append(1, "x");
  EXPECT_TRUE(refused());
  append(0, "");
  EXPECT_TRUE(refused());
  append(0, "aaa");
  append(2, "x");
  EXPECT_TRUE(refused());
  append(4, "x");
  EXPECT_TRUE(refused());
  append(3, "b");
  EXPECT_EQ(state().durable_bytes(), 4u);
}

// A link at the place of the file is not followed.
TEST_F(Uploads, DoNotFollowLinks) {
  std::ofstream(service_.files.file("victim")) << "untouched";
  std::filesystem::create_symlink(service_.files.file("victim"), folder() + "/recording.csv.part");
  append(0, "aaa");
  EXPECT_TRUE(refused());
  EXPECT_EQ(read_small_file(service_.files.file("victim"), 100).value(), "untouched");
}

// The content must match the one that the id promises: otherwise it is refused on completion and
// deleted. The right content is stored, however it was split.
TEST_F(Uploads, KeepWhatTheirIdsPromise) {
  open_named("aaaabbbb");
  append(0, "aaaabbbc");
  ASSERT_TRUE(refused());
  const auto fault = std::get<ServiceError>(last_);
  EXPECT_EQ(fault.code(), ServiceError::BAD_REQUEST);
  EXPECT_NE(fault.text().find(name_of("aaaabbbc")), std::string::npos) << fault.text();
  EXPECT_EQ(gone_, 1);
  EXPECT_FALSE(std::filesystem::exists(folder()));

  open();
  append(0, "aaaa");
  append(4, "bbbb");
  ASSERT_FALSE(refused());
  EXPECT_TRUE(state().complete());
  EXPECT_EQ(stored_, 1);
  EXPECT_EQ(gone_, 1);
}

// Data from before a restart count as well, right or wrong, and so does a file whose last part was
// stored just before it.
TEST_F(Uploads, CountDataFromBeforeARestart) {
  open_named("aaaabbbb");
  append(0, "aaaa");
  open();
  ASSERT_EQ(state().durable_bytes(), 4u);
  append(4, "bbbb");
  ASSERT_FALSE(refused());
  EXPECT_TRUE(state().complete());

  for (const char* path : {"/recording.csv", "/recording.csv.part"}) {
    SCOPED_TRACE(path);
    std::filesystem::remove_all(folder());
    open();
    std::ofstream(folder() + path) << "aaaabbbb";
    open();
    EXPECT_TRUE(!refused() && state().complete());
    std::filesystem::remove_all(folder());
    open();
    std::ofstream(folder() + path) << "aaaaxxxx";
    open();
    EXPECT_TRUE(refused());
    EXPECT_FALSE(std::filesystem::exists(folder()));
  }
}

// Files stored before contents were verified are verified once, on request. A wrong one is shared
// with nobody but stays, as jobs may have used it.
TEST_F(Uploads, VerifyFilesOfEarlierReleases) {
  open_named("aaaabbbb");
  append(0, "aaaabbbb");
  record_ = upload_->record();
  EXPECT_TRUE(record_.content_checked());
  record_.set_content_checked(false);
  open();
  ASSERT_FALSE(refused());
  EXPECT_TRUE(upload_->record().content_checked());

  std::ofstream(folder() + "/recording.csv") << "aaaaxxxx";
  open();
  ASSERT_TRUE(refused());
  EXPECT_EQ(std::get<ServiceError>(last_).code(), ServiceError::EXISTS);
  EXPECT_EQ(gone_, 0);
  EXPECT_TRUE(std::filesystem::exists(folder() + "/recording.csv"));
}

}  // namespace
}  // namespace service
