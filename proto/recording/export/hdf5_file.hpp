#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace proto {

/// Reads numeric columns of an HDF5 file that was written by h5py, PyTables, pandas (format
/// "fixed") or MATLAB's h5write.
class Hdf5File {
 public:
  struct Column {
    /// Name of the column: "run/theta"; in two dimensions "run/theta(2)" or the name that pandas
    /// gives; in a table "run/table.theta".
    std::string name;
    std::string data_set;  ///< path in the file
    std::string field;     ///< of a table; empty: not a table
    std::size_t rows = 0;
    std::size_t dimensions = 1;  ///< of the data set, 1 or 2
    std::size_t column = 0;      ///< index in a two-dimensional data set, from 0
    bool is_row_vector = false;  ///< the column is a row of a two-dimensional data set
  };

  /// @throws InputError naming the file if it is not an HDF5 file, or larger than kTableSizeMax
  explicit Hdf5File(const std::string& path);

  const std::vector<Column>& columns() const { return columns_; }

  /// Returns the column with the full name `name`, or else the only column whose last name part is
  /// `name`; null if there is none.
  const Column* find(const std::string& name) const;

  /// Returns whether pandas wrote the file with format "table", in which columns are stored in
  /// blocks without names.
  bool has_pandas_blocks() const { return has_blocks_; }

  /// Returns the values of a column. @throws InputError naming file and column if it is damaged
  std::vector<double> read(const Column& column) const;

 private:
  std::string path_;
  std::shared_ptr<const class Hdf5Handle> file_;
  std::vector<Column> columns_;
  bool has_blocks_ = false;
};

/// Returns whether a file's extension is .h5, .hdf5 or .hdf.
bool is_hdf5_file(const std::string& path);

}  // namespace proto
