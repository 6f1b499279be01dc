// SPDX-License-Identifier: Apache-2.0
// The walk through a model's bytes, on bytes written by hand as the format says.
#include <catch2/catch.hpp>
#include <sstream>

#include "sim/base/error.h"
#include "sim/workload/importers/onnx/onnx_import.h"
#include "sim/workload/importers/onnx/wire_scan.h"

using namespace systole;

namespace {

std::string varint(std::uint64_t value) {
    std::string text;
    for (; value >= 0x80; value >>= 7) text += static_cast<char>(value | 0x80);
    return text + static_cast<char>(value);
}

/// A field of bytes, or of a message.
std::string field(std::uint64_t number, const std::string& body) {
    return varint(number << 3 | 2) + varint(body.size()) + body;
}

std::string number(std::uint64_t field, std::uint64_t value) {
    return varint(field << 3) + varint(value);
}

std::string scanned(const std::string& bytes, const WireLimits& limits = {}) {
    std::istringstream in(bytes);
    return without_weights(in, "m.onnx", limits);
}

std::string refusal(const std::string& bytes, const WireLimits& limits = {}) {
    try {
        scanned(bytes, limits);
    } catch (const UserError& error) {
        return error.what();
    }
    return "";
}

std::string model(const std::string& tensor) {
    return number(1, 8) + field(7, field(2, "graph") + field(5, tensor));
}

}  // namespace

TEST_CASE("what large tensors hold is left out, and everything else kept byte for byte") {
    const std::string head = number(1, 1000) + number(2, 1) + field(8, "w");
    const std::string small = model(head + field(9, std::string(100, 'x')));
    CHECK(scanned(small) == small);
    CHECK(scanned(model(head + field(9, std::string(100'000, 'x')))) == model(head));
    CHECK(scanned(model(head + field(4, std::string(100'000, 'x')))) == model(head));
    // A tensor inside a node of a graph inside a node.
    const auto node = [](const std::string& attribute) { return field(7, field(1, field(5, attribute))); };
    const std::string inner =
        field(6, field(1, field(5, field(5, head + field(9, std::string(50'000, 'y'))))));
    const std::string left = field(6, field(1, field(5, field(5, head))));
    CHECK(scanned(node(inner)) == node(left));
    // A name is no tensor, however long.
    const std::string name = field(2, std::string(30'000, 'n'));
    CHECK(scanned(name) == name);
}

TEST_CASE(
    "lengths that do not fit, numbers that do not end and nesting without end are refused with their place") {
    CHECK_THAT(refusal(""), Catch::Contains("m.onnx: error: is empty"));
    CHECK_THAT(refusal(varint(7 << 3 | 2) + varint(1000) + "abc"),
               Catch::Contains("byte 3: a field of 1000 bytes does not fit"));
    CHECK_THAT(refusal(varint(7 << 3 | 2) + varint(~0ULL)), Catch::Contains("does not fit"));
    CHECK_THAT(refusal(std::string(12, '\xff')), Catch::Contains("more than ten bytes"));
    CHECK_THAT(refusal("\x08"), Catch::Contains("a number is cut off"));
    CHECK_THAT(refusal("\x0b"), Catch::Contains("wire type 3"));
    CHECK_THAT(refusal(std::string("\x00\x00", 2)), Catch::Contains("the number 0"));
    // An inner message must not reach beyond the one around it.
    CHECK_THAT(refusal(field(7, varint(5 << 3 | 2) + varint(50) + "abc") + std::string(100, '\x08')),
               Catch::Contains("does not fit"));
    std::string deep = "x";
    for (int i = 0; i < 200; ++i) deep = field(6, field(1, field(5, deep)));
    CHECK_THAT(refusal(field(7, field(1, field(5, deep)))), Catch::Contains("nested deeper than 64"));
    CHECK_THAT(refusal(field(2, std::string(3000, 'n')), {1000, 2000, 64}),
               Catch::Contains("beside its weights"));
}

TEST_CASE("a model that was built without ONNX says how to get it, one with it what is wrong") {
    std::istringstream in("");
    CHECK_THROWS_WITH(import_onnx(in, "m.onnx", {}),
                      Catch::Contains(reads_onnx() ? "is empty" : "libonnx-dev"));
}
