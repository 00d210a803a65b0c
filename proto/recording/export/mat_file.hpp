#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

struct _mat_t;

namespace proto {

/// Reads real full matrices and texts from a MAT file, version 4, 5 or 7.3.
class MatFile {
 public:
  /// A variable without its content.
  struct Variable {
    std::string name;
    std::size_t rows = 0;
    std::size_t columns = 0;
    bool is_numeric = false;  ///< a full real matrix of numbers or booleans
  };

  /// @throws InputError naming the file if it is not a MAT file, or larger than kTableSizeMax
  explicit MatFile(const std::string& path);

  const std::vector<Variable>& variables() const { return variables_; }

  /// Returns the variable with the given name; null if there is none.
  const Variable* find(const std::string& name) const;

  /// Returns the content of a numeric variable, column by column.
  /// @throws InputError naming file and variable if it is missing, not numeric or damaged
  std::vector<double> read(const std::string& name) const;

  /// Returns the texts in a variable that is a cell array of texts or a single text. @throws
  /// InputError as read()
  std::vector<std::string> read_texts(const std::string& name) const;

 private:
  void list_variables();
  [[noreturn]] void fail(const std::string& name, const std::string& what) const;

  std::string path_;
  std::unique_ptr<_mat_t, int (*)(_mat_t*)> file_;
  std::vector<Variable> variables_;
};

}  // namespace proto
