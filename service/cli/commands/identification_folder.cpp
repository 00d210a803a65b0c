#include "service/cli/commands/identification_folder.hpp"

#include <cstdio>
#include <filesystem>
#include <utility>

#include "proto/recording/mcap/file.hpp"
#include "proto/text/input_error.hpp"

namespace service {

IdentificationFolder::IdentificationFolder(std::string path) : path_(std::move(path)) {
  std::error_code error;
  std::filesystem::create_directories(path_, error);
  if (!std::filesystem::is_directory(path_)) {
    throw proto::InputError(path_ + ": cannot be created as a folder; give another --folder");
  }
  count_runs();
  const std::string part = proto::part_path(recording(count_ + 1));
  if (std::filesystem::exists(part)) {
    throw proto::InputError(part + ": is an incomplete recording; finish it with rigcal recover " +
                            part + ", or remove it");
  }
}

void IdentificationFolder::count_runs() {
  while (std::filesystem::exists(recording(count_ + 1))) ++count_;
}

std::string IdentificationFolder::exclude_last_run() {
  const std::string aside = name("run-", count_, ".tripped.mcap");
  std::filesystem::rename(recording(count_), aside);
  --count_;
  return aside;
}

bool IdentificationFolder::has_result(int run) const {
  return std::filesystem::exists(result(run));
}

std::vector<std::string> IdentificationFolder::recordings() const {
  std::vector<std::string> all;
  for (int run = 1; run <= count_; ++run) all.push_back(recording(run));
  return all;
}

std::string IdentificationFolder::name(const char* stem, int run, const char* ending) const {
  char number[16];
  std::snprintf(number, sizeof number, "%02d", run);
  return (std::filesystem::path(path_) / (stem + std::string(number) + ending)).string();
}

}  // namespace service
