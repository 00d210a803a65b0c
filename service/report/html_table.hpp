#pragma once

#include <string>
#include <vector>

namespace service {

enum class CellAlign {
  kLeft,
  kRight,  ///< numbers
  kWords,  ///< sentences and names; long ones are wrapped
};

/// A table cell: plain text, to be escaped, or HTML.
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

/// An HTML table. On a narrow page each row becomes a list of cells with their column titles; a
/// table of class "matrix" scrolls sideways instead.
class HtmlTable {
 public:
  struct Column {
    HtmlCell title;
    CellAlign align = CellAlign::kLeft;
  };

  /// @param caption    text above the table
  /// @param css_class  class of the table
  HtmlTable(const std::string& caption, std::vector<Column> columns,
            const std::string& css_class = "");

  /// Adds a row; its first cell is the row's heading.
  void add(const std::vector<HtmlCell>& cells);

  std::string html() const { return html_ + "</tbody></table></div>\n"; }

 private:
  std::vector<Column> columns_;
  std::string html_;
};

/// Returns columns with these titles: the first `texts` left-aligned, the others right-aligned.
std::vector<HtmlTable::Column> text_and_number_columns(const std::vector<std::string>& titles,
                                                       std::size_t texts);

}  // namespace service
