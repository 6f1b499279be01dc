// SPDX-License-Identifier: Apache-2.0
// The numbers of documents' forms. Whatever Systole writes or reads states, or may state, `schema: N`; the
// number of a kind grows when a document that was right is read otherwise from then on, or no longer. What
// only adds keys keeps it. docs/formats.md tells the policy; here are the numbers, the keys that were
// renamed, and what is said of a document that this program does not read.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace systole {

/// One kind of document.
struct Schema {
    std::string_view name;   ///< "trace": messages say trace/1
    std::string_view renew;  ///< what to do about one that is not read: "make it again with 'systole lower'"
    int oldest = 1;          ///< the oldest number that is read
    int current = 1;         ///< the newest, and the one that is written
};

inline constexpr std::string_view kRewrite = "write it as docs/formats.md says";
inline constexpr std::string_view kRunAgain = "make it again with this one";

inline constexpr Schema kDeviceSchema{"device", kRewrite};
inline constexpr Schema kMemorySchema{"memory", kRewrite};
inline constexpr Schema kEnergySchema{"energy", kRewrite};
inline constexpr Schema kCostSchema{"cost", kRewrite};
inline constexpr Schema kTraceSchema{"trace", kRewrite};
inline constexpr Schema kExperimentSchema{"experiment", kRewrite};
inline constexpr Schema kLessonSchema{"lesson", kRewrite};
inline constexpr Schema kMappingSchema{"mapping", kRunAgain};
inline constexpr Schema kProgramSchema{"program", "make it again with 'systole lower'", 2, 2};
inline constexpr Schema kResultSchema{"result", kRunAgain};
inline constexpr Schema kSweepSchema{"sweep", "begin another folder with this one"};
inline constexpr Schema kDramSchema{"dram", kRunAgain};

/// "" for a number that this program reads; otherwise one sentence with what it reads and what to do.
std::string schema_complaint(const Schema& schema, std::int64_t stated);

/// A key that had another name in documents before `since`.
struct Rename {
    std::string_view schema;  ///< the kind: "device"
    int since;                ///< the number from which on it is called `to`
    std::string_view from;    ///< its path, without the places in lists: "mxu.speed", "layers.kernel"
    std::string_view to;
};

/// All renamed keys of all kinds, the only table of them.
std::span<const Rename> renamed_keys();

}  // namespace systole
