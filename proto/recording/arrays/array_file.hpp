#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "proto/recording/mcap/byte_cursor.hpp"

namespace proto {

/// Largest count of numbers that are read from all arrays of a file together: 256 MiB as double, or
/// 9 hours of one signal at 1 kHz.
inline constexpr std::size_t kArrayNumbersMax = std::size_t{32} << 20;

/// Largest number of bytes to which the compressed parts of a file are expanded, all together.
inline constexpr std::uint64_t kInflatedSizeMax = std::uint64_t{1} << 30;

/// Largest number of arrays in a file, and largest number of columns in all its arrays.
inline constexpr std::size_t kArraysMax = 10'000;

/// Named arrays of real numbers and texts in a file: MAT of version 4, 5 (7) and 7.3, HDF5, and
/// NumPy's .npy and .npz. Arrays in structures, cells and groups have names such as
/// "theta.signals(2).values", "runs{3}" and "group/theta".
class ArrayFile {
 public:
  /// Description of an array, without its content. Dimensions of size one beyond the second are
  /// left out.
  struct Array {
    std::string name;
    std::size_t rows = 0;
    std::size_t columns = 0;

    std::size_t count() const { return rows * columns; }
    bool is_vector() const { return rows == 1 || columns == 1; }
    /// Returns the size in words: "2000" for a vector, otherwise "2×2000".
    std::string size_text() const;
  };
  struct Text {
    std::string name;
    std::string value;  ///< ASCII characters of the text
  };
  /// Content of a file that is not an array of real numbers, and thus not read.
  struct Omission {
    std::string name;
    std::string reason;  ///< kind of content, and how to save it as numbers
  };

  virtual ~ArrayFile() = default;

  const std::string& path() const { return path_; }
  const std::vector<Array>& arrays() const { return arrays_; }
  const std::vector<Omission>& omissions() const { return omissions_; }

  /// Returns the array with the full name `name`, otherwise the only array whose name ends with
  /// "/name" or ".name"; null if there is none.
  const Array* find(const std::string& name) const;

  /// Returns the content of one of arrays(), column by column.
  /// @throws InputError naming file and array if the array is damaged, if more than
  ///         kArrayNumbersMax numbers are read from this file, or if its compressed parts expand to
  ///         more than kInflatedSizeMax
  std::vector<double> read(const Array& array) const;

  /// Returns the text `name`, or the texts of the cell array `name`; empty if there are none.
  std::vector<std::string> read_texts(const std::string& name) const;

  /// Appends the lists of arrays, texts and omissions, for read_list() in another process.
  void write_list(Bytes& out) const;

 protected:
  explicit ArrayFile(std::string path) : path_(std::move(path)) {}
  ArrayFile(const ArrayFile&) = delete;
  ArrayFile& operator=(const ArrayFile&) = delete;

  /// Reads the array with this index. Returns nullopt if it is damaged.
  virtual std::optional<std::vector<double>> read_values(std::size_t index) const = 0;

  /// Adds an array with these dimensions, or an omission if it has more than two dimensions.
  /// Returns whether an array was added.
  bool add_array(const std::string& name, std::span<const std::uint64_t> dimensions);
  void add_text(const std::string& name, std::string value);
  void add_omission(const std::string& name, std::string reason);
  bool is_full() const { return arrays_.size() >= kArraysMax; }

  /// Adds the arrays, texts and omissions that another process lists. Returns false if the list is
  /// damaged.
  bool read_list(ByteCursor& list);

  const std::string path_;
  mutable std::uint64_t inflate_budget_ = kInflatedSizeMax;  ///< in bytes; 0 once it was too small

 private:
  std::vector<Array> arrays_;
  std::vector<Text> texts_;
  std::vector<Omission> omissions_;
  std::size_t texts_size_ = 0;
  mutable std::size_t numbers_read_ = 0;
};

/// Opens a MAT, HDF5, .npy or .npz file, recognized by its first bytes, and lists its arrays.
/// @throws InputError naming the file if it is none of these, or is larger than kTableSizeMax
std::unique_ptr<const ArrayFile> open_array_file(const std::string& path);

/// Returns whether a file with these first bytes is HDF5, possibly after the header of MAT 7.3.
bool is_hdf5(std::span<const std::uint8_t> begin);

// The same functions for one format each. MAT 7.3 is a MAT header followed by HDF5 content.
std::unique_ptr<const ArrayFile> open_mat5_file(const std::string& path);
std::unique_ptr<const ArrayFile> open_hdf5_file(const std::string& path);
/// On some damaged files the HDF5 library crashes, never returns, or allocates much memory:
/// open_hdf5_file() runs it in a child process.
std::unique_ptr<const ArrayFile> open_hdf5_file_in_this_process(const std::string& path);
std::unique_ptr<const ArrayFile> open_numpy_file(const std::string& path);

/// Returns the values of an array column by column. In the file, the array is stored row by row.
std::vector<double> to_column_order(const ArrayFile::Array& array, std::vector<double> stored);

/// Returns advice for a MATLAB object of this class, whose values rigcal cannot read.
std::string describe_matlab_object(const std::string& class_name);

}  // namespace proto
