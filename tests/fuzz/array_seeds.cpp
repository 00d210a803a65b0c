// Writes small files as seeds for the fuzzers of arrays and bags.
//   array_seeds mat5|mat73|hdf5|numpy|bag FOLDER

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/proto/array_samples.hpp"
#include "tests/proto/bag_sample.hpp"

namespace {

namespace samples = test_support;

void write_bytes(const std::string& path, const proto::Bytes& bytes) {
  std::ofstream(path, std::ios::binary) << proto::as_text(bytes);
}

bool write_mat5(const std::string& folder) {
  return samples::write_simulink_mat(folder + "/plain.mat", false) &&
         samples::write_simulink_mat(folder + "/packed.mat", true) &&
         samples::write_old_mat(folder + "/old.mat");
}

void write_hdf5(const std::string& path) {
  samples::Hdf5Writer out(path);
  const std::vector<double> values = samples::sample_matrix(2);
  out.group("run");
  out.put("run/x", {samples::kSampleRows, 2}, H5T_NATIVE_DOUBLE, values.data());
  const hid_t type = H5Tcreate(H5T_COMPOUND, 16);
  H5Tinsert(type, "t", 0, H5T_NATIVE_DOUBLE);
  H5Tinsert(type, "n", 8, H5T_NATIVE_INT);
  out.put("table", {10}, type, values.data());
}

void write_numpy(const std::string& folder) {
  const proto::Bytes vector = samples::make_npy(samples::sample_times(), "50,");
  const proto::Bytes matrix = samples::make_npy(samples::sample_matrix(2), "50, 2");
  const std::vector<double> pairs = {1, 2, 3, 4};
  const proto::Bytes fields = samples::make_npy(
      "{'descr': [('t', '<f8'), ('x', '<M8[ns]')], 'fortran_order': False, 'shape': (2,), }",
      pairs.data(), 32);
  write_bytes(folder + "/vector.npy", vector);
  write_bytes(folder + "/fields.npy", fields);
  for (const bool compressed : {false, true}) {
    write_bytes(folder + (compressed ? "/packed.npz" : "/plain.npz"),
                samples::make_zip({{"t.npy", vector}, {"x.npy", matrix}}, compressed));
  }
}

bool write_bag(const std::string& path) {
  std::filesystem::remove(path);
  samples::SqliteBagWriter bag(path);
  for (int k = 0; k < 4; ++k)
    bag.add_message(k, samples::encode_joint_state(samples::arm_state(1000 + k, 0.1 * k)));
  return bag.is_fine();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fputs("usage: array_seeds mat5|mat73|hdf5|numpy|bag FOLDER\n", stderr);
    return 2;
  }
  const std::string kind = argv[1], folder = argv[2];
  std::filesystem::create_directories(folder);
  bool fine = true;
  if (kind == "mat5") {
    fine = write_mat5(folder);
  } else if (kind == "mat73") {
    samples::write_new_mat(folder + "/new.mat");
  } else if (kind == "hdf5") {
    write_hdf5(folder + "/run.h5");
  } else if (kind == "numpy") {
    write_numpy(folder);
  } else {
    fine = write_bag(folder + "/run.db3");
  }
  return fine ? 0 : 1;
}
