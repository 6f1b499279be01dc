// SPDX-License-Identifier: Apache-2.0
#include "sim/account/output_files.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <csignal>
#include <fstream>
#include <sstream>

#include "sim/account/staged_place.h"
#include "sim/base/error.h"

namespace systole {
namespace {

namespace fs = std::filesystem;

/// An empty directory that goes with the test.
class Folder {
public:
    Folder() {
        std::string name = (fs::temp_directory_path() / "systole-XXXXXX").string();
        path_ = ::mkdtemp(name.data());
    }
    ~Folder() { fs::remove_all(path_); }
    const fs::path& path() const { return path_; }

    std::vector<std::string> names() const {
        std::vector<std::string> names;
        for (const auto& entry : fs::directory_iterator(path_))
            names.push_back(entry.path().filename().string());
        std::sort(names.begin(), names.end());
        return names;
    }

private:
    fs::path path_;
};

std::string content(const fs::path& path) {
    std::ifstream stream(path, std::ios::binary);
    return (std::ostringstream() << stream.rdbuf()).str();
}

template <class Action>
std::string error_of(Action action) {
    try {
        action();
    } catch (const UserError& error) {
        return error.what();
    }
    return "";
}

/// No file may grow beyond `bytes` while this lives: a full disk in small.
class FileSizeLimit {
public:
    explicit FileSizeLimit(rlim_t bytes) {
        handler_ = std::signal(SIGXFSZ, SIG_IGN);
        ::getrlimit(RLIMIT_FSIZE, &before_);
        const rlimit limit{bytes, before_.rlim_max};
        ::setrlimit(RLIMIT_FSIZE, &limit);
    }
    ~FileSizeLimit() {
        ::setrlimit(RLIMIT_FSIZE, &before_);
        std::signal(SIGXFSZ, handler_);
    }

private:
    rlimit before_{};
    void (*handler_)(int);
};

}  // namespace

TEST_CASE("files are written into a directory that did not exist, and replaced, and nothing else is there") {
    const Folder folder;
    const fs::path out = folder.path() / "a" / "b";
    write_files(out, {{"result.json", "old"}, {"layers.csv", std::string("x\0y", 3)}});
    write_files(out, {{"result.json", "new"}});
    CHECK(content(out / "result.json") == "new");
    CHECK(content(out / "layers.csv") == std::string("x\0y", 3));
    CHECK(std::distance(fs::directory_iterator(out), fs::directory_iterator()) == 2);
}

TEST_CASE("a single file is written whole") {
    const Folder folder;
    write_file(folder.path() / "trace.json", "[]");
    CHECK(content(folder.path() / "trace.json") == "[]");
    CHECK(error_of([&] { write_file(folder.path() / "no" / "trace.json", "[]"); }) ==
          "systole: error: cannot write '" + (folder.path() / "no" / "trace.json").string() +
              "': No such file or directory");
}

TEST_CASE("a file whose name is as long as names may be is written, and no other is left") {
    const Folder folder;
    const std::string longest(static_cast<std::size_t>(::pathconf(folder.path().c_str(), _PC_NAME_MAX)), 'x');
    write_file(folder.path() / longest, "[]");
    CHECK(content(folder.path() / longest) == "[]");
    CHECK(folder.names() == std::vector<std::string>{longest});
}

TEST_CASE("a file in the place of the directory is named with the reason") {
    const Folder folder;
    write_file(folder.path() / "out", "");
    CHECK(error_of([&] {
              write_files(folder.path() / "out", {{"a", "1"}});
          }) == "systole: error: cannot write '" + (folder.path() / "out").string() + "': Not a directory");
    CHECK(error_of([&] {
              write_files(folder.path() / "out" / "sub", {{"a", "1"}});
          }).find("Not a directory") != std::string::npos);
}

TEST_CASE("a directory or a link in the place of a file stops everything before anything is replaced") {
    const Folder folder;
    write_files(folder.path(), {{"a", "old"}});
    fs::create_directory(folder.path() / "b");
    fs::create_symlink("/dev/null", folder.path() / "c");
    for (const std::string name : {"b", "c"}) {
        CHECK(error_of([&] {
                  write_files(folder.path(), {{"a", "new"}, {name, "1"}});
              }) == "systole: error: cannot write '" + (folder.path() / name).string() +
                        "': it exists and is not a regular file");
    }
    CHECK(content(folder.path() / "a") == "old");
    CHECK(folder.names() == std::vector<std::string>{"a", "b", "c"});
}

TEST_CASE("a disk that fills up leaves the old files and no temporary ones") {
    const Folder folder;
    write_files(folder.path(), {{"a", "old"}});
    std::string error;
    {
        const FileSizeLimit limit(1 << 16);
        error = error_of([&] {
            write_files(folder.path(), {{"a", "new"}, {"b", std::string(1 << 20, 'x')}});
        });
    }
    CHECK(error == "systole: error: cannot write '" + (folder.path() / "b").string() + "': File too large");
    CHECK(content(folder.path() / "a") == "old");
    CHECK(folder.names() == std::vector<std::string>{"a"});
}

TEST_CASE("a disk that fills up leaves no directory that was made for files, and those that were there") {
    const Folder folder;
    fs::create_directory(folder.path() / "empty");
    {
        const FileSizeLimit limit(1 << 16);
        for (const char* place : {"a/b/c", "a/", "empty", "empty/a"}) {
            INFO(place);
            CHECK(error_of([&] {
                      write_files(folder.path() / place, {{"x", std::string(1 << 20, 'x')}});
                  }) == "systole: error: cannot write '" + (folder.path() / place / "x").string() +
                            "': File too large");
        }
    }
    CHECK(folder.names() == std::vector<std::string>{"empty"});
    CHECK(fs::is_empty(folder.path() / "empty"));
    // A file in the way stays.
    write_files(folder.path() / "a" / "b", {{"kept", "1"}});
    CHECK_FALSE(error_of([&] {
                    write_files(folder.path() / "a" / "b" / "kept" / "c", {{"x", "1"}});
                }).empty());
    CHECK(content(folder.path() / "a" / "b" / "kept") == "1");
}

TEST_CASE("links that lead nowhere or round stay when no directory can be made of them") {
    const Folder folder;
    fs::create_symlink("missing", folder.path() / "nowhere");
    fs::create_symlink("round", folder.path() / "round");
    for (const char* place : {"nowhere", "nowhere/a", "round", "round/a"}) {
        INFO(place);
        CHECK_FALSE(error_of([&] { write_files(folder.path() / place, {{"x", "1"}}); }).empty());
        CHECK(folder.names() == std::vector<std::string>{"nowhere", "round"});
    }
}

TEST_CASE("a stream takes its place only when it is committed") {
    const Folder folder;
    write_file(folder.path() / "a", "old");
    {
        StagedFile dropped(folder.path() / "a");
        dropped.write("half");
    }
    CHECK(content(folder.path() / "a") == "old");
    StagedFile file(folder.path() / "a");
    file.write("new");
    file.write(" text");
    file.close();
    CHECK(content(folder.path() / "a") == "old");
    file.commit();
    CHECK(content(folder.path() / "a") == "new text");
    CHECK(folder.names() == std::vector<std::string>{"a"});
}

}  // namespace systole
