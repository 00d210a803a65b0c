#pragma once

#include <string>
#include <vector>

namespace service {

enum class CellAlign {
  kLeft,
  kRight,  ///< numbers
  kWords,  ///< sentences and names, broken where they are long
};

/// A cell: text that is yet to be escaped, or HTML.
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

/// A table in HTML. On a narrow page its rows become lists, each cell beside its column's title; a
/// table of class "matrix" scrolls sideways.
class HtmlTable {
 public:
  struct Column {
    HtmlCell title;
    CellAlign align = CellAlign::kLeft;
  };

  /// @param caption    what the table tells
  /// @param css_class  of the table
  HtmlTable(const std::string& caption, std::vector<Column> columns,
            const std::string& css_class = "");

  /// A row; its first cell is its head.
  void add(const std::vector<HtmlCell>& cells);

  std::string html() const { return html_ + "</tbody></table></div>\n"; }

 private:
  std::vector<Column> columns_;
  std::string html_;
};

/// Columns of such titles: texts to the left, numbers to the right of the first `texts`.
std::vector<HtmlTable::Column> text_and_number_columns(const std::vector<std::string>& titles,
                                                       std::size_t texts);

}  // namespace service
