// SPDX-License-Identifier: Apache-2.0
#include "sim/app/library.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <tuple>

#include "sim/app/files.h"
#include "sim/app/import_file.h"
#include "sim/base/error.h"

namespace systole::app {
namespace {

namespace fs = std::filesystem;

constexpr const char* kHomeVariable = "SYSTOLE_HOME";
/// Beside a program in its build tree: a link to the sources, which the build makes.
constexpr const char* kHomeLink = "systole-home";

bool is_data_directory(const fs::path& directory) {
    std::error_code ignored;  // then it is none
    return fs::is_directory(directory / "configs" / "devices", ignored);
}

std::string kind_of(Shelf shelf) {
    switch (shelf) {
        case Shelf::Devices:
            return "device";
        case Shelf::Traces:
            return "trace";
        case Shelf::Memories:
            return "memory";
        case Shelf::Energies:
            return "table of energies";
        case Shelf::Models:
            return "model";
        case Shelf::Experiments:
            return "experiment";
        case Shelf::Costs:
            return "cost";
        case Shelf::Lessons:
            return "lesson";
    }
    return "";
}

/// As `systole list` calls it.
std::string plural_of(Shelf shelf) {
    if (shelf == Shelf::Energies) return "energies";
    return shelf == Shelf::Memories ? "memories" : kind_of(shelf) + 's';
}

fs::path folder_of(Shelf shelf) {
    switch (shelf) {
        case Shelf::Devices:
            return "configs/devices";
        case Shelf::Traces:
            return "traces";
        case Shelf::Memories:
            return "configs/memory";
        case Shelf::Energies:
            return "configs/energy";
        case Shelf::Models:
            return "configs/models";
        case Shelf::Experiments:
            return "configs/experiments";
        case Shelf::Costs:
            return "configs/cost";
        case Shelf::Lessons:
            return "configs/lessons";
    }
    return "";
}

bool looks_like_file(const std::string& reference) {
    std::error_code ignored;
    return reference.find('/') != std::string::npos || reference.ends_with(".yaml") ||
           can_import(reference) || fs::is_regular_file(reference, ignored);
}

void add_files(const fs::path& folder, const std::string& group, const char* ending,
               std::vector<Item>& items) {
    std::error_code error;  // a shelf may be missing; it is then empty
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, error))
        if (entry.is_regular_file() && entry.path().extension() == ending)
            items.push_back({entry.path().stem().string(), group, entry.path()});
}

/// The items called `name`; two traces in different groups may share one.
std::vector<Item> named(const std::vector<Item>& items, const std::string& name) {
    std::vector<Item> found;
    std::copy_if(items.begin(), items.end(), std::back_inserter(found),
                 [&](const Item& item) { return item.name == name; });
    return found;
}

std::vector<std::string> names_of(const std::vector<Item>& items) {
    std::vector<std::string> names;
    for (const Item& item : items) names.push_back(item.name);
    return names;
}

}  // namespace

Library Library::find() {
    if (const char* home = std::getenv(kHomeVariable)) {
        if (!is_data_directory(home))
            throw UserError(
                fmt::format("{}={}: there is no directory configs/devices in it", kHomeVariable, home));
        return Library(home);
    }
    std::error_code ignored;  // then none is found
    const fs::path here = fs::read_symlink("/proc/self/exe", ignored).parent_path();
    for (const char* const data : {SYSTOLE_DATA_FROM_PROGRAM, kHomeLink})
        if (is_data_directory(here / data)) return Library(fs::canonical(here / data, ignored));
    return Library(fs::path());
}

std::vector<Item> Library::items(Shelf shelf) const {
    if (root_.empty())
        throw UserError(
            fmt::format("found no presets where the program is (in '{}'); set {} to the directory that holds "
                        "configs/ and traces/",
                        SYSTOLE_DATA_FROM_PROGRAM, kHomeVariable));
    std::vector<Item> items;
    const fs::path folder = root_ / folder_of(shelf);
    std::error_code error;
    if (shelf != Shelf::Traces) add_files(folder, "", shelf == Shelf::Models ? ".json" : ".yaml", items);
    if (shelf == Shelf::Traces || shelf == Shelf::Experiments)
        for (const fs::directory_entry& group : fs::directory_iterator(folder, error))
            if (group.is_directory())
                add_files(group.path(), group.path().filename().string(), ".yaml", items);
    std::sort(items.begin(), items.end(), [](const Item& a, const Item& b) {
        return std::tie(a.name, a.group) < std::tie(b.name, b.group);
    });
    return items;
}

fs::path Library::resolve(Shelf shelf, const std::string& reference) const {
    if (looks_like_file(reference)) return reference;
    const std::vector<Item> all = items(shelf);
    const std::vector<Item> found = named(all, reference);
    if (found.size() > 1)
        throw UserError(fmt::format("'{}' is ambiguous: {} and {}; give the file", reference,
                                    found[0].file.string(), found[1].file.string()));
    if (found.empty())
        throw UserError(fmt::format("there is no {} '{}'{}; 'systole list {}' shows what there is",
                                    kind_of(shelf), reference, did_you_mean(reference, names_of(all)),
                                    plural_of(shelf)));
    return found[0].file;
}

config::Config::Resolver Library::resolver() const {
    return [library = *this](const std::string& name, const SourceMark& where) {
        if (name.find('/') != std::string::npos || name.ends_with(".yaml")) {
            fs::path file = fs::path(where.file).parent_path() / name;
            // "./b.yaml" and "../round/b.yaml" are b.yaml: what is read twice is known by its name. (Not
            // where a link on the way makes them something else.)
            const fs::path normal = file.lexically_normal();
            if (std::error_code ignored; fs::equivalent(file, normal, ignored)) file = normal;
            if (std::error_code ignored; !fs::exists(file, ignored))
                throw UserError(where, fmt::format("there is no file '{}'", file.string()));
            return config::load_yaml(file);
        }
        std::vector<Item> all = library.items(Shelf::Devices);
        for (const Shelf shelf : {Shelf::Memories, Shelf::Energies, Shelf::Costs}) {
            const std::vector<Item> more = library.items(shelf);
            all.insert(all.end(), more.begin(), more.end());
        }
        const std::vector<Item> found = named(all, name);
        if (found.empty())
            throw UserError(
                where, fmt::format("there is no preset '{}'{}", name, did_you_mean(name, names_of(all))));
        if (found.size() > 1)
            throw UserError(where, fmt::format("'{}' is both {} and {}", name, found[0].file.string(),
                                               found[1].file.string()));
        return config::load_yaml(found[0].file);
    };
}

std::string Library::page(const std::string& name) const {
    constexpr std::size_t kLimit = std::size_t{64} << 20;  // bytes
    const fs::path file = root_ / "tools/web/dist" / (name + ".html");
    if (std::error_code ignored; root_.empty() || !fs::exists(file, ignored))
        throw UserError(
            "there is no page to put results into; SYSTOLE_HOME names the folder with tools/web/dist");
    return read_text(file.string(), kLimit);
}

}  // namespace systole::app
