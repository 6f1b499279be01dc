// SPDX-License-Identifier: Apache-2.0
// The folder of a sweep: the experiment as it was planned, the manifest, a result for each finished point,
// and why others failed. Every file appears complete or not at all; what is there is the only truth.
//
//     experiment.yaml  a copy                    points/ab/ab….json  results, by the id's first digits
//     manifest.csv     the points                failed/ab….json     why the last try of a point failed
//     sweep.json       what belongs together     points.csv, points.sqlite, front.csv  merged
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/sweep/manifest.h"

namespace systole::sweep {

/// What a folder is of.
struct FolderIdentity {
    std::string program;              ///< "systole 0.1.0"
    std::string build;                ///< which build of it: a digest of the program's file
    std::string experiment;           ///< the file's text
    std::filesystem::path directory;  ///< that relative names of devices and traces are relative to
    std::size_t chunk_points = 0;     ///< of a task of a cluster
    bool chunks_are_fixed = false;    ///< somebody was told their numbers
};

/// A finished point: it ran, or its device refuses what it says.
struct PointResult {
    std::string id;
    bool refused = false;
    std::string error;            ///< of a refused one
    std::vector<Metric> figures;  ///< of one that ran
    double wall_s = 0;            ///< not merged: it is another one each time
};

class Folder {
public:
    /// Opens the folder of a sweep. Throws UserError if it is none, or not as it was written.
    static Folder open(const std::filesystem::path& path);
    /// Throws UserError if `path` holds another sweep or anything else than what create() would write.
    static void refuse_other(const std::filesystem::path& path, const FolderIdentity& identity,
                             const Manifest& manifest);
    /// Makes `path` the folder of this sweep; one that is it already stays as it is. Throws UserError as
    /// refuse_other() does, and where nothing can be written.
    static Folder create(const std::filesystem::path& path, const FolderIdentity& identity,
                         const Manifest& manifest);
    /// Fixes the size of chunks: numbers of chunks that somebody was told must not mean other points later.
    /// Throws UserError if it is fixed already, and another one.
    void fix_chunk_points(std::size_t points);

    const std::filesystem::path& path() const { return path_; }
    const FolderIdentity& identity() const { return identity_; }
    const Manifest& manifest() const { return manifest_; }

    /// Ids of points that have a result, sorted.
    std::vector<std::string> finished() const;
    /// Whether a result was written, or changed by somebody, after `time`.
    bool results_after(std::filesystem::file_time_type time) const;
    /// A point's result; nothing if there is none or it is broken (a disk that lost power), and then it is
    /// removed so that the point runs again. Throws UserError if one is there and cannot be read.
    std::optional<PointResult> result(std::string_view id) const;
    /// Throws UserError, without names, where it cannot.
    void write(const PointResult& result) const;

    /// Why points failed, by id; those that were finished since are left out by the caller.
    std::map<std::string, std::string> failures() const;
    /// "": it has not failed, after all.
    void write_failure(std::string_view id, const std::string& reason) const;

    /// Removes temporary files that nobody writes any more: older than ten minutes.
    void sweep_up() const;
    /// Removes what a process that was killed while it wrote a point's result left of it. Nobody else
    /// simulates the point.
    void sweep_up(std::string_view id) const;

private:
    Folder(std::filesystem::path path, FolderIdentity identity, Manifest manifest);
    std::filesystem::path place(std::string_view id) const;
    std::vector<std::filesystem::path> result_files() const;

    std::filesystem::path path_;
    FolderIdentity identity_;
    Manifest manifest_;
};

}  // namespace systole::sweep
