#include "firmware_iface/transport/url.hpp"

#include <cerrno>
#include <charconv>
#include <ctime>
#include <sstream>

#include "firmware_iface/transport/descriptor.hpp"

namespace firmware_iface {

Result<Url> parse_url(const std::string& text) {
  const auto bad = [&text](const std::string& why) {
    return Error{ErrorCode::kBadUrl, "\"" + text + "\": " + why};
  };
  Url url;
  url.text = text;
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos || colon == 0) {
    return bad("not a URL; e.g. serial:///dev/ttyUSB0?baud=921600");
  }
  url.scheme = text.substr(0, colon);
  std::string rest = text.substr(colon + 1);
  if (rest.starts_with("//")) rest = rest.substr(2);
  const std::size_t question = rest.find('?');
  url.address = rest.substr(0, question);
  if (url.address.empty()) return bad("no address after \"" + url.scheme + ":\"");
  if (question == std::string::npos) return url;
  std::istringstream options(rest.substr(question + 1));
  for (std::string option; std::getline(options, option, '&');) {
    const std::size_t equals = option.find('=');
    if (equals == std::string::npos || equals == 0) {
      return bad("option \"" + option + "\" is not key=value");
    }
    if (!url.options.emplace(option.substr(0, equals), option.substr(equals + 1)).second) {
      return bad("option \"" + option.substr(0, equals) + "\" is given twice");
    }
  }
  return url;
}

Status check_url_options(const Url& url, const std::string& known) {
  const std::string list = "," + known + ",";
  for (const auto& [key, value] : url.options) {
    if (list.find("," + key + ",") == std::string::npos) {
      return Error{ErrorCode::kBadUrl,
                   "\"" + url.text + "\": unknown option \"" + key + "\"" +
                       (known.empty() ? "; " + url.scheme + " takes none" : "; known: " + known)};
    }
  }
  return success();
}

Result<int> read_int_option(const Url& url, const std::string& key, int fallback, int min,
                            int max) {
  const auto found = url.options.find(key);
  if (found == url.options.end()) return fallback;
  const std::string& text = found->second;
  int value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || end != text.data() + text.size() || value < min || value > max) {
    return Error{ErrorCode::kBadUrl, "\"" + url.text + "\": " + key + "=" + text +
                                         " is not a whole number from " + std::to_string(min) +
                                         " to " + std::to_string(max)};
  }
  return value;
}

Nanoseconds MonotonicTime::now() const noexcept { return monotonic_now(); }

void MonotonicTime::sleep_until(Nanoseconds time) noexcept {
  timespec until{};
  until.tv_sec = time.count() / 1'000'000'000;
  until.tv_nsec = time.count() % 1'000'000'000;
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr) == EINTR) {
  }
}

}  // namespace firmware_iface
