# SPDX-License-Identifier: Apache-2.0
"""Modules in StableHLO, spelled out as JAX does: the networks that tests read by this way, too."""


class Function:
    """@main under construction: every method writes an operation and answers the value that it makes."""

    def __init__(self, element="f32"):
        self.element, self.arguments, self.lines, self.count = element, [], [], 0

    def type(self, shape, element=None):
        return "tensor<" + "".join(f"{extent}x" for extent in shape) + f"{element or self.element}>"

    def argument(self, *shape, element=None):
        name = f"%arg{len(self.arguments)}"
        self.arguments.append(f"{name}: {self.type(shape, element)}")
        return name, shape

    def write(self, text, shape, element=None):
        name = f"%{self.count}"
        self.count += 1
        self.lines.append(f"    {name} = {text} : {self.type(shape, element)}" if "->" not in text
                          else f"    {name} = {text.replace('->', '->', 1)} {self.type(shape, element)}")
        return name, tuple(shape)

    def apply(self, operation, *values):
        return self.write(f"stablehlo.{operation} " + ", ".join(name for name, _ in values), values[0][1])

    def number(self, value, shape):
        scalar = self.write(f"stablehlo.constant dense<{value:e}>", ())
        return self.write(f"stablehlo.broadcast_in_dim {scalar[0]}, dims = [] : ({self.type(())}) ->", shape)

    def broadcast(self, value, dims, shape):
        name, own = value
        return self.write(f"stablehlo.broadcast_in_dim {name}, dims = {list(dims)} : ({self.type(own)}) ->", shape)

    def reshape(self, value, *shape):
        return self.write(f"stablehlo.reshape {value[0]} : ({self.type(value[1])}) ->", shape)

    def part(self, value, axis, begin, end):
        limits = [f"{begin}:{end}" if i == axis else f"0:{extent}" for i, extent in enumerate(value[1])]
        shape = [end - begin if i == axis else extent for i, extent in enumerate(value[1])]
        return self.write(f"stablehlo.slice {value[0]} [{', '.join(limits)}] : ({self.type(value[1])}) ->", shape)

    def dot(self, a, b, over, batch=((), ())):
        rest_a = [extent for i, extent in enumerate(a[1]) if i not in batch[0] and i not in over[0]]
        rest_b = [extent for i, extent in enumerate(b[1]) if i not in batch[1] and i not in over[1]]
        dims = f"batching_dims = {list(batch[0])} x {list(batch[1])}, " if batch[0] else ""
        dims += f"contracting_dims = {list(over[0])} x {list(over[1])}, precision = [DEFAULT, DEFAULT]"
        return self.write(f"stablehlo.dot_general {a[0]}, {b[0]}, {dims} : ({self.type(a[1])}, {self.type(b[1])}) ->",
                          [a[1][i] for i in batch[0]] + rest_a + rest_b)

    def reduce(self, value, operation, start):
        """Along the last dimension."""
        init = self.write(f"stablehlo.constant dense<{start}>", ())
        return self.write(f"stablehlo.reduce({value[0]} init: {init[0]}) applies stablehlo.{operation} across "
                          f"dimensions = [{len(value[1]) - 1}] : ({self.type(value[1])}, {self.type(())}) ->",
                          value[1][:-1])

    def rows(self, value, shape):
        """A value for each row, met again along it."""
        leading = range(len(shape) - 1)
        column = self.broadcast(value, leading, (*shape[:-1], 1))
        return self.broadcast(column, range(len(shape)), shape)

    def columns(self, value, shape):
        """A stored row, met again in every row."""
        row = self.broadcast(value, [len(shape) - 1], (1,) * (len(shape) - 1) + value[1])
        return self.broadcast(row, range(len(shape)), shape)

    def product(self, value, weights, bias):
        made = self.dot(value, weights, ([len(value[1]) - 1], [0]))
        return self.apply("add", made, self.columns(bias, made[1]))

    def mean(self, value):
        total = self.reduce(value, "add", "0.000000e+00")
        column = self.broadcast(total, range(len(total[1])), (*total[1], 1))
        return self.apply("divide", column, self.number(value[1][-1], column[1]))

    def layer_norm(self, value, scale, shift):
        shape = value[1]
        centred = self.apply("subtract", value, self.broadcast(self.mean(value), range(len(shape)), shape))
        variance = self.mean(self.apply("multiply", centred, centred))
        root = self.apply("rsqrt", self.apply("add", variance, self.number(1e-5, variance[1])))
        normal = self.apply("multiply", centred, self.broadcast(root, range(len(shape)), shape))
        return self.apply("add", self.apply("multiply", normal, self.columns(scale, shape)),
                          self.columns(shift, shape))

    def softmax(self, value):
        shape = value[1]
        greatest = self.reduce(value, "maximum", "0xFF800000")
        power = self.apply("exponential", self.apply("subtract", value, self.rows(greatest, shape)))
        return self.apply("divide", power, self.rows(self.reduce(power, "add", "0.000000e+00"), shape))

    def gelu(self, value):
        shape = value[1]
        cube = self.apply("multiply", self.apply("multiply", value, value), value)
        inside = self.apply("add", value, self.apply("multiply", self.number(0.044715, shape), cube))
        tanh = self.apply("tanh", self.apply("multiply", self.number(0.7978845, shape), inside))
        gate = self.apply("multiply", self.number(0.5, shape), self.apply("add", self.number(1, shape), tanh))
        return self.apply("multiply", value, gate)

    def text(self, result):
        return (f"module @jit_main attributes {{mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32}} {{\n"
                f"  func.func public @main({', '.join(self.arguments)}) -> ({self.type(result[1])} "
                f"{{jax.result_info = \"result\"}}) {{\n" + "\n".join(self.lines) +
                f"\n    return {result[0]} : {self.type(result[1])}\n  }}\n}}\n")


def attention(main, value, hidden, heads):
    batch, tokens, _ = value[1]
    head = hidden // heads
    projected = main.product(value, main.argument(hidden, 3 * hidden), main.argument(3 * hidden))
    split = [main.reshape(main.part(projected, 2, i * hidden, (i + 1) * hidden), batch, tokens, heads, head)
             for i in range(3)]
    scores = main.dot(split[0], split[1], ([3], [3]), ([0, 2], [0, 2]))
    scaled = main.apply("multiply", scores, main.number(head ** -0.5, scores[1]))
    context = main.dot(main.softmax(scaled), split[2], ([3], [1]), ([0, 1], [0, 2]))
    turned = main.write(f"stablehlo.transpose {context[0]}, dims = [0, 2, 1, 3] : ({main.type(context[1])}) ->",
                        (batch, tokens, heads, head))
    joined = main.reshape(turned, batch, tokens, hidden)
    return main.product(joined, main.argument(hidden, hidden), main.argument(hidden))


def gpt2(layers, hidden, heads, tokens, vocabulary=50257, positions=1024):
    """As in traces/llm/gpt2.yaml: embeddings, blocks with norms in front, a norm and the head of the last token."""
    main = Function()
    table, places = main.argument(vocabulary, hidden), main.argument(positions, hidden)
    indices = main.argument(1, tokens, element="i32")
    column = main.write(f"stablehlo.broadcast_in_dim {indices[0]}, dims = [0, 1] : ({main.type((1, tokens), 'i32')}) ->",
                        (1, tokens, 1), "i32")
    rows = main.write(f"\"stablehlo.gather\"({table[0]}, {column[0]}) <{{dimension_numbers = #stablehlo.gather<"
                      f"offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, "
                      f"slice_sizes = array<i64: 1, {hidden}>}}> : ({main.type(table[1])}, "
                      f"{main.type((1, tokens, 1), 'i32')}) ->", (1, tokens, hidden))
    value = main.apply("add", rows, main.broadcast(main.part(places, 0, 0, tokens), [1, 2], (1, tokens, hidden)))
    for _ in range(layers):
        normal = main.layer_norm(value, main.argument(hidden), main.argument(hidden))
        value = main.apply("add", value, attention(main, normal, hidden, heads))
        normal = main.layer_norm(value, main.argument(hidden), main.argument(hidden))
        wide = main.gelu(main.product(normal, main.argument(hidden, 4 * hidden), main.argument(4 * hidden)))
        value = main.apply("add", value, main.product(wide, main.argument(4 * hidden, hidden), main.argument(hidden)))
    last = main.part(value, 1, tokens - 1, tokens)
    normal = main.layer_norm(last, main.argument(hidden), main.argument(hidden))
    return main.text(main.dot(normal, table, ([2], [1])))
