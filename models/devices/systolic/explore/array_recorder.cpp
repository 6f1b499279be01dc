// SPDX-License-Identifier: Apache-2.0
#include "models/devices/systolic/explore/array_recorder.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "sim/base/check.h"
#include "sim/base/error.h"
#include "sim/base/text.h"

namespace systole::systolic {
namespace {

/// Takes `prefix` off the front of `text`, if it is there.
bool take(std::string_view& text, std::string_view prefix) {
    if (!text.starts_with(prefix)) return false;
    text.remove_prefix(prefix.size());
    return true;
}

/// Takes a number off the front.
std::size_t take_number(std::string_view& text) {
    std::size_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    SYSTOLE_CHECK(error == std::errc(), "'{}' should begin with a number", text);
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return number;
}

bool any(const std::vector<std::int64_t>& values) {
    return std::ranges::any_of(values, [](std::int64_t value) { return value != 0; });
}

/// Vectors of a fold.
std::int64_t vectors_of(const RecordedPass& pass) {
    switch (pass.dataflow) {
        case Dataflow::WeightStationary:
            return pass.m;
        case Dataflow::OutputStationary:
            return pass.k;
        case Dataflow::InputStationary:
            return pass.n;
    }
    return 0;
}

}  // namespace

std::size_t UnitFinder::add(WaveSignal signal, WaveReader) {
    // Edges come before PEs, so that the size of an array is known before it is large.
    std::string_view path = signal.path;
    for (const std::string_view edge : {".left.row_", ".shift.col_"}) {
        const std::size_t found = path.find(edge);
        if (found == std::string_view::npos) continue;
        std::string_view number = path.substr(found + edge.size());
        const int count = static_cast<int>(take_number(number)) + 1;
        const std::string_view unit = path.substr(0, found);
        if (units_.empty() || units_.back().path != unit) units_.push_back({std::string(unit)});
        (edge == ".left.row_" ? units_.back().rows : units_.back().cols) = count;
    }
    if (!units_.empty() && path.ends_with(".pe_0_0.moving") &&
        units_.back().rows * units_.back().cols > kMostPes)
        throw UserError(fmt::format(
            "{} is an array of {} x {}: {} PEs, and a page holds the registers of at most {}; write --set "
            "mxu.rows=4 --set mxu.cols=4, take teaching_4x4, or 'systole wave' for a part of the array",
            units_.back().path, units_.back().rows, units_.back().cols,
            with_thousands(std::int64_t{units_.back().rows} * units_.back().cols), kMostPes));
    return kUnwanted;
}

ArrayRecorder::ArrayRecorder(RecordedUnit unit, std::int64_t first) : unit_(std::move(unit)) {
    recording_.rows = unit_.rows;
    recording_.cols = unit_.cols;
    recording_.first = first;
    const std::size_t pes = static_cast<std::size_t>(unit_.rows) * static_cast<std::size_t>(unit_.cols);
    for (Values* values : {&moving_, &stationary_, &shadow_, &sum_, &result_, &valid_, &real_})
        values->resize(pes);
    multiplied_.resize(pes);
    for (Values* values : {&leaving_, &leaves_, &shifting_})
        values->resize(static_cast<std::size_t>(unit_.cols));
    written_.assign(static_cast<std::size_t>(unit_.cols), kNoWaveValue);
}

void ArrayRecorder::begin(const std::vector<WaveSignal>& signals, const WaveWindow& window) {
    clock_ = window.clock;
    cycle_ = window.first.value();
    const std::string scope = unit_.path + '.';
    // Accumulators are in a row by then: their places do not move any more.
    for (const WaveSignal& signal : signals) {
        std::string_view name = signal.path;
        if (!take(name, scope) || !take(name, "acc_")) continue;
        const auto row = static_cast<std::int32_t>(take_number(name));
        take(name, ".col_");
        accumulators_.push_back({row, static_cast<std::int32_t>(take_number(name))});
    }
    std::size_t accumulator = 0;
    for (const WaveSignal& signal : signals) {
        std::string_view name = signal.path;
        if (!take(name, scope))
            targets_.push_back(&unused_);
        else if (name.starts_with("acc_"))
            targets_.push_back(&accumulators_[accumulator++].value);
        else
            targets_.push_back(target(name));
    }
}

std::int64_t* ArrayRecorder::target(std::string_view name) {
    if (take(name, "pe_")) return target_in_pe(name);
    for (const std::string_view edge : {"bottom.", "shift.", "written."})
        if (name.starts_with(edge)) return target_in_column(name);
    return target_of_block(name);
}

std::int64_t* ArrayRecorder::target_in_pe(std::string_view name) {
    const std::size_t row = take_number(name);
    take(name, "_");
    const std::size_t at = row * static_cast<std::size_t>(unit_.cols) + take_number(name);
    if (name == ".shadow") recording_.has_shadow = true;
    if (name == ".result") recording_.has_result = true;
    const std::pair<std::string_view, Values*> registers[] = {
        {".moving", &moving_}, {".stationary", &stationary_}, {".shadow", &shadow_}, {".sum", &sum_},
        {".result", &result_}, {".valid", &valid_},           {".real", &real_}};
    for (const auto& [called, values] : registers)
        if (name == called) return &values->at(at);
    return &unused_;
}

std::int64_t* ArrayRecorder::target_in_column(std::string_view name) {
    const std::pair<std::string_view, Values*> edges[] = {{"bottom.col_", &leaving_},
                                                          {"bottom.valid_", &leaves_},
                                                          {"shift.col_", &shifting_},
                                                          {"written.col_", &written_}};
    for (const auto& [called, values] : edges)
        if (take(name, called)) return &values->at(take_number(name));
    return &unused_;
}

std::int64_t* ArrayRecorder::target_of_block(std::string_view name) {
    const std::pair<std::string_view, std::int64_t*> block[] = {
        {"pass", &streaming_.pass},         {"layer", &streaming_.layer},      {"batch", &streaming_.batch},
        {"first_m", &streaming_.m0},        {"first_k", &streaming_.k0},       {"first_n", &streaming_.n0},
        {"size_m", &streaming_.m},          {"size_k", &streaming_.k},         {"size_n", &streaming_.n},
        {"dataflow", &streaming_.dataflow}, {"new_tile", &streaming_.new_tile}};
    for (const auto& [called, value] : block)
        if (name == called) return value;
    return &unused_;
}

void ArrayRecorder::time(Ticks at) {
    finish_cycles(clock_->at_or_before(at).value());
}

void ArrayRecorder::end(Ticks at) {
    finish_cycles(clock_->at_or_before(at).value());
    recording_.end = cycle_;
}

void ArrayRecorder::finish_cycles(std::int64_t until) {
    for (; cycle_ < until; ++cycle_) {
        if (valid_.front() != 0) note_vector();
        recording_.clocks.push_back(count());
        if (cycle_ == recording_.first) recording_.vectors_before = multiplied_;
        for (std::size_t pe = 0; pe < valid_.size(); ++pe) multiplied_[pe] += valid_[pe] != 0;
        note_writes();
        if (cycle_ + 1 >= recording_.first) keep_accumulators();
        if (cycle_ >= recording_.first) keep_frame();
    }
}

PeCycles ArrayRecorder::count() const {
    PeCycles clock;
    for (std::size_t pe = 0; pe < valid_.size(); ++pe)
        if (valid_[pe] != 0) ++(real_[pe] != 0 ? clock.useful : clock.padding);
    const bool moves = clock.useful + clock.padding > 0 || any(shifting_) || any(leaves_);
    if (moves) clock.ramp = static_cast<std::int32_t>(valid_.size()) - clock.useful - clock.padding;
    return clock;
}

/// A vector enters PE(0,0): the next of its pass, or the first of another, or of the next fold of the same.
void ArrayRecorder::note_vector() {
    const Streaming& now = streaming_;
    const bool next_fold = now.pass == pass_ && vectors_left_ == 0;
    if (next_fold || now.pass != pass_) {
        RecordedPass pass{cycle_,
                          vectors_,
                          now.layer,
                          now.batch,
                          now.m0,
                          now.k0,
                          now.n0,
                          now.m,
                          now.k,
                          now.n,
                          static_cast<Dataflow>(now.dataflow),
                          now.new_tile != 0};
        // Each fold of a run has a tile of its own.
        if (next_fold) pass.k0 = recording_.passes.back().k0 + pass.k, pass.new_tile = true;
        pass_ = now.pass;
        vectors_left_ = vectors_of(pass);
        recording_.passes.push_back(pass);
    }
    --vectors_left_;
    ++vectors_;
}

void ArrayRecorder::keep_frame() {
    ArrayRecording& kept = recording_;
    std::vector<std::int32_t> work(valid_.size());
    for (std::size_t pe = 0; pe < work.size(); ++pe)
        work[pe] = valid_[pe] == 0 ? 0 : (real_[pe] == 0 ? 1 : 2);
    const auto frame_differs = [&](const std::vector<std::int32_t>& before, const auto& now) {
        return !std::equal(now.begin(), now.end(), before.end() - std::ssize(now));
    };
    const std::pair<std::vector<std::int32_t>*, const Values*> parts[] = {
        {&kept.moving, &moving_}, {&kept.stationary, &stationary_}, {&kept.shadow, &shadow_},
        {&kept.sum, &sum_},       {&kept.result, &result_},         {&kept.leaving, &leaving_},
        {&kept.leaves, &leaves_}, {&kept.shifting, &shifting_}};
    const bool multiplies = any(valid_);
    if (!kept.frames.empty() && !multiplies && !frame_differs(kept.work, work) &&
        std::ranges::none_of(parts,
                             [&](const auto& part) { return frame_differs(*part.first, *part.second); }))
        return;
    const auto pes = std::ssize(valid_);
    if ((std::ssize(kept.frames) + 1) * pes > kMostPeFrames)
        throw UserError(
            fmt::format("{} PEs move in more than {} clocks, more than a page holds; write --cycles {}:{}, "
                        "or ask about a smaller "
                        "operator or array",
                        pes, with_thousands(std::ssize(kept.frames)), kept.first, cycle_));
    kept.frames.push_back(cycle_);
    kept.work.insert(kept.work.end(), work.begin(), work.end());
    for (const auto& [frames, now] : parts)
        for (const std::int64_t value : *now) frames->push_back(static_cast<std::int32_t>(value));
}

/// A sum may be written that was there before: 0 onto 0.
void ArrayRecorder::note_writes() {
    for (Accumulator& sum : accumulators_)
        if (written_[static_cast<std::size_t>(sum.col)] == sum.row) sum.written = true;
}

void ArrayRecorder::keep_accumulators() {
    for (Accumulator& sum : accumulators_)
        if (std::exchange(sum.written, false))
            recording_.accumulators.push_back(
                {cycle_, sum.row, sum.col, static_cast<std::int32_t>(sum.value)});
}

}  // namespace systole::systolic
