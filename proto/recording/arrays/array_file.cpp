#include "proto/recording/arrays/array_file.hpp"

#include <algorithm>
#include <array>

#include "proto/recording/mcap/file.hpp"
#include "proto/text/files.hpp"
#include "proto/text/input_error.hpp"

namespace proto {
namespace {

constexpr std::size_t kTextsSizeMax = std::size_t{1} << 20;
constexpr std::size_t kOmissionsMax = 100;

}  // namespace

std::string ArrayFile::Array::size_text() const {
  if (is_vector()) return std::to_string(count());
  return std::to_string(rows) + "×" + std::to_string(columns);
}

const ArrayFile::Array* ArrayFile::find(const std::string& name) const {
  const std::string path = name.starts_with('/') ? name.substr(1) : name;
  const auto whole = std::ranges::find(arrays_, path, &Array::name);
  if (whole != arrays_.end()) return &*whole;
  const auto ends_so = [&](const Array& array) {
    return array.name.ends_with("/" + path) || array.name.ends_with("." + path);
  };
  const auto only = std::ranges::find_if(arrays_, ends_so);
  return std::ranges::count_if(arrays_, ends_so) == 1 ? &*only : nullptr;
}

std::vector<double> ArrayFile::read(const Array& array) const {
  numbers_read_ += array.count();
  if (array.count() > kArrayNumbersMax || numbers_read_ > kArrayNumbersMax) {
    throw InputError(
        "{}: the arrays to read have more than {} numbers ({:?} is {}); "
        "save only the signals, or a shorter part",
        path_, kArrayNumbersMax, array.name, array.size_text());
  }
  if (array.count() == 0) return {};
  auto values = read_values(static_cast<std::size_t>(&array - arrays_.data()));
  if (!values) {
    if (inflate_budget_ != 0) {
      throw InputError("{}: {:?} is damaged; save the file again", path_, array.name);
    }
    throw InputError(
        "{}: {:?} is too large: the compressed parts of the file expand to more than 1 GiB; "
        "save only the signals, or a shorter part",
        path_, array.name);
  }
  return std::move(*values);
}

std::vector<std::string> ArrayFile::read_texts(const std::string& name) const {
  std::vector<std::string> values;
  for (const Text& text : texts_) {
    if (text.name == name || text.name.starts_with(name + "{")) values.push_back(text.value);
  }
  return values;
}

bool ArrayFile::add_array(const std::string& name, std::span<const std::uint64_t> dimensions) {
  std::vector<std::uint64_t> sizes(dimensions.begin(), dimensions.end());
  if (sizes.size() > 2) std::erase(sizes, 1U);
  while (sizes.size() < 2) sizes.push_back(1);
  if (is_full()) return false;
  if (sizes.size() > 2) {
    add_omission(name, "has " + std::to_string(sizes.size()) +
                           " dimensions; save it as a matrix with a row for each sample");
    return false;
  }
  const auto [small, large] = std::minmax(sizes[0], sizes[1]);
  if (large > kTableSizeMax || small * large > kTableSizeMax) {
    add_omission(
        name, "has more than " + std::to_string(kTableSizeMax) + " elements; save a shorter part");
    return false;
  }
  arrays_.push_back({name, static_cast<std::size_t>(sizes[0]), static_cast<std::size_t>(sizes[1])});
  return true;
}

void ArrayFile::add_text(const std::string& name, std::string value) {
  texts_size_ += value.size();
  if (texts_.size() < kArraysMax && texts_size_ <= kTextsSizeMax) {
    texts_.push_back({name, std::move(value)});
  }
}

void ArrayFile::add_omission(const std::string& name, std::string reason) {
  if (omissions_.size() < kOmissionsMax) omissions_.push_back({name, std::move(reason)});
}

void ArrayFile::write_list(Bytes& out) const {
  const auto put_pairs = [&](const auto& pairs, auto first, auto second) {
    put(out, static_cast<std::uint64_t>(pairs.size()));
    for (const auto& each : pairs) {
      append_text(out, each.*first);
      append_text(out, each.*second);
    }
  };
  put(out, static_cast<std::uint64_t>(arrays_.size()));
  for (const Array& array : arrays_) {
    append_text(out, array.name);
    put(out, static_cast<std::uint64_t>(array.rows));
    put(out, static_cast<std::uint64_t>(array.columns));
  }
  put_pairs(texts_, &Text::name, &Text::value);
  put_pairs(omissions_, &Omission::name, &Omission::reason);
}

bool ArrayFile::read_list(ByteCursor& list) {
  for (auto left = list.take<std::uint64_t>(); left > 0 && list.ok(); --left) {
    const std::string name(list.read_text());
    const auto rows = list.take<std::uint64_t>();
    const std::array dimensions = {rows, list.take<std::uint64_t>()};
    if (!add_array(name, dimensions)) return false;
  }
  for (auto left = list.take<std::uint64_t>(); left > 0 && list.ok(); --left) {
    const std::string name(list.read_text());
    add_text(name, std::string(list.read_text()));
  }
  for (auto left = list.take<std::uint64_t>(); left > 0 && list.ok(); --left) {
    const std::string name(list.read_text());
    add_omission(name, std::string(list.read_text()));
  }
  return list.done();
}

std::vector<double> to_column_order(const ArrayFile::Array& array, std::vector<double> stored) {
  if (array.is_vector()) return stored;
  std::vector<double> values(stored.size());
  for (std::size_t row = 0; row < array.rows; ++row) {
    for (std::size_t column = 0; column < array.columns; ++column) {
      values[column * array.rows + row] = stored[row * array.columns + column];
    }
  }
  return values;
}

std::string describe_matlab_object(const std::string& class_name) {
  const std::string remedy =
      class_name == "timeseries"  ? "s.time = x.Time; s.data = x.Data"
      : class_name == "timetable" ? "s.time = seconds(x.Properties.RowTimes); s.data = x.Variables"
      : class_name == "Simulink.SimulationOutput"
          ? "y = x.get(NAME); s.time = y.Time; s.data = y.Data for each signal"
      : class_name == "Simulink.SimulationData.Dataset"
          ? "y = x{1}.Values; s.time = y.Time; s.data = y.Data for each signal"
          : "s = struct(x)";
  return fmt::format(
      "is a MATLAB object ({}), whose format is not published. "
      "Save its numbers in MATLAB, with x for the object: {}; save('run.mat', '-struct', 's')",
      class_name, remedy);
}

bool is_hdf5(std::span<const std::uint8_t> begin) {
  constexpr std::string_view kSignature = "\x89HDF\r\n\x1a\n";
  // MATLAB writes its own header before HDF5 content.
  for (const std::size_t offset : {std::size_t{0}, std::size_t{512}}) {
    if (begin.size() > offset && as_text(begin.subspan(offset)).starts_with(kSignature)) {
      return true;
    }
  }
  return false;
}

std::unique_ptr<const ArrayFile> open_array_file(const std::string& path) {
  std::array<std::uint8_t, 520> bytes{};
  const auto file = open_input_file(path);
  if (!file.ok()) throw InputError(file.error().detail);
  const std::uint64_t size = file.value()->size_bytes();
  if (size > kTableSizeMax) throw InputError(path + ": is larger than 1 GiB; save a part of it");
  const std::span begin =
      std::span(bytes).first(static_cast<std::size_t>(std::min<std::uint64_t>(size, bytes.size())));
  if (const Status read = file.value()->read(0, begin); !read.ok()) {
    throw InputError(read.error().detail);
  }
  if (is_hdf5(begin)) return open_hdf5_file(path);
  const std::string_view text = as_text(begin);
  if (text.starts_with("\x93NUMPY") || text.starts_with("PK\x03\x04") ||
      text.starts_with("PK\x05\x06")) {
    return open_numpy_file(path);
  }
  return open_mat5_file(path);
}

}  // namespace proto
