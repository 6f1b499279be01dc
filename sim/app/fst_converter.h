// SPDX-License-Identifier: Apache-2.0
// GTKWave's compressed format (.fst), written by its own converter vcd2fst, which reads the dump from a pipe
// while it is made: no VCD ever lies on the disk.
#pragma once

#include <filesystem>
#include <string_view>

#include "sim/account/staged_place.h"

namespace systole::app {

class FstConverter {
public:
    /// Throws UserError that names the package if vcd2fst is not there.
    static void require();

    /// Starts vcd2fst; the result will be at `target`. Throws UserError if it cannot start.
    explicit FstConverter(std::filesystem::path target);
    FstConverter(const FstConverter&) = delete;
    FstConverter& operator=(const FstConverter&) = delete;
    /// Stops it, if it still runs, and leaves nothing behind.
    ~FstConverter();

    /// Each throws UserError if vcd2fst has failed.
    void write(std::string_view vcd);
    void close();
    /// After close().
    void commit() { place_.commit(); }

private:
    [[noreturn]] void fail(const std::string& what) const;
    void close_pipe();

    StagedPlace place_;
    int pipe_ = -1;
    int process_ = -1;
};

}  // namespace systole::app
