// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/importers/onnx/wire_scan.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <istream>
#include <optional>

#include "sim/base/error.h"

namespace systole {
namespace {

/// Messages of onnx.proto in which there may be a tensor.
enum class Message { Model, Graph, Node, Attribute, Tensor, SparseTensor, Function, TrainingInfo };

struct Field {
    Message in;
    std::uint64_t number;
    Message what;
};

// Numbers of fields: onnx.proto of IR version 8; they never change.
constexpr std::array kFields = {Field{Message::Model, 7, Message::Graph},
                                Field{Message::Model, 20, Message::TrainingInfo},
                                Field{Message::Model, 25, Message::Function},
                                Field{Message::TrainingInfo, 1, Message::Graph},
                                Field{Message::TrainingInfo, 2, Message::Graph},
                                Field{Message::Graph, 1, Message::Node},
                                Field{Message::Graph, 5, Message::Tensor},
                                Field{Message::Graph, 15, Message::SparseTensor},
                                Field{Message::Function, 7, Message::Node},
                                Field{Message::Node, 5, Message::Attribute},
                                Field{Message::Attribute, 5, Message::Tensor},
                                Field{Message::Attribute, 6, Message::Graph},
                                Field{Message::Attribute, 10, Message::Tensor},
                                Field{Message::Attribute, 11, Message::Graph},
                                Field{Message::Attribute, 22, Message::SparseTensor},
                                Field{Message::Attribute, 23, Message::SparseTensor},
                                Field{Message::SparseTensor, 1, Message::Tensor},
                                Field{Message::SparseTensor, 2, Message::Tensor}};

std::optional<Message> message_of(Message in, std::uint64_t number) {
    for (const Field& field : kFields)
        if (field.in == in && field.number == number) return field.what;
    return std::nullopt;
}

/// float_data, int32_data, string_data, int64_data, raw_data, double_data, uint64_data.
bool is_data(Message in, std::uint64_t number) {
    return in == Message::Tensor && (number == 4 || number == 5 || number == 6 || number == 7 ||
                                     number == 9 || number == 10 || number == 11);
}

class Scan {
public:
    Scan(std::istream& in, const std::string& file, const WireLimits& limits)
        : in_(*in.rdbuf()), file_(file), limits_(limits) {
        const std::streamoff end = in_.pubseekoff(0, std::ios::end, std::ios::in);
        if (end < 0 || in_.pubseekoff(0, std::ios::beg, std::ios::in) != 0) stop("cannot be read");
        size_ = static_cast<std::uint64_t>(end);
    }

    std::string model() {
        if (size_ == 0) stop("is empty; expected an ONNX model");
        return message(Message::Model, size_, 0);
    }

private:
    [[noreturn]] void stop(const std::string& what) const { throw UserError({file_}, what); }
    [[noreturn]] void broken(const std::string& what) const {
        stop(fmt::format("byte {}: {}; this is no ONNX model, or a damaged one", at_, what));
    }

    std::string message(Message kind, std::uint64_t end, int depth);
    void field(Message kind, std::uint64_t end, int depth, std::string& out);
    std::uint64_t varint(std::uint64_t end, std::string& out);
    void copy(std::uint64_t count, std::string& out);
    void skip(std::uint64_t count) {
        at_ += count;
        const std::streamoff to =
            in_.pubseekoff(static_cast<std::streamoff>(at_), std::ios::beg, std::ios::in);
        if (to != static_cast<std::streamoff>(at_)) broken("the file ends here");
    }
    void keep(std::uint64_t count) {
        kept_ += count;
        if (kept_ > limits_.all_bytes)
            stop(fmt::format("has more than {} MiB beside its weights", limits_.all_bytes >> 20));
    }

    std::streambuf& in_;
    const std::string& file_;
    const WireLimits limits_;
    std::uint64_t size_ = 0, at_ = 0, kept_ = 0;
};

std::uint64_t Scan::varint(std::uint64_t end, std::string& out) {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        if (at_ >= end) broken("a number is cut off");
        const int byte = in_.sbumpc();
        if (byte < 0) broken("the file ends here");
        ++at_;
        out += static_cast<char>(byte);
        value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
        if (byte < 0x80) return value;
    }
    broken("a number has more than ten bytes");
}

void Scan::copy(std::uint64_t count, std::string& out) {
    keep(count);
    const std::size_t before = out.size();
    out.resize(before + count);
    const auto wanted = static_cast<std::streamsize>(count);
    if (in_.sgetn(out.data() + before, wanted) != wanted) broken("the file ends here");
    at_ += count;
}

void append_varint(std::uint64_t value, std::string& out) {
    for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
    out += static_cast<char>(value);
}

void Scan::field(Message kind, std::uint64_t end, int depth, std::string& out) {
    std::string head;
    const std::uint64_t tag = varint(end, head), number = tag >> 3;
    const unsigned wire = tag & 7;
    if (number == 0) broken("a field has the number 0");
    keep(head.size());
    if (wire == 0) {
        varint(end, head);
        out += head;
    } else if (wire == 1 || wire == 5) {
        const std::uint64_t size = wire == 1 ? 8 : 4;
        if (end - at_ < size) broken("a number is cut off");
        out += head;
        copy(size, out);
    } else if (wire == 2) {
        std::string ignored;
        const std::uint64_t length = varint(end, ignored);
        if (length > end - at_) broken(fmt::format("a field of {} bytes does not fit", length));
        const std::optional<Message> inner = message_of(kind, number);
        if (is_data(kind, number) && length > limits_.tensor_bytes) return skip(length);
        out += head;
        if (!inner) {
            append_varint(length, out);
            return copy(length, out);
        }
        if (depth >= limits_.depth) broken(fmt::format("messages are nested deeper than {}", limits_.depth));
        const std::string body = message(*inner, at_ + length, depth + 1);
        append_varint(body.size(), out);
        out += body;
    } else {
        broken(fmt::format("a field of wire type {}", wire));
    }
}

std::string Scan::message(Message kind, std::uint64_t end, int depth) {
    std::string out;
    while (at_ < end) field(kind, end, depth, out);
    return out;
}

}  // namespace

std::string without_weights(std::istream& in, const std::string& file, const WireLimits& limits) {
    return Scan(in, file, limits).model();
}

}  // namespace systole
