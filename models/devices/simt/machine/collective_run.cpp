// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/machine/collective_run.h"

#include <algorithm>

#include "sim/base/check.h"
#include "sim/base/clock.h"

namespace systole::simt {
namespace {

// Of what is exchanged together: small beside what the links and the memory have on their way.
constexpr std::int64_t kPieceBytes = std::int64_t{1} << 19;
// Pieces that are read before they can leave: the library's buffers hold several.
constexpr std::int64_t kAhead = 4;

std::int64_t pieces_of(const CollectivePlan& plan) {
    const CollectiveKernel& kernel = plan.time.kernel;
    const std::int64_t most =
        std::max({plan.from.bytes.value(), plan.to.bytes.value(), kernel.out().value()});
    return std::max<std::int64_t>(1, ceil_div(most, kPieceBytes));
}

Ticks cycles(Cycles count, Hertz clock) {
    return ClockDomain(clock).after(Ticks(0), count);
}

}  // namespace

CollectiveRun::CollectiveRun(const CollectivePlan& plan, const SimtSpec& spec, Ticks start)
    : plan_(plan),
      spec_(spec),
      start_(start),
      hop_(spec.chip_link->latency),
      pieces_(pieces_of(plan)),
      there_(static_cast<std::size_t>(pieces_)),
      due_(start + std::max(Ticks(0), plan.time.latency - hop_)),
      end_(start + plan.time.total) {}

std::int64_t CollectiveRun::before(std::int64_t piece, std::int64_t all) const {
    return static_cast<std::int64_t>(Int128{all} * piece / pieces_);
}

Bytes CollectiveRun::share(std::int64_t piece, Bytes all) const {
    return Bytes(before(piece + 1, all.value()) - before(piece, all.value()));
}

Ticks CollectiveRun::pace(std::int64_t piece) const {
    const std::int64_t all = (plan_.time.total - plan_.time.latency).value();
    return Ticks(before(piece + 1, all) - before(piece, all));
}

// The transaction stands for stores that go beside what comes in: it leaves so long before the last byte as
// the SMs' ports and the L2 take.
Ticks CollectiveRun::store_at(std::int64_t piece, Ticks at) const {
    const std::int64_t of_sm = ceil_div(share(piece, plan_.to.bytes).value(), plan_.ctas);
    const Cycles port(ceil_div(of_sm, spec_.l2.sm_write_per_cycle.value()));
    const Ticks lead = cycles(spec_.l2.latency + port, spec_.core_clock);
    return std::max(at, at + hop_ + pace(piece) - lead);
}

KernelExecution::Access CollectiveRun::of_l2(std::int64_t piece, Step step, const MatrixPlace& matrix) const {
    Access access;
    access.number = piece * kSteps + step;
    access.write = step == kWrite;
    const Bytes bytes = share(piece, matrix.bytes);
    if (bytes > Bytes(0))
        access.tiles.blocks.push_back({matrix.address + before(piece, matrix.bytes.value()), bytes.value(), 1,
                                       matrix.operand, matrix.range()});
    // Dies take pieces by turns, each with its share of the CTAs.
    const std::int64_t dies = spec_.chiplets.count;
    access.tiles.sm = piece % dies * spec_.sms_of_chiplet();
    access.tiles.sms = std::min(ceil_div(plan_.ctas, dies), spec_.sms_of_chiplet());
    access.tiles.bytes_of_sm = ceil_div(bytes.value(), access.tiles.sms);
    return access;
}

KernelExecution::Access CollectiveRun::exchange(std::int64_t piece) const {
    Access access;
    access.number = piece * kSteps + kExchange;
    const CollectiveKernel& kernel = plan_.time.kernel;
    access.exchange = Access::Exchange{share(piece, kernel.out()), share(piece, kernel.in())};
    return access;
}

void CollectiveRun::advance(Ticks now, std::vector<Access>& accesses) {
    const auto send = [&](Access access) {
        ++waiting_;
        accesses.push_back(std::move(access));
    };
    while (may_leave() && due_ <= now) {
        late_ += now - due_;
        store_due_.push_back(store_at(left_, now));
        due_ = now + pace(left_);
        end_ = std::max(end_, due_ + hop_);
        send(exchange(left_++));
    }
    while (asked_ < pieces_ && asked_ < left_ + kAhead) send(of_l2(asked_++, kRead, plan_.from));
    while (stored_ < left_ && store_due_[static_cast<std::size_t>(stored_)] <= now)
        send(of_l2(stored_++, kWrite, plan_.to));
    done_ = stored_ == pieces_ && waiting_ == 0 && end_ <= now;
}

Ticks CollectiveRun::next_event() const {
    if (done_) return Ticks::max();
    Ticks next = Ticks::max();
    if (may_leave()) next = due_;
    if (asked_ < pieces_ && asked_ < left_ + kAhead) next = start_;
    if (stored_ < left_) next = std::min(next, store_due_[static_cast<std::size_t>(stored_)]);
    if (stored_ == pieces_ && waiting_ == 0) next = end_;
    return next;
}

void CollectiveRun::answered(std::int64_t number, Ticks) {
    --waiting_;
    if (number % kSteps == kRead) there_[static_cast<std::size_t>(number / kSteps)] = true;
}

KernelAccount CollectiveRun::finish(Ticks end) {
    SYSTOLE_CHECK(finished(), "{} of {} pieces stored at {} ps", stored_, pieces_, end.value());
    const Ticks launch = plan_.time.launch, memory = late_ + (end - end_);
    KernelAccount account;
    const auto charge = [&](SlotClass owner, Ticks time) {
        const auto c = static_cast<std::size_t>(owner);
        account.last[c] = to_fine(time).value();
        account.times[c] = Int128{account.last[c]} * spec_.sm.count;
    };
    charge(SlotClass::Launch, launch);
    charge(SlotClass::Memory, memory);
    charge(SlotClass::Host, end - start_ - launch - memory);
    account.ctas = account.sms = plan_.ctas;
    account.waves = account.groups = 1;
    return account;
}

}  // namespace systole::simt
