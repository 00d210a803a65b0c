#include "service/work/work_task.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>

#include "proto/notation/number_format.hpp"
#include "proto/text/files.hpp"
#include "proto/text/input_error.hpp"
#include "service/recordings/file_digest.hpp"
#include "service/work/work_lines.hpp"

namespace service {
namespace {

/// Format of the files; it changes with their fields.
constexpr const char* kFormat = "rigcal work 1";

std::string path_of_task(const std::string& folder, const std::string& name) {
  return folder + "/tasks/" + name;
}

/// Returns the lines of a file of `write_tasks`.
std::vector<std::vector<std::string>> read_task_lines(const std::string& path,
                                                      std::size_t field_count) {
  const std::string text = proto::read_file(path, proto::kTableSizeMax);
  std::vector<std::vector<std::string>> lines;
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = std::min(text.find('\n', start), text.size());
    auto fields = parse_work_line(std::string_view(text).substr(start, end - start));
    if (!fields || fields->size() != field_count) {
      throw proto::InputError(path + ": is damaged; repeat the command that made the folder");
    }
    lines.push_back(std::move(*fields));
    start = end + 1;
  }
  return lines;
}

class TaskWriter : public Executor {
 public:
  TaskWriter(int count, WorkProgram program) : count_(count), program_(std::move(program)) {}

  bool run(const WorkBatch& batch, WorkStore& store, const std::atomic<bool>* /*stop*/,
           const WorkProgressFunction& /*on_progress*/) override {
    const std::vector<const WorkItem*> missing = store.find_missing(batch.items);
    if (missing.empty()) return true;
    std::vector<std::vector<const WorkItem*>> tasks(
        std::min(static_cast<std::size_t>(count_), missing.size()));
    for (std::size_t i = 0; i < missing.size(); ++i) tasks[i % tasks.size()].push_back(missing[i]);
    write_tasks(store.folder(), batch, tasks, program_);
    return false;
  }

 private:
  int count_;
  WorkProgram program_;
};

std::string describe_program(const WorkProgram& program) {
  return program.version + " (build " + program.build.substr(0, 12) + ")";
}

}  // namespace

WorkProgram describe_this_program(const std::string& version) {
  return {version,
          compute_file_digest(std::filesystem::read_symlink("/proc/self/exe").string()).sha256};
}

void write_tasks(const std::string& folder, const WorkBatch& batch,
                 const std::vector<std::vector<const WorkItem*>>& tasks,
                 const WorkProgram& program) {
  std::error_code error;
  std::filesystem::remove_all(folder + "/tasks", error);
  std::filesystem::create_directories(folder + "/tasks", error);
  if (error) {
    throw proto::InputError(folder + ": tasks cannot be written: " + error.message() +
                            "; give a folder that all machines can write");
  }
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    std::string text;
    for (const WorkItem* item : tasks[i]) {
      text += format_work_line({item->key, item->request, notation::format_exact(item->work)});
    }
    proto::write_file(path_of_task(folder, std::to_string(i)), text);
  }
  proto::write_file(
      path_of_task(folder, "batch"),
      format_work_line({kFormat, program.version, program.build, batch.kind, batch.common}));
}

WorkBatch read_task(const std::string& folder, int task, const WorkProgram& program) {
  const std::string path = path_of_task(folder, "batch");
  std::error_code error;
  if (!std::filesystem::exists(path, error)) {
    throw proto::InputError(folder +
                            ": contains no tasks; give a folder that is shared with the "
                            "machine on which the command runs");
  }
  const auto head = read_task_lines(path, 5).at(0);
  const WorkProgram writer{head[1], head[2]};
  if (head[0] != kFormat || writer.version != program.version || writer.build != program.build) {
    throw proto::InputError(folder + ": was made for rigcal " + describe_program(writer) +
                            ", and this is rigcal " + describe_program(program) +
                            "; install the same build on all machines");
  }
  WorkBatch batch{.kind = head[3], .common = head[4]};
  for (auto& fields : read_task_lines(path_of_task(folder, std::to_string(task)), 3)) {
    batch.items.push_back({fields[0], fields[1], std::stod(fields[2])});
  }
  return batch;
}

std::unique_ptr<Executor> make_task_writer(int count, WorkProgram program) {
  return std::make_unique<TaskWriter>(count, std::move(program));
}

}  // namespace service
