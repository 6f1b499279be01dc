// SPDX-License-Identifier: Apache-2.0
// Whole pages of a stream whose rows are opened as always (page_rows.h): what they do to the banks is put off
// until somebody must know, and never done if a later page of the same banks makes up for it. All that they
// wait for is certain when they come in sight, so that it is looked at once for a page, not for each command.
#include <algorithm>

#include "models/memory/controller/pseudo_channel.h"
#include "sim/base/check.h"

namespace systole {

bool PseudoChannel::put_off_page(const CommandBus& bus, Cycles until, bool forget) {
    Stream& stream = stream_;
    const Cycles sight = stream.sight;
    if (!stream.jobs.empty() || !stream.at_page() || sight >= std::min(until, stream.certain)) return false;
    if (stream.run.first + stream.stride() > stream.bursts) return false;
    Stream::PutOff& off = stream.put_off;
    const bool open = off.of_bank[static_cast<std::size_t>(stream.run.bank)] > 0 ||
                      (window_.open_banks() & bank_bit(stream.run.bank)) != 0;
    const PageRows& rows = rows_of(open);
    if (sight + rows.in_time > stream.clock(stream.run.first)) return false;
    if (!seen_at_once(sight) || !at_rest(bus, sight) || !lanes_are_free(open, sight)) return false;
    if (forget) forget_pages();  // of the new one perhaps not all is given in time
    off.pages.push({sight, stream.run.first, open, stream.page()});
    const std::int64_t number = off.gone + static_cast<std::int64_t>(off.pages.size());
    for (std::int64_t lane = 0; lane < stream.stride(); ++lane)
        off.of_bank[static_cast<std::size_t>(stream.bank_at(stream.page(), lane))] = number;
    stream.skip_page(map_);
    look_for_run();
    return true;
}

/// The page's runs come in sight one a cadence.
bool PseudoChannel::seen_at_once(Cycles sight) const {
    const Stream& stream = stream_;
    const Door& door = this->door(stream.direction);
    const Fifo<WaitingRange>& ranges = door.ranges;
    auto [i, before] = door.place_of(stream.run.first - stream.given);
    // All of one range, which enter one behind the other as entries become free: as the first does.
    if (before + stream.stride() <= ranges[i].left &&
        sight > std::max(ranges[i].arrived, stream.seen_since) &&
        stream.run.first >= static_cast<std::int64_t>(stream.entered.size()))
        return entries_->entry(ranges[i].rank() + before, ranges[i].arrived) == sight;
    for (std::int64_t lane = 0; lane < stream.stride(); ++lane, ++before) {
        if (before == ranges[i].left) ++i, before = 0;
        const Cycles entry =
            entry_in_stream(stream.run.first + lane, ranges[i].rank() + before, ranges[i].arrived);
        if (std::max(entry, stream.seen_since) != sight + stream.cadence * lane) return false;
    }
    return true;
}

/// Whatever was given to other banks holds up no row any more.
bool PseudoChannel::at_rest(const CommandBus& bus, Cycles sight) const {
    const Fifo<Stream::PutOff::Page>& pages = stream_.put_off.pages;
    if (!pages.empty()) return pages.back().sight + rows_of(pages.back().open).settled <= sight;
    Cycles rest = timing_.windows_over();
    for (const Command command : {Command::Act, Command::Pre})
        rest = std::max({rest, bus.free(command), timing_.anywhere(command)});
    for (const int place : stream_.rotation())
        rest = std::max(rest, timing_.group(Command::Act, stream_.page().bank ^ place));
    return rest <= sight;
}

/// Nor does what was given to the page's own banks, which are all open, with other rows, or all closed.
bool PseudoChannel::lanes_are_free(bool open, Cycles sight) const {
    const Stream& stream = stream_;
    const Stream::PutOff& off = stream.put_off;
    const std::int64_t number = off.of_bank[static_cast<std::size_t>(stream.run.bank)];
    for (const int place : stream.rotation()) {
        const int bank = stream.page().bank ^ place;
        if (off.of_bank[static_cast<std::size_t>(bank)] != number) return false;
        if (number == 0 && !is_free(bank, open, sight)) return false;
    }
    if (number == 0) return true;
    const Stream::PutOff::Page& last = off.pages[static_cast<std::size_t>(number - 1 - off.gone)];
    const Cycles column = stream.clock(last.first + last.page.end - last.page.begin - 1);
    return last.sight + rows_of(last.open).banks_settled <= sight &&
           column + rows_of(open).after_column <= sight;
}

/// Of a bank that no page has that was put off.
bool PseudoChannel::is_free(int bank, bool open, Cycles sight) const {
    const Stream::Lane& lane = stream_.lanes[static_cast<std::size_t>(bank)];
    if (((window_.open_banks() & bank_bit(bank)) != 0) != open) return false;
    if (open && window_.open_row(bank) == stream_.run.row) return false;
    if (lane.first >= 0 && stream_.clock(lane.last) + rows_of(open).after_column > sight) return false;
    return std::max(timing_.of_bank(Command::Act, bank), timing_.of_bank(Command::Pre, bank)) <= sight;
}

/// The first pages whose banks have a later one, by which all that they do is made up for; they are counted.
void PseudoChannel::forget_pages() {
    Stream::PutOff& off = stream_.put_off;
    while (off.pages.size() > 1) {
        const Stream::PutOff::Page& page = off.pages.front();
        if (off.of_bank[static_cast<std::size_t>(page.page.bank)] == off.gone + 1) return;
        stats_.activates += stream_.stride();
        stats_.precharges += page.open ? stream_.stride() : 0;
        off.pages.pop();
        ++off.gone;
    }
}

/// All but the last page. Nothing waits for their commands any more but what comes to their own banks.
void PseudoChannel::give_old_pages() {
    Stream& stream = stream_;
    Stream::PutOff& off = stream.put_off;
    for (; off.pages.size() > 1; off.pages.pop(), ++off.gone) {
        const Stream::PutOff::Page& page = off.pages.front();
        for (const PageRows::Step& step : rows_of(page.open).steps) {
            const int bank = stream.bank_at(page.page, step.lane);
            const Cycles when = page.sight + step.after;
            timing_.issue_in_bank(step.command, bank, when);
            if (step.command == Command::Pre) {
                close(bank);
                opened(bank).precharge = {when, when, when};
                continue;
            }
            window_.open(bank, page.page.row);
            opened(bank) = {{when, when, when}, opened(bank).precharge, 0};
            bound(stream.direction) |= bank_bit(bank);
            ++stats_.activates;
            const std::int64_t first = page.first + step.lane;
            stream.lanes[static_cast<std::size_t>(bank)] = {
                first, first + page.page.end - page.page.begin - stream.stride()};
        }
    }
}

const Choice* PseudoChannel::first_put_off(Cycles limit) {
    Stream& stream = stream_;
    Stream::PutOff& off = stream.put_off;
    for (; !off.pages.empty(); off.pages.pop(), ++off.gone, off.lane = 0, off.step = 0) {
        const Stream::PutOff::Page& page = off.pages.front();
        const PageRows& rows = rows_of(page.open);
        // Which run is seen before which command of another does not matter.
        for (; off.lane < stream.stride() && page.sight + stream.cadence * off.lane < limit; ++off.lane)
            see_put_off(page, off.lane);
        if (off.step == rows.steps.size()) {
            if (off.lane < stream.stride()) return nullptr;
            continue;
        }
        const PageRows::Step& step = rows.steps[off.step];
        stream.beside.when = page.sight + step.after;
        if (stream.beside.when >= limit) return nullptr;
        stream.beside.command = step.command;
        stream.beside.bank = static_cast<std::int16_t>(stream.bank_at(page.page, step.lane));
        return &stream.beside;
    }
    return nullptr;
}

/// The run that has this place in the rotation is the last of its bank from here on.
void PseudoChannel::see_put_off(const Stream::PutOff::Page& page, std::int64_t place) {
    const int bank = stream_.bank_at(page.page, place);
    Stream::Lane& lane = stream_.lanes[static_cast<std::size_t>(bank)];
    if (lane.first >= 0) issue_lane(bank, lane.last);
    lane = {page.first + place, page.first + place + page.page.end - page.page.begin - stream_.stride()};
}

std::int64_t PseudoChannel::take_put_off() {
    Stream& stream = stream_;
    const std::int64_t row = stream.put_off.pages.front().page.row;
    ++stream.put_off.step;
    if (stream.beside.command == Command::Pre) return precharge_row(stream.beside);
    activate_row(stream.beside, row);
    return row;
}

void PseudoChannel::wait_for_row(const Stream::Run& run, Cycles since) {
    const Door& door = this->door(stream_.direction);
    const Door::Place place = door.place_of(run.first - stream_.given);
    stream_.jobs.push_back({run, door.ranges[place.range].sequence() + place.before, since});
}

/// Of the last page, which may have begun, what is not yet opened waits for its commands as usual.
void PseudoChannel::end_put_off() {
    Stream& stream = stream_;
    Stream::PutOff& off = stream.put_off;
    if (!off.pages.empty()) {
        SYSTOLE_CHECK(off.pages.size() == 1, "{} pages of a stream lie ahead", off.pages.size());
        const Stream::PutOff::Page& page = off.pages.front();
        for (std::int64_t place = 0; place < off.lane; ++place) {
            const int bank = stream.bank_at(page.page, place);
            const Stream::Lane& lane = stream.lanes[static_cast<std::size_t>(bank)];
            if (window_.open_row(bank) != page.page.row)
                wait_for_row({bank, page.page.row, lane.first, lane.last},
                             page.sight + stream.cadence * place);
        }
        if (off.lane < stream.stride()) stream.go_back(page.page, off.lane);
        off.pages.pop();
    }
    std::ranges::fill(off.of_bank, 0);
    off.gone = 0, off.lane = 0, off.step = 0;
    stream.beside_known = false;
    look_for_run();
    find_limit();
}

}  // namespace systole
