#include "proto/recording/arrays/array_file.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "tests/proto/array_samples.hpp"
#include "tests/support/evaluation_data.hpp"
#include "tests/support/memory_limit.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/temporary_folder.hpp"

namespace proto {
namespace {

using namespace test_support;
using test_support::make_zip;

class ArrayFiles : public ::testing::Test {
 protected:
  std::string write(const std::string& name, const Bytes& bytes) const {
    std::ofstream(folder_.file(name), std::ios::binary) << as_text(bytes);
    return folder_.file(name);
  }

  static std::vector<double> read(const ArrayFile& file, const std::string& name) {
    const ArrayFile::Array* const array = file.find(name);
    EXPECT_NE(array, nullptr) << name;
    return array == nullptr ? std::vector<double>() : file.read(*array);
  }

  static std::string omission(const ArrayFile& file, const std::string& name) {
    const auto found = std::ranges::find(file.omissions(), name, &ArrayFile::Omission::name);
    return found == file.omissions().end() ? "" : found->reason;
  }

  test_support::TemporaryFolder folder_;
};

// Without it, users of Simulink would have to rewrite each recording in MATLAB.
TEST_F(ArrayFiles, ReadStructuresAndCellsOfMat5) {
  for (const bool compressed : {false, true}) {
    SCOPED_TRACE(compressed);
    const std::string path = folder_.file(compressed ? "packed.mat" : "plain.mat");
    ASSERT_TRUE(write_simulink_mat(path, compressed));
    const auto file = open_array_file(path);
    EXPECT_EQ(read(*file, "theta.time"), sample_times());
    EXPECT_EQ(read(*file, "theta.signals(1).values"), sample_matrix(2));
    EXPECT_EQ(read(*file, "theta.signals(2).values"), sample_matrix(1));
    EXPECT_EQ(file->find("theta.signals(1).values")->size_text(), "50×2");
    EXPECT_EQ(file->find("theta.signals(2).values")->size_text(), "50");
    EXPECT_EQ(file->find("ans")->size_text(), "2×50");
    EXPECT_EQ(read(*file, "ans")[3], 1.0);
    EXPECT_EQ(read(*file, "cells{1}"), sample_times());
    EXPECT_EQ(file->read_texts("cells"), std::vector<std::string>{"left"});
    expect_parts(omission(*file, "z"), {"complex", "real(x)"});
    // The end of a name is enough where only one array has it.
    EXPECT_EQ(file->find("time"), file->find("theta.time"));
    EXPECT_EQ(file->find("values"), nullptr);
  }
}

TEST_F(ArrayFiles, ReadMat4) {
  ASSERT_TRUE(write_old_mat(folder_.file("old.mat")));
  const auto file = open_array_file(folder_.file("old.mat"));
  EXPECT_EQ(read(*file, "t"), sample_times());
  EXPECT_EQ(read(*file, "x"), sample_matrix(2));
}

TEST_F(ArrayFiles, ReadMat73) {
  write_new_mat(folder_.file("new.mat"));
  const auto file = open_array_file(folder_.file("new.mat"));
  EXPECT_EQ(file->find("x")->size_text(), "50×2");
  EXPECT_EQ(read(*file, "x"), sample_matrix(2));
  EXPECT_EQ(read(*file, "s.time"), sample_times());
  EXPECT_EQ(read(*file, "c{1}"), sample_times());
  EXPECT_EQ(file->read_texts("c"), std::vector<std::string>{"ok"});
  EXPECT_EQ(file->find("#refs#/a"), nullptr);
}

// h5py stores rows before columns, MATLAB columns before rows.
TEST_F(ArrayFiles, ReadMatricesOfHdf5ByRows) {
  const std::vector<double> stored = {1, 10, 2, 20, 3, 30};
  {
    Hdf5Writer out(folder_.file("run.h5"));
    out.put("x", {3, 2}, H5T_NATIVE_DOUBLE, stored.data());
  }
  const auto file = open_array_file(folder_.file("run.h5"));
  EXPECT_EQ(read(*file, "x"), (std::vector<double>{1, 2, 3, 10, 20, 30}));
}

TEST_F(ArrayFiles, ReadNumpyTypes) {
  const std::vector<float> floats = {1.5F, -2.5F};
  const std::vector<std::int64_t> nanoseconds = {1'500'000'000, INT64_MIN};
  const std::vector<std::uint8_t> big_endian = {0x01, 0x02, 0xFF, 0xFE};
  const std::vector<std::uint8_t> fields = {1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4, 0, 0, 0};
  const std::vector<std::uint16_t> halves = {0x3C00, 0xC000};
  const auto header = [](const std::string& type, const std::string& shape, bool fortran) {
    return "{'descr': " + type + ", 'fortran_order': " + (fortran ? "True" : "False") +
           ", 'shape': (" + shape + "), }";
  };
  for (const bool compressed : {false, true}) {
    SCOPED_TRACE(compressed);
    const auto file = open_array_file(write(
        "run.npz",
        make_zip({{"f.npy", make_npy(header("'<f4'", "2,", false), floats.data(), 8)},
                  {"h.npy", make_npy(header("'<f2'", "2,", false), halves.data(), 4)},
                  {"t.npy", make_npy(header("'<M8[ns]'", "2,", false), nanoseconds.data(), 16)},
                  {"b.npy", make_npy(header("'>i2'", "2,", false), big_endian.data(), 4)},
                  {"x.npy", make_npy({1, 10, 2, 20, 3, 30}, "3, 2")},
                  {"y.npy", make_npy(header("'<f8'", "3, 2", true), sample_times().data(), 48)},
                  {"s.npy", make_npy(header("[('a', '<i4'), ('b', '<i4')]", "2,", false),
                                     fields.data(), 16)},
                  {"o.npy", make_npy(header("'|O'", "2,", false), fields.data(), 16)}},
                 compressed)));
    EXPECT_EQ(read(*file, "f"), (std::vector<double>{1.5, -2.5}));
    EXPECT_EQ(read(*file, "h"), (std::vector<double>{1.0, -2.0}));
    EXPECT_DOUBLE_EQ(read(*file, "t")[0], 1.5);
    EXPECT_TRUE(std::isnan(read(*file, "t")[1]));
    EXPECT_EQ(read(*file, "b"), (std::vector<double>{258, -2}));
    EXPECT_EQ(read(*file, "x"), (std::vector<double>{1, 2, 3, 10, 20, 30}));
    EXPECT_EQ(read(*file, "y")[4], sample_times()[4]);
    EXPECT_EQ(read(*file, "s.b"), (std::vector<double>{2, 4}));
    expect_parts(omission(*file, "o"), {"Python objects"});
  }
  const auto alone = open_array_file(write("x.npy", make_npy({1, 2, 3}, "3,")));
  EXPECT_EQ(read(*alone, "array"), (std::vector<double>{1, 2, 3}));
}

// A file of a few kB must not make the reader fill the memory.
TEST_F(ArrayFiles, LimitTheNumbersOfAllArraysTogether) {
  {
    Hdf5Writer out(folder_.file("big.h5"));
    for (const char* name : {"a", "b"}) {
      const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
      const hsize_t size = kArrayNumbersMax / 2 + 1, chunk = 1000;
      H5Pset_chunk(creation, 1, &chunk);
      const hid_t space = H5Screate_simple(1, &size, nullptr);
      H5Dcreate2(out.file(), name, H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, creation, H5P_DEFAULT);
    }
  }
  const auto file = open_array_file(folder_.file("big.h5"));
  EXPECT_EQ(read(*file, "a").size(), kArrayNumbersMax / 2 + 1);
  expect_parts(refusal([&] { (void)file->read(*file->find("b")); }),
               {"big.h5", "more than 33554432 numbers", "\"b\" is 16777217"});
}

TEST_F(ArrayFiles, LimitTheDecompressedSizeOfStructures) {
  // 1.1 GB of zeros in a field before the numbers.
  const std::uint64_t zeros = 1'100'000'000;
  Bytes element;
  const auto put_element = [&](std::uint32_t type, const Bytes& data) {
    put(element, type);
    put(element, static_cast<std::uint32_t>(data.size()));
    append_bytes(element, data);
    element.resize((element.size() + 7) / 8 * 8);
  };
  const auto numbers = [](std::initializer_list<std::uint32_t> values) {
    Bytes bytes;
    for (const std::uint32_t value : values) put(bytes, value);
    return bytes;
  };
  put(element, std::uint32_t{14});
  put(element, static_cast<std::uint32_t>(zeros + 200));
  put_element(6, numbers({2, 0}));
  put_element(5, numbers({1, 1}));
  put_element(1, {'s'});
  put(element, std::uint32_t{0x00040005});
  put(element, std::uint32_t{8});
  put_element(1, Bytes{'x', 0, 0, 0, 0, 0, 0, 0, 'y', 0, 0, 0, 0, 0, 0, 0});
  put(element, std::uint32_t{14});
  put(element, static_cast<std::uint32_t>(zeros + 48));
  put_element(6, numbers({9, 0}));
  put_element(5, numbers({1, static_cast<std::uint32_t>(zeros)}));
  put_element(1, {});
  put(element, std::uint32_t{2});
  put(element, static_cast<std::uint32_t>(zeros));
  z_stream stream{};
  deflateInit(&stream, Z_BEST_SPEED);
  Bytes packed(8 << 20);
  stream.next_out = packed.data();
  stream.avail_out = static_cast<uInt>(packed.size());
  Bytes piece(1 << 20, 0);
  stream.next_in = element.data();
  stream.avail_in = static_cast<uInt>(element.size());
  deflate(&stream, Z_NO_FLUSH);
  for (std::uint64_t done = 0; done < zeros; done += piece.size()) {
    stream.next_in = piece.data();
    stream.avail_in = static_cast<uInt>(piece.size());
    deflate(&stream, Z_NO_FLUSH);
  }
  deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  Bytes file_bytes(124, 'M');
  append_bytes(file_bytes, as_bytes(std::string_view("\0\1IM", 4)));
  put(file_bytes, std::uint32_t{15});
  put(file_bytes, static_cast<std::uint32_t>(packed.size()));
  append_bytes(file_bytes, packed);
  const auto file = open_array_file(write("bomb.mat", file_bytes));
  expect_parts(omission(*file, "byte 136"), {"1 GiB", "save only the signals"});
}

// Objects that refer to each other in a circle end the listing.
TEST_F(ArrayFiles, VisitEachObjectOnce) {
  const double one = 1.0;
  {
    Hdf5Writer out(folder_.file("circle.mat"));
    out.group("s", "struct");
    out.put("s/x", {1, 1}, H5T_NATIVE_DOUBLE, &one, "double");
    H5Lcreate_hard(out.file(), "s", out.file(), "s/again", H5P_DEFAULT, H5P_DEFAULT);
    const hid_t cell = out.put("t", {1, 1}, H5T_STD_REF_OBJ, nullptr, "cell");
    hobj_ref_t itself{};
    H5Rcreate(&itself, out.file(), "t", H5R_OBJECT, -1);
    H5Dwrite(cell, H5T_STD_REF_OBJ, H5S_ALL, H5S_ALL, H5P_DEFAULT, &itself);
  }
  const auto file = open_array_file(folder_.file("circle.mat"));
  EXPECT_EQ(file->arrays().size(), 1U);
}

// The reader continues behind the last array of a compressed structure, or starts again.
TEST_F(ArrayFiles, ReadArraysInAnyOrder) {
  ASSERT_TRUE(write_simulink_mat(folder_.file("packed.mat"), true));
  const auto file = open_array_file(folder_.file("packed.mat"));
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(read(*file, "theta.signals(2).values"), sample_matrix(1));
    EXPECT_EQ(read(*file, "theta.time"), sample_times());
    EXPECT_EQ(read(*file, "cells{1}"), sample_times());
    EXPECT_EQ(read(*file, "theta.signals(1).values"), sample_matrix(2));
  }
}

// Every chunk needs memory in the HDF5 library: 500 000 of them needed 3 GB.
TEST_F(ArrayFiles, OmitDataSetsWithManyChunks) {
  {
    Hdf5Writer out(folder_.file("run.h5"));
    for (const auto& [name, count] : {std::pair("few", hsize_t{50'000}), {"many", 50'001}}) {
      const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
      const hsize_t one = 1;
      H5Pset_chunk(creation, 1, &one);
      const hid_t space = H5Screate_simple(1, &count, nullptr);
      H5Dcreate2(out.file(), name, H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, creation, H5P_DEFAULT);
    }
  }
  const auto file = open_array_file(folder_.file("run.h5"));
  EXPECT_NE(file->find("few"), nullptr);
  expect_parts(omission(*file, "many"), {"more than 50000 chunks", "larger ones"});
}

// The integers of netCDF are no counts.
TEST_F(ArrayFiles, OmitScaledDataSets) {
  const std::vector<double> stored = {1, 2, 3};
  {
    Hdf5Writer out(folder_.file("run.h5"));
    const hid_t set = out.put("theta", {3}, H5T_NATIVE_DOUBLE, stored.data());
    const hid_t scalar = H5Screate(H5S_SCALAR);
    H5Acreate2(set, "scale_factor", H5T_NATIVE_DOUBLE, scalar, H5P_DEFAULT, H5P_DEFAULT);
  }
  const auto file = open_array_file(folder_.file("run.h5"));
  EXPECT_EQ(file->find("theta"), nullptr);
  expect_parts(omission(*file, "theta"), {"scale_factor", "does not apply"});
}

// A directory of 4 GiB that a file of 200 bytes declares must not be allocated.
TEST_F(ArrayFiles, AllocateNoMoreThanTheDirectoryOfAnArchive) {
  Bytes archive = make_zip({{"x.npy", make_npy({1, 2, 3}, "3,")}}, false);
  const std::size_t size = archive.size() - 22 + 12;  // in the record at the end
  overwrite_at(archive, size, std::uint32_t{0xFFFF'FF00});
  const std::string path = write("run.npz", archive);
  EXPECT_EXIT(
      {
        limit_memory(std::uint64_t{1} << 30);
        try {
          (void)open_array_file(path);
        } catch (const InputError& error) {
          std::fputs(error.what(), stderr);
          std::exit(0);
        }
      },
      ::testing::ExitedWithCode(0), "is damaged; save it again");
}

// The checksum of a recording covers the file itself: data in other files are not followed.
TEST_F(ArrayFiles, DoNotFollowOtherFiles) {
  const std::vector<double> secret = {1, 2, 3};
  {
    Hdf5Writer out(folder_.file("other.h5"));
    out.put("x", {3}, H5T_NATIVE_DOUBLE, secret.data());
  }
  std::ofstream(folder_.file("raw.bin"), std::ios::binary) << std::string(24, '\1');
  {
    Hdf5Writer out(folder_.file("run.h5"));
    H5Lcreate_external(folder_.file("other.h5").c_str(), "x", out.file(), "link", H5P_DEFAULT,
                       H5P_DEFAULT);
    H5Lcreate_soft("/link", out.file(), "soft", H5P_DEFAULT, H5P_DEFAULT);
    const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_external(creation, folder_.file("raw.bin").c_str(), 0, 24);
    const hsize_t size = 3;
    const hid_t space = H5Screate_simple(1, &size, nullptr);
    H5Dcreate2(out.file(), "raw", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, creation, H5P_DEFAULT);
  }
  const auto file = open_array_file(folder_.file("run.h5"));
  EXPECT_TRUE(file->arrays().empty());
  expect_parts(omission(*file, "link"), {"another file", "does not follow"});
  expect_parts(omission(*file, "raw"), {"another file", "does not follow"});
}

TEST_F(ArrayFiles, RefuseOtherContent) {
  for (const char* name : {"run.mat", "run.h5", "run.npz"}) {
    const std::string path = write(name, Bytes{'t', ',', 'x', '\n', '0', ',', '1', '\n'});
    expect_parts(refusal([&] { (void)open_array_file(path); }),
                 {name, "is not a MAT, HDF5 or NumPy file"});
  }
  expect_parts(refusal([] { (void)open_array_file("gone.mat"); }), {"gone.mat", "No such file"});
}

// The files of field reports whose signals could not be named.
TEST_F(ArrayFiles, ReadFieldReports) {
  const auto data = find_evaluation_data();
  if (!data || !std::filesystem::exists(*data / "field_reports")) {
    GTEST_SKIP() << "no field reports (../shared/data or RIG_DATA)";
  }
  const auto size_of = [&](const char* name, const char* array) {
    const auto file = open_array_file((*data / "field_reports" / name).string());
    const ArrayFile::Array* const found = file->find(array);
    return found == nullptr ? "absent" : found->size_text();
  };
  EXPECT_EQ(size_of("swt.mat", "theta.time"), "2000");
  EXPECT_EQ(size_of("swt.mat", "theta.signals.values"), "2000");
  EXPECT_EQ(size_of("tofile.mat", "ans"), "2×2000");
  EXPECT_EQ(size_of("hs.mat", "theta"), "2000");
}

// Each is listed or refused; none crashes or fills the memory.
TEST_F(ArrayFiles, SurviveHostileFiles) {
  const auto data = find_evaluation_data();
  if (!data || !std::filesystem::exists(*data / "hostile_files")) {
    GTEST_SKIP() << "no hostile files (../shared/data or RIG_DATA)";
  }
  for (const char* name :
       {"big.h5", "cycle.h5", "mat5_4GB.mat", "v73_cell_self.mat", "v73_struct_cycle.mat"}) {
    SCOPED_TRACE(name);
    try {
      const auto file = open_array_file((*data / "hostile_files" / name).string());
      for (const ArrayFile::Array& array : file->arrays()) (void)file->read(array);
    } catch (const InputError& error) {
      expect_parts(error.what(), {name});
    }
  }
}

}  // namespace
}  // namespace proto
