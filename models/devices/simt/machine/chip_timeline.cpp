// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/machine/chip_timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <variant>

#include "models/devices/simt/machine/layer_times.h"
#include "models/devices/simt/machine/sm_activity.h"
#include "sim/base/check.h"
#include "sim/base/text.h"
#include "sim/timeline/activity.h"

namespace systole::simt {
namespace {

constexpr std::size_t kMostGroups = 8;  // tracks

struct KernelKind {
    const char* operator()(const GemmPlan&) const { return "gemm"; }
    const char* operator()(const StreamPlan&) const { return "stream"; }
    const char* operator()(const VectorPlan&) const { return "vector"; }
    const char* operator()(const AttentionPlan&) const { return "attention"; }
    const char* operator()(const CollectivePlan&) const { return "collective"; }
};

/// What all SMs had in common for a while: a kernel, its launch, or a wait for the host.
struct Item {
    std::size_t layer;  // of the plan
    Ticks begin, end;
    SlotClass owner;
    std::string name;
    const SmArray::Record* kernel = nullptr;
    std::array<Int128, kSlotClasses> weights{};  // slot-time, 2^-16 ps
    ClassSlots slots{};
};

class ChipTimeline {
public:
    ChipTimeline(const Chip& chip, const SimtSpec& spec, const ChipPlan& plan, const DeviceResult& result)
        : chip_(chip),
          spec_(spec),
          plan_(plan),
          result_(result),
          zero_(zero()),
          activity_(spec, chip.sms.name(), result.total.end) {
        gather();
        share_out();
        for (const Item& item : items_) add(item);
        add_copies();
        add_flows();
        if (left_out_ > 0)
            timeline_.notes.push_back(fmt::format(
                "{} groups of alike SMs have no track: of each kernel only the {} largest have one",
                with_thousands(static_cast<std::int64_t>(left_out_)), kMostGroups));
        add_counters();
        timeline_.activity = activity_.take();
        check_accounts(timeline_, result.total.slots);
    }
    Timeline take() { return std::move(timeline_); }

private:
    /// When the run that is reported began.
    Ticks zero() const {
        if (plan_.first_reported == 0) return Ticks();
        for (const SmArray::Record& kernel : chip_.sms.records())
            if (kernel.layer >= plan_.first_reported) return kernel.launched;
        return chip_.computed();
    }
    std::int64_t sm_slots(std::size_t layer) const {
        return spec_.macs_per_cycle(plan_.layers[layer].dtype) / spec_.sm.count;
    }

    void gather();
    void add_item(std::size_t layer, Ticks begin, Ticks end, SlotClass owner, const std::string& name);
    void add_kernel(const SmArray::Record& kernel, const KernelPlan& plan);
    void share_out();
    void add(const Item& item);
    void add_groups(const Item& item);
    void add_group(const Item& item, const GroupHistory& group, const std::string& track);
    void add_activity(const Item& item);
    void add_copies();
    void add_counters();
    void add_flows();

    const Chip& chip_;
    const SimtSpec& spec_;
    const ChipPlan& plan_;
    const DeviceResult& result_;
    const Ticks zero_;
    std::vector<Item> items_;
    std::vector<std::size_t> kernel_spans_;
    std::size_t left_out_ = 0;
    SmActivity activity_;
    Timeline timeline_;
};

void ChipTimeline::add_item(std::size_t layer, Ticks begin, Ticks end, SlotClass owner,
                            const std::string& name) {
    if (begin == end) return;
    Item item{layer, begin - zero_, end - zero_, owner, name};
    LayerTimes times(spec_.sm.count, spec_.core_clock);
    times.add(owner, end - begin);
    item.weights = times.slot_times(sm_slots(layer));
    items_.push_back(std::move(item));
}

void ChipTimeline::add_kernel(const SmArray::Record& kernel, const KernelPlan& plan) {
    const std::string& layer = plan_.layers[kernel.layer].name;
    add_item(kernel.layer, kernel.launched, kernel.begin, SlotClass::Launch, "launch: " + layer);
    Item item{kernel.layer,
              kernel.begin - zero_,
              kernel.end - zero_,
              SlotClass::Useful,
              fmt::format("{} {}", std::visit(KernelKind(), plan), layer),
              &kernel};
    SmArray::Record alone = kernel;
    alone.launched = kernel.begin;
    alone.account.histories.clear();
    LayerTimes times(spec_.sm.count, spec_.core_clock);
    times.add(alone);
    item.weights = times.slot_times(sm_slots(kernel.layer));
    items_.push_back(std::move(item));
}

void ChipTimeline::gather() {
    const auto& records = chip_.sms.records();
    if (plan_.layers.empty()) return;
    if (plan_.first_reported == 0)
        add_item(0, Ticks(), chip_.copied_in(), SlotClass::Host, "host: inputs come in");
    auto record = records.begin();
    for (std::size_t layer = 0; layer < plan_.layers.size(); ++layer)
        for (const KernelPlan& kernel : plan_.layers[layer].kernels) {
            SYSTOLE_CHECK(record != records.end() && record->layer == layer,
                          "kernels of '{}' were not recorded in their order", plan_.layers[layer].name);
            if (layer >= plan_.first_reported) add_kernel(*record, kernel);
            ++record;
        }
    add_item(plan_.layers.size() - 1, chip_.computed(), chip_.end(), SlotClass::Host, "host: outputs go out");
}

/// A layer's slots, class by class, among its items; a kernel is called by what it has most of.
void ChipTimeline::share_out() {
    for (std::size_t first = 0; first < items_.size();) {
        std::size_t end = first;
        while (end < items_.size() && items_[end].layer == items_[first].layer) ++end;
        const ResultRow& row = result_.layers[items_[first].layer - plan_.first_reported];
        for (std::size_t c = 0; c < kSlotClasses; ++c) {
            std::vector<Int128> weights;
            for (std::size_t i = first; i < end; ++i) weights.push_back(items_[i].weights[c]);
            const std::vector<std::int64_t> shares = shares_of(row.slots[c], weights);
            for (std::size_t i = first; i < end; ++i) items_[i].slots[c] = shares[i - first];
        }
        for (std::size_t i = first; i < end; ++i)
            if (items_[i].kernel != nullptr) items_[i].owner = most_of(items_[i].slots);
        first = end;
    }
}

void ChipTimeline::add(const Item& item) {
    const auto layer = static_cast<std::int32_t>(item.layer - plan_.first_reported);
    if (item.kernel != nullptr) kernel_spans_.push_back(timeline_.spans.size());
    timeline_.spans.push_back(
        {chip_.sms.name(), item.name, item.begin, item.end, layer, item.owner, item.slots});
    if (item.kernel != nullptr) add_groups(item);
    add_activity(item);
}

/// The largest groups, of equals the first.
void ChipTimeline::add_groups(const Item& item) {
    std::vector<const GroupHistory*> groups;
    for (const GroupHistory& group : item.kernel->account.histories) groups.push_back(&group);
    std::stable_sort(groups.begin(), groups.end(), [](const GroupHistory* a, const GroupHistory* b) {
        return a->sms != b->sms ? a->sms > b->sms : a->first_sm < b->first_sm;
    });
    if (groups.size() > kMostGroups) left_out_ += groups.size() - kMostGroups;
    for (std::size_t i = 0; i < std::min(groups.size(), kMostGroups); ++i)
        add_group(item, *groups[i], fmt::format("{}.group{}", chip_.sms.name(), i));
}

void ChipTimeline::add_group(const Item& item, const GroupHistory& group, const std::string& track) {
    const auto layer = static_cast<std::int32_t>(item.layer - plan_.first_reported);
    const std::string& name = plan_.layers[item.layer].name;
    const std::string sms = group.sms == 1
                                ? fmt::format("SM {}", group.first_sm)
                                : fmt::format("SMs {}-{}", group.first_sm, group.first_sm + group.sms - 1);
    timeline_.spans.push_back({track, fmt::format("{}: {}", name, sms), item.begin, item.end, layer});
    ClassTimes before{};
    Ticks begin = item.begin;
    for (const SmHistory::Piece& piece : group.pieces) {
        const SlotClass owner = most_of(times_between(before, piece.sum));
        const Ticks end = at_or_after(piece.end) - zero_;
        if (end > begin)
            timeline_.spans.push_back(
                {track, owner == SlotClass::Useful ? "multiplies" : std::string(to_string(owner)), begin, end,
                 layer, owner});
        begin = end;
        before = piece.sum;
    }
}

/// Useful and padding lie where tensor cores work, as does what their clock costs (on_chip).
void ChipTimeline::add_activity(const Item& item) {
    constexpr auto kWork = static_cast<std::size_t>(SlotClass::Useful);
    constexpr auto kOnChip = static_cast<std::size_t>(SlotClass::OnChip);
    std::array<std::vector<SmActivity::Stretch>, kSlotClasses> by_class;
    const SmActivity::Stretch all{item.begin, item.end, 0, spec_.sm.count,
                                  Int128{spec_.sm.count} * (item.end - item.begin).value()};
    std::int64_t cluster = 1;
    Int128 on_chip = 0;
    if (item.kernel == nullptr || item.kernel->account.histories.empty()) {
        for (auto& stretches : by_class) stretches.push_back(all);
    } else {
        cluster = item.kernel->account.cluster;
        on_chip = item.kernel->account.times[kOnChip] * sm_slots(item.layer);
        for (const GroupHistory& group : item.kernel->account.histories) {
            ClassTimes before{};
            Ticks begin = item.begin;
            for (const SmHistory::Piece& piece : group.pieces) {
                const ClassTimes times = times_between(before, piece.sum);
                const Ticks end = std::min(at_or_after(piece.end) - zero_, item.end);
                for (std::size_t c = 0; c < kSlotClasses; ++c)
                    if (times[c] > 0)
                        by_class[c].push_back(
                            {begin, end, group.first_sm, group.sms, Int128{times[c]} * group.sms});
                begin = end;
                before = piece.sum;
            }
        }
    }
    for (std::size_t c = 0; c < kSlotClasses; ++c) {
        const auto owner = static_cast<SlotClass>(c);
        const bool works = owner == SlotClass::Padding;
        if (c != kOnChip) {
            activity_.add(owner, item.slots[c], by_class[works ? kWork : c], cluster);
            continue;
        }
        const auto parts = shares_of(item.slots[c], {on_chip, item.weights[c] - on_chip});
        activity_.add(owner, parts[0], by_class[c], cluster);
        activity_.add(owner, parts[1], by_class[kWork], cluster);
    }
}

void ChipTimeline::add_copies() {
    const auto last = static_cast<std::int32_t>(result_.layers.size()) - 1;
    for (const Chip::Copy& copy : chip_.copies()) {
        if (copy.begin < zero_) continue;
        timeline_.spans.push_back({copy.in ? chip_.copy_in.name() : chip_.copy_out.name(),
                                   fmt::format("{}, {}", to_string(copy.operand), format_bytes(copy.bytes)),
                                   copy.begin - zero_, copy.end - zero_, copy.in ? 0 : last});
    }
}

/// From the begin of the run that is reported on.
void ChipTimeline::add_counters() {
    std::vector<CounterTrack> all = chip_.sms.counters(chip_.end());
    for (CounterTrack& counter : chip_.dram.traffic(chip_.end())) all.push_back(std::move(counter));
    for (CounterTrack& counter : all) {
        CounterTrack& cut =
            timeline_.counters.emplace_back(CounterTrack{counter.track, counter.name, counter.unit, {}});
        for (const auto& [time, value] : counter.samples) {
            const Ticks since = std::max(time - zero_, Ticks());
            if (!cut.samples.empty() && cut.samples.back().first == since) cut.samples.pop_back();
            cut.samples.emplace_back(since, value);
        }
    }
}

/// Kernels follow each other; the first waits for what is copied in, the copies out for the last.
void ChipTimeline::add_flows() {
    for (std::size_t i = 1; i < kernel_spans_.size(); ++i)
        timeline_.flows.push_back({kernel_spans_[i - 1], kernel_spans_[i]});
    if (kernel_spans_.empty()) return;
    const std::string in = chip_.copy_in.name(), out = chip_.copy_out.name();
    std::optional<std::size_t> last_in, first_out;
    for (std::size_t i = 0; i < timeline_.spans.size(); ++i) {
        if (timeline_.spans[i].track == in) last_in = i;
        if (timeline_.spans[i].track == out && !first_out) first_out = i;
    }
    if (last_in) timeline_.flows.push_back({*last_in, kernel_spans_.front()});
    if (first_out) timeline_.flows.push_back({kernel_spans_.back(), *first_out});
}

}  // namespace

Timeline timeline_of(const Chip& chip, const SimtSpec& spec, const ChipPlan& plan,
                     const DeviceResult& result) {
    return ChipTimeline(chip, spec, plan, result).take();
}

}  // namespace systole::simt
