#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace proto {

/// Columns of numbers in an HDF5 file, as h5py, PyTables, pandas (format "fixed") and MATLAB's
/// h5write leave them.
class Hdf5File {
 public:
  struct Column {
    /// "run/theta"; of two dimensions "run/theta(2)", or as pandas calls it; of a table
    /// "run/table.theta".
    std::string name;
    std::string data_set;  ///< path in the file
    std::string field;     ///< of a table, else empty
    std::size_t rows = 0;
    std::size_t dimensions = 1;  ///< of the data set, 1 or 2
    std::size_t column = 0;      ///< of two dimensions, from 0
    bool lies = false;           ///< of two dimensions: its values stand in one row
  };

  /// @throws InputError naming the file, for one that is no HDF5 file, or larger than kTableSizeMax
  explicit Hdf5File(const std::string& path);

  const std::vector<Column>& columns() const { return columns_; }

  /// The column of that name, or the only one whose last part is that name; null for none.
  const Column* find(const std::string& name) const;

  /// Whether pandas wrote it with format "table", in which columns stand in blocks without names.
  bool has_blocks() const { return has_blocks_; }

  /// @throws InputError naming file and column, for one that is damaged
  std::vector<double> read(const Column& column) const;

 private:
  std::string path_;
  std::shared_ptr<const class Hdf5Handle> file_;
  std::vector<Column> columns_;
  bool has_blocks_ = false;
};

/// Whether a file is called .h5, .hdf5 or .hdf.
bool is_hdf5(const std::string& path);

}  // namespace proto
