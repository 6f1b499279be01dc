# SPDX-License-Identifier: Apache-2.0
"""Networks as torch.onnx.export writes them (nodes, names, opset 13), without weights: these are said to lie in a
file that is not there. Needs the onnx package (Debian: python3-onnx).

    onnx_networks.py NAME FILE [ARGUMENT]     writes a network
    onnx_networks.py count FILE [DIM=N ...]   JSON: MACs of convolutions and products by node, from shapes that onnx infers
"""

import json
import sys

import onnx
from onnx import TensorProto, helper, numpy_helper
import numpy


class Network:
    def __init__(self):
        self.nodes, self.tensors, self.count = [], [], 0

    def weights(self, *shape):
        self.count += 1
        tensor = TensorProto(name=f"weight_{self.count}", data_type=TensorProto.FLOAT, dims=shape)
        tensor.data_location = TensorProto.EXTERNAL
        tensor.external_data.add(key="location", value="no_such_file.bin")
        self.tensors.append(tensor)
        return tensor.name

    def number(self, value, dtype=numpy.float32):
        self.count += 1
        tensor = numpy_helper.from_array(numpy.array(value, dtype), f"number_{self.count}")
        self.tensors.append(tensor)
        return tensor.name

    def add(self, op, *inputs, outputs=1, **attributes):
        self.count += 1
        names = [f"/{op}_{self.count}_output_{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(op, list(inputs), names, f"/{op}_{self.count}", **attributes))
        return names[0] if outputs == 1 else names

    def save(self, file, inputs, output, opset=13):
        infos = [helper.make_tensor_value_info(*each) for each in inputs]
        graph = helper.make_graph(self.nodes, "main_graph", infos,
                                  [helper.make_tensor_value_info(output, TensorProto.FLOAT, None)], self.tensors)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
        model.ir_version = 7
        with open(file, "wb") as out:
            out.write(model.SerializeToString())


def conv(n, x, c, filters, kernel, stride=1, pad=0, group=1, bias=True):
    inputs = [x, n.weights(filters, c // group, kernel, kernel)] + ([n.weights(filters)] if bias else [])
    return n.add("Conv", *inputs, kernel_shape=[kernel] * 2, strides=[stride] * 2, pads=[pad] * 4, dilations=[1, 1], group=group)


def resnet50_v1(file, batch_norm=""):
    """With `bn` the batch norms are nodes of their own, as exported in training mode or without folding."""
    n = Network()

    def normal(x, c, filters, kernel, stride=1, pad=0):
        if not batch_norm:
            return conv(n, x, c, filters, kernel, stride, pad)
        x = conv(n, x, c, filters, kernel, stride, pad, bias=False)
        return n.add("BatchNormalization", x, *(n.weights(filters) for _ in range(4)), epsilon=1e-5)

    x = n.add("Relu", normal("image", 3, 64, 7, 2, 3))
    x = n.add("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    channels = 64
    for stage, (width, blocks) in enumerate(((64, 3), (128, 4), (256, 6), (512, 3))):
        for block in range(blocks):
            stride = 2 if stage > 0 and block == 0 else 1
            y = n.add("Relu", normal(x, channels, width, 1, stride))
            y = n.add("Relu", normal(y, width, width, 3, 1, 1))
            y = normal(y, width, 4 * width, 1)
            if block == 0:
                x = normal(x, channels, 4 * width, 1, stride)
            x = n.add("Relu", n.add("Add", y, x))
            channels = 4 * width
    x = n.add("Flatten", n.add("GlobalAveragePool", x), axis=1)
    x = n.add("Gemm", x, n.weights(1000, 2048), n.weights(1000), alpha=1.0, beta=1.0, transB=1)
    n.save(file, [("image", TensorProto.FLOAT, ["batch", 3, 224, 224])], x)


def mobilenet_v2(file):
    n = Network()
    relu6 = lambda x: n.add("Clip", x, n.number(0), n.number(6))
    x, channels = relu6(conv(n, "image", 3, 32, 3, 2, 1)), 32
    for t, c, count, s in ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)):
        for i in range(count):
            stride, y = s if i == 0 else 1, x
            if t > 1:
                y = relu6(conv(n, y, channels, t * channels, 1))
            y = relu6(conv(n, y, t * channels, t * channels, 3, stride, 1, t * channels))
            y = conv(n, y, t * channels, c, 1)
            x = n.add("Add", x, y) if stride == 1 and channels == c else y
            channels = c
    x = relu6(conv(n, x, channels, 1280, 1))
    x = n.add("Flatten", n.add("GlobalAveragePool", x), axis=1)
    n.save(file, [("image", TensorProto.FLOAT, ["batch", 3, 224, 224])],
           n.add("Gemm", x, n.weights(1000, 1280), n.weights(1000), transB=1))


def norm(n, x, width):
    """A layer norm below opset 17."""
    mean = n.add("ReduceMean", x, axes=[-1])
    centered = n.add("Sub", x, mean)
    square = n.add("Pow", centered, n.number(2))
    deviation = n.add("Sqrt", n.add("Add", n.add("ReduceMean", square, axes=[-1]), n.number(1e-12)))
    return n.add("Add", n.add("Mul", n.add("Div", centered, deviation), n.weights(width)), n.weights(width))


def linear(n, x, k, out):
    return n.add("Add", n.weights(out), n.add("MatMul", x, n.weights(k, out)))


def heads(n, x, count, dim, order):
    """Shapes are computed from the input's, as tracing does."""
    shape = n.add("Shape", x)
    parts = [n.add("Unsqueeze", n.add("Gather", shape, n.number(i, numpy.int64), axis=0), n.number([0], numpy.int64)) for i in (0, 1)]
    full = n.add("Concat", *parts, n.number([count], numpy.int64), n.number([dim], numpy.int64), axis=0)
    return n.add("Transpose", n.add("Reshape", x, full), perm=order)


def attention(n, q, k, v, dim, masked):
    scores = n.add("Div", n.add("MatMul", q, k), n.number(dim ** 0.5))
    if masked:
        scores = n.add("Where", n.weights(1, 1, 128, 128), scores, n.number(-1e4))
    context = n.add("Transpose", n.add("MatMul", n.add("Softmax", scores, axis=-1), v), perm=[0, 2, 1, 3])
    return n.add("Reshape", context, n.number([0, 0, -1], numpy.int64))


def bert_base(file, opset="13"):
    n, width = Network(), 768
    x = n.add("Gather", n.weights(30522, width), "tokens")
    x = n.add("Add", x, n.add("Gather", n.weights(512, width), "positions"))
    x = norm(n, n.add("Add", x, n.add("Gather", n.weights(2, width), "segments")), width)
    for _ in range(12):
        q, k, v = (linear(n, x, width, width) for _ in range(3))
        context = attention(n, heads(n, q, 12, 64, [0, 2, 1, 3]), heads(n, k, 12, 64, [0, 2, 3, 1]),
                            heads(n, v, 12, 64, [0, 2, 1, 3]), 64, False)
        x = norm(n, n.add("Add", linear(n, context, width, width), x), width)
        y = linear(n, x, width, 4 * width)
        erf = n.add("Add", n.add("Erf", n.add("Div", y, n.number(2 ** 0.5))), n.number(1))
        y = n.add("Mul", n.add("Mul", y, erf), n.number(0.5))
        x = norm(n, n.add("Add", linear(n, y, 4 * width, width), x), width)
    n.save(file, [(name, TensorProto.INT64, ["batch", "seq"]) for name in ("tokens", "positions", "segments")], x)


def gpt2(file):
    n, width = Network(), 768

    def conv1d(x, k, out):
        """transformers' Conv1D: rows, a Gemm, and the shape again."""
        rows = n.add("Gemm", n.add("Reshape", x, n.number([-1, k], numpy.int64)), n.weights(k, out), n.weights(out))
        return n.add("Reshape", rows, n.number([1, 128, out], numpy.int64))

    x = n.add("Add", n.add("Gather", n.weights(50257, width), "tokens"), n.add("Gather", n.weights(1024, width), "positions"))
    for _ in range(12):
        parts = n.add("Split", conv1d(norm(n, x, width), width, 3 * width), n.number([width] * 3, numpy.int64), outputs=3, axis=2)
        q, k, v = (heads(n, part, 12, 64, order) for part, order in zip(parts, ([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3])))
        x = n.add("Add", conv1d(attention(n, q, k, v, 64, True), width, width), x)
        y = conv1d(norm(n, x, width), width, 4 * width)
        cube = n.add("Mul", n.add("Pow", y, n.number(3)), n.number(0.044715))
        tanh = n.add("Tanh", n.add("Mul", n.add("Add", y, cube), n.number((2 / numpy.pi) ** 0.5)))
        y = n.add("Mul", n.add("Mul", y, n.number(0.5)), n.add("Add", tanh, n.number(1)))
        x = n.add("Add", x, conv1d(y, 4 * width, width))
    bounds = [n.number([bound], numpy.int64) for bound in (127, 128, 1)]
    last = n.add("Slice", x, bounds[0], bounds[1], bounds[2])
    n.save(file, [(name, TensorProto.INT64, [1, 128]) for name in ("tokens", "positions")],
           n.add("MatMul", norm(n, last, width), n.weights(width, 50257)))


def chain(file, count):
    """A chain of `count` small nodes, for the time that an import takes."""
    n, x = Network(), "x"
    for i in range(int(count) // 4):
        x = n.add("Relu", n.add("Add", n.add("MatMul", x, n.weights(16, 16)), n.weights(16)))
        x = n.add("Transpose" if i % 2 else "Sigmoid", x, **({"perm": [1, 0]} if i % 2 else {}))
    n.save(file, [("x", TensorProto.FLOAT, [16, 16])], x)


def heavy(file, megabytes):
    """Weights inside the file."""
    n = Network()
    tensor = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[256, int(megabytes) * 1024])
    tensor.raw_data = bytes(int(megabytes) << 20)
    n.tensors.append(tensor)
    n.save(file, [("x", TensorProto.FLOAT, [1, 256])], n.add("MatMul", "x", "w"))


def product(shape):
    result = 1
    for extent in shape:
        result *= extent
    return result


def count(file, *dims):
    """Multiply-accumulates of each convolution and product, from the shapes that onnx itself infers."""
    model = onnx.load(file, load_external_data=False)
    given = dict(each.rsplit("=", 1) for each in dims)
    for info in model.graph.input:
        for dim in info.type.tensor_type.shape.dim:
            if dim.dim_param in given:
                dim.dim_value = int(given[dim.dim_param])
    del model.graph.value_info[:]
    graph = onnx.shape_inference.infer_shapes(model, data_prop=True).graph
    shapes = {t.name: list(t.dims) for t in graph.initializer}
    for node in graph.node:
        if node.op_type == "Constant":
            shapes[node.output[0]] = list(node.attribute[0].t.dims)
    for info in [*graph.value_info, *graph.input, *graph.output]:
        if info.type.tensor_type.HasField("shape"):
            dims = [d.dim_value if d.HasField("dim_value") else None for d in info.type.tensor_type.shape.dim]
            shapes.setdefault(info.name, dims)
    found = []
    for node in graph.node:
        if node.op_type not in ("Conv", "ConvTranspose", "MatMul", "Gemm"):
            continue
        a, b, out = shapes.get(node.input[0]), shapes.get(node.input[1]), shapes.get(node.output[0])
        macs = None
        if None not in (a, b, out) and None not in a + b + out:
            if node.op_type == "Conv":
                macs = product(out) * product(b[1:])
            elif node.op_type == "ConvTranspose":
                macs = product(a) * product(b[1:])  # each input with each tap: those beyond an edge, too
            else:
                transposed = any(x.name == "transA" and x.i for x in node.attribute)
                macs = product(out) * (a[0] if transposed else a[-1])
        found.append({"op": node.op_type, "name": node.name or node.output[0], "macs": macs, "out": out})
    print(json.dumps(found))


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
