#include "service/server/upload.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "service/server/durable_file.hpp"
#include "tests/service/server/played_service.hpp"

namespace service {
namespace {

using rigcal::v1::ServiceError;
using rigcal::v1::UploadState;

class Uploads : public ::testing::Test {
 protected:
  Uploads() {
    EXPECT_TRUE(open_store(service_.context.data_folder).ok());
    rigcal::v1::SessionRecord record;
    record.set_upload_size_bytes(10);
    record.mutable_info()->set_session_id("file");
    record.mutable_info()->set_state(rigcal::v1::SESSION_UPLOADING);
    record.mutable_info()->set_file_name("recording.csv");
    upload_ = std::make_shared<Upload>(service_.context, folder(), record, [this] { ++stored_; });
    upload_->open(answer());
    service_.run_all();
  }

  std::string folder() const { return service_.context.data_folder + "/file"; }
  Upload::Answer answer() {
    return [this](const Outcome<UploadState>& outcome) { last_ = outcome; };
  }
  void append(std::uint64_t offset, const std::string& data) {
    upload_->append(offset, data, answer());
    service_.run_all();
  }
  bool refused() const { return std::holds_alternative<ServiceError>(last_); }
  UploadState state() const { return std::get<UploadState>(last_); }

  test_support::PlayedService service_;
  std::shared_ptr<Upload> upload_;
  Outcome<UploadState> last_;
  int stored_ = 0;
};

// One byte more than was announced is refused, at the beginning and at the end, and leaves what is
// there as it was; just as many complete the file.
TEST_F(Uploads, TakeNoMoreThanWasAnnounced) {
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

// Parts follow one another without a hole and without an overlap, and none is empty.
TEST_F(Uploads, TakeThePartThatIsDueOnly) {
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

// What lies where the file is to be, and leads elsewhere, is not written through.
TEST_F(Uploads, WriteThroughNoLink) {
  std::ofstream(service_.files.file("victim")) << "untouched";
  std::filesystem::create_symlink(service_.files.file("victim"), folder() + "/recording.csv.part");
  append(0, "aaa");
  EXPECT_TRUE(refused());
  EXPECT_EQ(read_small_file(service_.files.file("victim"), 100).value(), "untouched");
}

}  // namespace
}  // namespace service
