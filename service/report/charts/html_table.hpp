#pragma once

#include <string>
#include <utility>
#include <vector>

namespace service {

/// Alignment of the cells of a table column.
enum class CellAlign {
  kLeft,
  kRight,  ///< right-aligned, for numbers
  kWords,  ///< left-aligned with line breaks, for sentences and names
};

/// Cell of an HTML table. It contains HTML or plain text, whose special characters are escaped.
struct HtmlCell {
  HtmlCell(const char* plain) : text(plain) {}             // NOLINT: a text is a cell
  HtmlCell(std::string plain) : text(std::move(plain)) {}  // NOLINT
  static HtmlCell of_html(std::string html) {
    HtmlCell cell(std::move(html));
    cell.is_html = true;
    return cell;
  }
  HtmlCell& with_class(const std::string& css) { return css_class = css, *this; }
  HtmlCell& with_style(const std::string& css) { return style = css, *this; }

  std::string text;
  bool is_html = false;
  std::string css_class = {};
  std::string style = {};
};

/// Builder of an HTML table. On a narrow page, each row is shown as a list of cells with their
/// column titles. A table of class "matrix" can be scrolled horizontally instead.
class HtmlTable {
 public:
  struct Column {
    HtmlCell title;
    CellAlign align = CellAlign::kLeft;
  };

  /// Starts a table with these columns.
  /// @param caption    text above the table
  /// @param css_class  CSS class of the table
  HtmlTable(const std::string& caption, std::vector<Column> columns,
            const std::string& css_class = "");

  /// Makes a table of texts. The first row has the titles of the columns.
  HtmlTable(const std::string& caption, const std::vector<CellAlign>& aligns,
            const std::vector<std::vector<std::string>>& rows, const std::string& css_class = "");

  /// Adds a row to the table. The first cell is the heading of the row.
  void add(std::vector<HtmlCell> cells) { rows_.push_back(std::move(cells)); }

  /// Returns the table. Numbers of a right-aligned column are aligned at their decimal points.
  std::string html() const;

 private:
  static std::vector<Column> columns_of(const std::vector<std::string>& titles,
                                        const std::vector<CellAlign>& aligns);

  std::vector<Column> columns_;
  std::vector<std::vector<HtmlCell>> rows_;
  std::string head_;
};

/// Returns table columns with these titles. The first `texts` columns are left-aligned for text,
/// the remaining ones right-aligned for numbers.
std::vector<HtmlTable::Column> text_and_number_columns(const std::vector<std::string>& titles,
                                                       std::size_t texts);

}  // namespace service
