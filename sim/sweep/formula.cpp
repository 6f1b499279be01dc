// SPDX-License-Identifier: Apache-2.0
#include "sim/sweep/formula.h"

#include <fmt/format.h>
#include <muParser.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <map>
#include <utility>

#include "sim/config/quantity.h"

namespace systole::sweep {
namespace {

constexpr std::size_t kMostCharacters = 1000;
constexpr const char* kNameCharacters = "0123456789_.abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

using config::Dimension;

/// Smallest units of a dimension in one of its formula's units (femtojoules in a joule).
constexpr std::pair<Dimension, double> kDimensions[] = {
    {Dimension::Frequency, 1}, {Dimension::Size, 1},           {Dimension::Bandwidth, 1},
    {Dimension::Time, 1e12},   {Dimension::Energy, 1e15},      {Dimension::Power, 1e3},
    {Dimension::Price, 1e6},   {Dimension::PricePerHour, 1e6}, {Dimension::PricePerEnergy, 1e6},
    {Dimension::Years, 1e3}};

/// Of `kScale` smallest units, of which `kMany` are one of the formula's. What is whole in them as it is
/// written (1.1 us in picoseconds) is whole here, too, so that it equals the same text of a configuration.
template <std::int64_t kScale, std::int64_t kMany = 1>
double unit(double value) {
    const double small = value * static_cast<double>(kScale), whole = std::nearbyint(small);
    const bool is_whole = std::abs(small - whole) <= 1e-15 * std::abs(small);
    return (is_whole ? whole : small) / static_cast<double>(kMany);
}

void define_units(mu::Parser& parser) {
    const auto define = [&](const char* name, mu::fun_type1 unit) { parser.DefinePostfixOprt(name, unit); };
    constexpr std::int64_t k = 1000, kMega = k * k, kGiga = k * kMega, kTera = k * kGiga, kPeta = k * kTera;
    define("Hz", unit<1>), define("kHz", unit<k>), define("MHz", unit<kMega>), define("GHz", unit<kGiga>);
    for (const char* each : {"B", "B/s"}) define(each, unit<1>);
    for (const char* each : {"kB", "kB/s"}) define(each, unit<k>);
    for (const char* each : {"MB", "MB/s"}) define(each, unit<kMega>);
    for (const char* each : {"GB", "GB/s"}) define(each, unit<kGiga>);
    for (const char* each : {"KiB", "KiB/s"}) define(each, unit<1 << 10>);
    for (const char* each : {"MiB", "MiB/s"}) define(each, unit<1 << 20>);
    for (const char* each : {"GiB", "GiB/s"}) define(each, unit<1 << 30>);
    for (const char* each : {"TB", "TB/s"}) define(each, unit<kTera>);
    for (const char* each : {"TiB", "TiB/s"}) define(each, unit<std::int64_t{1} << 40>);
    define("s", unit<kTera, kTera>), define("ms", unit<kGiga, kTera>), define("us", unit<kMega, kTera>);
    define("ns", unit<k, kTera>), define("ps", unit<1, kTera>);
    define("fJ", unit<1, kPeta>), define("pJ", unit<k, kPeta>), define("nJ", unit<kMega, kPeta>);
    define("uJ", unit<kGiga, kPeta>), define("W", unit<k, k>), define("mW", unit<1, k>);
    for (const char* each : {"USD", "USD/h", "USD/kWh"}) define(each, unit<kMega, kMega>);
    for (const char* each : {"year", "years"}) define(each, unit<k, k>);
}

double ceil_div(double a, double b) {
    return std::ceil(a / b);
}
double floor_of(double value) {
    return std::floor(value);
}
double ceil_of(double value) {
    return std::ceil(value);
}

/// The character, 1-based, of a '=' that is no comparison; 0 if there is none.
std::size_t assignment(std::string_view text) {
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '=') continue;
        const bool second = i > 0 && (text[i - 1] == '<' || text[i - 1] == '>' || text[i - 1] == '!');
        if (second) continue;
        if (i + 1 == text.size() || text[i + 1] != '=') return i + 1;
        ++i;
    }
    return 0;
}

bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/// What muParser takes at times and not at others: a unit behind a name ("x MiB"); and what it reads as
/// infinity. "" if there is nothing of the kind.
std::string misread(const std::string& text) {
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find_first_not_of(kNameCharacters, at), text.size());
        const std::string word = text.substr(at, end - at);
        if (word.empty()) {
            ++at;
            continue;
        }
        const std::size_t next = text.find_first_not_of(" \t\n", end);
        if (is_letter(word.front()) && next != end && next != std::string::npos && is_letter(text[next]))
            return fmt::format("has '{}' behind a name, at character {}; units stand behind numbers and ')'",
                               text.substr(next, text.find_first_not_of(kNameCharacters, next) - next),
                               next + 1);
        if (is_digit(word.front()) && !std::isfinite(std::strtod(text.c_str() + at, nullptr)))
            return fmt::format("has too large a number, at character {}", at + 1);
        at = end;
    }
    return "";
}

/// muParser's complaint in our words.
std::string explain(const mu::ParserError& error, const std::string& text) {
    const std::size_t at = std::min(static_cast<std::size_t>(std::max(error.GetPos(), 0)), text.size()) + 1;
    const std::string& token = error.GetToken();
    switch (error.GetCode()) {
        case mu::ecUNEXPECTED_EOF:
            return "ends too early";
        case mu::ecMISSING_PARENS:
            return fmt::format("has a parenthesis that never closes, at character {}", at);
        case mu::ecUNASSIGNABLE_TOKEN:
            return fmt::format("cannot be read from '{}' at character {}", token, at);
        case mu::ecMISSING_ELSE_CLAUSE:
            return "has a '?' without its ':'";
        case mu::ecMISPLACED_COLON:
            return "has a ':' without its '?'";
        default:
            if (token.empty()) return fmt::format("cannot be read at character {}", at);
            return fmt::format("has '{}' where it cannot be, at character {}", token, at);
    }
}

}  // namespace

struct Formula::Parser {
    std::string text;
    SourceMark where;
    mu::Parser parser;
    std::map<std::string, double> values;  // nodes stay where they are: muParser keeps their addresses
    std::vector<std::string> names;

    [[noreturn]] void fail(const std::string& what) const {
        throw UserError(where, fmt::format("'{}' {}; expected arithmetic such as 'mxu.rows <= 4 * "
                                           "workload.batch'",
                                           text, what));
    }

    static double* variable(const char* name, void* self) {
        return &static_cast<Parser*>(self)->values[name];
    }

    void read() {
        if (text.size() > kMostCharacters)
            throw UserError(where, fmt::format("a formula has {} characters; the most is {}", text.size(),
                                               kMostCharacters));
        if (text.find_first_not_of(" \t\n") == std::string::npos) fail("holds nothing");
        if (text.find('"') != std::string::npos) fail("holds text");
        if (const std::size_t at = assignment(text))
            fail(fmt::format("assigns at character {} (equality is written '==')", at));
        if (const std::string what = misread(text); !what.empty()) fail(what);
        parser.ClearConst();  // _pi and _e would stand before names
        parser.DefineNameChars(kNameCharacters);
        parser.SetVarFactory(&Parser::variable, this);
        define_units(parser);
        parser.DefineFun("ceil_div", ceil_div);
        parser.DefineFun("floor", floor_of);
        parser.DefineFun("ceil", ceil_of);
        try {
            parser.SetExpr(text);
            parser.Eval();
            if (parser.GetNumResults() != 1) fail("has several values");
        } catch (const mu::ParserError& error) {
            fail(explain(error, text));
        }
        for (const auto& [name, value] : values) names.push_back(name);
    }
};

Formula::Formula(std::string text, SourceMark where) : parser_(std::make_unique<Parser>()) {
    parser_->text = std::move(text);
    parser_->where = std::move(where);
    parser_->read();
}
Formula::Formula(Formula&&) noexcept = default;
Formula& Formula::operator=(Formula&&) noexcept = default;
Formula::~Formula() = default;

const std::vector<std::string>& Formula::names() const {
    return parser_->names;
}
const std::string& Formula::text() const {
    return parser_->text;
}
const SourceMark& Formula::where() const {
    return parser_->where;
}

double Formula::evaluate(const Values& values) const {
    for (auto& [name, value] : parser_->values) {
        const std::optional<double> found = values(name);
        if (!found) parser_->fail(fmt::format("uses '{}', which is no number", name));
        value = *found;
    }
    double result = 0;
    try {
        result = parser_->parser.Eval();
    } catch (const mu::ParserError& error) {
        parser_->fail(explain(error, parser_->text));
    }
    if (!std::isfinite(result)) {
        std::string at;
        for (const auto& [name, value] : parser_->values)
            at += fmt::format("{}{} = {}", at.empty() ? " where " : ", ", name, value);
        throw UserError(where(), fmt::format("'{}' is no finite number{}", text(), at));
    }
    return result;
}

std::optional<double> number_of(std::string_view text) {
    constexpr double kAny = std::numeric_limits<double>::max();
    if (text == "on" || text == "true" || text == "yes") return 1;
    if (text == "off" || text == "false" || text == "no") return 0;
    if (const auto number = config::parse_number(text, -kAny, kAny); number.value) return number.value;
    for (const auto& [dimension, unit] : kDimensions)
        if (const auto quantity =
                config::parse_quantity(text, dimension, 0, std::numeric_limits<std::int64_t>::max());
            quantity.value)
            return static_cast<double>(*quantity.value) / unit;
    return {};
}

std::string number_text(double value) {
    constexpr double kExact = 0x1p53;
    if (value == 0) return "0";  // and not -0
    if (std::trunc(value) == value && std::abs(value) <= kExact) return config::format_number(value);
    // Not std::stod, which throws at what is too small for all of a double's digits.
    return config::format_number(std::strtod(fmt::format("{:.12g}", value).c_str(), nullptr));
}

}  // namespace systole::sweep
