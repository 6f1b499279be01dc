// SPDX-License-Identifier: Apache-2.0
// Reads a trace of single bursts, plain or gzipped, line by line: "clock R|W hex-address". Strict: whatever
// cannot be a request of this memory is an error with its place, and so is a file that ends too early.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "models/traffic/packed_file.h"
#include "models/traffic/request_source.h"
#include "sim/base/error.h"

namespace systole {

class RequestReader : public RequestSource {
public:
    /// `path` "-" is the standard input; no request may be later than `latest`. Throws UserError if it cannot
    /// be read.
    RequestReader(const std::string& path, Bytes burst, Bytes capacity, Cycles latest);

    /// Throws UserError with the first 20 mistakes of the rest of the file once it meets one.
    bool next(MemoryRequest& request) override;

private:
    bool next_line(std::string_view& line);
    void fill();
    [[noreturn]] void refuse_long_line();
    bool parse(std::string_view line, MemoryRequest& request);
    bool read_clock(std::string_view word, Cycles& clock);
    bool read_address(std::string_view word, std::int64_t& address);
    bool complain(const char* at, std::string message);
    [[noreturn]] void fail();

    const std::string name_;
    const std::int64_t burst_, capacity_, latest_;
    PackedFile file_;
    std::vector<char> buffer_;
    std::size_t begin_ = 0, end_ = 0;  // of what is read and not yet consumed
    bool at_end_ = false;
    std::int64_t line_ = 0;
    const char* line_begin_ = nullptr;
    std::vector<Diagnostic> mistakes_;
};

}  // namespace systole
