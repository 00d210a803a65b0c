#include "service/work/work_task.hpp"

#include <gtest/gtest.h>

#include <set>

#include "tests/service/run_rigcal.hpp"

namespace service {
namespace {

using test_support::expect_parts;
using test_support::refusal;

const WorkProgram kThis{"1.2.3", std::string(64, 'a')};

WorkBatch three_items() {
  return {.kind = "kind",
          .common = "shared\n\tinputs",
          .items = {{"a", "request\na", 1.0}, {"b", "", 0.1}, {"c", "c", 3.0}},
          .compute = {}};
}

/// Writes the batch as two tasks into the folder.
void write_two_tasks(const std::string& folder) {
  WorkStore store(folder);
  EXPECT_FALSE(make_task_writer(2, kThis)->run(three_items(), store, nullptr, {}));
}

TEST(WorkTask, IsReadBackUnchanged) {
  const TemporaryFolder folder;
  write_two_tasks(folder.file("s"));
  std::set<std::string> keys;
  for (const int task : {0, 1}) {
    const WorkBatch batch = read_task(folder.file("s"), task, kThis);
    EXPECT_EQ(batch.kind, "kind");
    EXPECT_EQ(batch.common, "shared\n\tinputs");
    for (const WorkItem& item : batch.items) keys.insert(item.key);
    if (task > 0) continue;
    EXPECT_EQ(batch.items.front().request, "request\na");
    EXPECT_EQ(batch.items.back().work, 3.0);
  }
  EXPECT_EQ(keys, (std::set<std::string>{"a", "b", "c"}));
}

// Only missing items become tasks; without any, the results are complete.
TEST(TaskWriter, LeavesOutItemsWithResults) {
  const TemporaryFolder folder;
  WorkStore store(folder.file("s"));
  store.store("a", {.value = "1", .failure = ""});
  store.store("c", {.value = "1", .failure = ""});
  EXPECT_FALSE(make_task_writer(5, kThis)->run(three_items(), store, nullptr, {}));
  EXPECT_EQ(read_task(store.folder(), 0, kThis).items.front().key, "b");
  expect_parts(refusal([&] { read_task(store.folder(), 1, kThis); }), {"tasks/1"});
  store.store("b", {.value = "1", .failure = ""});
  EXPECT_TRUE(make_task_writer(5, kThis)->run(three_items(), store, nullptr, {}));
}

// Another version or build could compute other last digits.
TEST(WorkTask, IsRefusedByOtherPrograms) {
  const TemporaryFolder folder;
  write_two_tasks(folder.file("s"));
  expect_parts(refusal([&] {
                 read_task(folder.file("s"), 0, {"1.2.4", kThis.build});
               }),
               {"was made for rigcal 1.2.3 (build aaaaaaaaaaaa)", "this is rigcal 1.2.4",
                "install the same build on all machines"});
  expect_parts(refusal([&] {
                 read_task(folder.file("s"), 0, {"1.2.3", std::string(64, 'b')});
               }),
               {"build aaaaaaaaaaaa", "build bbbbbbbbbbbb"});
}

TEST(WorkTask, IsRefusedWithoutFolderOrWithDamagedFiles) {
  const TemporaryFolder folder;
  expect_parts(refusal([&] { read_task(folder.file("none"), 0, kThis); }),
               {"none: contains no tasks", "shared"});
  write_two_tasks(folder.file("s"));
  const std::string text = contents_of(folder.file("s/tasks/0"));
  folder.write("s/tasks/0", text.substr(0, text.size() - 3));
  expect_parts(refusal([&] { read_task(folder.file("s"), 0, kThis); }),
               {"tasks/0: is damaged", "repeat the command"});
}

TEST(WorkCommand, RefusesFoldersWithOneSentence) {
  const TemporaryFolder folder;
  expect_refused("work --folder " + folder.file("none") + " --task 0", {"contains no tasks"});
  write_two_tasks(folder.file("s"));
  expect_refused("work --folder " + folder.file("s") + " --task 0",
                 {"was made for rigcal 1.2.3", "this is rigcal " RIGCAL_VERSION});
}

}  // namespace
}  // namespace service
