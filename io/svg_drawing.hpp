#pragma once

#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>

namespace pagerank::io {

/// A number in so many significant digits, as %g prints it.
[[nodiscard]] std::string general(double value, int digits);

/// The first `length` characters, the last of them "…" if there are more.
[[nodiscard]] std::string shortened(const std::string& text, std::size_t length);

/// Text that XML 1.0 can hold: UTF-8, without control characters and the two noncharacters.
[[nodiscard]] std::string valid_text(const std::string& bytes);

/// SVG elements one after the other. Lengths in pixels; styles are classes of CSS.
class Drawing {
 public:
  void line(std::string_view style, double x1, double y1, double x2, double y2) {
    element("line", style);
    attribute("x1", x1).attribute("y1", y1).attribute("x2", x2).attribute("y2", y2).close();
  }

  void bar(double x, double y, double width, double height, const std::string& fill, bool hollow) {
    element("rect", "bar");
    attribute("x", x).attribute("y", y).attribute("width", width).attribute("height", height);
    paint(fill, hollow).close();
  }

  /// Covers what is behind a text.
  void blank(double x, double y, double width, double height) {
    element("rect", "blank");
    attribute("x", x).attribute("y", y).attribute("width", width).attribute("height", height);
    close();
  }

  /// `path` is drawn around the point.
  void marker(double x, double y, std::string_view path, const std::string& fill, bool hollow) {
    element("path", "marker");
    svg_ += " d=\"" + std::string(path) + "\" transform=\"translate(" + coordinate(x) + " " +
            coordinate(y) + ")\"";
    paint(fill, hollow).close();
  }

  void leader(double x1, double y1, double x2, double y2, const std::string& stroke) {
    element("line", "leader");
    attribute("x1", x1).attribute("y1", y1).attribute("x2", x2).attribute("y2", y2);
    svg_ += " stroke=\"" + stroke + "\"";
    close();
  }

  /// `content` is text that XML can hold; turned by so many degrees.
  void text(std::string_view style, double x, double y, const std::string& content,
            double degrees = 0);

  [[nodiscard]] const std::string& svg() const { return svg_; }

 private:
  static std::string coordinate(double value) {
    return general(std::round(value * 10) / 10, 8);  // a tenth of a pixel is enough
  }

  void element(std::string_view name, std::string_view style) {
    svg_ += "<" + std::string(name) + " class=\"" + std::string(style) + "\"";
  }

  Drawing& attribute(std::string_view name, double value) {
    svg_ += " " + std::string(name) + "=\"" + coordinate(value) + "\"";
    return *this;
  }

  Drawing& paint(const std::string& colour, bool hollow) {
    svg_ += " fill=\"" + (hollow ? "#ffffff" : colour) + "\" stroke=\"" + colour + "\"";
    return *this;
  }

  void close() { svg_ += "/>\n"; }

  std::string svg_;
};

}  // namespace pagerank::io
