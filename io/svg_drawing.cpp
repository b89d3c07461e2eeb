#include "io/svg_drawing.hpp"

#include <charconv>
#include <nlohmann/json.hpp>

namespace pagerank::io {
namespace {

bool continues_character(char byte) {
  return (static_cast<unsigned char>(byte) & 0xc0) == 0x80;
}

std::string escaped(std::string_view text) {
  std::string xml;
  for (const char character : text) {
    switch (character) {
      case '&':
        xml += "&amp;";
        break;
      case '<':
        xml += "&lt;";
        break;
      case '>':
        xml += "&gt;";
        break;
      default:
        xml += character;
    }
  }
  return xml;
}

}  // namespace

std::string general(double value, int digits) {
  char text[32];
  const auto format = std::chars_format::general;
  return {text, std::to_chars(text, text + sizeof text, value, format, digits).ptr};
}

std::string shortened(const std::string& text, std::size_t length) {
  std::size_t characters = 0;
  std::size_t cut = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (continues_character(text[i])) continue;
    if (++characters == length) cut = i;
  }
  return characters > length ? text.substr(0, cut) + "…" : text;
}

std::string valid_text(const std::string& bytes) {
  using Json = nlohmann::json;
  const std::string utf8 =
      Json::parse(Json(bytes).dump(-1, ' ', false, Json::error_handler_t::replace));
  std::string text;
  for (std::size_t i = 0; i < utf8.size(); ++i) {
    const std::string_view three = std::string_view(utf8).substr(i, 3);
    if (three == "\xef\xbf\xbe" || three == "\xef\xbf\xbf") {
      text += "\xef\xbf\xbd";
      i += 2;
    } else {
      text += static_cast<unsigned char>(utf8[i]) < ' ' ? ' ' : utf8[i];
    }
  }
  return text;
}

void Drawing::text(std::string_view style, double x, double y, const std::string& content,
                   double degrees) {
  element("text", style);
  attribute("x", x).attribute("y", y);
  if (degrees != 0) {
    svg_ += " transform=\"rotate(" + coordinate(degrees) + " " + coordinate(x) + " " +
            coordinate(y) + ")\"";
  }
  svg_ += ">" + escaped(content) + "</text>\n";
}

}  // namespace pagerank::io
