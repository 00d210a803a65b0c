#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "service/work/work_item.hpp"

namespace service {

/// Folder with the results of work items. Any number of threads, programs and machines may read and
/// write it at the same time.
///
/// Each writer appends its results to a separate file, one line per result with a checksum. Results
/// with incomplete or damaged lines count as missing. If several writers store the same item, only
/// one of their results counts.
class WorkStore {
 public:
  /// Opens the folder, or creates it, and reads the keys of its results.
  /// @param writer  if not empty, only results of writers with this name are read and found, so
  ///                that one task among thousands does not read the results of all other tasks
  /// @throws proto::InputError naming the folder if that fails
  explicit WorkStore(std::string folder, std::string writer = "");
  /// Synchronizes this writer's file to the disk.
  ~WorkStore();
  WorkStore(const WorkStore&) = delete;
  WorkStore& operator=(const WorkStore&) = delete;

  const std::string& folder() const { return folder_; }

  /// Reads the keys of results that other writers have added.
  void refresh();

  bool contains(const std::string& key) const;

  /// Returns the result of an item; nullopt if it is missing.
  std::optional<WorkResult> find(const std::string& key) const;

  /// Returns the items without results, in their order and without duplicate keys.
  std::vector<const WorkItem*> find_missing(const std::vector<WorkItem>& items) const;

  /// Stores a result, unless there is one with this key.
  /// @throws proto::InputError naming the file if writing fails; earlier results remain
  void store(const std::string& key, const WorkResult& result);

 private:
  /// Position of a result's line.
  struct Place {
    std::string file;
    std::uint64_t offset = 0;
    std::size_t size_bytes = 0;
  };

  void read_new_lines(const std::string& file);
  void open_own_file();

  std::string folder_;
  std::string writer_;  ///< start of the names of files that are read
  mutable std::mutex mutex_;
  std::unordered_map<std::string, Place> places_;  ///< positions of results, by key
  std::map<std::string, std::uint64_t> read_;      ///< bytes read of each file
  std::string own_file_;                           ///< empty until the first result
  int descriptor_ = -1;
  std::uint64_t own_size_ = 0;
  double synchronized_ = 0.0;  ///< time of the last synchronization to the disk [s]
};

}  // namespace service
