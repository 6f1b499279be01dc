// SPDX-License-Identifier: Apache-2.0
// The bytes of a file that may be gzipped, in one member or in several behind each other. Unlike zlib's own
// reader it does not pass over what follows the last member: that would lose requests without a word.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

struct z_stream_s;  // zlib's

namespace systole {

class PackedFile {
public:
    /// `path` "-" is the standard input; `name` is what messages call it. Throws UserError if it cannot be
    /// opened.
    PackedFile(const std::string& path, std::string name);
    ~PackedFile();
    PackedFile(const PackedFile&) = delete;
    PackedFile& operator=(const PackedFile&) = delete;

    /// Up to `size` bytes to `to`, at least one unless the file ends; 0 at its end, also where it is no
    /// longer what it should be (fault()). Throws UserError if it cannot be read.
    std::size_t read(char* to, std::size_t size);
    /// What is wrong with the gzip file from here on, or "".
    const std::string& fault() const { return fault_; }

private:
    enum class State : unsigned char {
        Begin,    ///< it is not known yet whether this is a gzip file
        Plain,    ///< it is not
        Member,   ///< within a member
        Between,  ///< behind one
        End       ///< of the file, or of what can be read of it
    };
    void read_raw(std::size_t least);
    bool at_member() const;
    void begin();
    void go_on();
    std::size_t read_plain(char* to, std::size_t size);
    std::size_t inflate(char* to, std::size_t size);
    void stop(std::string fault);

    const std::string name_;
    int descriptor_;
    std::vector<unsigned char> raw_;
    std::size_t begin_ = 0, end_ = 0;  // of what is read and not yet unpacked
    State state_ = State::Begin;
    std::unique_ptr<z_stream_s> stream_;
    std::string fault_;
};

}  // namespace systole
