#include "daq/console/console_writer.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <ostream>
#include <string>

// Lines and a view in place, on a terminal that may accept no output.

namespace daq {
namespace {

/// Output that blocks until it is released, like a terminal after Ctrl-S.
class StoppedOutput : public std::streambuf {
 public:
  std::string text() {
    const std::lock_guard lock(mutex_);
    return text_;
  }

  /// Waits until the output contains a text.
  bool wait_for(const std::string& part) {
    std::unique_lock lock(mutex_);
    return written_.wait_for(lock, std::chrono::seconds(60),
                             [&] { return text_.find(part) != std::string::npos; });
  }

  void release() {
    {
      const std::lock_guard lock(mutex_);
      is_released_ = true;
    }
    released_.notify_all();
  }

 protected:
  std::streamsize xsputn(const char* text, std::streamsize size) override {
    std::unique_lock lock(mutex_);
    released_.wait(lock, [this] { return is_released_; });
    text_.append(text, static_cast<std::size_t>(size));
    written_.notify_all();
    return size;
  }
  int_type overflow(int_type c) override {
    const char byte = traits_type::to_char_type(c);
    return xsputn(&byte, 1) == 1 ? c : traits_type::eof();
  }

 private:
  std::string text_;
  std::mutex mutex_;
  std::condition_variable written_;
  std::condition_variable released_;
  bool is_released_ = false;
};

// If writing waited for the terminal, this test would not end: the output accepts nothing until
// everything is queued.
TEST(ConsoleWriterTest, NeverWaitsForTheTerminal) {
  StoppedOutput buffer;
  std::ostream out(&buffer);
  ConsoleWriter writer(out);
  writer.add_line("first");
  for (int k = 0; k < 100; ++k) writer.show({"view " + std::to_string(k)});
  for (std::size_t k = 0; k < 2 * ConsoleWriter::kLinesMax; ++k) writer.add_line("more");
  buffer.release();
  writer.finish();
  const std::string text = buffer.text();
  EXPECT_TRUE(text.starts_with("first\n")) << text.substr(0, 100);
  EXPECT_NE(text.find(" lines are left out)\n"), std::string::npos);
  EXPECT_EQ(text.find("view 50"), std::string::npos) << "only the newest of waiting views";
}

// The view stays below the lines, and nothing of it remains at the end.
TEST(ConsoleWriterTest, RewritesTheViewBelowTheLines) {
  StoppedOutput buffer;
  buffer.release();
  std::ostream out(&buffer);
  ConsoleWriter writer(out);
  writer.show({"bar 1", "bar 2"});
  ASSERT_TRUE(buffer.wait_for("bar 2\033[K\n\033[?7h"));
  writer.show({"bar 3", "bar 4"});
  ASSERT_TRUE(buffer.wait_for("\033[2A\033[?7lbar 3\033[K\nbar 4"));
  writer.add_line("a line");
  ASSERT_TRUE(buffer.wait_for("\033[2A\033[Ja line\n"));
  writer.show({"bar 5"});
  ASSERT_TRUE(buffer.wait_for("a line\n\033[?7lbar 5"));
  writer.finish();
  EXPECT_TRUE(buffer.text().ends_with("\033[1A\033[J")) << buffer.text();
}

}  // namespace
}  // namespace daq
