// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/machine/sm_array.h"

#include <fmt/format.h>

#include <algorithm>

#include "models/devices/simt/machine/collective_run.h"
#include "models/devices/simt/machine/cta_deal.h"
#include "models/devices/simt/machine/kernel_in_warps.h"
#include "models/devices/simt/machine/kernel_run.h"
#include "sim/base/check.h"
#include "sim/base/text.h"
#include "sim/kernel/kernel.h"

namespace systole::simt {
namespace {

// Reductions do little but wait for one round of loads after the other: of 16 SMs, the last one's data would
// hold all up (2048 rows of 16,384 on an A100 by a quarter; in groups of four by 4 %, at the same cost).
constexpr std::int64_t kInStep = 4;
// So many steps of all CTAs take no time to simulate: there every SM is a group of its own.
constexpr std::int64_t kFewSteps = 20'000;

/// SMs of a group go on when the last of them has its data. Where no more than one step is asked for ahead,
/// each would wait for all SMs, which fall out of step by themselves: there a group is a GPC's SMs at most,
/// or a few of them.
std::int64_t largest_group(const KernelPlan& plan, const SmSpec& sm) {
    const auto* gemm = std::get_if<GemmPlan>(&plan);
    const auto* vector = std::get_if<VectorPlan>(&plan);
    const auto* attention = std::get_if<AttentionPlan>(&plan);
    if (vector != nullptr && vector->kernel.steps() > 1 &&
        vector->kernel.ctas() <= kFewSteps / vector->kernel.steps())
        return 1;
    if (vector != nullptr && vector->kernel.kind == VectorKernel::Kind::RowSum) return kInStep;
    const bool one_by_one =
        (gemm != nullptr && (!gemm->kernel.on_tensor_cores() || gemm->kernel.tile.stages <= 2)) ||
        (vector != nullptr && vector->kernel.steps() > 1) ||
        (attention != nullptr && attention->timing.ahead == 1);
    if (!one_by_one || sm.gpcs.empty()) return sm.count;
    return *std::max_element(sm.gpcs.begin(), sm.gpcs.end());
}

}  // namespace

SmArray::SmArray(sc_core::sc_module_name name, const SimtSpec& spec, const ChipPlan& plan, Ticks launch,
                 std::function<Bytes()> moved, ChipPort* to_chips)
    : sc_module(name),
      spec_(spec),
      plan_(&plan),
      launch_(launch),
      moved_(std::move(moved)),
      to_chips_(to_chips),
      clock_(spec, plan.turns) {
    list_kernels();
    out.register_nb_transport_bw(this, &SmArray::nb_transport_bw);
    SC_HAS_PROCESS(SmArray);
    SC_METHOD(step);
    sensitive << wake_;
    dont_initialize();
}

void SmArray::list_kernels() {
    kernels_.clear();
    for (std::size_t layer = 0; layer < plan_->layers.size(); ++layer)
        for (const KernelPlan& kernel : plan_->layers[layer].kernels) kernels_.push_back({layer, &kernel});
}

void SmArray::go_on_with(const ChipPlan& plan) {
    SYSTOLE_CHECK(run_ == nullptr, "{}: another plan in the middle of a kernel", name());
    plan_ = &plan;
    list_kernels();
    SYSTOLE_CHECK(records_.size() <= kernels_.size() &&
                      (records_.empty() || kernels_[records_.size() - 1].layer == records_.back().layer),
                  "{}: another plan has no such {} kernels", name(), records_.size());
}

void SmArray::start(std::function<void()> done) {
    done_ = std::move(done);
    if (finished()) return done_();
    launch();
}

void SmArray::launch() {
    const Kernel& next = kernels_[records_.size()];
    if (begins_turn()) clock_.begin_turn(now(), moved_());
    clock_.begin_kernel(now(), moved_(), expected_of(next));
    if (clocked_) clocked_(clock_.clock());
    // Of a turn each run bears its share of the gap before it.
    const Ticks gap(begins_run() && plan_->turn < plan_->layers.size()
                        ? spec_.calibrated.replay_gap.value() / plan_->copies
                        : 0);
    launched_ = now();
    const auto* stream = std::get_if<StreamPlan>(next.plan);
    const bool launches =
        !std::holds_alternative<CollectivePlan>(*next.plan) && (stream == nullptr || !stream->of_last_ctas);
    begin_ = launched_ + (launches ? launch_ : Ticks(0)) + gap;
    wake_.notify(to_sc_time(begin_ - launched_));
}

/// The next kernel is the first of a run of the network, but not of the very first.
bool SmArray::begins_run() const {
    const std::size_t next = kernels_[records_.size()].layer;
    return !records_.empty() && records_.back().layer != next &&
           next % (plan_->turn / static_cast<std::size_t>(plan_->copies)) == 0;
}

bool SmArray::begins_turn() const {
    return begins_run() && kernels_[records_.size()].layer % plan_->turn == 0;
}

/// Cycles of the core clock in which all tensor cores are through with the MACs.
double SmArray::tensor_cycles(std::size_t layer, std::int64_t macs) const {
    const std::int64_t rate = spec_.macs_per_cycle(plan_->layers[layer].dtype);
    return rate > 0 ? static_cast<double>(macs) / static_cast<double>(rate) : 0;
}

ClockControl::Expected SmArray::expected_of(const Kernel& kernel) const {
    const LayerPlan& layer = plan_->layers[kernel.layer];
    const auto expected = [&](double estimate) {
        return ClockControl::Expected{estimate, tensor_cycles(kernel.layer, layer.macs.value()),
                                      layer.compulsory_dram};
    };
    if (const auto* gemm = std::get_if<GemmPlan>(kernel.plan)) return expected(gemm->estimate);
    if (const auto* attention = std::get_if<AttentionPlan>(kernel.plan)) return expected(attention->estimate);
    return {};
}

void SmArray::step() {
    if (behind_ == Behind::Waits) return;
    if (behind_ == Behind::Done) return finish_kernel();
    if (!run_) begin_kernel();
    do {
        run_->advance(now(), accesses_);
        send_accesses();
    } while (run_->next_event() <= now());
    if (ctas_begun_)
        if (const std::int64_t others = ctas_begun_(records_.size(), *run_); others > 0)
            run_->leave_out(others);
    if (counters_) counters_->resident(now(), run_->resident_ctas());
    tell_share();
    if (run_->finished()) return stored();
    if (const Ticks next = run_->next_event(); next < Ticks::max()) wake_.notify(to_sc_time(next - now()));
}

void SmArray::tell_share() const {
    if (work_done_ == nullptr) return;
    const double of_this = run_ ? run_->share_done() : 0;
    work_done_->update((static_cast<double>(records_.size()) + of_this) /
                       static_cast<double>(kernels_.size()));
}

void SmArray::begin_kernel() {
    run_ = execution_of(*kernels_[records_.size()].plan);
    if (pieces_ > 0) run_->keep_histories(pieces_);
}

std::unique_ptr<KernelExecution> SmArray::execution_of(const KernelPlan& plan) {
    if (const auto* collective = std::get_if<CollectivePlan>(&plan))
        return std::make_unique<CollectiveRun>(*collective, spec_, now());
    work_ = work_of(plan);
    if (spec_.sm.engine == SmEngine::Warps)
        return std::make_unique<KernelInWarps>(plan, *work_, spec_, clock_.clock(), now());
    return std::make_unique<KernelRun>(
        *work_, times_of(plan, spec_, clock_.clock()), spec_.sm.for_clusters(work_->cluster()),
        spec_.sm.count, now(), largest_group(plan, spec_.sm),
        KernelRun::Dies{spec_.chiplets.count, neighbours_on_die(plan, spec_.kernels)});
}

void SmArray::send_accesses() {
    for (KernelExecution::Access& access : accesses_) {
        if (access.exchange) {
            exchange(access);
            continue;
        }
        if (access.tiles.blocks.empty()) {
            run_->answered(access.number, now());
            continue;
        }
        Payload* payload = pool_.acquire();
        payload->number = access.number;
        payload->sent = now();
        payload->tiles = std::move(access.tiles);
        payload->tiles.layer = static_cast<std::int32_t>(kernels_[records_.size()].layer);
        payload->set_extension(&payload->tiles);
        payload->set_command(access.write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND);
        waiting_.push_back(payload);
    }
    accesses_.clear();
    pump();
}

void SmArray::exchange(const KernelExecution::Access& access) {
    SYSTOLE_CHECK(to_chips_ != nullptr, "{}: no link to other chips", name());
    to_chips_->exchange(kernels_[records_.size()].layer, access.exchange->sent, access.exchange->received,
                        [this, number = access.number] {
                            run_->answered(number, now());
                            wake_.notify(sc_core::SC_ZERO_TIME);
                        });
}

/// Dies' caches pass on what they hold dirty before the next kernel, whose CTAs lie on other dies.
void SmArray::stored() {
    if (!behind_stores_) return finish_kernel();
    behind_ = Behind::Waits;
    behind_stores_([this] {
        behind_ = Behind::Done;
        wake_.notify(sc_core::SC_ZERO_TIME);
    });
}

void SmArray::finish_kernel() {
    behind_ = Behind::Not;
    const std::size_t layer = kernels_[records_.size()].layer;
    records_.push_back({layer, launched_, begin_, now(), clock_.clock(), run_->finish(now())});
    clock_.end_kernel(now(), moved_(), tensor_cycles(layer, records_.back().account.macs));
    run_.reset();
    tell_share();
    const std::size_t next = finished() ? plan_->layers.size() : kernels_[records_.size()].layer;
    if (layers_done_ && next > layer) layers_done_(next);
    if (finished()) return done_();
    launch();
}

void SmArray::pump() {
    while (requesting_ == nullptr && !waiting_.empty()) {
        Payload* payload = waiting_.front();
        waiting_.pop_front();
        payload->set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
        tlm::tlm_phase phase = tlm::BEGIN_REQ;
        sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
        requesting_ = payload;
        switch (out->nb_transport_fw(*payload, phase, delay)) {
            case tlm::TLM_ACCEPTED:
                break;
            case tlm::TLM_UPDATED:
                requesting_ = nullptr;
                break;
            case tlm::TLM_COMPLETED:
                requesting_ = nullptr;
                answered(*payload);
                break;
        }
    }
}

void SmArray::answered(Payload& payload) {
    SYSTOLE_CHECK(payload.is_response_ok(), "{} at {} ps: {}", name(), now().value(),
                  payload.get_response_string());
    run_->answered(payload.number, now());
    if (counters_) counters_->answered(payload.tiles, payload.is_write(), payload.sent, now());
    payload.release();
    wake_.notify(sc_core::SC_ZERO_TIME);
}

tlm::tlm_sync_enum SmArray::nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                            sc_core::sc_time& delay) {
    SYSTOLE_CHECK(delay == sc_core::SC_ZERO_TIME, "{}: annotated responses are not supported", name());
    if (requesting_ == &payload) requesting_ = nullptr;
    if (phase == tlm::BEGIN_RESP) answered(static_cast<Payload&>(payload));
    const bool response = phase == tlm::BEGIN_RESP;
    pump();
    return response ? tlm::TLM_COMPLETED : tlm::TLM_ACCEPTED;
}

std::string SmArray::wait() const {
    if (finished()) return fmt::format("{}: all kernels are complete", name());
    const Kernel& kernel = kernels_[records_.size()];
    return fmt::format("{}: kernel {} (of '{}') {}", name(), records_.size(),
                       plan_->layers[kernel.layer].name,
                       run_ ? "waits for the L2 or for other chips" : "waits for its launch");
}

std::vector<Stat> SmArray::stats() const {
    std::int64_t ctas = 0, sms = 0, waves = 0, groups = 0;
    Ticks tail;
    for (const Record& record : records_) {
        const KernelAccount& account = record.account;
        ctas += account.ctas + account.left_out;
        sms = std::max(sms, account.sms);
        groups += account.groups;
        waves += account.waves;
        tail += Ticks(
            static_cast<std::int64_t>(account.times[static_cast<std::size_t>(SlotClass::Tail)] >> kFineBits));
    }
    const std::string path = name();
    return {{path, "kernels", "kernels", "complete", static_cast<std::int64_t>(records_.size())},
            {path, "ctas", "CTAs", "complete, of all kernels", ctas},
            {path, "waves", "waves", "of CTAs: what all SMs hold at a time, begun, of all kernels", waves},
            {path, "sms_used", "SMs", "that had a CTA, most of any kernel", sms},
            {path, "groups", "groups", "of SMs that did the same, of all kernels", groups},
            {path, "clock", "Hz", "of the last kernel: lower where the chip would draw more than it may",
             clock_.clock().value()},
            {path, "tail_time", "ps", "of all SMs together, without a CTA while a kernel ran", tail.value()}};
}

}  // namespace systole::simt
