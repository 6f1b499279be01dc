// SPDX-License-Identifier: Apache-2.0
#include "sim/config/yaml.h"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <sstream>
#include <unordered_map>
#include <utility>

#include "sim/config/text_check.h"

namespace systole::config {
namespace {

constexpr std::size_t kMaxBytes = std::size_t{64} << 20;
constexpr std::size_t kMaxDepth = 64;
constexpr std::size_t kMaxNodes = std::size_t{1} << 22;  // about a gigabyte of nodes
constexpr std::size_t kMaxDiagnostics = 50;
constexpr int kMaxOpenBrackets = 10'000;

SourceMark mark_in(const std::string& file, const YAML::Mark& mark) {
    if (mark.is_null()) return {file, 0, 0};
    return {file, mark.line + 1, mark.column + 1};
}

/// Builds the tree from yaml-cpp's events. Mistakes that leave the tree sound are collected; others throw.
/// The parser recurses only between two of our events, so the depth limit here also bounds its stack.
class TreeBuilder : public YAML::EventHandler {
public:
    TreeBuilder(std::string_view text, const std::string& file) : text_(text), file_(file) {}

    YamlNode take() { return std::move(root_); }
    std::vector<Diagnostic>& diagnostics() { return diagnostics_; }
    void complain(SourceMark where, std::string message) {
        diagnostics_.push_back({std::move(where), std::move(message)});
        if (diagnostics_.size() == kMaxDiagnostics) throw UserError(diagnostics_);
    }

    void OnDocumentStart(const YAML::Mark& mark) override {
        if (!std::exchange(started_, true)) return;
        // yaml-cpp also starts a new document where a line does not continue the collection above it.
        const bool separated = rest(mark).starts_with("---");
        stop(mark, separated ? "a second document; a file holds one"
                             : "this line continues neither a map nor a list above it");
    }
    void OnDocumentEnd() override {}

    void OnNull(const YAML::Mark& mark, YAML::anchor_t) override {
        check_properties(mark, "?");
        add(node(YamlNode::Kind::Null, mark));
    }

    void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
        complain(at(mark), "an alias ('*'); write the value out");
        add(node(YamlNode::Kind::Null, mark));
    }

    void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t,
                  const std::string& value) override {
        check_properties(mark, tag);
        YamlNode scalar = node(YamlNode::Kind::Scalar, mark);
        scalar.scalar = value;
        scalar.quoted = tag == "!";  // what yaml-cpp calls the tag of anything that is not plain
        // An escape in quotes ("\0") may say what the file's own bytes may not.
        if (const auto bad = find_bad_byte(value)) complain(at(mark), bad->message + " in a quoted text");
        add(std::move(scalar));
    }

    void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t,
                         YAML::EmitterStyle::value) override {
        open(YamlNode::Kind::Sequence, mark, tag);
    }
    void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t,
                    YAML::EmitterStyle::value) override {
        open(YamlNode::Kind::Map, mark, tag);
    }
    void OnSequenceEnd() override { close(); }
    void OnMapEnd() override { close(); }

private:
    /// A collection under construction.
    struct Frame {
        YamlNode node;
        bool has_key = false;  ///< of a map: the next node is a value
        std::string key;
        SourceMark key_at;
        std::unordered_map<std::string, SourceMark> seen;
    };

    SourceMark at(const YAML::Mark& mark) const { return mark_in(file_, mark); }

    /// The text from `mark` on.
    std::string_view rest(const YAML::Mark& mark) const {
        return text_.substr(std::min(static_cast<std::size_t>(std::max(mark.pos, 0)), text_.size()));
    }

    [[noreturn]] void stop(const YAML::Mark& mark, const std::string& message) {
        diagnostics_.push_back({at(mark), message});
        throw UserError(diagnostics_);
    }

    YamlNode node(YamlNode::Kind kind, const YAML::Mark& mark) {
        if (++nodes_ > kMaxNodes) stop(mark, fmt::format("more than {} values in one file", kMaxNodes));
        YamlNode result;
        result.kind = kind;
        result.where = at(mark);
        return result;
    }

    /// A node's mark is that of its anchor or tag, if it has one. The handler is told every tag but a lone
    /// '!'.
    void check_properties(const YAML::Mark& mark, const std::string& tag) {
        const std::string_view here = rest(mark);
        if (here.starts_with('&'))
            complain(at(mark), "an anchor ('&'); write the value out where it is needed");
        const bool tagged = !tag.empty() && tag != "?" && tag != "!";
        if (tagged || here.starts_with('!'))
            complain(at(mark), "an explicit tag ('!'); types follow from the keys");
    }

    void open(YamlNode::Kind kind, const YAML::Mark& mark, const std::string& tag) {
        check_properties(mark, tag);
        if (frames_.size() == kMaxDepth) stop(mark, fmt::format("nested deeper than {} levels", kMaxDepth));
        frames_.push_back({node(kind, mark), false, "", {}, {}});
    }

    void close() {
        YamlNode done = std::move(frames_.back().node);
        frames_.pop_back();
        add(std::move(done));
    }

    void add(YamlNode done) {
        if (frames_.empty()) {
            root_ = std::move(done);
            return;
        }
        Frame& frame = frames_.back();
        // yaml-cpp places a missing value where it noticed, which may be lines below.
        if (frame.has_key && done.kind == YamlNode::Kind::Null) done.where = frame.key_at;
        if (frame.node.kind == YamlNode::Kind::Sequence)
            frame.node.items.push_back(std::move(done));
        else if (std::exchange(frame.has_key, !frame.has_key))
            frame.node.entries.push_back({std::move(frame.key), std::move(frame.key_at), std::move(done)});
        else
            take_key(frame, std::move(done));
    }

    void take_key(Frame& frame, YamlNode key) {
        if (key.kind != YamlNode::Kind::Scalar)
            complain(key.where, fmt::format("a key must be text, not {}", to_string(key.kind)));
        else if (const auto [first, fresh] = frame.seen.emplace(key.scalar, key.where); !fresh)
            complain(key.where, fmt::format("key '{}' is given twice; the first is at {}:{}", key.scalar,
                                            first->second.line, first->second.column));
        frame.key = std::move(key.scalar);
        frame.key_at = std::move(key.where);
    }

    std::string_view text_;
    const std::string& file_;
    bool started_ = false;
    std::size_t nodes_ = 0;
    std::vector<Frame> frames_;
    YamlNode root_;
    std::vector<Diagnostic> diagnostics_;
};

SourceMark mark_of_offset(std::string_view text, std::size_t offset, const std::string& file) {
    const std::string_view before = text.substr(0, offset);
    const auto line = 1 + std::count(before.begin(), before.end(), '\n');
    const std::size_t newline = before.rfind('\n');  // npos + 1 is 0
    return {file, static_cast<int>(line), static_cast<int>(offset - (newline + 1) + 1)};
}

/// yaml-cpp's scanner runs far ahead over brackets that stay open and needs gigabytes for a file of them. The
/// exact limit on depth is TreeBuilder's; this one is generous, since it also counts what quotes and comments
/// hold.
void check_brackets(std::string_view text, const std::string& file) {
    int open = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '[' || text[i] == '{') ++open;
        if ((text[i] == ']' || text[i] == '}') && open > 0) --open;
        if (open > kMaxOpenBrackets)
            throw UserError(mark_of_offset(text, i, file), fmt::format("{} brackets stay open", open));
    }
}

/// What yaml-cpp reads loosely or reports far from its cause.
void check_text(std::string_view text, const std::string& file) {
    if (const auto bad = find_bad_byte(text))
        throw UserError(mark_of_offset(text, bad->offset, file), bad->message);
    for (std::size_t start = 0; start < text.size();) {
        const std::size_t end = std::min(text.find('\n', start), text.size());
        const std::size_t first = text.find_first_not_of(" \t\r", start);
        const std::size_t tab = text.substr(start, end - start).find('\t');
        if (first < end && tab != std::string_view::npos && start + tab < first)
            throw UserError(mark_of_offset(text, start + tab, file), "a tab in the indentation; use spaces");
        start = end + 1;
    }
}

/// What most often causes the mistake that yaml-cpp names by its place in the grammar.
std::string_view hint(std::string_view message) {
    using Pair = std::pair<std::string_view, std::string_view>;
    static constexpr std::array<Pair, 6> kHints{{
        {"illegal map value", "; a value that holds ': ' needs quotes"},
        {"end of map not found", "; is a line indented differently from its neighbours, or without ':'?"},
        {"end of sequence not found", "; is a line indented differently from its neighbours?"},
        {"end of map flow not found", "; a '{' has no '}'"},
        {"end of sequence flow not found", "; a '[' has no ']'"},
        {"the referenced anchor is not defined",
         "; aliases are not allowed, text that starts with '*' needs quotes"},
    }};
    const auto found = std::find_if(kHints.begin(), kHints.end(),
                                    [&](const Pair& pair) { return message.starts_with(pair.first); });
    return found == kHints.end() ? "" : found->second;
}

}  // namespace

const YamlNode* YamlNode::find(std::string_view key) const {
    const auto found = std::find_if(entries.begin(), entries.end(),
                                    [&](const YamlEntry& entry) { return entry.key == key; });
    return found == entries.end() ? nullptr : &found->value;
}

std::string_view to_string(YamlNode::Kind kind) {
    switch (kind) {
        case YamlNode::Kind::Null:
            return "nothing";
        case YamlNode::Kind::Scalar:
            return "text";
        case YamlNode::Kind::Sequence:
            return "a list";
        case YamlNode::Kind::Map:
            return "a map";
    }
    return "";
}

YamlNode parse_yaml(std::string_view text, const std::string& file) {
    const SourceMark whole{file, 0, 0};
    if (text.size() > kMaxBytes) throw UserError(whole, "larger than 64 MiB");
    constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
    if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
    check_text(text, file);
    check_brackets(text, file);

    TreeBuilder builder(text, file);
    std::istringstream stream{std::string(text)};
    try {
        YAML::Parser parser(stream);
        while (parser.HandleNextDocument(builder)) {
        }
    } catch (const YAML::Exception& mistake) {
        builder.diagnostics().push_back(
            {mark_in(file, mistake.mark),
             fmt::format("not valid YAML: {}{}", mistake.msg, hint(mistake.msg))});
    }
    if (!builder.diagnostics().empty()) throw UserError(std::move(builder.diagnostics()));
    YamlNode root = builder.take();
    if (root.kind == YamlNode::Kind::Null) throw UserError(whole, "the document is empty");
    return root;
}

YamlNode load_yaml(const std::filesystem::path& file) {
    const SourceMark whole{file.string(), 0, 0};
    std::error_code ignored;
    if (std::filesystem::is_directory(file, ignored)) throw UserError(whole, "is a directory, not a file");
    std::ifstream stream(file, std::ios::binary);
    if (!stream) throw UserError(whole, "cannot be opened; does it exist, and may you read it?");
    // Read rather than asked for its size: a pipe has none.
    std::string text;
    std::array<char, 1 << 16> block{};
    while (text.size() <= kMaxBytes && stream.read(block.data(), block.size()).gcount() > 0)
        text.append(block.data(), static_cast<std::size_t>(stream.gcount()));
    if (stream.bad()) throw UserError(whole, "cannot be read");
    return parse_yaml(text, file.string());
}

}  // namespace systole::config
