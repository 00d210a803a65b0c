// HDF5 files of h5py, PyTables, pandas (format "fixed"), MATLAB's h5write, and MAT files of version
// 7.3 by MATLAB, h5py and hdf5storage. Links and data that lead to other files are not followed.

#include <hdf5.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <set>
#include <utility>

#include "proto/recording/arrays/array_file.hpp"
#include "proto/recording/arrays/child_file.hpp"
#include "proto/text/input_error.hpp"

namespace proto {
namespace {

constexpr int kDepthMax = 16;                // of groups and references
constexpr std::size_t kObjectsMax = 30'000;  // opened in a file
constexpr std::size_t kTextCharactersMax = 4096;
constexpr std::size_t kTypeSizeMax = std::size_t{1} << 16;    // of a row of a table [byte]
constexpr std::size_t kNamesSizeMax = std::size_t{1} << 20;   // of a frame's columns [byte]
constexpr std::size_t kChunkSizeMax = std::size_t{64} << 20;  // [byte]

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

using Extent = std::vector<hsize_t>;

constexpr std::size_t kChunksMax = 50'000;                     // of a data set; 7 kB of memory each
constexpr std::size_t kSafePackedSize = std::size_t{1} << 18;  // compressed chunk [byte]

/// Returns the size of a data set; nullopt if it has none.
std::optional<Extent> extent_of(hid_t data_set) {
  const Hdf5Handle space(H5Dget_space(data_set), H5Sclose);
  if (!space.valid() || H5Sget_simple_extent_type(space.id()) == H5S_NULL) return std::nullopt;
  const int dimensions = H5Sget_simple_extent_ndims(space.id());
  if (dimensions < 0 || dimensions > H5S_MAX_RANK) return std::nullopt;
  Extent sizes(static_cast<std::size_t>(dimensions));
  if (H5Sget_simple_extent_dims(space.id(), sizes.data(), nullptr) < 0) return std::nullopt;
  return sizes;
}

/// Returns the number of elements; kArrayNumbersMax + 1 if there are more.
std::size_t count_of(const Extent& extent) {
  std::size_t count = 1;
  for (const hsize_t size : extent) {
    if (size > kArrayNumbersMax || count * size > kArrayNumbersMax) return kArrayNumbersMax + 1;
    count *= static_cast<std::size_t>(size);
  }
  return count;
}

/// Returns the size of the chunks of a data set; nullopt if it is damaged.
std::optional<Extent> chunk_of(hid_t creation) {
  Extent sizes(H5S_MAX_RANK);
  const int rank = H5Pget_chunk(creation, H5S_MAX_RANK, sizes.data());
  if (rank < 0 || rank > H5S_MAX_RANK ||
      std::ranges::count(sizes.begin(), sizes.begin() + rank, 0U) > 0) {
    return std::nullopt;
  }
  sizes.resize(static_cast<std::size_t>(rank));
  return sizes;
}

/// Returns the number of chunks of a data set; kChunksMax + 1 if there are more.
std::size_t count_chunks(const Extent& extent, const Extent& chunk) {
  hsize_t count = 1;
  for (std::size_t k = 0; k < extent.size(); ++k) {
    const hsize_t along = extent[k] / chunk[k] + (extent[k] % chunk[k] > 0 ? 1 : 0);
    if (along > kChunksMax || count * along > kChunksMax) return kChunksMax + 1;
    count *= along;
  }
  return static_cast<std::size_t>(count);
}

bool is_number(hid_t type) {
  const H5T_class_t kind = H5Tget_class(type);
  // HDF5 stores booleans as an enumeration of integers.
  return kind == H5T_INTEGER || kind == H5T_FLOAT || kind == H5T_ENUM;
}

/// Returns why a data set cannot be read safely; empty if it can.
std::string find_blocking_reason(hid_t data_set, hid_t type) {
  const Hdf5Handle creation(H5Dget_create_plist(data_set), H5Pclose);
  if (!creation.valid()) return "is damaged; save the file again";
  const H5D_layout_t layout = H5Pget_layout(creation.id());
  if (layout == H5D_VIRTUAL || H5Pget_external_count(creation.id()) > 0) {
    return "is stored in another file, which rigcal does not follow; copy its data into this file";
  }
  const std::size_t element_size = H5Tget_size(type);
  if (element_size == 0) return "is damaged; save the file again";
  if (element_size > kTypeSizeMax) return "has rows that are too long; save its columns";
  if (layout != H5D_CHUNKED) {
    // The HDF5 library reads beyond data that are shorter than declared. Data without storage have
    // the fill value.
    const auto extent = extent_of(data_set);
    const hsize_t stored = H5Dget_storage_size(data_set);
    const bool is_whole = extent && (stored / element_size >= count_of(*extent) ||
                                     (stored == 0 && layout == H5D_CONTIGUOUS));
    return is_whole ? "" : "is damaged; save the file again";
  }
  for (int k = 0; k < H5Pget_nfilters(creation.id()); ++k) {
    std::array<char, 32> name{};
    std::size_t value_count = 0;
    unsigned flags = 0, configuration = 0;
    const H5Z_filter_t filter =
        H5Pget_filter2(creation.id(), static_cast<unsigned>(k), &flags, &value_count, nullptr,
                       name.size() - 1, name.data(), &configuration);
    if (filter < 0 || H5Zfilter_avail(filter) > 0) continue;
    return std::string("is compressed by the filter \"") + name.data() +
           "\", which rigcal does not have; save it with gzip or without compression";
  }
  const auto extent = extent_of(data_set);
  const auto chunk = chunk_of(creation.id());
  if (!extent || !chunk || extent->size() != chunk->size())
    return "is damaged; save the file again";
  if (count_of(*chunk) > kChunkSizeMax / element_size) {
    return "has chunks of more than 64 MiB; save it with smaller ones";
  }
  if (count_chunks(*extent, *chunk) <= kChunksMax) return "";
  return "has more than " + std::to_string(kChunksMax) + " chunks; save it with larger ones";
}

/// Returns whether compressed data expand to at most `size` bytes.
bool expands_within(std::vector<std::uint8_t>& packed, std::size_t size) {
  z_stream stream{};
  if (inflateInit(&stream) != Z_OK) return false;
  stream.next_in = packed.data();
  stream.avail_in = static_cast<uInt>(packed.size());
  std::vector<std::uint8_t> unused(std::size_t{1} << 16);
  int status = Z_OK;
  while (status == Z_OK && stream.total_out <= size) {
    stream.next_out = unused.data();
    stream.avail_out = static_cast<uInt>(unused.size());
    status = inflate(&stream, Z_NO_FLUSH);
  }
  const bool fits = stream.total_out <= size;
  inflateEnd(&stream);
  return fits;
}

/// Returns whether the chunks of a data set expand to their declared size. The HDF5 library
/// allocates whatever compressed data expand to.
bool are_chunks_honest(hid_t data_set, const Extent& extent) {
  const Hdf5Handle creation(H5Dget_create_plist(data_set), H5Pclose);
  if (!creation.valid() || H5Pget_layout(creation.id()) != H5D_CHUNKED) return creation.valid();
  const auto chunk = chunk_of(creation.id());
  if (!chunk || chunk->size() != extent.size()) return false;
  const Hdf5Handle type(H5Dget_type(data_set), H5Tclose);
  const std::size_t chunk_size = H5Tget_size(type.id()) * count_of(*chunk);
  const std::size_t chunk_count = count_chunks(extent, *chunk);
  if (chunk_count > kChunksMax) return false;
  const bool is_compressed = H5Pget_filter_by_id2(creation.id(), H5Z_FILTER_DEFLATE, nullptr,
                                                  nullptr, nullptr, 0, nullptr, nullptr) >= 0;
  Extent offset(extent.size(), 0);
  for (std::size_t k = 0; is_compressed && k < chunk_count; ++k) {
    hsize_t packed_size = 0;
    // deflate expands at most by a factor of 1032.
    if (H5Dget_chunk_storage_size(data_set, offset.data(), &packed_size) >= 0 &&
        packed_size > kSafePackedSize) {
      if (packed_size > 2 * kChunkSizeMax) return false;
      std::vector<std::uint8_t> packed(static_cast<std::size_t>(packed_size));
      std::uint32_t mask = 0;
      if (H5Dread_chunk(data_set, H5P_DEFAULT, offset.data(), &mask, packed.data()) < 0 ||
          !expands_within(packed, chunk_size + kSafePackedSize)) {
        return false;
      }
    }
    for (std::size_t axis = extent.size(); axis-- > 0;) {
      offset[axis] += (*chunk)[axis];
      if (offset[axis] < extent[axis]) break;
      offset[axis] = 0;
    }
  }
  return true;
}

/// Returns a text attribute of MATLAB, such as MATLAB_class; empty if there is none.
std::string text_attribute(hid_t object, const char* name) {
  if (H5Aexists(object, name) <= 0) return "";
  const Hdf5Handle attribute(H5Aopen(object, name, H5P_DEFAULT), H5Aclose);
  const Hdf5Handle type(attribute.valid() ? H5Aget_type(attribute.id()) : -1, H5Tclose);
  if (!type.valid() || H5Tget_class(type.id()) != H5T_STRING ||
      H5Tis_variable_str(type.id()) != 0 || H5Tget_size(type.id()) > kTextCharactersMax ||
      H5Aget_storage_size(attribute.id()) > kTextCharactersMax) {
    return "";
  }
  const Hdf5Handle space(H5Aget_space(attribute.id()), H5Sclose);
  if (H5Sget_simple_extent_npoints(space.id()) != 1) return "";
  std::string text(H5Tget_size(type.id()), '\0');
  if (H5Aread(attribute.id(), type.id(), text.data()) < 0) return "";
  return text.c_str();
}

/// Returns the texts of a one-dimensional data set with fixed length; empty if it is not one.
std::vector<std::string> texts_of(hid_t group, const std::string& name) {
  if (H5Lexists(group, name.c_str(), H5P_DEFAULT) <= 0) return {};
  const Hdf5Handle set(H5Dopen2(group, name.c_str(), H5P_DEFAULT), H5Dclose);
  if (!set.valid()) return {};
  const Hdf5Handle type(H5Dget_type(set.id()), H5Tclose);
  const auto extent = extent_of(set.id());
  if (!type.valid() || !extent || extent->size() != 1 || count_of(*extent) > kArraysMax ||
      H5Tget_class(type.id()) != H5T_STRING || H5Tis_variable_str(type.id()) != 0 ||
      !find_blocking_reason(set.id(), type.id()).empty()) {
    return {};
  }
  const std::size_t width = H5Tget_size(type.id());
  if (width * (*extent)[0] > kNamesSizeMax) return {};
  std::string bytes(width * (*extent)[0], '\0');
  if (H5Dread(set.id(), type.id(), H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes.data()) < 0) return {};
  std::vector<std::string> texts;
  for (std::size_t k = 0; k < (*extent)[0]; ++k) {
    texts.emplace_back(bytes.substr(k * width, width).c_str());
  }
  return texts;
}

/// Where the numbers of an array are.
struct Hdf5Location {
  haddr_t address = 0;                ///< of the data set in the file
  std::string field;                  ///< of a table; empty: not a table
  std::optional<std::size_t> column;  ///< of a data set of two dimensions; nullopt: all of it
  bool is_transposed = false;         ///< MATLAB stores arrays with their dimensions reversed
};

class Hdf5File final : public ArrayFile {
 public:
  explicit Hdf5File(const std::string& path) : ArrayFile(path), file_(open(path), H5Fclose) {
    if (!file_.valid()) {
      throw InputError(path + ": is not an HDF5 file, or is damaged; save it again");
    }
    const Hdf5Handle root(H5Gopen2(file_.id(), "/", H5P_DEFAULT), H5Gclose);
    add_group(root.id(), "", 0);
  }

 private:
  static hid_t open(const std::string& path) {
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);  // the caller reports errors
    return H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  }

  /// Returns whether an object is visited for the first time. Objects can refer to each other in a
  /// circle.
  bool is_new(hid_t object) {
    H5O_info_t info;
    return H5Oget_info2(object, &info, H5O_INFO_BASIC) >= 0 &&
           visited_.emplace(info.fileno, info.addr).second;
  }

  /// Name and type of a link in a group.
  struct Link {
    std::string name;
    H5L_type_t type;
  };

  /// Adds a link to a list; a callback of H5Literate.
  static herr_t add_link(hid_t, const char* name, const H5L_info_t* info, void* links) {
    auto& list = *static_cast<std::vector<Link>*>(links);
    list.push_back({name, info->type});
    return list.size() < kObjectsMax ? 0 : 1;  // 1 ends the iteration
  }

  void add_group(hid_t group, const std::string& prefix, int depth) {
    std::vector<Link> links;
    if (depth > kDepthMax || !is_new(group) ||
        H5Literate(group, H5_INDEX_NAME, H5_ITER_INC, nullptr, add_link, &links) < 0) {
      return;
    }
    for (const auto& [name, type] : links) {
      if (is_full() || objects_left_ == 0) return;
      if (type != H5L_TYPE_HARD) {
        // The target of a link within the file is listed at its own place.
        if (type != H5L_TYPE_SOFT) {
          add_omission(prefix + name, "is a link to another file, which rigcal does not follow");
        }
        continue;
      }
      // PyTables stores the index of a table beside it; MATLAB stores cells and objects apart.
      const bool is_internal = name.starts_with("_i_") || name == "#refs#" || name == "#subsystem#";
      if (is_internal) continue;
      --objects_left_;
      const Hdf5Handle object(H5Oopen(group, name.c_str(), H5P_DEFAULT), H5Oclose);
      if (object.valid()) add_object(object.id(), prefix + name, depth + 1, group, prefix);
    }
  }

  void add_object(hid_t object, const std::string& path, int depth, hid_t group,
                  const std::string& prefix) {
    const H5I_type_t kind = H5Iget_type(object);
    if (kind == H5I_DATASET) {
      add_data_set(object, path, depth, group, prefix);
    } else if (kind == H5I_GROUP) {
      const std::string class_name = text_attribute(object, "MATLAB_class");
      const bool is_struct = class_name == "struct";
      if (!class_name.empty() && !is_struct && H5Aexists(object, "MATLAB_sparse") > 0) {
        add_omission(path, "is a sparse matrix; save full(x)");
        return;
      }
      add_group(object, path + (is_struct ? "." : "/"), depth);
    }
  }

  void add_data_set(hid_t set, const std::string& path, int depth, hid_t group,
                    const std::string& prefix) {
    const Hdf5Handle type(H5Dget_type(set), H5Tclose);
    const auto extent = extent_of(set);
    if (!type.valid() || !extent || H5Aexists(set, "MATLAB_empty") > 0) return;
    if (const std::string obstacle = find_blocking_reason(set, type.id()); !obstacle.empty()) {
      add_omission(path, obstacle);
      return;
    }
    const std::string class_name = text_attribute(set, "MATLAB_class");
    if (H5Aexists(set, "MATLAB_object_decode") > 0) {
      add_omission(path, class_name == "function_handle" ? "is a function; save its values"
                                                         : describe_matlab_object(class_name));
      return;
    }
    // Conventions of netCDF: the stored integers are not the quantity.
    for (const char* attribute : {"scale_factor", "add_offset"}) {
      if (H5Aexists(set, attribute) <= 0) continue;
      add_omission(path, std::string("has the attribute ") + attribute +
                             ", which rigcal does not apply; save the scaled numbers");
      return;
    }
    Hdf5Location location;
    location.is_transposed = !class_name.empty();
    H5O_info_t info;
    if (H5Oget_info2(set, &info, H5O_INFO_BASIC) < 0) return;
    location.address = info.addr;
    const H5T_class_t kind = H5Tget_class(type.id());
    if (kind == H5T_REFERENCE) {
      add_references(set, type.id(), *extent, path, class_name == "cell", depth);
    } else if (class_name == "char") {
      add_characters(set, *extent, path);
    } else if (kind == H5T_COMPOUND) {
      add_table(type.id(), *extent, path, location);
    } else if (is_number(type.id())) {
      add_matrix(group, location, *extent, prefix, path);
    }
  }

  void add(const std::string& name, Extent extent, const Hdf5Location& location) {
    if (location.is_transposed) std::ranges::reverse(extent);
    const std::vector<std::uint64_t> sizes(extent.begin(), extent.end());
    if (add_array(name, sizes)) locations_.push_back(location);
  }

  /// Follows the references of a cell array, of a field of a structure array, or of h5py.
  void add_references(hid_t set, hid_t type, const Extent& extent, const std::string& path,
                      bool is_cell, int depth) {
    const std::size_t count = count_of(extent);
    if (H5Tequal(type, H5T_STD_REF_OBJ) <= 0 || count > kArraysMax || depth > kDepthMax ||
        !is_new(set)) {
      return;
    }
    std::vector<hobj_ref_t> references(count);
    if (count == 0 ||
        H5Dread(set, H5T_STD_REF_OBJ, H5S_ALL, H5S_ALL, H5P_DEFAULT, references.data()) < 0) {
      return;
    }
    // MATLAB stores the field f of s(2) as the second reference of s.f.
    const std::size_t dot = is_cell ? std::string::npos : path.rfind('.');
    for (std::size_t k = 0; k < count && !is_full() && objects_left_ > 0; ++k) {
      --objects_left_;
      const std::string number = std::to_string(k + 1);
      const std::string name = dot == std::string::npos
                                   ? path + "{" + number + "}"
                                   : path.substr(0, dot) + "(" + number + ")" + path.substr(dot);
      const Hdf5Handle object(H5Rdereference2(set, H5P_DEFAULT, H5R_OBJECT, &references[k]),
                              H5Oclose);
      if (object.valid()) add_object(object.id(), name, depth + 1, -1, name);
    }
  }

  void add_characters(hid_t set, const Extent& extent, const std::string& path) {
    const std::size_t count = count_of(extent);
    std::vector<std::uint16_t> characters(std::min(count, kTextCharactersMax));
    if (count == 0 || count > kTextCharactersMax ||
        H5Dread(set, H5T_NATIVE_UINT16, H5S_ALL, H5S_ALL, H5P_DEFAULT, characters.data()) < 0) {
      return;
    }
    add_text(path, std::string(characters.begin(), characters.end()));
  }

  void add_table(hid_t type, const Extent& extent, const std::string& path, Hdf5Location location) {
    for (int k = 0; k < H5Tget_nmembers(type) && !is_full(); ++k) {
      const Hdf5Handle member(H5Tget_member_type(type, static_cast<unsigned>(k)), H5Tclose);
      char* const field = H5Tget_member_name(type, static_cast<unsigned>(k));
      if (field == nullptr) continue;
      location.field = field;
      H5free_memory(field);
      if (is_number(member.id())) add(path + "." + location.field, extent, location);
      if (H5Tget_class(member.id()) == H5T_ARRAY && location.field.starts_with("values_block")) {
        add_omission(path,
                     "is a table that pandas wrote without column names; "
                     "save it with to_hdf(..., format='fixed')");
      }
    }
  }

  void add_matrix(hid_t group, Hdf5Location location, const Extent& extent,
                  const std::string& prefix, const std::string& path) {
    // pandas stores a frame's columns in blocks, and their names beside them.
    const std::size_t values = path.rfind("_values");
    std::vector<std::string> names;
    if (group >= 0 && extent.size() == 2 && values != std::string::npos && values > prefix.size()) {
      names = texts_of(group, path.substr(prefix.size(), values - prefix.size()) + "_items");
    }
    if (names.empty() || names.size() != extent[1]) return add(path, extent, location);
    for (std::size_t k = 0; k < names.size(); ++k) {
      location.column = k;
      add(prefix + names[k], {extent[0]}, location);
    }
  }

  std::optional<std::vector<double>> read_values(std::size_t index) const override {
    const Hdf5Location& location = locations_[index];
    const Hdf5Handle set(H5Oopen_by_addr(file_.id(), location.address), H5Oclose);
    const auto extent = set.valid() ? extent_of(set.id()) : std::nullopt;
    const Hdf5Handle type(location.field.empty() ? H5Tcopy(H5T_NATIVE_DOUBLE)
                                                 : H5Tcreate(H5T_COMPOUND, sizeof(double)),
                          H5Tclose);
    if (!extent || !type.valid() || !are_chunks_honest(set.id(), *extent)) return std::nullopt;
    if (!location.field.empty() &&
        H5Tinsert(type.id(), location.field.c_str(), 0, H5T_NATIVE_DOUBLE) < 0) {
      return std::nullopt;
    }
    std::vector<double> stored(arrays()[index].count());
    if (!read_stored(set.id(), type.id(), *extent, location.column, stored)) return std::nullopt;
    if (location.is_transposed) return stored;
    return to_column_order(arrays()[index], std::move(stored));
  }

  /// Reads a data set, or one column of it, in the order of the file.
  static bool read_stored(hid_t set, hid_t type, const Extent& extent,
                          std::optional<std::size_t> column, std::vector<double>& values) {
    const Hdf5Handle space(H5Dget_space(set), H5Sclose);
    if (!space.valid()) return false;
    Extent from(extent.size(), 0), count = extent;
    if (column) {
      from[1] = *column;
      count[1] = 1;
    }
    if (count_of(count) != values.size()) return false;
    const hsize_t size = values.size();
    const Hdf5Handle memory(H5Screate_simple(1, &size, nullptr), H5Sclose);
    if (!extent.empty() && H5Sselect_hyperslab(space.id(), H5S_SELECT_SET, from.data(), nullptr,
                                               count.data(), nullptr) < 0) {
      return false;
    }
    return H5Dread(set, type, memory.id(), space.id(), H5P_DEFAULT, values.data()) >= 0;
  }

  Hdf5Handle file_;
  std::vector<Hdf5Location> locations_;  // per array
  std::set<std::pair<unsigned long, haddr_t>> visited_;
  std::size_t objects_left_ = kObjectsMax;
};

}  // namespace

std::unique_ptr<const ArrayFile> open_hdf5_file(const std::string& path) {
  ::H5open();  // the child inherits the initialized library
  return open_in_child(path, "HDF5 library", open_hdf5_file_in_this_process);
}

std::unique_ptr<const ArrayFile> open_hdf5_file_in_this_process(const std::string& path) {
  return std::make_unique<const Hdf5File>(path);
}

}  // namespace proto
