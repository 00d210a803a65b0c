#include "proto/recording/export/mat_file.hpp"

#include <matio.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <iterator>

#include "proto/text/files.hpp"
#include "proto/text/input_error.hpp"

namespace proto {
namespace {

using VariableInfo = std::unique_ptr<matvar_t, void (*)(matvar_t*)>;

constexpr std::size_t kVariablesMax = 10'000;
constexpr std::size_t kElementsMax =
    kTableSizeMax / sizeof(double);  // largest size of one variable

VariableInfo owned(matvar_t* variable) { return {variable, Mat_VarFree}; }

void be_silent(int, char*) {}  // errors are reported by the caller

/// Returns the number of elements, or kElementsMax + 1 if there are more.
std::size_t element_count(const matvar_t& variable) {
  std::size_t count = 1;
  for (int k = 0; k < variable.rank; ++k) {
    const std::size_t size = variable.dims == nullptr ? 0 : variable.dims[k];
    if (size > kElementsMax || count * size > kElementsMax) return kElementsMax + 1;
    count *= size;
  }
  return count;
}

template <typename Number>
std::vector<double> as_doubles(const matvar_t& variable, std::size_t count) {
  const auto* const numbers = static_cast<const Number*>(variable.data);
  return {numbers, numbers + count};
}

/// How matio stores a class of numbers.
struct NumberClass {
  matio_classes type;
  std::size_t size_bytes;
  std::vector<double> (*read)(const matvar_t& variable, std::size_t count);
};

template <typename Number>
constexpr NumberClass stored_as(matio_classes type) {
  return {type, sizeof(Number), as_doubles<Number>};
}

constexpr NumberClass kNumberClasses[] = {
    stored_as<double>(MAT_C_DOUBLE),      stored_as<float>(MAT_C_SINGLE),
    stored_as<std::int8_t>(MAT_C_INT8),   stored_as<std::uint8_t>(MAT_C_UINT8),
    stored_as<std::int16_t>(MAT_C_INT16), stored_as<std::uint16_t>(MAT_C_UINT16),
    stored_as<std::int32_t>(MAT_C_INT32), stored_as<std::uint32_t>(MAT_C_UINT32),
    stored_as<std::int64_t>(MAT_C_INT64), stored_as<std::uint64_t>(MAT_C_UINT64)};

/// Returns the class of a full real matrix of numbers; null for any other variable.
const NumberClass* number_class(const matvar_t& variable) {
  const auto* const found =
      std::ranges::find(kNumberClasses, variable.class_type, &NumberClass::type);
  const bool is_real_matrix =
      variable.isComplex == 0 && variable.rank == 2 && variable.dims != nullptr;
  return is_real_matrix && found != std::end(kNumberClasses) ? found : nullptr;
}

/// Returns the ASCII part of a text with one or two bytes per character.
std::string text_of(const matvar_t& variable) {
  const std::size_t width =
      variable.data_type == MAT_T_UINT16 || variable.data_type == MAT_T_UTF16 ? 2 : 1;
  const std::size_t count = std::min(element_count(variable), variable.nbytes / width);
  std::string text;
  for (std::size_t k = 0; k < count && variable.data != nullptr; ++k) {
    text += static_cast<const char*>(variable.data)[k * width];
  }
  return text;
}

}  // namespace

MatFile::MatFile(const std::string& path) : path_(path), file_(nullptr, Mat_Close) {
  std::error_code unknown;
  const auto size = std::filesystem::file_size(path, unknown);
  if (unknown) throw InputError(path + ": cannot be opened: " + unknown.message());
  if (size > kTableSizeMax) throw InputError(path + ": is larger than 1 GiB; save a part of it");
  Mat_LogInitFunc("rigcal", be_silent);
  file_.reset(Mat_Open(path.c_str(), MAT_ACC_RDONLY));
  if (!file_) {
    throw InputError(path +
                     ": is not a MAT file, or is damaged; save it again with save -v7 or -v7.3");
  }
  list_variables();
}

void MatFile::list_variables() {
  while (variables_.size() < kVariablesMax) {
    const VariableInfo info = owned(Mat_VarReadNextInfo(file_.get()));
    if (!info) break;
    if (info->name == nullptr) continue;
    Variable variable{.name = info->name};
    variable.is_numeric = number_class(*info) != nullptr && element_count(*info) <= kElementsMax;
    if (variable.is_numeric) {
      variable.rows = info->dims[0];
      variable.columns = info->dims[1];
    }
    variables_.push_back(std::move(variable));
  }
}

void MatFile::fail(const std::string& name, const std::string& what) const {
  throw InputError(path_ + ": variable \"" + name + "\" " + what);
}

const MatFile::Variable* MatFile::find(const std::string& name) const {
  const auto found = std::ranges::find(variables_, name, &Variable::name);
  return found == variables_.end() ? nullptr : &*found;
}

std::vector<double> MatFile::read(const std::string& name) const {
  const Variable* const known = find(name);
  if (known == nullptr) fail(name, "is missing");
  if (!known->is_numeric) fail(name, "is not a full matrix of real numbers; save it as one");
  Mat_Rewind(file_.get());
  const VariableInfo variable = owned(Mat_VarRead(file_.get(), name.c_str()));
  const std::size_t count = known->rows * known->columns;
  if (count == 0) return {};
  const NumberClass* const stored = variable ? number_class(*variable) : nullptr;
  if (stored == nullptr || variable->data == nullptr || element_count(*variable) != count ||
      variable->nbytes < count * stored->size_bytes) {
    fail(name, "is damaged; save the file again");
  }
  return stored->read(*variable, count);
}

std::vector<std::string> MatFile::read_texts(const std::string& name) const {
  if (find(name) == nullptr) fail(name, "is missing");
  Mat_Rewind(file_.get());
  const VariableInfo variable = owned(Mat_VarRead(file_.get(), name.c_str()));
  if (!variable) fail(name, "is damaged; save the file again");
  if (variable->class_type == MAT_C_CHAR) return {text_of(*variable)};
  if (variable->class_type != MAT_C_CELL) fail(name, "is not a cell array of texts");
  std::vector<std::string> texts;
  const std::size_t count = std::min(element_count(*variable), kVariablesMax);
  for (std::size_t k = 0; k < count; ++k) {
    const matvar_t* const cell = Mat_VarGetCell(variable.get(), static_cast<int>(k));
    if (cell == nullptr || cell->class_type != MAT_C_CHAR)
      fail(name, "is not a cell array of texts");
    texts.push_back(text_of(*cell));
  }
  return texts;
}

}  // namespace proto
