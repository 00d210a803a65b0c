#pragma once

#include <string>

namespace service {

/// Checks that a report can be written as this file: .html, .htm, or .pdf if Chromium is installed.
/// Call it before the computations for the report.
/// @throws proto::InputError with the package to install, or the endings to choose from
void check_report_file(const std::string& path);

/// Writes the HTML page of a report as the file `path`. Chromium prints a PDF file.
/// @throws proto::InputError if that fails; the page is then in the file PATH.html
void write_report_file(const std::string& path, const std::string& page);

/// Checks that a picture can be written as this file: .svg, or .png or .pdf if rsvg-convert is
/// installed.
/// @throws proto::InputError with the package to install, or the endings to choose from
void check_picture_path(const std::string& path);

/// Writes an SVG document as the file `path`. rsvg-convert makes PNG and PDF files.
/// @throws proto::InputError if that fails; the document is then in the file PATH.svg
void write_picture_file(const std::string& path, const std::string& svg);

}  // namespace service
