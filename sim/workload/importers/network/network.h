// SPDX-License-Identifier: Apache-2.0
// A network between the file that it comes from and the trace that it becomes: values with shapes as the file
// has them (NCHW, or whatever it says), and the layers that make them in the order in which a trace holds
// tensors (NHWC). Front ends read files and call verbs (products.h, convolutions.h, vectors.h, movements.h,
// recurrent.h); what a trace cannot say a verb throws as Unsayable, and the front end tells which node it
// was.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/workload/importers/imported.h"
#include "sim/workload/importers/network/arrangement.h"

namespace systole {

/// Why a trace cannot say something, in words that follow a colon.
class Unsayable : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

class TraceWriter;

/// [0, 2, .., 1]: how feature maps are held.
Order channels_last(std::size_t rank);

/// A value of the network.
struct Value {
    std::size_t index = 0;
    friend bool operator==(const Value&, const Value&) = default;
};

/// A layer of the trace. Of a block (`turns` above 0) `inside` are its layers, and @0, @1 … in their keys the
/// tensors of `in`.
struct Step {
    std::string name, op;
    std::vector<TensorId> in = {};
    std::string keys = {};                     ///< ", filters: 64, kernel: 3"
    std::optional<Shape> stored = {};          ///< of an elementwise layer
    bool folds = false;                        ///< such a one that belongs into the weights before it
    std::optional<DType> weight_dtype = {};    ///< where it is not that of what it reads
    std::optional<std::int64_t> columns = {};  ///< of stored weights: a bias of so many may join
    bool bias = false, takes_function = false;
    std::string function = {};  ///< joined, or all there is to an activation
    std::int64_t turns = 0;
    std::vector<std::pair<std::string, std::string>> inside = {};
    TensorId out = 0;
};

class Network {
public:
    /// A floating-point tensor is one of the trace's parameter `dtype`: DType::Bf16 stands for it.
    static constexpr DType kFloat = DType::Bf16;

    /// What comes from outside. Of three to five dimensions it is held as the first layer that is a
    /// convolution (or the like) wants it, channels last; otherwise as `shape` says.
    Value input(std::string_view name, const Shape& shape, DType dtype);
    /// What the file holds: weights, or any other constant. Where a layer needs it as a tensor beside another
    /// one it becomes an input, which a note tells.
    Value stored(std::string_view name, const Shape& shape, DType dtype);
    /// Whether a layer makes it: a view of an input is no output.
    bool output(Value value);
    /// Read by what is not in the trace: an output as it lies.
    void keep(Value value);
    void note(std::string text) { notes_.push_back(std::move(text)); }

    const Shape& shape(Value value) const { return record(value).shape; }
    DType dtype(Value value) const { return record(value).dtype; }
    bool is_stored(Value value) const { return !record(value).tensor && !record(value).pending; }
    const std::string& name(Value value) const { return record(value).name; }

    /// Views. Nothing moves but where a reshape cuts what does not lie side by side.
    Value reshape(Value value, const Shape& shape);
    Value transpose(Value value, const Order& order);
    /// Of all that have been made so far, views among them, and those that nobody will turn out to read.
    std::size_t layers() const { return steps_.size(); }

    // For verbs.

    Arrangement arrangement(Value value) { return made(value).arrangement; }
    /// The value itself, or an input in place of a stored one.
    Value active(Value value);
    /// Held with its factors in that order, or in that of its dimensions: transposed if need be.
    Value moved(Value value, const Order& factors);
    Value moved_to_dims(Value value, const Order& dims);
    /// The same for feature maps: also decides how an input is held.
    Value feature_map(Value value, const Order& dims);
    /// The tensor that holds the value, viewed as `shape`.
    TensorId tensor(Value value, const Shape& shape);
    /// The same in its own shape; an input that nobody has decided upon stays so.
    TensorId tensor(Value value) { return *made(value).tensor; }
    const Shape& tensor_shape(TensorId tensor) const { return tensors_[tensor].shape; }
    /// The same value with its factors seen otherwise: `arrangement` holds the same elements in the same
    /// order.
    Value rearranged(Value value, const Arrangement& arrangement);
    /// A layer's output, a tensor of `shape` that holds a value so arranged.
    Value make(Step step, const Shape& shape, const Arrangement& arrangement, DType dtype);
    /// The same of a layer that makes each element from those in its place: an input's order stays open.
    Value make_like(Step step, Value like, DType dtype);
    /// What has been made of it in another dtype, element by element, lying as it does; `remember` tells.
    std::optional<Value> converted(Value value, DType to);
    void remember_converted(Value value, Value made);
    /// Decides how an input is held that nobody has decided upon: row-major.
    void settle(Value value);
    bool is_open(Value value);
    /// What was just made belongs into the weights before it, if it is a factor or shift of their columns.
    void may_fold(Value made);
    /// What was just made is written in another dtype than what it reads.
    void write_as(Value made, DType dtype);
    /// The weights of the product just made have scales: one for each `group` of rows, or of none one a
    /// column.
    void scale_weights(Value made, std::int64_t group);
    /// Of two values that lie alike.
    void decide_together(Value one, Value other);
    /// What a value was before it was met again along some dimensions, and the other way round.
    std::optional<Value> narrow(Value value) const { return record(value).narrow; }
    void set_narrow(Value value, Value narrow) { values_[value.index].narrow = narrow; }
    /// `value` met again along dimensions of 1 that `shape` has otherwise; copied once somebody needs all of
    /// it.
    Value met_again(std::string_view name, Value value, const Shape& shape);

    /// Joins what belongs together, drops what nobody reads, and writes the rest. Throws Unsayable if nothing
    /// is left.
    Imported finish(std::string_view name, const std::vector<std::string>& about, const std::string& file);
    /// Layers of the finished trace, views aside.
    std::size_t written() const { return written_; }
    /// Whether any of the layers from `begin` to below `end`, counted as layers() does, leads to an output of
    /// the finished trace, be it as a part of another one.
    bool reaches_output(std::size_t begin, std::size_t end) const;

private:
    friend class Recognizer;
    friend class Tidy;
    struct Record {
        std::string name;
        Arrangement arrangement;
        DType dtype;
        std::optional<TensorId> tensor;  ///< none: stored, or pending
        Shape shape = {};                ///< of the value
        std::optional<Value> narrow = {};
        bool pending = false;  ///< met again, and nobody has needed copies so far
    };
    struct Held {
        std::string name;
        Shape shape;
        DType dtype;
        std::optional<std::size_t> step = {};  ///< none: an input
        std::optional<std::size_t> open = {};  ///< a group of tensors whose order is not decided
    };
    struct Group {
        std::vector<TensorId> tensors;
        std::vector<Value> values;
    };

    const Record& record(Value value) const { return values_[value.index]; }
    Value add(Record record);
    /// The record, with a tensor unless it is stored.
    const Record& made(Value value);
    void copy_narrow(Value value);
    void decide(std::size_t group, bool last);
    void add_output(TensorId tensor);
    void write_step(TraceWriter& trace, const Step& step, const std::vector<std::string>& names) const;

    // Stay where they are when more are made: verbs hold what shape(), name() and tensor_shape() answer.
    std::deque<Record> values_;
    std::deque<Held> tensors_;
    std::vector<Step> steps_;
    std::vector<Group> groups_;
    std::vector<TensorId> outputs_;
    std::set<TensorId> is_output_;
    std::vector<std::string> notes_;
    std::size_t written_ = 0;
    std::vector<bool> unread_;  // layers that led to no output before any were joined
    std::map<std::pair<TensorId, Shape>, TensorId> views_;
    std::map<std::pair<TensorId, std::pair<Shape, Order>>, TensorId> moves_;
    std::map<std::pair<TensorId, DType>, TensorId> conversions_;
    std::map<std::size_t, Value> fed_;  // stored values that are inputs
};

}  // namespace systole
