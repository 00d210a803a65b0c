#include "service/cli/page_files.hpp"

#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <vector>

#include "proto/text/command_line/other_program.hpp"
#include "proto/text/files.hpp"
#include "proto/text/input_error.hpp"
#include "proto/text/temporary_folder.hpp"

namespace service {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds kConversionMax(120);  // a report with 24 long segments takes 5 s
constexpr const char* kPictureZoom = "2";            // pixels of a PNG file per pixel of SVG

/// Program that converts documents, one of several equivalent ones.
struct Converter {
  std::vector<std::string> programs;
  std::string package;    ///< Debian package to install
  std::string own;        ///< ending of the documents that need no conversion
  std::string alternate;  ///< advice if no program is installed
};

const Converter& report_converter() {
  static const Converter kChromium = {
      {"chromium", "chromium-headless-shell", "chromium-browser", "google-chrome"},
      "chromium",
      ".html",
      "write .html and print it from a browser"};
  return kChromium;
}

const Converter& picture_converter() {
  static const Converter kRsvg = {{"rsvg-convert"}, "librsvg2-bin", ".svg", "write .svg"};
  return kRsvg;
}

/// Returns the ending of a file that needs a conversion; empty for others.
std::string converted_ending(const std::string& path) {
  for (const char* const ending : {".pdf", ".png"}) {
    if (path.ends_with(ending)) return ending;
  }
  return "";
}

void require_program(const std::string& path, const Converter& converter) {
  if (converted_ending(path).empty() || !proto::find_installed_program(converter.programs).empty())
    return;
  throw proto::InputError(
      "{}: this format needs the program {}; install the package {} (apt install {}), or {}", path,
      converter.programs.front(), converter.package, converter.package, converter.alternate);
}

std::vector<std::string> printing_command(const std::string& program, const std::string& source,
                                          const std::string& target,
                                          const proto::TemporaryFolder& folder) {
  std::vector<std::string> command = {program,
                                      "--headless",
                                      "--disable-gpu",
                                      "--user-data-dir=" + folder.file("profile"),
                                      "--no-pdf-header-footer",
                                      "--print-to-pdf=" + target,
                                      source};
  // Chromium refuses to run as root with its sandbox. The page is rigcal's own.
  if (::geteuid() == 0) command.insert(command.begin() + 1, "--no-sandbox");
  return command;
}

/// Writes a document, converted if the ending of `path` asks for it.
void write_document(const std::string& path, const std::string& document,
                    const Converter& converter) {
  const std::string ending = converted_ending(path);
  if (ending.empty()) return proto::write_file(path, document);
  const std::string program = proto::find_installed_program(converter.programs);
  const proto::TemporaryFolder folder;
  const std::string source = folder.file("document" + converter.own);
  const std::string target = folder.file("converted" + ending);
  proto::write_file(source, document);
  const std::vector<std::string> command =
      converter.own == ".html" ? printing_command(program, source, target, folder)
                               : std::vector<std::string>{program,
                                                          "--format",
                                                          ending.substr(1),
                                                          "--zoom",
                                                          ending == ".png" ? kPictureZoom : "1",
                                                          "--output",
                                                          target,
                                                          source};
  const auto deadline = std::chrono::steady_clock::now() + kConversionMax;
  const int code = proto::run_program(
      command, [&] { return std::chrono::steady_clock::now() > deadline; }, folder.file("log"));
  std::error_code none;
  if (code == 0 && fs::file_size(target, none) > 0 && !none) {
    return proto::write_file(path, proto::read_file(target, proto::kTableSizeMax));
  }
  proto::write_file(path + converter.own, document);
  throw proto::InputError("{}: {} failed (status {}); the content is in {}{}", path, program, code,
                          path, converter.own);
}

}  // namespace

void check_report_file(const std::string& path) {
  proto::check_file_extension(path, {".html", ".htm", ".pdf"});
  require_program(path, report_converter());
}

void write_report_file(const std::string& path, const std::string& page) {
  write_document(path, page, report_converter());
}

void check_picture_path(const std::string& path) {
  proto::check_file_extension(path, {".svg", ".png", ".pdf"});
  require_program(path, picture_converter());
}

void write_picture_file(const std::string& path, const std::string& svg) {
  write_document(path, svg, picture_converter());
}

}  // namespace service
