#include "proto/recording/export/hdf5_file.hpp"

#include <hdf5.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>

#include "proto/text/files.hpp"
#include "proto/text/input_error.hpp"

namespace proto {

/// Owner of an HDF5 identifier, which it closes; a negative one is no identifier.
class Hdf5Handle {
 public:
  Hdf5Handle(hid_t id, herr_t (*close)(hid_t)) : id_(id), close_(close) {}
  Hdf5Handle(const Hdf5Handle&) = delete;
  Hdf5Handle& operator=(const Hdf5Handle&) = delete;
  ~Hdf5Handle() {
    if (id_ >= 0) close_(id_);
  }

  hid_t id() const { return id_; }
  bool valid() const { return id_ >= 0; }

 private:
  hid_t id_;
  herr_t (*close_)(hid_t);
};

namespace {

constexpr std::size_t kRowsMax = kTableSizeMax / sizeof(double);
constexpr std::size_t kColumnsMax = 10'000;
constexpr int kDepthMax = 16;  // nesting depth of groups

using Extent = std::array<hsize_t, 2>;

/// Returns the size of a data set of one or two dimensions; empty for any other.
std::vector<hsize_t> extent_of(hid_t data_set) {
  const Hdf5Handle space(H5Dget_space(data_set), H5Sclose);
  const int dimensions = space.valid() ? H5Sget_simple_extent_ndims(space.id()) : -1;
  if (dimensions != 1 && dimensions != 2) return {};
  Extent sizes{};
  H5Sget_simple_extent_dims(space.id(), sizes.data(), nullptr);
  return {sizes.begin(), sizes.begin() + dimensions};
}

bool is_number(hid_t type) {
  const H5T_class_t kind = H5Tget_class(type);
  // HDF5 stores booleans as an enumeration of integers.
  return kind == H5T_INTEGER || kind == H5T_FLOAT || kind == H5T_ENUM;
}

/// Returns the texts of a one-dimensional data set with fixed length; empty if it is not one.
std::vector<std::string> texts_of(hid_t group, const std::string& name) {
  if (H5Lexists(group, name.c_str(), H5P_DEFAULT) <= 0) return {};
  const Hdf5Handle set(H5Dopen2(group, name.c_str(), H5P_DEFAULT), H5Dclose);
  if (!set.valid()) return {};
  const Hdf5Handle type(H5Dget_type(set.id()), H5Tclose);
  const std::vector<hsize_t> extent = extent_of(set.id());
  if (extent.size() != 1 || extent[0] > kColumnsMax || H5Tget_class(type.id()) != H5T_STRING ||
      H5Tis_variable_str(type.id()) != 0) {
    return {};
  }
  const std::size_t width = H5Tget_size(type.id());
  std::string bytes(width * extent[0], '\0');
  if (H5Dread(set.id(), type.id(), H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes.data()) < 0) return {};
  std::vector<std::string> texts;
  for (std::size_t k = 0; k < extent[0]; ++k) {
    texts.emplace_back(bytes.substr(k * width, width).c_str());
  }
  return texts;
}

/// Collects the columns of a file's groups.
class ColumnList {
 public:
  explicit ColumnList(std::vector<Hdf5File::Column>& columns) : columns_(columns) {}

  bool has_pandas_blocks() const { return has_blocks_; }

  void add_group(hid_t group, const std::string& prefix, int depth) {
    H5G_info_t info;
    if (H5Gget_info(group, &info) < 0) return;
    for (hsize_t k = 0; k < info.nlinks && columns_.size() < kColumnsMax; ++k) {
      std::array<char, 1024> name{};
      if (H5Lget_name_by_idx(group, ".", H5_INDEX_NAME, H5_ITER_INC, k, name.data(), name.size(),
                             H5P_DEFAULT) < 0) {
        continue;
      }
      const Hdf5Handle object(H5Oopen(group, name.data(), H5P_DEFAULT), H5Oclose);
      if (!object.valid()) continue;
      const H5I_type_t kind = H5Iget_type(object.id());
      // PyTables stores the index of a table beside it.
      const bool is_index = std::string_view(name.data()).starts_with("_i_");
      if (kind == H5I_GROUP && depth < kDepthMax && !is_index) {
        add_group(object.id(), prefix + name.data() + "/", depth + 1);
      } else if (kind == H5I_DATASET) {
        add_data_set(group, object.id(), prefix, name.data());
      }
    }
  }

 private:
  void add_data_set(hid_t group, hid_t set, const std::string& prefix, const std::string& name) {
    const Hdf5Handle type(H5Dget_type(set), H5Tclose);
    const std::vector<hsize_t> extent = extent_of(set);
    if (!type.valid() || extent.empty()) return;
    if (*std::ranges::max_element(extent) > kRowsMax) return;
    const std::string path = prefix + name;
    Hdf5File::Column column;
    column.name = column.data_set = path;
    column.rows = extent[0];
    column.dimensions = extent.size();
    if (H5Tget_class(type.id()) == H5T_COMPOUND && extent.size() == 1) {
      add_table(type.id(), column);
    } else if (is_number(type.id()) && extent.size() == 1) {
      columns_.push_back(column);
    } else if (is_number(type.id())) {
      add_matrix(group, column, extent, prefix, name);
    }
  }

  void add_table(hid_t type, Hdf5File::Column column) {
    const std::string path = column.name;
    for (int k = 0; k < H5Tget_nmembers(type); ++k) {
      const Hdf5Handle member(H5Tget_member_type(type, static_cast<unsigned>(k)), H5Tclose);
      char* const field = H5Tget_member_name(type, static_cast<unsigned>(k));
      if (field == nullptr) continue;
      column.field = field;
      H5free_memory(field);
      column.name = path + "." + column.field;
      if (is_number(member.id())) columns_.push_back(column);
      has_blocks_ |=
          H5Tget_class(member.id()) == H5T_ARRAY && column.field.starts_with("values_block");
    }
  }

  void add_matrix(hid_t group, Hdf5File::Column column, const std::vector<hsize_t>& extent,
                  const std::string& prefix, const std::string& name) {
    if (extent[0] == 1 || extent[1] == 1) {
      column.is_row_vector = extent[0] == 1;
      column.rows = extent[0] * extent[1];
      columns_.push_back(column);
      return;
    }
    // pandas stores a frame's columns in blocks, and their names beside them.
    const std::size_t values = name.rfind("_values");
    std::vector<std::string> names;
    if (values != std::string::npos) names = texts_of(group, name.substr(0, values) + "_items");
    for (std::size_t k = 0; k < extent[1] && columns_.size() < kColumnsMax; ++k) {
      column.column = k;
      column.name = names.size() == extent[1] ? prefix + names[k]
                                              : prefix + name + "(" + std::to_string(k + 1) + ")";
      columns_.push_back(column);
    }
  }

  std::vector<Hdf5File::Column>& columns_;
  bool has_blocks_ = false;
};

}  // namespace

Hdf5File::Hdf5File(const std::string& path) : path_(path) {
  std::error_code unknown;
  const auto size = std::filesystem::file_size(path, unknown);
  if (unknown) throw InputError(path + ": cannot be opened: " + unknown.message());
  if (size > kTableSizeMax) throw InputError(path + ": is larger than 1 GiB; save a part of it");
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);  // the caller reports errors
  file_ = std::make_shared<const Hdf5Handle>(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT),
                                             H5Fclose);
  if (!file_->valid())
    throw InputError(path + ": is not an HDF5 file, or is damaged; save it again");
  ColumnList list(columns_);
  list.add_group(file_->id(), "", 0);
  has_blocks_ = list.has_pandas_blocks();
}

const Hdf5File::Column* Hdf5File::find(const std::string& name) const {
  const std::string path = name.starts_with('/') ? name.substr(1) : name;
  const auto whole = std::ranges::find(columns_, path, &Column::name);
  if (whole != columns_.end()) return &*whole;
  const auto ends_so = [&](const Column& column) { return column.name.ends_with("/" + path); };
  const auto only = std::ranges::find_if(columns_, ends_so);
  return std::ranges::count_if(columns_, ends_so) == 1 ? &*only : nullptr;
}

std::vector<double> Hdf5File::read(const Column& column) const {
  const Hdf5Handle set(H5Dopen2(file_->id(), column.data_set.c_str(), H5P_DEFAULT), H5Dclose);
  const Hdf5Handle space(H5Dget_space(set.id()), H5Sclose);
  const hsize_t rows = column.rows;
  const Hdf5Handle memory(H5Screate_simple(1, &rows, nullptr), H5Sclose);
  Hdf5Handle type(
      column.field.empty() ? H5Tcopy(H5T_NATIVE_DOUBLE) : H5Tcreate(H5T_COMPOUND, sizeof(double)),
      H5Tclose);
  if (!column.field.empty()) H5Tinsert(type.id(), column.field.c_str(), 0, H5T_NATIVE_DOUBLE);
  bool fine = set.valid() && space.valid() && type.valid();
  if (column.dimensions == 2) {
    const Extent from{0, column.column};
    const Extent count{column.is_row_vector ? 1 : rows, column.is_row_vector ? rows : 1};
    fine = fine && H5Sselect_hyperslab(space.id(), H5S_SELECT_SET, from.data(), nullptr,
                                       count.data(), nullptr) >= 0;
  }
  std::vector<double> values(column.rows);
  if (rows > 0) {
    fine = fine &&
           H5Dread(set.id(), type.id(), memory.id(), space.id(), H5P_DEFAULT, values.data()) >= 0;
  }
  if (!fine) {
    throw InputError(path_ + ": data set \"" + column.name + "\" is damaged; save the file again");
  }
  return values;
}

bool is_hdf5_file(const std::string& path) {
  return path.ends_with(".h5") || path.ends_with(".hdf5") || path.ends_with(".hdf");
}

}  // namespace proto
