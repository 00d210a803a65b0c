#include "service/work/work_store.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>

#include "tests/integration/child_process.hpp"
#include "tests/service/run_rigcal.hpp"

namespace service {
namespace {

using test_support::eventually;
using test_support::expect_parts;
using test_support::refusal;

std::string key_of(int index) { return "key" + std::to_string(index); }

/// Returns a value that depends only on the index, with characters that lines must escape.
WorkResult result_of(int index) {
  return {.value = "line " + std::to_string(index) + "\n\ttab \\n " + std::string(40, 'x'),
          .failure = "",
          .wall_time = 0.1 * index};
}

std::vector<WorkItem> items_up_to(int count) {
  std::vector<WorkItem> items;
  for (int i = 0; i < count; ++i) items.push_back({.key = key_of(i), .request = ""});
  return items;
}

/// Returns the only file with results in a folder.
std::string only_file(const std::string& folder) {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    files.push_back(entry.path().string());
  }
  EXPECT_EQ(files.size(), 1U);
  return files.front();
}

/// Runs `work` in a child process, which ends without destructors, as after kill -9.
pid_t in_child(const std::function<void()>& work) {
  const pid_t child = ::fork();
  if (child == 0) {
    work();
    ::_exit(0);
  }
  return child;
}

int exit_status(pid_t child) {
  int status = -1;
  ::waitpid(child, &status, 0);
  return status;
}

// A result must be read back unchanged, also bytes that end lines or separate fields.
TEST(WorkStore, ReturnsStoredResultsUnchanged) {
  const TemporaryFolder folder;
  const WorkResult failed{.value = "", .failure = "too short\nto fit", .wall_time = 1.0 / 3.0};
  {
    WorkStore store(folder.file("s"));
    EXPECT_FALSE(store.find("a"));
    store.store("a", result_of(7));
    store.store("b", failed);
    EXPECT_EQ(store.find("a")->value, result_of(7).value);
  }
  const WorkStore again(folder.file("s"));
  EXPECT_EQ(again.find("a")->value, result_of(7).value);
  EXPECT_EQ(again.find("a")->failure, "");
  EXPECT_EQ(again.find("b")->failure, failed.failure);
  EXPECT_EQ(again.find("b")->wall_time, failed.wall_time);
  EXPECT_FALSE(again.contains("c"));
}

// A task that runs twice counts once: readers use the first result, and report what is missing.
TEST(WorkStore, CountsItemsOnce) {
  const TemporaryFolder folder;
  WorkStore one(folder.file("s")), other(folder.file("s"));
  one.store("key1", result_of(1));
  other.store("key1", result_of(2));  // has not read the result of `one`
  other.store("key2", result_of(2));
  one.store("key1", result_of(3));
  EXPECT_FALSE(one.contains("key2"));
  one.refresh();
  EXPECT_TRUE(one.contains("key2"));
  const WorkStore reader(folder.file("s")), second(folder.file("s"));
  EXPECT_EQ(reader.find("key1")->value, second.find("key1")->value);
  std::vector<WorkItem> items = items_up_to(5);
  items.push_back(items.back());
  const auto missing = reader.find_missing(items);
  ASSERT_EQ(missing.size(), 3U);  // 0, 3 and 4 once
  EXPECT_EQ(missing[0]->key, "key0");
  EXPECT_EQ(missing[2]->key, "key4");
}

// Two processes write the same and different items side by side. Lines that mix would be damaged.
TEST(WorkStore, AcceptsWritersSideBySide) {
  constexpr int kCount = 400;
  const TemporaryFolder folder;
  std::vector<pid_t> children;
  for (const int first : {0, 200}) {
    children.push_back(in_child([&] {
      WorkStore store(folder.file("s"));
      for (int i = first; i < first + kCount; ++i) store.store(key_of(i), result_of(i));
    }));
  }
  for (const pid_t child : children) EXPECT_EQ(exit_status(child), 0);
  const WorkStore store(folder.file("s"));
  EXPECT_TRUE(store.find_missing(items_up_to(600)).empty());
  for (int i = 0; i < 600; ++i) ASSERT_EQ(store.find(key_of(i))->value, result_of(i).value) << i;
}

// kill -9 in the middle of writing costs at most the result that was being written.
TEST(WorkStore, KeepsResultsOfAKilledWriter) {
  const TemporaryFolder folder;
  const pid_t child = in_child([&] {
    WorkStore store(folder.file("s"));
    for (int i = 0;; ++i) store.store(key_of(i), result_of(i));
  });
  const auto stored = [&] { return WorkStore(folder.file("s")).contains(key_of(50)); };
  EXPECT_TRUE(eventually(stored, 60.0));
  ::kill(child, SIGKILL);
  exit_status(child);
  WorkStore store(folder.file("s"));
  int count = 0;
  while (store.contains(key_of(count))) {
    EXPECT_EQ(store.find(key_of(count))->value, result_of(count).value);
    ++count;
  }
  EXPECT_GT(count, 50);
  store.store(key_of(count), result_of(count));
  EXPECT_TRUE(WorkStore(folder.file("s")).contains(key_of(count)));
}

// A damaged line, and half a line at the end, cost only their results.
TEST(WorkStore, DetectsDamagedResults) {
  const TemporaryFolder folder;
  {
    WorkStore store(folder.file("s"));
    for (int i = 0; i < 4; ++i) store.store(key_of(i), result_of(i));
  }
  const std::string file = only_file(folder.file("s"));
  std::string bytes = contents_of(file);
  bytes[bytes.find("line 1")] = 'L';
  std::ofstream(file, std::ios::binary) << bytes.substr(0, bytes.size() - 1);
  const WorkStore store(folder.file("s"));
  EXPECT_TRUE(store.contains(key_of(0)));
  EXPECT_FALSE(store.contains(key_of(1)));
  EXPECT_TRUE(store.contains(key_of(2)));
  EXPECT_FALSE(store.contains(key_of(3)));  // without the end of its line
}

// On a full disk, the writer fails with a remedy, and the results before remain. Half a line must
// not damage the next result, after space was made.
TEST(WorkStore, KeepsResultsOnAFullDisk) {
  const TemporaryFolder folder;
  const pid_t child = in_child([&] {
    ::signal(SIGXFSZ, SIG_IGN);
    WorkStore store(folder.file("s"));
    store.store(key_of(0), result_of(0));
    const rlimit full{150, RLIM_INFINITY};
    ::setrlimit(RLIMIT_FSIZE, &full);
    try {
      store.store(key_of(1), result_of(1));
      ::_exit(1);
    } catch (const proto::InputError& error) {
      const std::string text = error.what();
      if (text.find("cannot be written") == std::string::npos) ::_exit(2);
      if (text.find("repeat the command") == std::string::npos) ::_exit(3);
    }
    const rlimit free{RLIM_INFINITY, RLIM_INFINITY};
    ::setrlimit(RLIMIT_FSIZE, &free);
    store.store(key_of(2), result_of(2));
  });
  EXPECT_EQ(WEXITSTATUS(exit_status(child)), 0);
  const WorkStore store(folder.file("s"));
  EXPECT_TRUE(store.contains(key_of(0)));
  EXPECT_FALSE(store.contains(key_of(1)));
  EXPECT_TRUE(store.contains(key_of(2)));
}

TEST(WorkStore, NamesFoldersThatCannotBeUsed) {
  const TemporaryFolder folder;
  folder.write("file", "");
  expect_parts(refusal([&] { WorkStore(folder.file("file/s")); }),
               {"file/s: cannot be created", "give another folder"});
}

// A task among thousands must not read the results of the others.
TEST(WorkStore, OfAWriterFindsOnlyItsResults) {
  const TemporaryFolder folder;
  for (const char* writer : {"task1", "task10"}) {
    WorkStore store(folder.file("s"), writer);
    store.store(writer, {.value = "1", .failure = ""});
  }
  const WorkStore one(folder.file("s"), "task1");
  EXPECT_TRUE(one.contains("task1"));
  EXPECT_FALSE(one.contains("task10"));
  const WorkStore all(folder.file("s"));
  EXPECT_TRUE(all.contains("task1") && all.contains("task10"));
}

}  // namespace
}  // namespace service
