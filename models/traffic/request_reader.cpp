// SPDX-License-Identifier: Apache-2.0
#include "models/traffic/request_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <limits>
#include <utility>

#include "sim/base/text.h"

namespace systole {
namespace {

constexpr std::size_t kBuffer = 256 * 1024;
constexpr std::size_t kLongestLine = 4096;
constexpr std::size_t kMostMistakes = 20;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";  // of UTF-8, which some editors write

constexpr bool is_blank(char c) {
    return c == ' ' || c == '\t';
}

/// Takes the next word off `line`; empty if there is none.
std::string_view take_word(std::string_view& line) {
    std::size_t begin = 0;
    while (begin < line.size() && is_blank(line[begin])) ++begin;
    std::size_t end = begin;
    while (end < line.size() && !is_blank(line[end])) ++end;
    const std::string_view word = line.substr(begin, end - begin);
    line.remove_prefix(end);
    return word;
}

std::string shortened(std::string_view word) {
    constexpr std::size_t kMost = 24;
    if (word.size() <= kMost) return std::string(word);
    std::size_t end = kMost;
    while (end > 0 && (word[end] & 0xC0) == 0x80) --end;  // not in the middle of a UTF-8 character
    return std::string(word.substr(0, end)) + "…";
}

}  // namespace

RequestReader::RequestReader(const std::string& path, Bytes burst, Bytes capacity, Cycles latest)
    : name_(path == "-" ? "standard input" : path),
      burst_(burst.value()),
      capacity_(capacity.value()),
      latest_(latest.value()),
      file_(path, name_),
      buffer_(kBuffer) {}

bool RequestReader::next(MemoryRequest& request) {
    for (std::string_view line; next_line(line);)
        if (parse(line, request) && mistakes_.empty()) return true;
    if (!mistakes_.empty()) fail();
    return false;
}

void RequestReader::fail() {
    throw UserError(std::move(mistakes_));
}

/// The next line without its end; false at the end of the file.
bool RequestReader::next_line(std::string_view& line) {
    for (;;) {
        const char* begin = buffer_.data() + begin_;
        const std::size_t size = end_ - begin_;
        if (const void* found = std::memchr(begin, '\n', size)) {
            const char* end = static_cast<const char*>(found);
            begin_ += static_cast<std::size_t>(end - begin) + 1;
            ++line_;
            line_begin_ = begin;
            line = std::string_view(begin, static_cast<std::size_t>(end - begin));
            if (line_ == 1 && line.starts_with(kByteOrderMark)) {
                line.remove_prefix(kByteOrderMark.size());
                line_begin_ = line.data();
            }
            if (line.size() > kLongestLine) refuse_long_line();
            if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
            return true;
        }
        line_begin_ = begin;
        if (size > kLongestLine) {
            ++line_;
            refuse_long_line();
        }
        if (at_end_) {
            if (size == 0) return false;
            ++line_;
            complain(begin + size, "the file ends within this line; was it truncated?");
            return begin_ = end_, false;
        }
        fill();
    }
}

void RequestReader::refuse_long_line() {
    complain(line_begin_, fmt::format("a line of more than {} characters", kLongestLine));
    fail();
}

/// Reads on behind what is not yet consumed.
void RequestReader::fill() {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
    const std::size_t got = file_.read(buffer_.data() + end_, buffer_.size() - end_);
    end_ += got;
    at_end_ = got == 0;
    if (file_.fault().empty() || !at_end_) return;
    const std::int64_t line = std::min<std::int64_t>(line_ + 1, std::numeric_limits<int>::max());
    mistakes_.push_back({{name_, static_cast<int>(line), 1}, file_.fault()});
    fail();
}

/// Answers whether the line holds a request; a line that holds something else becomes a mistake.
bool RequestReader::parse(std::string_view line, MemoryRequest& request) {
    if (const std::size_t comment = line.find('#'); comment != std::string_view::npos)
        line = line.substr(0, comment);
    const std::string_view clock = take_word(line);
    if (clock.empty()) return false;
    if (!read_clock(clock, request.clock)) return false;
    const std::string_view direction = take_word(line);
    if (direction.empty())
        return complain(line.data(), "the line ends here; expected 'clock R|W hex-address'");
    if (direction != "R" && direction != "W")
        return complain(direction.data(), fmt::format("expected R or W, not '{}'", shortened(direction)));
    request.direction = direction == "R" ? Direction::Read : Direction::Write;
    const std::string_view address = take_word(line);
    if (address.empty()) return complain(line.data(), "the address is missing");
    if (!read_address(address, request.address)) return false;
    if (const std::string_view more = take_word(line); !more.empty())
        return complain(more.data(), fmt::format("unexpected '{}' behind the address", shortened(more)));
    return true;
}

bool RequestReader::read_clock(std::string_view word, Cycles& clock) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error == std::errc::result_out_of_range || (error == std::errc() && value > latest_))
        return complain(word.data(), fmt::format("clock {} is later than {}", shortened(word), latest_));
    if (error != std::errc() || end != word.data() + word.size() || value < 0)
        return complain(word.data(),
                        fmt::format("expected a clock (decimal, from 0), not '{}'", shortened(word)));
    clock = Cycles(value);
    return true;
}

bool RequestReader::read_address(std::string_view word, std::int64_t& address) {
    std::string_view digits = word;
    if (digits.starts_with("0x") || digits.starts_with("0X")) digits.remove_prefix(2);
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
    const bool is_number = end == digits.data() + digits.size() && !digits.empty();
    if (is_number && (error == std::errc::result_out_of_range ||
                      (error == std::errc() && value >= static_cast<std::uint64_t>(capacity_))))
        return complain(word.data(), fmt::format("address {} is beyond the memory's {}", shortened(word),
                                                 format_bytes(Bytes(capacity_))));
    if (error != std::errc() || !is_number)
        return complain(word.data(),
                        fmt::format("expected a hexadecimal address, not '{}'", shortened(word)));
    address = static_cast<std::int64_t>(value);
    if (address % burst_ != 0)
        return complain(word.data(), fmt::format("address {} is not aligned to the memory's bursts of {} B",
                                                 shortened(word), burst_));
    return true;
}

/// Notes a mistake at `at`, a place within the current line; enough of them end it all. Answers false.
bool RequestReader::complain(const char* at, std::string message) {
    const int line = static_cast<int>(std::min<std::int64_t>(line_, std::numeric_limits<int>::max()));
    mistakes_.push_back({{name_, line, static_cast<int>(at - line_begin_) + 1}, std::move(message)});
    if (mistakes_.size() >= kMostMistakes) fail();
    return false;
}

}  // namespace systole
