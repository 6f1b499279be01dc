// SPDX-License-Identifier: Apache-2.0
#include "sim/base/csv.h"

#include "sim/base/error.h"

namespace systole {
namespace {

class Reader {
public:
    Reader(std::string_view text, const std::string& file) : text_(text), file_(file) {
        if (text_.starts_with("\xEF\xBB\xBF")) at_ = line_begin_ = 3;
    }

    std::vector<CsvRow> rows() {
        std::vector<CsvRow> rows;
        while (at_ < text_.size()) {
            if (end_of_line()) continue;
            rows.push_back({line_, {}, {}});
            do {
                rows.back().places.push_back({line_, column()});
                rows.back().cells.push_back(cell());
            } while (take_comma());
            if (at_ < text_.size() && !end_of_line()) fail("text behind a closing quote");
        }
        return rows;
    }

private:
    std::string cell() { return at_ < text_.size() && text_[at_] == '"' ? quoted_cell() : plain_cell(); }

    std::string plain_cell() {
        const std::size_t begin = at_;
        for (; at_ < text_.size() && text_[at_] != ',' && text_[at_] != '\n'; ++at_) {
            if (text_[at_] == '\r') break;
            if (text_[at_] == '"') fail("a quote inside a cell; quote the whole cell and double the quote");
            if (text_[at_] == '\0') fail("a zero byte: this is not a text file");
        }
        if (at_ < text_.size() && text_[at_] == '\r' && !text_.substr(at_).starts_with("\r\n"))
            fail("a carriage return without a line feed");
        return std::string(text_.substr(begin, at_ - begin));
    }

    std::string quoted_cell() {
        const SourceMark opened = here();
        std::string cell;
        for (++at_; at_ < text_.size(); ++at_) {
            const char c = text_[at_];
            if (c == '\0') fail("a zero byte: this is not a text file");
            if (c == '"') {
                if (!text_.substr(at_ + 1).starts_with('"')) return ++at_, cell;
                ++at_;
            }
            cell += c;
            if (c == '\n') next_line(at_ + 1);
        }
        throw UserError(opened, "this quote never closes");
    }

    bool take_comma() {
        if (at_ >= text_.size() || text_[at_] != ',') return false;
        return ++at_, true;
    }

    bool end_of_line() {
        const std::size_t length = text_.substr(at_).starts_with("\r\n") ? 2 : text_[at_] == '\n' ? 1 : 0;
        if (length == 0) return false;
        at_ += length;
        next_line(at_);
        return true;
    }

    void next_line(std::size_t begin) {
        ++line_;
        line_begin_ = begin;
    }

    int column() const { return static_cast<int>(at_ - line_begin_) + 1; }
    SourceMark here() const { return {file_, line_, column()}; }
    [[noreturn]] void fail(const std::string& what) const { throw UserError(here(), what); }

    std::string_view text_;
    const std::string& file_;
    std::size_t at_ = 0, line_begin_ = 0;
    int line_ = 1;
};

}  // namespace

std::vector<CsvRow> parse_csv(std::string_view text, const std::string& file) {
    return Reader(text, file).rows();
}

std::string csv_line(const std::vector<std::string>& cells) {
    std::string line;
    for (const std::string& cell : cells) {
        if (&cell != &cells.front()) line += ',';
        if (cell.find_first_of(",\"\r\n") == std::string::npos) {
            line += cell;
            continue;
        }
        line += '"';
        for (const char c : cell) line += c == '"' ? "\"\"" : std::string(1, c);
        line += '"';
    }
    return line + '\n';
}

}  // namespace systole
