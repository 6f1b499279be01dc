// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/machine/l2.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "models/memory/addresses/share_patterns.h"
#include "sim/base/check.h"
#include "sim/kernel/kernel.h"

namespace systole::simt {
namespace {

/// So many writes never fill a door of the memory, before which reads would wait for them; nor are they many
/// where doors are deep, for then they would be on their way when the kernel that they belong to is long
/// over.
std::size_t most_writes(const DramSpec& dram) {
    constexpr int kMost = 8;
    return static_cast<std::size_t>(std::clamp(dram.door / 2, 1, kMost));
}

/// Or writes of so many bytes: they fill the queues of all pseudo-channels, and half of what may wait before
/// each, a line at a time.
Bytes queued_writes(const L2Spec& spec, const DramSpec& dram) {
    const auto lines = static_cast<std::int64_t>(most_writes(dram));
    return (dram.burst_bytes * dram.queue + spec.line * lines) * dram.data_buses();
}

/// What has made room and is not under way, that on its way to the memory with it: as much as the queues of
/// the memory behind all L2s hold (assumed), at most a quarter of the L2 or what may be dirty. Were it more,
/// launches would be time in which it is written, and no copy of more than an L2 holds shows that
/// (gpu-benches, gpu-small-kernels, in tests/golden/gpu_microbench).
Bytes most_waiting(const L2Spec& spec, const DramSpec& dram) {
    constexpr std::int64_t kParts = 4;
    const Bytes most = std::min(queued_writes(spec, dram), Bytes(spec.usable.value() / kParts));
    return spec.dirty == Bytes(0) ? most : std::min(most, spec.dirty);
}

/// Of the way to the memory: nothing where only that decides.
double ticks_a_byte(Bytes per_cycle, Hertz clock) {
    if (per_cycle == Bytes(0)) return 0;
    return static_cast<double>(kTicksPerSecond) / static_cast<double>(per_cycle.value() * clock.value());
}

/// At that share of the memory's bandwidth; a whole one is not kept by anybody but the memory.
double ticks_a_byte(double share, BytesPerSecond peak) {
    if (share >= 1) return 0;
    return static_cast<double>(kTicksPerSecond) / (share * static_cast<double>(peak.value()));
}

/// Which pages are fetched as a whole; 0 B: the smallest.
Bytes stripe_of(const DramSpec& dram, const CacheRole& role) {
    return role.one_of_several ? Bytes(0) : even_stripe(dram);
}

}  // namespace

L2::L2(sc_core::sc_module_name name, const L2Spec& spec, Hertz clock, const DramSpec& dram,
       ByteLedger& ledger, const CacheRole& role)
    : ServedTarget(name, Taker{[this](Ticks arrival, Payload& payload) { take(arrival, payload); }}),
      clock_(clock),
      role_(role),
      memory_latency_(spec.memory_latency),
      largest_(dram.max_payload.value()),
      ledger_(ledger),
      blocks_(spec, stripe_of(dram, role)),
      fabric_(spec, clock_),
      ticks_a_byte_(ticks_a_byte(spec.memory_per_cycle, clock_.frequency())),
      ticks_a_byte_of_rows_(std::max(ticks_a_byte_, ticks_a_byte(spec.memory_share, dram.peak()))),
      most_writes_(most_writes(dram)),
      queued_writes_(queued_writes(spec, dram)),
      most_waiting_(most_waiting(spec, dram)) {
    memory.register_nb_transport_bw(this, &L2::nb_transport_bw);
    SC_HAS_PROCESS(L2);
    SC_METHOD(send);
    sensitive << leave_;
    dont_initialize();
}

void L2::run_at(Hertz clock) {
    if (clock == clock_.frequency()) return;
    clock_ = ClockDomain(clock);
    fabric_.run_at(clock_);
}

void L2::take(Ticks arrival, Payload& payload) {
    const auto* tiles = payload.get_extension<TileAccess>();
    SYSTOLE_CHECK(tiles != nullptr && !tiles->blocks.empty() && arrival == now(),
                  "{} at {} ps: a transaction without blocks, or with a time", name(), now().value());
    layer_ = static_cast<std::size_t>(tiles->layer);
    jobs_.push_front({&payload, tiles, Bytes(0), Bytes(0), now()});
    const Jobs::iterator job = jobs_.begin();
    if (payload.is_write())
        write(job);
    else
        read(job);
    if (job->parts == 0) finish(job);
    wake();
}

void L2::wake() {
    const Ticks next = next_departure();
    if (requesting_ == nullptr && next < Ticks::max())
        leave_.notify(to_sc_time(std::max(next - now(), Ticks(0))));
}

// A memory that is given reads and writes together turns its bus late (row hits first): so it is given writes
// while it reads nothing. When as many wait as its queues hold, they go until half of them are gone.
bool L2::may_write() {
    const bool room = writes_under_way_ < most_writes_ || written_under_way_ < queued_writes_;
    if (role_.die) return room;  // a cache below takes both at once
    if (waiting_bytes_ >= most_waiting_) draining_ = true;
    if (2 * waiting_bytes_ < most_waiting_) draining_ = false;
    const bool reads = reads_under_way_ > 0 || (!reads_.empty() && reads_.front().at <= now());
    return room && (draining_ || !reads);
}

Ticks L2::next_departure() {
    Ticks next = Ticks::max();
    if (!reads_.empty()) next = reads_.front().at;
    if (!writes_.empty() && may_write()) next = std::min(next, writes_.front().at);
    return std::max(next, paced_);
}

void L2::read(Jobs::iterator job) {
    Bytes there;
    Cycles further;
    for (const TileAccess::Block& block : job->tiles->blocks) {
        const MatrixRange neighbours = role_.one_of_several ? MatrixRange{} : block.matrix;
        traffic_.fresh = false;
        blocks_.read(block.address, block.bytes, block.operand, traffic_, neighbours);
        if (traffic_.fresh) further = std::max(further, far(*job->tiles, block));
        ++counts_.reads;
        counts_.read += block.taken() * block.sms;
        depart(traffic_.evicted, tlm::TLM_WRITE_COMMAND, *job->tiles, parts_.end());
        depart(traffic_.fetched, tlm::TLM_READ_COMMAND, *job->tiles, parts_.end(), block.matrix);
        traffic_.evicted.clear();
        traffic_.fetched.clear();
        there += wait_for_pieces(job, block) * block.sms;
    }
    if (there > Bytes(0)) pass(job, there);
    if (further > Cycles(0)) job->earliest = clock_.after(job->earliest, further);
}

Cycles L2::far(const TileAccess& tiles, const TileAccess::Block& block) const {
    return fabric_.far(block.address, {tiles.sm, tiles.sms}, Bytes(tiles.bytes_of_sm));
}

void L2::write(Jobs::iterator job) {
    Bytes bytes;
    for (const TileAccess::Block& block : job->tiles->blocks) {
        const MatrixRange rest = role_.one_of_several ? MatrixRange{} : block.matrix;
        blocks_.write(block.address, block.bytes, block.operand, traffic_, rest);
        ++counts_.writes;
        bytes += Bytes(block.bytes);
    }
    const TileAccess& tiles = *job->tiles;
    job->earliest = fabric_.write(now(), bytes, {tiles.sm, tiles.sms}, Bytes(tiles.bytes_of_sm));
    SYSTOLE_CHECK(traffic_.fetched.empty(), "{}: a write fetches", name());
    if (traffic_.evicted.empty()) return;
    // What has made room waits elsewhere; only where that is full, the store waits, too.
    const bool full = waiting_bytes_ >= most_waiting_;
    if (full) {
        ++job->parts;
        parts_.push_front({job, Bytes(0)});
    }
    depart(traffic_.evicted, tlm::TLM_WRITE_COMMAND, tiles, full ? parts_.begin() : parts_.end());
    traffic_.evicted.clear();
}

Bytes L2::wait_for_pieces(Jobs::iterator job, const TileAccess::Block& block) {
    const std::int64_t end = block.address + block.bytes;
    Bytes awaited;
    Parts::iterator part = parts_.end();
    for (auto at = on_their_way_.upper_bound(block.address - largest_);
         at != on_their_way_.end() && at->first < end; ++at) {
        Piece& piece = *at->second;
        if (piece.is_write() || piece.end() <= block.address) continue;
        if (part == parts_.end()) {
            parts_.push_front({job, Bytes(0)});
            part = parts_.begin();
            ++job->parts;
        }
        wait(part, piece);
        awaited += Bytes(std::min(end, piece.end()) - std::max(block.address, piece.begin()));
    }
    // A sector that made room while it was on its way may be on its way twice.
    awaited = std::min(awaited, Bytes(block.bytes));
    // Of what is taken, as large a part.
    if (block.gathered)
        awaited = Bytes(static_cast<std::int64_t>(Int128{awaited.value()} * block.taken() / block.bytes));
    if (part != parts_.end()) part->bytes = awaited * block.sms;
    return Bytes(block.taken()) - awaited;
}

void L2::wait(Parts::iterator part, Piece& piece) {
    piece.waiting.push_back(part);
    ++part->pieces;
}

/// The SM's own bytes are shared out among portions so that they sum to what it takes.
void L2::pass(Jobs::iterator job, Bytes bytes) {
    const TileAccess& tiles = *job->tiles;
    std::int64_t all = 0;
    for (const TileAccess::Block& block : tiles.blocks) all += block.taken() * block.sms;
    job->bytes += bytes;
    const Int128 share = Int128{tiles.bytes_of_sm} * job->bytes.value() / all;
    const Bytes of_sm = Bytes(static_cast<std::int64_t>(share));
    const Ticks there = fabric_.read(now(), bytes, {tiles.sm, tiles.sms}, of_sm - job->of_sm);
    job->of_sm = of_sm;
    job->earliest = std::max(job->earliest, there);
}

void L2::part_done(Parts::iterator part) {
    const Jobs::iterator job = part->job;
    if (part->bytes > Bytes(0)) pass(job, part->bytes);
    job->earliest = std::max(job->earliest, now());
    parts_.erase(part);
    if (--job->parts == 0) finish(job);
}

void L2::finish(Jobs::iterator job) {
    const auto layer = static_cast<std::size_t>(job->tiles->layer);
    for (const TileAccess::Block& block : job->tiles->blocks) {
        if (job->payload->is_write())
            ledger_.enter(layer, role_.above, role_.own, block.operand, Bytes(block.bytes));
        else
            ledger_.enter(layer, role_.own, role_.above, block.operand, Bytes(block.taken() * block.sms));
    }
    answer(*job->payload, job->earliest);
    jobs_.erase(job);
}

void L2::depart(const std::vector<SectorRange>& ranges, tlm::tlm_command command, const TileAccess& tiles,
                Parts::iterator part, const MatrixRange& matrix) {
    for (const SectorRange& range : ranges) {
        if (command == tlm::TLM_READ_COMMAND)
            counts_.fetched += range.bytes;
        else if (writing_back_)
            writing_back_(range.address, range.bytes);
        const std::int64_t end = range.address + range.bytes;
        for (std::int64_t at = range.address; at < end;) {
            const std::int64_t until = std::min(end, (at / largest_ + 1) * largest_);
            Piece* piece = pool_.acquire();
            piece->operand = range.operand;
            piece->layer = static_cast<std::size_t>(tiles.layer);
            piece->of_rows = tiles.short_rows;
            piece->waiting.clear();
            piece->set_command(command);
            piece->set_address(static_cast<std::uint64_t>(at));
            piece->set_data_length(static_cast<unsigned>(until - at));
            piece->set_streaming_width(piece->get_data_length());
            if (role_.die) address_below(*piece, matrix);
            if (part != parts_.end()) wait(part, *piece);
            on_their_way_.emplace(at, piece);
            if (piece->is_write()) waiting_bytes_ += Bytes(until - at);
            (piece->is_write() ? writes_ : reads_).push_back({clock_.after(now(), memory_latency_), piece});
            at = until;
        }
    }
}

/// As the die's request for a block.
void L2::address_below(Piece& piece, const MatrixRange& matrix) const {
    TileAccess& tiles = piece.tiles;
    const auto bytes = static_cast<std::int64_t>(piece.get_data_length());
    tiles.blocks.assign(1, {piece.begin(), bytes, 1, piece.operand, matrix, {}});
    tiles.sm = *role_.die;
    tiles.sms = 1;
    tiles.bytes_of_sm = bytes;
    tiles.layer = static_cast<std::int32_t>(piece.is_write() ? layer_ : piece.layer);
    tiles.short_rows = piece.of_rows;
    piece.set_extension(&tiles);
}

void L2::clean(std::function<void()> done) {
    SYSTOLE_CHECK(!cleaned_ && jobs_.empty(), "{}: cleaned while it is asked", name());
    cleaned_ = std::move(done);
    TileAccess all;
    all.layer = static_cast<std::int32_t>(layer_);
    blocks_.clean(traffic_);
    depart(traffic_.evicted, tlm::TLM_WRITE_COMMAND, all, parts_.end());
    traffic_.evicted.clear();
    wake();
    tell_when_clean();
}

void L2::tell_when_clean() {
    if (!cleaned_ || !writes_.empty() || writes_under_way_ > 0) return;
    std::exchange(cleaned_, nullptr)();
}

void L2::send() {
    while (send_first(reads_) || (may_write() && send_first(writes_))) {
    }
    wake();  // if one waits for its END_REQ, this comes again then
}

/// False if nothing of the queue has to leave by now, or another request has no END_REQ yet.
bool L2::send_first(std::deque<Departure>& queue) {
    if (requesting_ != nullptr || queue.empty() || std::max(queue.front().at, paced_) > now()) return false;
    Piece& piece = *queue.front().piece;
    queue.pop_front();
    ++(piece.is_write() ? writes_under_way_ : reads_under_way_);
    if (piece.is_write()) {
        waiting_bytes_ -= Bytes(piece.get_data_length());
        written_under_way_ += Bytes(piece.get_data_length());
    }
    pace(piece);
    piece.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    requesting_ = &piece;
    const tlm::tlm_sync_enum status = memory->nb_transport_fw(piece, phase, delay);
    if (status != tlm::TLM_ACCEPTED) requesting_ = nullptr;
    if (status == tlm::TLM_COMPLETED) came(piece);
    return true;
}

void L2::pace(const Piece& piece) {
    const double ticks = (piece.of_rows ? ticks_a_byte_of_rows_ : ticks_a_byte_) *
                         static_cast<double>(piece.get_data_length());
    paced_ = std::max(paced_, now()) + Ticks(std::llround(ticks));
}

void L2::came(Piece& piece) {
    SYSTOLE_CHECK(piece.is_response_ok(), "{} at {} ps: {}", name(), now().value(),
                  piece.get_response_string());
    const Bytes bytes(piece.get_data_length());
    --(piece.is_write() ? writes_under_way_ : reads_under_way_);
    if (piece.is_write()) {
        written_under_way_ -= bytes;
        counts_.written_back += bytes.value();
        if (!role_.die) ledger_.enter(layer_, role_.own, role_.below, piece.operand, bytes);
    } else if (!role_.die) {
        ledger_.enter(piece.layer, role_.below, role_.own, piece.operand, bytes);
    }
    arrived(piece);
    for (const Parts::iterator part : piece.waiting)
        if (--part->pieces == 0) part_done(part);
    piece.release();
    tell_when_clean();
}

tlm::tlm_sync_enum L2::nb_transport_bw(Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay) {
    SYSTOLE_CHECK(delay == sc_core::SC_ZERO_TIME, "{}: annotated responses are not supported", name());
    // A response without an END_REQ before it ends the request phase, too.
    if (requesting_ == &payload) requesting_ = nullptr;
    const bool response = phase == tlm::BEGIN_RESP;
    if (response) came(static_cast<Piece&>(payload));
    send();
    return response ? tlm::TLM_COMPLETED : tlm::TLM_ACCEPTED;
}

void L2::arrived(const Piece& piece) {
    auto at = on_their_way_.lower_bound(piece.begin());
    while (at->second != &piece) ++at;
    on_their_way_.erase(at);
}

void L2::end() {
    SYSTOLE_CHECK(jobs_.empty(), "{}: the end, with {} transactions not answered", name(), jobs_.size());
    for (const Departure& departure : writes_) {
        arrived(*departure.piece);
        waiting_bytes_ -= Bytes(departure.piece->get_data_length());
        departure.piece->release();
    }
    writes_.clear();
}

std::vector<Stat> L2::stats() const {
    const std::string path = name();
    return {{path, "reads", "blocks", "read by groups of SMs", counts_.reads},
            {path, "writes", "blocks", "written by groups of SMs", counts_.writes},
            {path, "bytes_read", "B", "into SMs", fabric_.bytes_read().value()},
            {path, "bytes_written", "B", "out of SMs", fabric_.bytes_written().value()},
            {path, "bytes_hit", "B", "into SMs, for which nothing was fetched",
             counts_.read - std::min(counts_.read, counts_.fetched)},
            {path, "bytes_missed", "B", "into SMs, for which as many were fetched",
             std::min(counts_.read, counts_.fetched)},
            {path, "bytes_fetched", "B", "from the memory, whole sectors", counts_.fetched},
            {path, "bytes_written_back", "B", "to the memory, sectors that made room", counts_.written_back}};
}

std::vector<EndCount> L2::ends() const {
    return {{role_.own, fabric_.bytes_read() + Bytes(counts_.written_back),
             fabric_.bytes_written() + Bytes(counts_.fetched)}};
}

}  // namespace systole::simt
