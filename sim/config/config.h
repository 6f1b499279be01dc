// SPDX-License-Identifier: Apache-2.0
// A device's configuration: a tree of leaves, each with its text, its place, and where its value comes from.
// Built from a preset file (`extends:` another), then overridden by --set. Specs are read out of it through
// Section's typed getters, which check units and ranges, collect every mistake, and remember what was read,
// so that unknown keys are found and the effective configuration can be written beside every result.
//
// In a file a leaf is written plainly (`rows: 128`) or with its origin:
//     clock: {value: 1050 MHz, sourced: "Jouppi 2023, table 4"}
//     latency: {value: 40, assumed: "typical SRAM pipeline", range: 20..80}
//     rate: {value: 0.9, calibrated: "...", range: 0.8..1.0}      only below `calibrated:`
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/base/error.h"
#include "sim/base/units.h"
#include "sim/config/quantity.h"
#include "sim/config/survey.h"
#include "sim/config/yaml.h"

namespace systole::config {

/// How a value came to be what it is.
enum class Origin {
    Sourced,      ///< published: `note` says where
    Derived,      ///< computed from published values: `note` says how
    Assumed,      ///< nobody published it: `note` gives the reason, `range` the plausible values
    Calibrated,   ///< fitted to measurements: `note` says which, `range` the plausible values
    Plain,        ///< written in a file without an origin
    CommandLine,  ///< --set
    Default       ///< the reader's default, because no file gives the key
};
std::string_view to_string(Origin origin);

/// The key that gives this origin in a leaf map ("sourced", "set", "default"); "" for Plain, which has none.
std::string_view key_of(Origin origin);

/// One value of the effective configuration.
struct Entry {
    std::string path;   ///< "mxu.rows"
    std::string value;  ///< as written: "1050 MHz"; of a list: "[row, bank]"
    Origin origin = Origin::Plain;
    std::string note;
    std::string range;
    SourceMark where;
    std::string meaning;  ///< one sentence, from the reader that consumed the key; empty if none did
    std::string limits =
        {};  ///< likewise, what it takes: "1..4096", "0 ps or more", "on, off"; empty for any text
};

/// Limits of an integer key, inclusive.
struct Limits {
    std::int64_t low = 1;
    std::int64_t high = std::numeric_limits<std::int64_t>::max();
};

class Config;

/// A view on the keys below one path. Every getter takes the key, one sentence that says what the value is
/// (shown by `systole show device`), and optionally a fallback; without a fallback a missing key is an error.
/// On a mistake a getter records it and returns the fallback or the lowest legal value, so reading goes on;
/// the caller must call Config::finish() before it uses what it read.
class Section {
public:
    std::int64_t count(std::string_view key, std::string_view meaning, Limits limits,
                       std::optional<std::int64_t> fallback = {});
    /// "940 MHz", "1.05 GHz", "1600 kHz"; a whole number of hertz, from 1 MHz, slower than which nothing is
    /// that is simulated, to an edge a picosecond.
    Hertz clock(std::string_view key, std::string_view meaning, std::optional<Hertz> fallback = {},
                Hertz fastest = Hertz(kTicksPerSecond));
    /// "24 MiB", "64 KiB", "8 GB", "512 B"; whole bytes. GB is 10^9, GiB 2^30.
    Bytes bytes(std::string_view key, std::string_view meaning, Limits limits = {},
                std::optional<Bytes> fallback = {});
    /// "900 GB/s", "14 GiB/s".
    BytesPerSecond bandwidth(std::string_view key, std::string_view meaning,
                             std::optional<BytesPerSecond> fallback = {});
    /// "700 ns", "1.5 us", "0 s"; whole picoseconds, zero allowed.
    Ticks time(std::string_view key, std::string_view meaning, std::optional<Ticks> fallback = {});
    /// "909 pJ", "1.5 nJ"; whole femtojoules, zero allowed, less than a millijoule.
    Femtojoules energy(std::string_view key, std::string_view meaning,
                       std::optional<Femtojoules> fallback = {});
    /// "33 mW", "1.5 W"; whole milliwatts, zero allowed, less than a megawatt.
    Milliwatts power(std::string_view key, std::string_view meaning, std::optional<Milliwatts> fallback = {});
    /// "30000 USD", in dollars; more than zero, to a millionth, as the other prices.
    double usd(std::string_view key, std::string_view meaning);
    /// "3.22 USD/h".
    double usd_per_hour(std::string_view key, std::string_view meaning);
    /// "0.08 USD/kWh".
    double usd_per_kwh(std::string_view key, std::string_view meaning);
    /// "4 years"; more than zero, to a thousandth.
    double years(std::string_view key, std::string_view meaning);
    /// A plain decimal number within [low, high] ("0.8", "12").
    double number(std::string_view key, std::string_view meaning, double low, double high,
                  std::optional<double> fallback = {});
    /// "on"/"off", "true"/"false", "yes"/"no".
    bool flag(std::string_view key, std::string_view meaning, std::optional<bool> fallback = {});
    /// Any text.
    std::string text(std::string_view key, std::string_view meaning,
                     const std::optional<std::string>& fallback = {});
    /// One of `names`; answers its index. An unknown name is an error that lists them.
    std::size_t choice(std::string_view key, std::string_view meaning, const std::vector<std::string>& names,
                       std::optional<std::size_t> fallback = {});
    /// A list of plain values, `[row, bank]`; on the command line `row,bank`. May be empty.
    std::vector<std::string> list(std::string_view key, std::string_view meaning,
                                  std::optional<std::vector<std::string>> fallback = {});
    /// The keys directly below this section that the files give, in file order (for tables such as
    /// `mxu.rate: {bf16: 1, int8: 2}`); reading each through a getter is still needed.
    std::vector<std::string> keys() const;
    /// Whether the files or --set give `key`, as a value or as a map.
    bool has(std::string_view key) const;
    /// Whether --set gives `key`, as a value.
    bool is_set(std::string_view key) const;
    /// Whether a nearer document gives `key` than `other`, or --set does: not who wrote the other.
    bool is_nearer(std::string_view key, std::string_view other) const;
    Section section(std::string_view key) const;
    const std::string& path() const { return path_; }
    /// Records a mistake at `key` (a cross-check between values, say), at the place where its value was
    /// written.
    void fail(std::string_view key, std::string message);
    /// fail() of a key that must not stand here at all: no getter asks for it, and finish() does not call it
    /// unknown besides.
    void refuse(std::string_view key, std::string message);

private:
    friend class Config;
    Section(Config& config, std::string path) : config_(&config), path_(std::move(path)) {}
    std::string path_of(std::string_view key) const;
    /// The way of every getter of one value: find or default it, `parse` its text, check its range, complain.
    /// Of `asked`, path and fallback are filled in here.
    template <class T, class Parse, class Write>
    T read(std::string_view key, Question asked, const std::optional<T>& fallback, T lowest, Parse parse,
           Write write);

    std::int64_t quantity(std::string_view key, std::string_view meaning, Dimension kind, Limits limits,
                          std::optional<std::int64_t> fallback);

    Config* config_;
    std::string path_;
};

class Config {
public:
    /// Finds the YAML document that `extends: NAME` or `memory: {preset: NAME}` names; throws UserError at
    /// `where` when there is none.
    using Resolver = std::function<YamlNode(const std::string& name, const SourceMark& where)>;

    /// Flattens `document` over the presets it extends (nearest wins). A map under any path may hold
    /// `preset: NAME`: its keys then come from that document, overridden by the map's own; what documents
    /// farther away gave below that path is dropped. Consumed here: `extends` and the title (`device`, or
    /// `memory`, `energy` or `cost` where they are text) at the root, and `preset`. Throws a UserError if the
    /// document is no map, if documents extend each other in a circle, or if there are more than 64; other
    /// mistakes wait for finish().
    static Config from_document(const YamlNode& document, const Resolver& resolve);

    /// --set PATH=VALUE. The path need not be present in the files (a key with a default may be set), but one
    /// that no reader consumes is reported by finish(), with did-you-mean. PATH.preset=NAME puts another
    /// document in the place of everything below PATH, what was set there before included; it throws a
    /// UserError if there is no such document.
    void set(const std::string& path, const std::string& value);

    /// From now on, what readers ask is told to `survey`, which must outlive the reading; what it assumes to
    /// be there counts as given (Section::has).
    void tell(Survey& survey) { survey_ = &survey; }

    /// The whole configuration. Sections point to this object: it must neither move nor end before they do.
    Section root() { return Section(*this, ""); }
    const std::string& title() const { return title_; }

    /// Throws a UserError with everything collected, in order of place: mistakes of the documents, getters'
    /// complaints, and keys nobody read. Call it once all specs were read.
    void finish();

    /// Every value that was read, in order of reading; after finish().
    std::vector<Entry> effective() const;
    /// The effective configuration as a YAML document that loads again to the same values and origins.
    std::string effective_yaml() const;

private:
    friend class Section;
    class Flattener;

    struct Leaf {
        Entry entry;
        bool is_list = false;
        std::vector<std::string> items;  ///< of a list; entry.value is then their text
        bool is_broken = false;          ///< written without a usable value; the complaint is made
        bool was_read = false;
        std::size_t order = 0;  ///< among the keys, by first appearance
        std::size_t depth = 0;  ///< documents from the outermost to the one that gives it; 0: --set
    };
    /// Paths sort so that everything below "a" lies from "a." to "a/", which follows '.' in ASCII.
    using Leaves = std::map<std::string, Leaf, std::less<>>;
    std::pair<Leaves::const_iterator, Leaves::const_iterator> below(std::string_view path) const;

    void complain(SourceMark where, std::string message) {
        problems_.push_back({std::move(where), std::move(message)});
    }
    /// Why no leaf can stand at `path`: a map stands there, or a leaf where a map would be needed. "" if one
    /// can.
    std::string obstacle(const std::string& path) const;
    /// set() of `preset` in the map `path`.
    void set_preset(const std::string& path, const std::string& name, const SourceMark& mark);
    /// Adds or replaces a leaf; a complaint if a map stands where it must go or the other way round.
    void put(Leaf leaf);
    /// Where `path` was written, or the nearest map above it.
    SourceMark where(std::string_view path) const;
    /// The leaf that a reader asks for; null if there is none, with a complaint unless `optional`.
    Leaf* consume(const std::string& path, std::string_view meaning, bool optional);
    /// Adds the reader's default as a leaf of its own.
    void add_default(const Question& asked, Leaf leaf);

    /// Complains about the leaves that no reader asked for.
    void find_unread();

    Resolver resolve_;
    Survey* survey_ = nullptr;  ///< null: nobody wants to know
    std::string title_key_ = "device";
    std::string title_;
    Leaves leaves_;
    std::size_t next_order_ = 0;
    std::map<std::string, SourceMark, std::less<>> maps_;  ///< path -> where the nearest document writes it
    std::vector<std::string> read_paths_;  ///< in order of reading; also those that were missing
    std::vector<Diagnostic> problems_;
    std::set<std::string, std::less<>> failed_;  ///< paths complained about: one mistake, one line
};

}  // namespace systole::config
