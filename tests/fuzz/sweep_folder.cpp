// SPDX-License-Identifier: Apache-2.0
// What lies in the folder of a sweep: a manifest, the file that says what belongs together, results and
// failures of points.
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>

#include "sim/account/output_files.h"
#include "sim/sweep/folder.h"
#include "sim/sweep/merge.h"
#include "sim/sweep/sqlite_table.h"
#include "tests/fuzz/fuzz_target.h"

namespace systole::fuzz {
namespace {

namespace fs = std::filesystem;

constexpr const char* kId = "0123456789abcdef";

/// A folder that goes with the program.
class Place {
public:
    Place() {
        std::string name = (fs::temp_directory_path() / "systole-fuzz-XXXXXX").string();
        if (!mkdtemp(name.data())) throw std::runtime_error("no temporary directory");
        path_ = name;
    }
    ~Place() { fs::remove_all(path_); }
    const fs::path& path() const { return path_; }

private:
    fs::path path_;
};

sweep::Folder make_folder(const fs::path& path) {
    sweep::Manifest manifest({"mxu.rows", "area"});
    manifest.add({kId, "tpu_v4", "resnet50", {"128", "16384"}});
    manifest.add({std::string(kId).replace(0, 1, "f"), "tpu_v4", "resnet50", {"64", "4096"}});
    return sweep::Folder::create(path, {"systole 1", "build", "experiment: x\n", path, 10, false}, manifest);
}

void read_manifest(const std::string& input) {
    const sweep::Manifest manifest = sweep::Manifest::parse(input, "manifest.csv");
    for (std::size_t i = 0; i < manifest.size(); ++i) manifest.settings(manifest.point(i));
}

/// `input` as the result of the first point, and as the reason why the second failed.
void read_results(const std::string& input) {
    static const Place place;
    static const sweep::Folder folder = make_folder(place.path());
    const std::string second = std::string(kId).replace(0, 1, "f");
    for (const fs::path& file : {fs::path("points/01") / fmt::format("{}.json", kId),
                                 fs::path("failed") / fmt::format("{}.json", second)}) {
        fs::create_directories((place.path() / file).parent_path());
        write_file(place.path() / file, input);
    }
    sweep::Simulator simulator;
    simulator.metrics = {{"time_ns", true, false}, {"bound_by", false, false}};
    sweep::Experiment experiment;
    const sweep::MergedTable table = sweep::merge(folder, experiment, simulator);
    sweep::to_csv(table);
    if (table.rows.size() != 2) throw std::logic_error("points that are neither done nor missing");
}

void open_folder(const std::string& input) {
    static const Place place;
    static const sweep::Folder made = make_folder(place.path());
    write_file(place.path() / "sweep.json", input);
    sweep::Folder::open(place.path());
}

}  // namespace

void read_input(const std::string& input) {
    for (const auto read : {read_manifest, read_results, open_folder}) {
        try {
            read(input);
        } catch (const UserError&) {
        }
    }
}

const std::vector<std::string_view>& words() {
    static const std::vector<std::string_view> pieces{"id,device,trace,",
                                                      "0123456789abcdef,",
                                                      "tpu_v4:mxu.rows",
                                                      "\"",
                                                      "\n",
                                                      "\r\n",
                                                      ",",
                                                      "{\"id\": \"0123456789abcdef\"",
                                                      "\"status\": \"done\"",
                                                      "\"status\": \"refused\"",
                                                      "\"error\": \"no\"",
                                                      "\"figures\": {\"time_ns\": \"1e999\"}",
                                                      "\"wall_s\": 1",
                                                      "\"reason\": \"x\"",
                                                      "\"schema\": 1",
                                                      "\"chunk_points\": 0",
                                                      "null",
                                                      "[[[[",
                                                      "\"nan\"",
                                                      "\xff",
                                                      "{}"};
    return pieces;
}

}  // namespace systole::fuzz
