// SPDX-License-Identifier: Apache-2.0
// Whole command lines, in a folder of their own with the files that the input brings along. What is refused
// leaves the folder as it was. Its first line has the words; behind it, each "@NAME" on a line of its own
// begins a file. Commands that simulate have targets for what they read; here they get no further than their
// words.
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <stdexcept>

#include "sim/app/commands.h"
#include "sim/base/error.h"
#include "tests/fuzz/fuzz_target.h"

namespace systole::fuzz {
namespace {

namespace fs = std::filesystem;
using Files = std::map<std::string, std::string>;

constexpr std::size_t kMostFiles = 4, kMostName = 20;

/// A folder that is the current one and goes with the program; answers go nowhere.
class Place {
public:
    Place() {
        setenv("SYSTOLE_HOME", fs::current_path().c_str(), 1);
        std::string name = (fs::temp_directory_path() / "systole-fuzz-XXXXXX").string();
        if (!mkdtemp(name.data())) throw std::runtime_error("no temporary directory");
        path_ = name;
        fs::current_path(path_);
        if (!std::freopen("/dev/null", "r", stdin) || !std::freopen("/dev/null", "w", stdout))
            throw std::runtime_error("no /dev/null");
        cookie_io_functions_t quiet{};
        quiet.write = [](void*, const char* text, std::size_t size) {
            // What our own checks say as they fail is to be seen; errors and notes are not.
            constexpr std::string_view kBug = "systole: internal error";
            if (std::string_view(text, size).starts_with(kBug)) std::fwrite(text, 1, size, loud());
            return static_cast<ssize_t>(size);
        };
        loud();
        stderr = fopencookie(nullptr, "w", quiet);
    }
    ~Place() {
        stderr = loud();
        fs::remove_all(path_);
    }

    void clear() const {
        for (const auto& entry : fs::directory_iterator(path_)) fs::remove_all(entry.path());
    }
    void fill(const Files& files) const {
        for (const auto& [name, text] : files) std::ofstream(path_ / name, std::ios::binary) << text;
    }
    /// Files by name with what they hold; folders have a name that ends in '/'.
    Files files() const {
        Files found;
        for (const auto& entry : fs::recursive_directory_iterator(path_)) {
            const std::string name = fs::relative(entry.path(), path_).string();
            if (entry.is_directory()) {
                found[name + '/'] = "";
                continue;
            }
            std::ifstream in(entry.path(), std::ios::binary);
            found[name] = {std::istreambuf_iterator<char>(in), {}};
        }
        return found;
    }

private:
    static std::FILE* loud() {
        static std::FILE* const own = stderr;
        return own;
    }
    fs::path path_;
};

/// Nothing that leads out of the folder, and no commands that begin processes.
bool is_harmless(const std::vector<std::string>& words) {
    for (const std::string& word : words) {
        if (word.find("..") != std::string::npos || word.find(".fst") != std::string::npos) return false;
        for (std::size_t i = 0; i < word.size(); ++i)
            if (word[i] == '/' && (i == 0 || !std::isalnum(static_cast<unsigned char>(word[i - 1]))))
                return false;
    }
    return words.empty() || words.front() != "sweep";
}

/// The product of all numbers in it.
double product_of_numbers(const std::string& word) {
    double product = 1;
    for (std::size_t at = 0; at < word.size();) {
        const std::size_t begin = word.find_first_of("123456789", at);
        if (begin == std::string::npos) break;
        at = std::min(word.find_first_not_of("0123456789", begin), word.size());
        product *= std::stod(word.substr(begin, at - begin));
    }
    return product;
}

/// Whether it simulates nothing, or something small. How long others take is up to who asks for them.
bool is_quick(const std::vector<std::string>& words) {
    constexpr std::array<std::string_view, 9> kReaders{"list",      "show", "import", "trace",    "report",
                                                       "reference", "help", "--help", "--version"};
    constexpr std::array<std::string_view, 12> kSmall{
        "teaching_4x4", "teaching", "three_layers", "matmul",      "softmax", "conv2d",
        "pool",         "norm",     "json",         "elementwise", "csv",     "dataflows"};
    if (words.empty() || std::ranges::find(kReaders, words.front()) != kReaders.end()) return true;
    double product = 1;
    for (std::size_t i = 1; i < words.size(); ++i) {
        const bool is_name = !words[i].starts_with('-') && words[i].find('=') == std::string::npos;
        const bool is_file = words[i - 1] == "-o" || words[i - 1].starts_with("--");
        if (is_name && !is_file && std::ranges::find(kSmall, words[i]) == kSmall.end()) return false;
        if (std::ranges::find(kSmall, words[i]) == kSmall.end()) product *= product_of_numbers(words[i]);
    }
    return product <= 1e5;
}

struct Line {
    std::vector<std::string> words;
    Files files;
    bool is_one = true;
};

Line line_of(const std::string& input) {
    Line line;
    std::istringstream in(input);
    std::string text;
    std::getline(in, text);
    std::ranges::replace(text, '\0', ' ');  // at which every argument of a program ends
    std::istringstream split(text);
    line.words.assign(std::istream_iterator<std::string>(split), {});
    for (std::string* file = nullptr; std::getline(in, text);) {
        if (!text.starts_with('@')) {
            if (file) *file += text + '\n';
            continue;
        }
        const std::string name = text.substr(1);
        const auto is_part = [](char c) {
            return std::isalnum(static_cast<unsigned char>(c)) || c == '.' || c == '_';
        };
        line.is_one = line.is_one && !name.empty() && name.size() <= kMostName && name.front() != '.' &&
                      std::ranges::all_of(name, is_part) && line.files.size() < kMostFiles;
        if (!line.is_one) break;
        file = &line.files[name];
    }
    return line;
}

}  // namespace

void read_input(const std::string& input) {
    static const Place place;
    const Line line = line_of(input);
    if (!line.is_one || !is_harmless(line.words) || !is_quick(line.words)) return;
    place.clear();
    place.fill(line.files);
    try {
        app::dispatch(line.words);
    } catch (const UserError&) {
        if (place.files() != line.files) throw std::logic_error("a refusal left its traces");
    }
}

const std::vector<std::string_view>& words() {
    static const std::vector<std::string_view> pieces{"show device ",
                                                      "show trace ",
                                                      "show memory ",
                                                      "list ",
                                                      "import ",
                                                      "trace llm ",
                                                      "report ",
                                                      "reference ",
                                                      "help ",
                                                      " -o out.yaml",
                                                      " -o out/x",
                                                      " --output=x",
                                                      " --format json",
                                                      " --format ",
                                                      " --set ",
                                                      "mxu.rows=8",
                                                      "workload.batch=3",
                                                      " --dim batch=2",
                                                      " --branch n=then",
                                                      " --input arg0",
                                                      " --phase prefill",
                                                      " --phase train",
                                                      " --batch 4",
                                                      " --tensor-parallel 2",
                                                      " --weights int4",
                                                      " --kv fp8",
                                                      " --no-run",
                                                      " --help",
                                                      " -h",
                                                      "\n@x.yaml\n",
                                                      "\n@x.csv\n",
                                                      "\n@x.json\n",
                                                      "\n@x.mlir\n",
                                                      "teaching_4x4",
                                                      "three_layers",
                                                      "llama3_8b",
                                                      "\"",
                                                      "=",
                                                      "--",
                                                      "\xff"};
    return pieces;
}

}  // namespace systole::fuzz
