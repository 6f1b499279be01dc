// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/machine/caches.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "sim/base/check.h"

namespace systole::simt {
namespace {

CacheRole role_of(const SimtSpec& spec, int die) {
    CacheRole role;
    role.one_of_several = spec.chiplets.count > 1;
    if (!spec.memory_side_cache) return role;
    role.below = Place::MemorySideCache;
    role.die = die;
    return role;
}

constexpr CacheRole kMemorySide{Place::L2, Place::MemorySideCache, Place::Dram};

void add(std::vector<EndCount>& ends, const EndCount& end) {
    const auto known =
        std::ranges::find_if(ends, [&](const EndCount& other) { return other.place == end.place; });
    if (known == ends.end()) return ends.push_back(end);
    known->out += end.out;
    known->in += end.in;
}

}  // namespace

Caches::Caches(const SimtSpec& spec, ByteLedger& ledger) {
    const int dies = spec.chiplets.count;
    for (int die = 0; die < dies; ++die) {
        const std::string name = dies > 1 ? fmt::format("l2_{}", die) : "l2";
        l2s_.push_back(std::make_unique<L2>(name.c_str(), spec.l2, spec.core_clock, spec.memory, ledger,
                                            role_of(spec, die)));
    }
    for (const auto& l2 : l2s_)
        if (apart())
            l2->on_write_back([this, own = l2.get()](std::int64_t address, std::int64_t bytes) {
                for (const auto& other : l2s_)
                    if (other.get() != own) other->drop(address, bytes);
            });
    if (apart()) to_dies_ = std::make_unique<DieNetwork>("to_dies", spec.sms_of_chiplet());
    if (!spec.memory_side_cache) return;
    to_cache_ = std::make_unique<DieNetwork>("to_memory_side_cache", 1);
    memory_side_ = std::make_unique<L2>("memory_side_cache", *spec.memory_side_cache, spec.core_clock,
                                        spec.memory, ledger, kMemorySide);
}

void Caches::bind(Mmu& mmu, Dram& dram) {
    if (to_dies_)
        mmu.out.bind(to_dies_->in);
    else
        mmu.out.bind(l2s_.front()->in);
    for (const auto& l2 : l2s_) {
        if (to_dies_) to_dies_->out.bind(l2->in);
        if (to_cache_)
            l2->memory.bind(to_cache_->in);
        else
            l2->memory.bind(dram.in);
    }
    if (!memory_side_) return;
    to_cache_->out.bind(memory_side_->in);
    memory_side_->memory.bind(dram.in);
}

void Caches::run_at(Hertz clock) {
    for (const auto& l2 : l2s_) l2->run_at(clock);
}

void Caches::clean(const std::function<void()>& done) {
    SYSTOLE_CHECK(apart() && dirty_ == 0, "{} L2s, {} of which are being cleaned", l2s_.size(), dirty_);
    dirty_ = l2s_.size();
    for (const auto& l2 : l2s_)
        l2->clean([this, done] {
            if (--dirty_ == 0) done();
        });
}

void Caches::end() {
    for (const auto& l2 : l2s_) l2->end();
    if (memory_side_) memory_side_->end();
}

std::vector<Stat> Caches::stats() const {
    std::vector<Stat> all;
    const auto add = [&all](const L2& cache) {
        for (Stat& stat : cache.stats()) all.push_back(std::move(stat));
    };
    for (const auto& l2 : l2s_) add(*l2);
    if (memory_side_) add(*memory_side_);
    return all;
}

std::vector<EndCount> Caches::ends() const {
    std::vector<EndCount> all;
    for (const auto& l2 : l2s_)
        for (const EndCount& end : l2->ends()) add(all, end);
    if (memory_side_)
        for (const EndCount& end : memory_side_->ends()) add(all, end);
    return all;
}

}  // namespace systole::simt
