// SPDX-License-Identifier: Apache-2.0
// The shipped configurations and traces, found by name. A reference on the command line or in `extends:` is a
// file if it looks like one, and otherwise a name on a shelf of the data directory.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "sim/config/config.h"

namespace systole::app {

enum class Shelf { Devices, Traces, Memories, Energies, Models, Experiments, Costs, Lessons };

struct Item {
    std::string name;   ///< "resnet50"
    std::string group;  ///< traces and experiments: the folder, "cnn"; otherwise empty
    std::filesystem::path file;
};

class Library {
public:
    /// The data directory: $SYSTOLE_HOME, or <prefix>/share/systole of the installed program, wherever its
    /// prefix has been moved to, or the sources of a program in its build tree. Throws UserError for a wrong
    /// $SYSTOLE_HOME; where there is none at all, only names cannot be found.
    static Library find();
    /// Everything on a shelf, by name. Throws UserError when there is no data directory.
    std::vector<Item> items(Shelf shelf) const;
    /// The file that `reference` means: itself if it contains '/', ends in ".yaml" or exists; else the item
    /// of that name. Throws UserError with did-you-mean.
    std::filesystem::path resolve(Shelf shelf, const std::string& reference) const;
    /// Finds what `extends:` and `preset:` name: a file relative to the document that says so, or an item of
    /// the shelves of devices, memories, energies and costs.
    config::Config::Resolver resolver() const;
    /// The page template `name` ("report"), whole. Throws UserError when there is none.
    std::string page(const std::string& name) const;

private:
    explicit Library(std::filesystem::path root) : root_(std::move(root)) {}

    std::filesystem::path root_;  ///< empty: none was found
};

}  // namespace systole::app
