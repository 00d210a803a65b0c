#pragma once

#include <hdf5.h>
#include <matio.h>
#include <zlib.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "proto/recording/mcap/byte_cursor.hpp"

// Small MAT, HDF5 and NumPy files in the forms of Simulink, MATLAB, h5py and NumPy. They are
// written by the libraries of these formats, or byte by byte.
namespace test_support {

inline constexpr std::size_t kSampleRows = 50;

inline std::vector<double> sample_times() {
  std::vector<double> values;
  for (std::size_t k = 0; k < kSampleRows; ++k) values.push_back(0.01 * static_cast<double>(k));
  return values;
}

/// Columns of a matrix, one after another: column c has the numbers 100 c + row.
inline std::vector<double> sample_matrix(std::size_t columns) {
  std::vector<double> values;
  for (std::size_t k = 0; k < columns * kSampleRows; ++k) {
    values.push_back(static_cast<double>(100 * (k / kSampleRows) + k % kSampleRows));
  }
  return values;
}

inline matvar_t* make_mat_array(const char* name, std::vector<std::size_t> size,
                                std::vector<double> values) {
  return Mat_VarCreate(name, MAT_C_DOUBLE, MAT_T_DOUBLE, static_cast<int>(size.size()), size.data(),
                       values.data(), 0);
}

inline matvar_t* make_mat_struct(const char* name, std::vector<const char*> fields,
                                 const std::vector<matvar_t*>& values, std::size_t count = 1) {
  std::array<std::size_t, 2> size = {1, count};
  matvar_t* const made = Mat_VarCreateStruct(name, 2, size.data(), fields.data(),
                                             static_cast<unsigned>(fields.size()));
  for (std::size_t k = 0; k < values.size(); ++k) {
    Mat_VarSetStructFieldByIndex(made, k % fields.size(), k / fields.size(), values[k]);
  }
  return made;
}

/// Writes a MAT file of version 5: Simulink's "Structure with time" `theta`, the rows `ans` of its
/// block "To File", a structure array `runs`, a cell array `cells`, a text and a complex number.
inline bool write_simulink_mat(const std::string& path, bool compressed) {
  mat_t* const file = Mat_CreateVer(path.c_str(), nullptr, MAT_FT_MAT5);
  if (file == nullptr) return false;
  const std::vector<double> times = sample_times();
  std::vector<matvar_t*> variables;
  std::array<std::size_t, 2> two = {1, 2};
  matvar_t* const signals =
      make_mat_struct(nullptr, {"values", "dimensions"},
                      {make_mat_array(nullptr, {kSampleRows, 2}, sample_matrix(2)),
                       make_mat_array(nullptr, {1, 1}, {2.0}),
                       make_mat_array(nullptr, {1, 1, kSampleRows}, sample_matrix(1)),
                       make_mat_array(nullptr, {1, 1}, {1.0})},
                      2);
  variables.push_back(make_mat_struct("theta", {"time", "signals"},
                                      {make_mat_array(nullptr, {kSampleRows, 1}, times), signals}));
  std::vector<double> rows;
  for (std::size_t k = 0; k < kSampleRows; ++k) {
    rows.push_back(times[k]);
    rows.push_back(static_cast<double>(k));
  }
  variables.push_back(make_mat_array("ans", {2, kSampleRows}, rows));
  matvar_t* const cells = Mat_VarCreate("cells", MAT_C_CELL, MAT_T_CELL, 2, two.data(), nullptr, 0);
  Mat_VarSetCell(cells, 0, make_mat_array(nullptr, {kSampleRows, 1}, times));
  std::string word = "left";
  std::array<std::size_t, 2> text_size = {1, word.size()};
  Mat_VarSetCell(
      cells, 1,
      Mat_VarCreate(nullptr, MAT_C_CHAR, MAT_T_UTF8, 2, text_size.data(), word.data(), 0));
  variables.push_back(cells);
  std::array<std::size_t, 2> one = {1, 1};
  double real = 1.0, imaginary = 2.0;
  mat_complex_split_t complex_parts = {&real, &imaginary};
  variables.push_back(
      Mat_VarCreate("z", MAT_C_DOUBLE, MAT_T_DOUBLE, 2, one.data(), &complex_parts, MAT_F_COMPLEX));
  bool fine = true;
  for (matvar_t* const variable : variables) {
    fine =
        fine && variable != nullptr &&
        Mat_VarWrite(file, variable, compressed ? MAT_COMPRESSION_ZLIB : MAT_COMPRESSION_NONE) == 0;
    Mat_VarFree(variable);
  }
  return Mat_Close(file) == 0 && fine;
}

/// Writes a MAT file of version 4 with the vector `t` and the matrix `x` of two columns.
inline bool write_old_mat(const std::string& path) {
  mat_t* const file = Mat_CreateVer(path.c_str(), nullptr, MAT_FT_MAT4);
  if (file == nullptr) return false;
  bool fine = true;
  for (matvar_t* const variable : {make_mat_array("t", {kSampleRows, 1}, sample_times()),
                                   make_mat_array("x", {kSampleRows, 2}, sample_matrix(2))}) {
    fine = fine && Mat_VarWrite(file, variable, MAT_COMPRESSION_NONE) == 0;
    Mat_VarFree(variable);
  }
  return Mat_Close(file) == 0 && fine;
}

/// Writes an HDF5 file. Identifiers stay open until the file is closed, which closes them too.
class Hdf5Writer {
 public:
  explicit Hdf5Writer(const std::string& path, std::size_t user_block = 0) {
    const hid_t creation = H5Pcreate(H5P_FILE_CREATE), access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_userblock(creation, user_block);
    H5Pset_fclose_degree(access, H5F_CLOSE_STRONG);
    file_ = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, creation, access);
  }
  ~Hdf5Writer() { H5Fclose(file_); }
  Hdf5Writer(const Hdf5Writer&) = delete;
  Hdf5Writer& operator=(const Hdf5Writer&) = delete;

  hid_t file() const { return file_; }

  hid_t group(const char* name, const char* matlab_class = nullptr) {
    const hid_t made = H5Gcreate2(file_, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    set_class(made, matlab_class);
    return made;
  }

  hid_t put(const char* name, const std::vector<hsize_t>& extent, hid_t type, const void* data,
            const char* matlab_class = nullptr) {
    const hid_t space = H5Screate_simple(static_cast<int>(extent.size()), extent.data(), nullptr);
    const hid_t set = H5Dcreate2(file_, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    if (data != nullptr) H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data);
    set_class(set, matlab_class);
    return set;
  }

  void put(const char* name, const std::vector<double>& values) {
    put(name, {values.size()}, H5T_NATIVE_DOUBLE, values.data());
  }

  void put_references(const char* name, const std::vector<const char*>& targets,
                      const char* matlab_class) {
    std::vector<hobj_ref_t> references(targets.size());
    for (std::size_t k = 0; k < targets.size(); ++k) {
      H5Rcreate(&references[k], file_, targets[k], H5R_OBJECT, -1);
    }
    put(name, {1, targets.size()}, H5T_STD_REF_OBJ, references.data(), matlab_class);
  }

 private:
  static void set_class(hid_t object, const char* matlab_class) {
    if (matlab_class == nullptr) return;
    const hid_t type = H5Tcopy(H5T_C_S1), space = H5Screate(H5S_SCALAR);
    H5Tset_size(type, std::strlen(matlab_class));
    const hid_t attribute =
        H5Acreate2(object, "MATLAB_class", type, space, H5P_DEFAULT, H5P_DEFAULT);
    H5Awrite(attribute, type, matlab_class);
    H5Aclose(attribute);
  }

  hid_t file_ = -1;
};

/// Writes a MAT file of version 7.3: a matrix `x` of two columns with the dimensions reversed, a
/// structure `s`, and a cell array `c` of numbers and a text.
inline void write_new_mat(const std::string& path) {
  Hdf5Writer out(path, 512);
  const std::vector<double> times = sample_times(), matrix = sample_matrix(2);
  out.put("x", {2, kSampleRows}, H5T_NATIVE_DOUBLE, matrix.data(), "double");
  out.group("s", "struct");
  out.put("s/time", {1, kSampleRows}, H5T_NATIVE_DOUBLE, times.data(), "double");
  out.group("#refs#");
  out.put("#refs#/a", {1, kSampleRows}, H5T_NATIVE_DOUBLE, times.data(), "double");
  const std::array<std::uint16_t, 2> word = {'o', 'k'};
  out.put("#refs#/b", {2, 1}, H5T_NATIVE_UINT16, word.data(), "char");
  out.put_references("c", {"#refs#/a", "#refs#/b"}, "cell");
}

/// Returns a .npy file.
/// @param header  e.g. "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }"
inline proto::Bytes make_npy(std::string header, const void* data, std::size_t size) {
  while ((header.size() + 11) % 64 != 0) header += ' ';
  header += '\n';
  proto::Bytes bytes;
  proto::append_bytes(bytes, proto::as_bytes("\x93NUMPY"));
  proto::put(bytes, std::uint8_t{1});
  proto::put(bytes, std::uint8_t{0});
  proto::put(bytes, static_cast<std::uint16_t>(header.size()));
  proto::append_bytes(bytes, proto::as_bytes(header));
  proto::append_bytes(bytes, {static_cast<const std::uint8_t*>(data), size});
  return bytes;
}

inline proto::Bytes make_npy(const std::vector<double>& values, const std::string& shape) {
  return make_npy("{'descr': '<f8', 'fortran_order': False, 'shape': (" + shape + "), }",
                  values.data(), 8 * values.size());
}

/// Returns a ZIP archive of files, stored or compressed, as numpy.savez and savez_compressed write.
inline proto::Bytes make_zip(const std::vector<std::pair<std::string, proto::Bytes>>& files,
                             bool compressed) {
  proto::Bytes bytes, directory;
  for (const auto& [name, content] : files) {
    proto::Bytes packed = content;
    if (compressed) {
      z_stream stream{};
      deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
      packed.resize(deflateBound(&stream, content.size()));
      proto::Bytes input = content;
      stream.next_in = input.data();
      stream.avail_in = static_cast<uInt>(input.size());
      stream.next_out = packed.data();
      stream.avail_out = static_cast<uInt>(packed.size());
      deflate(&stream, Z_FINISH);
      packed.resize(stream.total_out);
      deflateEnd(&stream);
    }
    const auto offset = static_cast<std::uint32_t>(bytes.size());
    const auto put_facts = [&](proto::Bytes& out) {
      proto::put(out, std::uint16_t{20});
      proto::put(out, std::uint16_t{0});
      proto::put(out, static_cast<std::uint16_t>(compressed ? 8 : 0));
      proto::put(out, std::uint32_t{0});  // time
      proto::put(out, proto::crc32(content));
      proto::put(out, static_cast<std::uint32_t>(packed.size()));
      proto::put(out, static_cast<std::uint32_t>(content.size()));
      proto::put(out, static_cast<std::uint16_t>(name.size()));
      proto::put(out, std::uint16_t{0});
    };
    proto::put(bytes, std::uint32_t{0x04034b50});
    put_facts(bytes);
    proto::append_bytes(bytes, proto::as_bytes(name));
    proto::append_bytes(bytes, packed);
    proto::put(directory, std::uint32_t{0x02014b50});
    proto::put(directory, std::uint16_t{20});
    put_facts(directory);
    proto::append_bytes(directory, proto::Bytes(10, 0));
    proto::put(directory, offset);
    proto::append_bytes(directory, proto::as_bytes(name));
  }
  const auto at = static_cast<std::uint32_t>(bytes.size());
  proto::append_bytes(bytes, directory);
  proto::put(bytes, std::uint32_t{0x06054b50});
  proto::put(bytes, std::uint32_t{0});
  for (int k = 0; k < 2; ++k) proto::put(bytes, static_cast<std::uint16_t>(files.size()));
  proto::put(bytes, static_cast<std::uint32_t>(directory.size()));
  proto::put(bytes, at);
  proto::put(bytes, std::uint16_t{0});
  return bytes;
}

}  // namespace test_support
