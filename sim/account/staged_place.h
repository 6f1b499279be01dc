// SPDX-License-Identifier: Apache-2.0
// The place of a file under construction: a temporary name beside its target, which it takes only when it is
// complete, so that a reader never sees half a file.
#pragma once

#include <cstdio>
#include <filesystem>
#include <string_view>

namespace systole {

class StagedPlace {
public:
    /// Throws UserError if `target` names no file, or if something that is not a plain file is there.
    explicit StagedPlace(std::filesystem::path target);
    StagedPlace(StagedPlace&& other) noexcept;
    StagedPlace(const StagedPlace&) = delete;
    StagedPlace& operator=(const StagedPlace&) = delete;
    StagedPlace& operator=(StagedPlace&&) = delete;
    /// Removes the temporary file, unless it was moved to its target.
    ~StagedPlace();

    const std::filesystem::path& target() const { return target_; }
    /// Hidden, and of this process: two runs into one directory do not meet.
    const std::filesystem::path& temporary() const { return temporary_; }
    /// The temporary file is complete: it becomes the target, in place of what was there. Throws UserError.
    void commit();
    /// Throws UserError: the target cannot be written, because of the error number `error`.
    [[noreturn]] void fail(int error) const;

private:
    std::filesystem::path target_, temporary_;  // the latter empty: nothing to remove
};

/// A stream into such a place.
class StagedFile {
public:
    /// Throws UserError if it cannot be made.
    explicit StagedFile(std::filesystem::path target);
    StagedFile(const StagedFile&) = delete;
    StagedFile& operator=(const StagedFile&) = delete;
    ~StagedFile();

    /// Each throws UserError when it cannot: a full disk is noticed in either.
    void write(std::string_view bytes);
    void close();
    /// After close().
    void commit() { place_.commit(); }

private:
    StagedPlace place_;
    std::FILE* stream_;
};

}  // namespace systole
