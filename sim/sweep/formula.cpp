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
constexpr std::pair<Dimension, double> kDimensions[] = {{Dimension::Frequency, 1}, {Dimension::Size, 1},
                                                        {Dimension::Bandwidth, 1}, {Dimension::Time, 1e12},
                                                        {Dimension::Energy, 1e15}, {Dimension::Power, 1e3}};

/// value x 10^kPower, rounded once.
template <int kPower>
double decimal(double value) {
    double factor = 1;
    for (int i = 0; i < std::abs(kPower); ++i) factor *= 10;
    return kPower < 0 ? value / factor : value * factor;
}

template <int kPower>
double binary(double value) {
    return std::ldexp(value, kPower);
}

void define_units(mu::Parser& parser) {
    const auto define = [&](const char* name, mu::fun_type1 unit) { parser.DefinePostfixOprt(name, unit); };
    define("Hz", decimal<0>), define("kHz", decimal<3>), define("MHz", decimal<6>);
    define("GHz", decimal<9>);
    for (const char* each : {"B", "B/s"}) define(each, decimal<0>);
    for (const char* each : {"kB", "kB/s"}) define(each, decimal<3>);
    for (const char* each : {"MB", "MB/s"}) define(each, decimal<6>);
    for (const char* each : {"GB", "GB/s"}) define(each, decimal<9>);
    for (const char* each : {"KiB", "KiB/s"}) define(each, binary<10>);
    for (const char* each : {"MiB", "MiB/s"}) define(each, binary<20>);
    for (const char* each : {"GiB", "GiB/s"}) define(each, binary<30>);
    define("s", decimal<0>), define("ms", decimal<-3>), define("us", decimal<-6>);
    define("ns", decimal<-9>), define("ps", decimal<-12>);
    define("fJ", decimal<-15>), define("pJ", decimal<-12>), define("nJ", decimal<-9>);
    define("uJ", decimal<-6>), define("W", decimal<0>), define("mW", decimal<-3>);
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
        throw UserError(
            where,
            fmt::format("'{}' {}; expected arithmetic such as 'mxu.rows <= 4 * workload.batch'", text, what));
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
        parser_->fail(fmt::format("is no finite number{}", at));
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

}  // namespace systole::sweep
