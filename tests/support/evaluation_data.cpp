#include "tests/support/evaluation_data.hpp"

#include <cstdlib>
#include <fstream>
#include <limits>
#include <sstream>
#include <stdexcept>
#include <vector>

#include "tests/support/source_folder.hpp"

namespace test_support {

std::optional<std::filesystem::path> find_evaluation_data() {
  namespace fs = std::filesystem;
  if (const char* given = std::getenv("RIG_DATA")) return fs::path(given);
  const fs::path source(source_folder());
  for (const char* relative : {"../shared/data", "../../shared/data"}) {
    if (fs::is_directory(source / relative)) return source / relative;
  }
  return std::nullopt;
}

Eigen::MatrixXd read_csv(const std::filesystem::path& file) {
  std::ifstream in(file);
  if (!in) throw std::runtime_error("cannot read " + file.string());
  std::string line, cell;
  std::getline(in, line);
  std::vector<double> numbers;
  std::size_t rows = 0, columns = 0;
  while (std::getline(in, line)) {
    std::stringstream cells(line);
    std::size_t count = 0;
    for (; std::getline(cells, cell, ','); ++count) {
      numbers.push_back(cell.empty() ? std::numeric_limits<double>::quiet_NaN()
                                     : std::strtod(cell.c_str(), nullptr));
    }
    if (rows == 0) columns = count;
    ++rows;
    if (count != columns) {
      throw std::runtime_error(file.string() + " line " + std::to_string(rows + 1) +
                               ": another number of columns");
    }
  }
  using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  return Eigen::Map<RowMajor>(numbers.data(), static_cast<Eigen::Index>(rows),
                              static_cast<Eigen::Index>(columns));
}

}  // namespace test_support
