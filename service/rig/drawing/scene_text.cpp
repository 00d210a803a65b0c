#include "service/rig/drawing/rig_picture.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>

#include "service/rig/drawing/scene.hpp"
#include "service/text/number_format.hpp"

namespace service {
namespace {

using Eigen::Vector2d;

// Dots per character; a dot is about square on a usual terminal.
constexpr int kDotsAcross = 2, kDotsDown = 4;
constexpr double kLabelMargin = 12.0;  // space for labels [dots]

/// Grid of dots for a terminal, with letters in front of the dots.
class Canvas {
 public:
  Canvas(int columns, int rows)
      : columns_(columns),
        rows_(rows),
        dots_(static_cast<std::size_t>(columns * rows), 0U),
        letters_(static_cast<std::size_t>(columns * rows)) {}

  void dot(const Vector2d& at) {
    const int x = static_cast<int>(std::floor(at.x())), y = static_cast<int>(std::floor(at.y()));
    if (!holds(x / kDotsAcross, y / kDotsDown) || x < 0 || y < 0) return;
    // Braille numbers its dots 1 2 3 7 down the left and 4 5 6 8 down the right.
    static constexpr unsigned kBits[kDotsDown][kDotsAcross] = {
        {0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
    dots_[index(x / kDotsAcross, y / kDotsDown)] |= kBits[y % kDotsDown][x % kDotsAcross];
  }

  /// Draws a line of dots.
  /// @param gap  number of dots omitted after each drawn dot
  void line(const Vector2d& from, const Vector2d& to, int gap) {
    const double length = (to - from).lpNorm<Eigen::Infinity>();
    const int count = std::max(1, static_cast<int>(std::ceil(length)));
    for (int k = 0; k <= count; k += 1 + gap) dot(from + (to - from) * k / count);
  }

  void letter(const Vector2d& at, const std::string& text) {
    const int column = static_cast<int>(std::floor(at.x() / kDotsAcross));
    const int row = static_cast<int>(std::floor(at.y() / kDotsDown));
    if (holds(column, row)) letters_[index(column, row)] = text;
  }

  /// Writes a word whose first letter is at the character that contains the point `at`.
  void write(const Vector2d& at, const std::string& text) {
    Vector2d place = at;
    for (std::size_t begin = 0; begin < text.size(); place.x() += kDotsAcross) {
      std::size_t end = begin + 1;
      while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) ++end;
      letter(place, text.substr(begin, end - begin));
      begin = end;
    }
  }

  std::string text(CharacterSet letters) const {
    std::string all;
    std::string empty;  // pending empty lines; those at the beginning and end are dropped
    for (int row = 0; row < rows_; ++row) {
      std::string line;
      for (int column = 0; column < columns_; ++column) {
        const std::string& own = letters_[index(column, row)];
        const unsigned dots = dots_[index(column, row)];
        line += !own.empty()                        ? own
                : letters == CharacterSet::kBraille ? braille(dots)
                                                    : plain(dots);
      }
      line.erase(line.find_last_not_of(' ') + 1);
      if (line.empty()) {
        empty += all.empty() ? "" : "\n";
        continue;
      }
      all += empty + line + "\n";
      empty.clear();
    }
    return all;
  }

 private:
  bool holds(int column, int row) const {
    return column >= 0 && column < columns_ && row >= 0 && row < rows_;
  }
  std::size_t index(int column, int row) const {
    return static_cast<std::size_t>(row * columns_ + column);
  }

  static std::string braille(unsigned dots) {
    if (dots == 0U) return " ";
    const unsigned code = 0x2800U + dots;  // UTF-8 of U+2800 … U+28FF
    return {static_cast<char>(0xE0U | (code >> 12U)),
            static_cast<char>(0x80U | ((code >> 6U) & 0x3FU)),
            static_cast<char>(0x80U | (code & 0x3FU))};
  }

  /// Returns the ASCII character that resembles a pattern of dots most.
  static std::string plain(unsigned dots) {
    if (dots == 0U) return " ";
    const bool left = (dots & 0x47U) != 0U, right = (dots & 0xB8U) != 0U;
    const unsigned top = dots & 0x1BU, bottom = dots & 0xE4U;
    if (top != 0U && bottom == 0U) return left && right ? "\"" : "'";
    if (top == 0U) return left && right ? "_" : ".";
    if (!(left && right)) return "|";
    const bool down_right = (dots & 0x03U) != 0U && (dots & 0xA0U) != 0U;
    const bool down_left = (dots & 0x18U) != 0U && (dots & 0x44U) != 0U;
    return down_right && down_left ? "#" : down_right ? "\\" : "/";
  }

  int columns_, rows_;
  std::vector<unsigned> dots_;
  std::vector<std::string> letters_;
};

/// Returns the number of dots omitted after each dot of a line.
int gap_of(LineRole ink) { return ink == LineRole::kZero ? 3 : ink == LineRole::kAxis ? 2 : 0; }

std::string letter_of(Symbol symbol, CharacterSet letters) {
  const bool braille = letters == CharacterSet::kBraille;
  if (symbol == Symbol::kJoint) return "o";
  if (symbol == Symbol::kMass) return braille ? "●" : "@";
  return symbol != Symbol::kSensor ? "" : braille ? "■" : "#";
}

/// Returns the character that shows an arrow head in a direction.
std::string tip_of(const Vector2d& along, CharacterSet letters) {
  static const char* const kBraille[4] = {"▶", "▲", "◀", "▼"};
  static const char* const kPlain[4] = {">", "^", "<", "v"};
  const double quarter = std::atan2(-along.y(), along.x()) / (0.5 * M_PI);
  const int side = (static_cast<int>(std::lround(quarter)) + 4) % 4;
  return letters == CharacterSet::kBraille ? kBraille[side] : kPlain[side];
}

void draw_ground(Canvas& canvas, const ProjectedScene::ProjectedSymbol& sign) {
  if (sign.toward.norm() < 0.5) return;
  const Vector2d along(-sign.toward.y(), sign.toward.x());
  for (int s = -9; s <= 9; s += 3) {
    canvas.line(sign.at + s * along, sign.at + s * along + 3.0 * sign.toward - 2.0 * along, 0);
  }
  canvas.line(sign.at - 9.0 * along, sign.at + 9.0 * along, 0);
}

}  // namespace

CharacterSet detect_terminal_character_set() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* const value = std::getenv(name);
    if (value == nullptr || *value == '\0') continue;
    std::string locale;
    for (const char* c = value; *c != '\0'; ++c) {
      if (*c != '-') locale += static_cast<char>(std::toupper(static_cast<unsigned char>(*c)));
    }
    return locale.find("UTF8") == std::string::npos ? CharacterSet::kAscii : CharacterSet::kBraille;
  }
  return CharacterSet::kAscii;
}

std::string render_scene_text(const Scene& scene, int columns, int rows, CharacterSet letters) {
  const SceneView view = choose_scene_views(scene).front();
  const Vector2d area(kDotsAcross * columns, kDotsDown * rows);
  const Vector2d margin(1.5 * kLabelMargin, kLabelMargin);
  const ProjectedScene picture = project_scene(scene, view, margin, area - margin);
  Canvas canvas(columns, rows);
  for (const ProjectedScene::ProjectedLine& line : picture.lines) {
    for (std::size_t k = 1; k < line.points.size(); ++k) {
      canvas.line(line.points[k - 1], line.points[k], gap_of(line.ink));
    }
    if (line.ink != LineRole::kBody || line.points.size() != 2) continue;
    // Draw bars thicker than annotation lines.
    const Vector2d along = (line.points[1] - line.points[0]).normalized();
    const Vector2d beside =
        std::abs(along.x()) > std::abs(along.y()) ? Vector2d(0.0, 1.0) : Vector2d(1.0, 0.0);
    canvas.line(line.points[0] + beside, line.points[1] + beside, 0);
  }
  for (const ProjectedScene::ProjectedSymbol& sign : picture.signs) {
    if (sign.symbol == Symbol::kGround) draw_ground(canvas, sign);
    const std::string letter = letter_of(sign.symbol, letters);
    if (!letter.empty()) canvas.letter(sign.at, letter);
  }
  for (const ProjectedScene::ProjectedLine& line : picture.lines) {
    if (!line.arrow) continue;
    const Vector2d tip = line.points.back();
    canvas.letter(tip, tip_of(tip - line.points[line.points.size() - 2], letters));
  }
  for (const PlacedLabel& label :
       place_labels(picture, Vector2d(kDotsAcross, kDotsDown), 3.0, area)) {
    const Vector2d middle = 0.5 * (label.low + label.high);
    canvas.write({label.low.x() + 0.5, middle.y()}, label.text);
  }
  return canvas.text(letters) + "(seen " + view.name + ")\n";
}

}  // namespace service
