// SPDX-License-Identifier: Apache-2.0
// Over a thousand small models that the ONNX project tests runtimes with (Debian's libonnx-testdata), and
// mutations of them: each is a trace that the reader takes, or an error in words; never a crash, never a
// hang.
#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <sstream>

#include "sim/workload/importers/onnx/onnx_import.h"
#include "tests/unit/workload/graphs.h"

using namespace systole;

namespace {

namespace fs = std::filesystem;

std::vector<fs::path> models() {
    std::vector<fs::path> found;
    std::error_code missing;
    for (const auto& entry : fs::recursive_directory_iterator("/usr/share/libonnx-testdata", missing))
        if (entry.path().extension() == ".onnx") found.push_back(entry.path());
    std::ranges::sort(found);
    return found;
}

std::string bytes_of(const fs::path& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

/// Imports; a trace must be one that the reader takes, unless sizes are beyond what it takes.
bool import(const std::string& bytes, std::string& why) {
    std::istringstream in(bytes);
    try {
        const Imported imported = import_onnx(in, "model.onnx", {});
        CHECK(!imported.notes.empty());
        try {
            test::graph_of(imported.trace);
        } catch (const UserError& error) {
            why = error.what() + std::string("\n") + imported.trace;
            return false;
        }
        return true;
    } catch (const UserError& error) {
        why = error.what();
        CHECK_THAT(why, Catch::StartsWith("model.onnx: error: "));
        return false;
    }
}

}  // namespace

TEST_CASE("every model of the ONNX project is a trace or an error in words") {
    if (!reads_onnx() || models().empty()) {
        WARN("skipped: libonnx-testdata is not installed");
        return;
    }
    std::size_t traces = 0;
    for (const fs::path& file : models()) {
        INFO(file.string());
        std::string why;
        if (import(bytes_of(file), why))
            ++traces;
        else
            CHECK_THAT(why, Catch::StartsWith("model.onnx: error: "));
    }
    WARN(traces << " of " << models().size() << " are traces");
    CHECK(traces > models().size() / 3);
}

TEST_CASE("mutations of models and bytes at random are read or refused, never worse") {
    const std::vector<fs::path> all = reads_onnx() ? models() : std::vector<fs::path>{};
    const auto seed = GENERATE(range(1, 9));
    INFO("seed " << seed);
    std::mt19937_64 random(static_cast<std::uint64_t>(seed));
    const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(500);
    for (int turn = 0; turn < 400 && std::chrono::steady_clock::now() < until; ++turn) {
        INFO("turn " << turn);
        std::string bytes(random() % 300, '\0');
        if (!all.empty()) bytes = bytes_of(all[random() % all.size()]);
        if (all.empty() || random() % 20 == 0)
            for (char& byte : bytes) byte = static_cast<char>(random());
        if (bytes.empty() || bytes.size() > 20'000) continue;
        for (std::uint64_t change = random() % 4 + 1; change > 0; --change) {
            const std::size_t at = random() % bytes.size();
            if (random() % 3 == 0)
                bytes.erase(at, random() % 8);
            else
                bytes[at] = static_cast<char>(random() % 2 == 0 ? random() : bytes[at] ^ (1 << random() % 8));
            if (bytes.empty()) bytes = "x";
        }
        if (random() % 6 == 0) bytes.resize(random() % bytes.size());
        std::string why;
        import(bytes, why);
    }
}
