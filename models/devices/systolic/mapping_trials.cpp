// SPDX-License-Identifier: Apache-2.0
#include "models/devices/systolic/mapping_trials.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

namespace systole::systolic {
namespace {

/// The layer, or its like in the second turn of its block.
std::size_t second_turn(const Graph& graph, std::size_t layer) {
    for (const RepeatedBlock& block : graph.blocks) {
        if (layer < block.first_layer + block.layers ||
            layer >= block.first_layer + block.layers * block.turns)
            continue;
        return block.first_layer + block.layers + (layer - block.first_layer) % block.layers;
    }
    return layer;
}

using Choice = std::vector<std::size_t>;

/// The t-th mapping of every second of the layers, as far as they have one.
Choice every_second(const std::vector<LikeLayers>& layers, std::size_t first, std::size_t t) {
    Choice choice(layers.size(), 0);
    for (std::size_t i = first; i < layers.size(); i += 2)
        if (t < layers[i].to_try.size()) choice[i] = t;
    return choice;
}

/// Cycles that each of the changed layers has saved, with those behind it that are not changed, up to the
/// next that is.
std::vector<std::int64_t> saved_cycles(const std::vector<LikeLayers>& layers, const Choice& choice,
                                       const TrialTime& own, const TrialTime& time) {
    const std::size_t nobody = layers.size();
    std::vector<std::size_t> changed(own.layers.size(), nobody);
    for (std::size_t i = 0; i < layers.size(); ++i)
        for (const std::size_t layer : layers[i].layers)
            if (choice[i] > 0) changed[layer] = i;
    std::vector<std::int64_t> saved(layers.size(), 0);
    std::size_t last = nobody;
    for (std::size_t layer = 0; layer < changed.size(); ++layer) {
        if (changed[layer] != nobody) last = changed[layer];
        if (last != nobody) saved[last] += own.layers[layer] - time.layers[layer];
    }
    return saved;
}

/// The runs of one network.
class Search {
public:
    Search(const std::vector<LikeLayers>& layers, TrialTime own, std::int64_t blur, const RunTrial& run)
        : layers_(layers),
          own_(std::move(own)),
          blur_(blur),
          run_(run),
          best_(layers.size(), 0),
          saved_(layers.size(), 0),
          trials_{1, 0, best_, own_.run, own_.run},
          done_{best_} {}

    void try_out(const Choice& choice) {
        if (std::ranges::find(done_, choice) != done_.end()) return;
        done_.push_back(choice);
        ++trials_.runs;
        const std::optional<TrialTime> time = run_(choice);
        if (!time) ++trials_.refused;
        if (!time) return;
        if (time->run + blur_ < trials_.best) trials_.best = time->run, trials_.choice = choice;
        const std::vector<std::int64_t> saved = saved_cycles(layers_, choice, own_, *time);
        for (std::size_t i = 0; i < layers_.size(); ++i)
            if (saved[i] > saved_[i]) saved_[i] = saved[i], best_[i] = choice[i];
    }

    /// The best of each layer, as far as has been tried.
    Choice best_of_each() const { return best_; }
    const Trials& trials() const { return trials_; }

private:
    const std::vector<LikeLayers>& layers_;
    const TrialTime own_;
    const std::int64_t blur_;
    const RunTrial& run_;
    Choice best_;
    std::vector<std::int64_t> saved_;  ///< by the best
    Trials trials_;
    std::vector<Choice> done_;
};

}  // namespace

std::vector<LikeLayers> like_layers(const Graph& graph, const LayerVariants& variants) {
    std::vector<LikeLayers> all;
    std::map<std::string_view, std::size_t> known;  // by the name of what stands for them
    for (std::size_t i = 0; i < graph.layers.size(); ++i) {
        const auto found = variants.find(whole_name(graph.layers[i]));
        const auto [like, added] =
            known.try_emplace(whole_name(graph.layers[second_turn(graph, i)]), all.size());
        if (added) all.emplace_back();
        LikeLayers& likes = all[like->second];
        likes.layers.push_back(i);
        if (likes.to_try.empty() && found != variants.end()) likes.to_try = found->second;
    }
    std::erase_if(all, [](const LikeLayers& likes) { return likes.to_try.empty(); });
    return all;
}

Trials try_mappings(const std::vector<LikeLayers>& layers, TrialTime own, std::size_t most, std::int64_t blur,
                    const RunTrial& run) {
    Search search(layers, std::move(own), blur, run);
    std::size_t longest = 0;
    for (const LikeLayers& like : layers) longest = std::max(longest, like.to_try.size());
    for (std::size_t t = 1; t < std::min(most, longest); ++t) {
        for (const std::size_t first : {0U, 1U}) search.try_out(every_second(layers, first, t));
        search.try_out(search.best_of_each());
    }
    return search.trials();
}

LayerMappings mappings_of(const Graph& graph, const std::vector<LikeLayers>& layers,
                          const std::vector<std::size_t>& choice) {
    LayerMappings mappings;
    for (std::size_t i = 0; i < layers.size(); ++i)
        for (const std::size_t layer : layers[i].layers)
            if (choice[i] > 0) mappings.emplace(whole_name(graph.layers[layer]), layers[i].to_try[choice[i]]);
    return mappings;
}

}  // namespace systole::systolic
