// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/importers/onnx/infer.h"

#include <fcntl.h>
#include <onnx/shape_inference/implementation.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <csignal>
#include <cstring>

#include "sim/workload/operator_shapes.h"

namespace systole {
namespace {

constexpr std::int64_t kNewestOpset = 17;  // that libonnx 1.12 knows

void describe(const Held& held, const std::string& name, onnx::GraphProto& graph) {
    onnx::ValueInfoProto* const info = graph.add_input();
    info->set_name(name);
    auto* const tensor = info->mutable_type()->mutable_tensor_type();
    tensor->set_elem_type(held.type);
    auto* const shape = tensor->mutable_shape();
    for (const std::int64_t extent : held.shape) shape->add_dim()->set_dim_value(extent);
    if (!held.constant) return;
    onnx::TensorProto* const numbers = graph.add_initializer();
    numbers->set_name(name);
    for (const std::int64_t extent : held.shape) numbers->add_dims(extent);
    if (held.constant->real) {
        numbers->set_data_type(onnx::TensorProto::FLOAT);
        for (const double number : held.constant->reals) numbers->add_float_data(static_cast<float>(number));
    } else {
        numbers->set_data_type(onnx::TensorProto::INT64);
        for (const std::int64_t number : held.constant->whole) numbers->add_int64_data(number);
    }
    tensor->set_elem_type(numbers->data_type());
}

/// All that the child wrote.
std::string read_all(int pipe) {
    std::string text;
    std::array<char, 4096> piece{};
    for (ssize_t count = 0; (count = ::read(pipe, piece.data(), piece.size())) > 0;)
        text.append(piece.data(), static_cast<std::size_t>(count));
    return text;
}

/// In the child: what goes wrong ends it, whoever the parent has asked to handle that, without a core. Two
/// seconds of the processor are enough, however busy the machine is; the alarm is for a child that waits.
void end_on_faults() {
    for (const int fault : {SIGALRM, SIGXCPU, SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL})
        ::signal(fault, SIG_DFL);
    const rlimit none{0, 0}, processor{2, 2};
    ::setrlimit(RLIMIT_CORE, &none);
    ::setrlimit(RLIMIT_CPU, &processor);
    ::alarm(20);
}

/// In the child: infers, writes the model, and never comes back.
[[noreturn]] void infer_and_exit(onnx::ModelProto& model, int pipe) {
    end_on_faults();
    const int silence = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (silence >= 0) ::dup2(silence, STDERR_FILENO);
    std::string text;
    try {
        onnx::shape_inference::InferShapes(model, onnx::OpSchemaRegistry::Instance(),
                                           onnx::ShapeInferenceOptions(false, 0, true));
        text = model.SerializeAsString();
    } catch (...) {
        ::_exit(1);  // libonnx does not take it
    }
    for (std::size_t at = 0; at < text.size();) {
        const ssize_t count = ::write(pipe, text.data() + at, text.size() - at);
        if (count <= 0) ::_exit(1);
        at += static_cast<std::size_t>(count);
    }
    ::_exit(0);
}

/// Shape inference in a process of its own: libonnx 1.12 reads beyond what damaged nodes have.
bool infer_apart(onnx::ModelProto& model) {
    // The library makes its table of operators when it is first asked for one, some milliseconds: here, so
    // that no child makes it again.
    onnx::OpSchemaRegistry::Schema("Identity");
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return false;
    const pid_t child = ::fork();
    if (child == 0) infer_and_exit(model, ends[1]);
    ::close(ends[1]);
    const std::string text = child > 0 ? read_all(ends[0]) : "";
    ::close(ends[0]);
    int status = 1;
    if (child > 0) ::waitpid(child, &status, 0);
    return status == 0 && !text.empty() && model.ParseFromString(text);
}

float half(std::uint16_t bits) {
    const int exponent = bits >> 10 & 31, fraction = bits & 1023;
    float value = std::ldexp(static_cast<float>(exponent == 0 ? fraction : fraction + 1024),
                             (exponent == 0 ? 1 : exponent) - 25);
    if (exponent == 31) value = fraction == 0 ? HUGE_VALF : NAN;
    return (bits & 0x8000) != 0 ? -value : value;
}

template <typename T>
std::vector<T> raw_numbers(const std::string& raw) {
    std::vector<T> numbers(raw.size() / sizeof(T));
    if (!numbers.empty()) std::memcpy(numbers.data(), raw.data(), numbers.size() * sizeof(T));
    return numbers;
}

template <typename T>
void take_raw(const std::string& raw, Constant& constant) {
    for (const T number : raw_numbers<T>(raw)) {
        if constexpr (std::is_floating_point_v<T>)
            constant.reals.push_back(static_cast<double>(number));
        else
            constant.whole.push_back(static_cast<std::int64_t>(number));
    }
}

template <typename List>
void take(const List& list, Constant& constant) {
    for (const auto number : list) {
        if (constant.real)
            constant.reals.push_back(static_cast<double>(number));
        else
            constant.whole.push_back(static_cast<std::int64_t>(number));
    }
}

/// Fills in the numbers; false for types that are none.
bool read_numbers(const onnx::TensorProto& tensor, Constant& constant) {
    using T = onnx::TensorProto;
    const bool raw = tensor.has_raw_data();
    const std::string& bytes = tensor.raw_data();
    switch (tensor.data_type()) {
        case T::FLOAT:
            constant.real = true;
            raw ? take_raw<float>(bytes, constant) : take(tensor.float_data(), constant);
            return true;
        case T::DOUBLE:
            constant.real = true;
            raw ? take_raw<double>(bytes, constant) : take(tensor.double_data(), constant);
            return true;
        case T::FLOAT16:
            constant.real = true;
            if (raw)
                for (const std::uint16_t bits : raw_numbers<std::uint16_t>(bytes))
                    constant.reals.push_back(static_cast<double>(half(bits)));
            else
                for (const std::int32_t bits : tensor.int32_data())
                    constant.reals.push_back(static_cast<double>(half(static_cast<std::uint16_t>(bits))));
            return true;
        case T::INT64:
            raw ? take_raw<std::int64_t>(bytes, constant) : take(tensor.int64_data(), constant);
            return true;
        case T::INT32:
            raw ? take_raw<std::int32_t>(bytes, constant) : take(tensor.int32_data(), constant);
            return true;
        case T::INT8:
            raw ? take_raw<std::int8_t>(bytes, constant) : take(tensor.int32_data(), constant);
            return true;
        case T::UINT8:
        case T::BOOL:
            raw ? take_raw<std::uint8_t>(bytes, constant) : take(tensor.int32_data(), constant);
            return true;
        default:
            return false;
    }
}

}  // namespace

std::optional<Shape> whole_shape(const onnx::TypeProto& type,
                                 const std::map<std::string, std::int64_t>& dims) {
    if (!type.has_tensor_type() || !type.tensor_type().has_shape()) return std::nullopt;
    Shape shape;
    for (const auto& dim : type.tensor_type().shape().dim()) {
        const auto bound = dims.find(dim.dim_param());
        if (dim.has_dim_value() && dim.dim_value() >= 0)
            shape.push_back(dim.dim_value());
        else if (dim.has_dim_param() && bound != dims.end())
            shape.push_back(bound->second);
        else
            return std::nullopt;
    }
    return is_storable(shape) ? std::optional(shape) : std::nullopt;
}

std::vector<std::optional<InferredOutput>> infer_outputs(const onnx::NodeProto& node, OnnxScope& scope,
                                                         std::int64_t opset) {
    std::vector<std::optional<InferredOutput>> outputs(static_cast<std::size_t>(node.output_size()));
    for (const onnx::AttributeProto& attribute : node.attribute())
        if (attribute.has_g() || attribute.graphs_size() > 0) return outputs;
    onnx::ModelProto model;
    model.set_ir_version(onnx::IR_VERSION);
    onnx::OperatorSetIdProto* const import = model.add_opset_import();
    import->set_domain(node.domain());
    import->set_version(std::clamp<std::int64_t>(opset, 1, node.domain().empty() ? kNewestOpset : opset));
    onnx::GraphProto& graph = *model.mutable_graph();
    graph.set_name("node");
    *graph.add_node() = node;
    for (const std::string& name : node.input()) {
        if (name.empty()) continue;
        const Held* const held = scope.find(name);
        if (held == nullptr || held->source == Held::Source::Unknown) return outputs;
        describe(*held, name, graph);
    }
    if (!infer_apart(model)) return outputs;
    for (const onnx::ValueInfoProto& info : model.graph().value_info()) {
        const std::optional<Shape> shape = whole_shape(info.type(), {});
        for (int i = 0; shape && i < node.output_size(); ++i)
            if (node.output(i) == info.name())
                outputs[static_cast<std::size_t>(i)] =
                    InferredOutput{*shape, info.type().tensor_type().elem_type()};
    }
    return outputs;
}

Shape shape_of(const onnx::TensorProto& tensor) {
    return {tensor.dims().begin(), tensor.dims().end()};
}

std::optional<Constant> constant_of(const onnx::TensorProto& tensor) {
    Constant constant{shape_of(tensor)};
    if (std::ranges::any_of(constant.shape, [](std::int64_t extent) { return extent < 0; }))
        return std::nullopt;
    if (!is_storable(constant.shape) || elements(constant.shape) > Constant::kMost) return std::nullopt;
    if (tensor.data_location() == onnx::TensorProto::EXTERNAL || !read_numbers(tensor, constant))
        return std::nullopt;
    if (static_cast<std::int64_t>(constant.size()) != elements(constant.shape)) return std::nullopt;
    return constant;
}

}  // namespace systole
