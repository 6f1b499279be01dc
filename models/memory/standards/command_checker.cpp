// SPDX-License-Identifier: Apache-2.0
#include "models/memory/standards/command_checker.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "sim/base/check.h"
#include "sim/base/clock.h"

namespace systole {
namespace {

/// Of its own, not the table's, whose folding it is to find faults in.
bool lists(const std::vector<Command>& commands, Command command) {
    return std::find(commands.begin(), commands.end(), command) != commands.end();
}

/// Commands of all banks meet each of them.
Scope meeting(const ConstraintRow& row, Command preceding, Command following) {
    return names_bank(preceding) && names_bank(following) ? row.scope
                                                          : std::max(row.scope, Scope::PseudoChannel);
}

/// Before all time, so that it binds nothing.
constexpr GivenCommand kNever{Command::Act, 0, 0, 0, Cycles(INT64_MIN / 2)};

std::string_view words(Scope scope) {
    static constexpr std::array<std::string_view, kScopes> kWords{"bank", "bank group", "pseudo-channel",
                                                                  "channel"};
    return kWords[static_cast<std::size_t>(scope)];
}

std::string words(const std::vector<Command>& commands) {
    std::vector<std::string_view> names;
    for (const Command command : commands) names.push_back(to_string(command));
    return fmt::format("{}", fmt::join(names, "/"));
}

std::string words(const GivenCommand& given) {
    std::string text = fmt::format("{}", to_string(given.command));
    if (names_bank(given.command)) text += fmt::format(" of bank {} row {}", given.bank, given.row);
    return text + fmt::format(" in pseudo-channel {} at clock {}", given.pseudo_channel, given.clock.value());
}

}  // namespace

CommandChecker::CommandChecker(const DramSpec& spec)
    : banks_(spec.banks()),
      banks_per_group_(spec.banks_per_group),
      nodes_per_bus_(static_cast<std::size_t>(banks_ + spec.bank_groups + 1)),
      rows_(spec.rows),
      burst_(spec.timing.at("BL")),
      latency_{spec.timing.at("CL"), spec.timing.at("CWL")},
      refresh_(spec.refresh),
      last_((nodes_per_bus_ * static_cast<std::size_t>(spec.pseudo_channels) + 1) * kCommands, kNever),
      buses_(static_cast<std::size_t>(spec.pseudo_channels)) {
    for (const ConstraintRow& row : constraint_table_of(spec.standard).rows) fold(row, spec.timing);
    for (Bus& bus : buses_) bus.rows.assign(static_cast<std::size_t>(banks_), kClosed);
    if (refresh_ == RefreshPolicy::Off) return;
    refresh_interval_ = spec.timing.at(refresh_ == RefreshPolicy::AllBank ? "REFI" : "REFISB");
    refresh_slack_ = refresh_interval_ * spec.refresh_postpone + longest_blocking();
    const std::int64_t phase = ClockDomain(spec.clock).at_or_before(spec.refresh_phase).value();
    for (Bus& bus : buses_) bus.refresh_due = refresh_interval_ - phase % refresh_interval_;
}

void CommandChecker::fold(const ConstraintRow& row, const TimingParameters& timing) {
    const std::int64_t latency = evaluate_latency(row.latency, timing).value();
    if (row.window > 1) {
        Scope scope = row.scope;
        for (const Command preceding : row.preceding)
            for (const Command following : row.following)
                scope = std::max(scope, meeting(row, preceding, following));
        Window::Ring ring;
        ring.last.assign(static_cast<std::size_t>(row.window), kNever);
        windows_.push_back({scope, latency, &row, std::vector<Window::Ring>(last_.size() / kCommands, ring)});
        return;
    }
    for (const Command preceding : row.preceding)
        for (const Command following : row.following)
            rules_[static_cast<std::size_t>(following)].push_back(
                {preceding, meeting(row, preceding, following), latency, &row});
}

/// From the clock at which a refresh must no longer wait: what its precharge waits for, what it waits for
/// itself, and the commands that may be before them on the bus.
std::int64_t CommandChecker::longest_blocking() const {
    const auto longest = [this](Command following) {
        std::int64_t clocks = 0;
        for (const Rule& rule : rules_[static_cast<std::size_t>(following)])
            clocks = std::max(clocks, rule.latency);
        return clocks;
    };
    constexpr std::int64_t kBusWait = 4;  // for each pseudo-channel: a precharge, a refresh, half an ACT
    const bool all = refresh_ == RefreshPolicy::AllBank;
    return longest(all ? Command::PreAll : Command::Pre) +
           longest(all ? Command::Refresh : Command::RefreshBank) +
           kBusWait * static_cast<std::int64_t>(buses_.size());
}

std::size_t CommandChecker::node(Scope scope, const GivenCommand& given) const {
    const std::size_t bus = static_cast<std::size_t>(given.pseudo_channel) * nodes_per_bus_;
    switch (scope) {
        case Scope::Bank:
            return bus + static_cast<std::size_t>(given.bank);
        case Scope::Group:
            return bus + static_cast<std::size_t>(banks_ + given.bank / banks_per_group_);
        case Scope::PseudoChannel:
            return bus + nodes_per_bus_ - 1;
        case Scope::Channel:
            break;
    }
    return buses_.size() * nodes_per_bus_;
}

void CommandChecker::see(const GivenCommand& given) {
    SYSTOLE_CHECK(order_fault(given).empty() && !broken_row(given) && state_fault(given).empty(), "{}: {}",
                  words(given), fault(given));
    record(given);
    change_state(given);
}

std::string CommandChecker::fault(const GivenCommand& given) const {
    if (const std::string_view text = order_fault(given); !text.empty()) return std::string(text);
    const std::optional<Broken> broken = broken_row(given);
    if (!broken) return std::string(state_fault(given));
    const ConstraintRow& row = *broken->row;
    return fmt::format("{} clocks after {}, but in one {} {} to {} takes {} = {} clocks{}",
                       (given.clock - broken->before->clock).value(), words(*broken->before),
                       words(row.scope), words(row.preceding), words(row.following), row.latency,
                       broken->latency, row.window > 1 ? fmt::format(", {} commands on", row.window) : "");
}

std::optional<CommandChecker::Broken> CommandChecker::broken_row(const GivenCommand& given) const {
    const auto too_soon = [&](const GivenCommand& before, std::int64_t latency) {
        return (given.clock - before.clock).value() < latency;
    };
    for (const Rule& rule : rules_[static_cast<std::size_t>(given.command)]) {
        const GivenCommand& before = last(rule.preceding, node(rule.scope, given));
        if (too_soon(before, rule.latency)) return Broken{rule.row, rule.latency, &before};
    }
    for (const Window& window : windows_) {
        if (!lists(window.row->following, given.command)) continue;
        const Window::Ring& ring = window.rings[node(window.scope, given)];
        const GivenCommand& before = ring.last[ring.oldest];
        if (too_soon(before, window.latency)) return Broken{window.row, window.latency, &before};
    }
    return std::nullopt;
}

std::string_view CommandChecker::state_fault(const GivenCommand& given) const {
    const std::string_view text = bank_fault(given);
    return text.empty() ? refresh_fault(given) : text;
}

std::string_view CommandChecker::order_fault(const GivenCommand& given) const {
    if (given.clock.value() < clock_) return "it is earlier than the command before it";
    if (given.pseudo_channel < 0 || given.pseudo_channel >= static_cast<int>(buses_.size()))
        return "there is no such pseudo-channel";
    if (given.bank < 0 || given.bank >= banks_) return "there is no such bank";
    if (given.row < 0 || given.row >= rows_) return "there is no such row";
    return "";
}

std::string_view CommandChecker::bank_fault(const GivenCommand& given) const {
    const Bus& bus = buses_[static_cast<std::size_t>(given.pseudo_channel)];
    const std::int64_t row = bus.rows[static_cast<std::size_t>(given.bank)];
    switch (given.command) {
        case Command::Act:
            return row == kClosed ? "" : "the bank has a row open";
        case Command::Pre:
            return row == given.row ? "" : "the bank does not have that row open";
        case Command::PreAll:
            return "";
        case Command::Refresh:
            return bus.open == 0 ? "" : "banks are open";
        case Command::RefreshBank:
            return row == kClosed ? "" : "the bank is open";
        case Command::Read:
        case Command::Write:
        case Command::ReadAp:
        case Command::WriteAp:
            break;
    }
    if (row != given.row) return "the bank does not have that row open";
    const std::int64_t data = given.clock.value() + latency_[is_read(given.command) ? 0 : 1];
    return data >= bus.data_until ? "" : "its data would meet other data on the bus";
}

std::string_view CommandChecker::refresh_fault(const GivenCommand& given) const {
    const bool refreshes = given.command == Command::Refresh || given.command == Command::RefreshBank;
    if (refresh_ == RefreshPolicy::Off) return refreshes ? "refresh is off" : "";
    const Bus& bus = buses_[static_cast<std::size_t>(given.pseudo_channel)];
    if (given.clock.value() > bus.refresh_due + refresh_slack_) return "a refresh is owed for too long";
    if (!refreshes) return "";
    if (given.clock.value() < bus.refresh_due) return "no refresh is due";
    if ((given.command == Command::Refresh) != (refresh_ == RefreshPolicy::AllBank))
        return "that is not how this memory is refreshed";
    const bool in_turn = given.command == Command::Refresh || bus.refreshes % banks_ == given.bank;
    return in_turn ? "" : "the bank is not the next to be refreshed";
}

void CommandChecker::record(const GivenCommand& given) {
    clock_ = given.clock.value();
    ++commands_;
    last(given.command, node(Scope::Channel, given)) = given;
    last(given.command, node(Scope::PseudoChannel, given)) = given;
    if (names_bank(given.command)) {
        last(given.command, node(Scope::Group, given)) = given;
        last(given.command, node(Scope::Bank, given)) = given;
    }
    for (Window& window : windows_) {
        if (!lists(window.row->preceding, given.command)) continue;
        Window::Ring& ring = window.rings[node(window.scope, given)];
        ring.last[ring.oldest] = given;
        ring.oldest = (ring.oldest + 1) % ring.last.size();
    }
}

void CommandChecker::change_state(const GivenCommand& given) {
    Bus& bus = buses_[static_cast<std::size_t>(given.pseudo_channel)];
    std::int64_t& row = bus.rows[static_cast<std::size_t>(given.bank)];
    if (is_column(given.command))
        bus.data_until = given.clock.value() + latency_[is_read(given.command) ? 0 : 1] + burst_;
    if (given.command == Command::Act) {
        row = given.row;
        ++bus.open;
    } else if (given.command == Command::PreAll) {
        std::fill(bus.rows.begin(), bus.rows.end(), kClosed);
        bus.open = 0;
    } else if (given.command == Command::Pre || closes_bank(given.command)) {
        row = kClosed;
        --bus.open;
    } else if (given.command == Command::Refresh || given.command == Command::RefreshBank) {
        ++bus.refreshes;
        bus.refresh_due += refresh_interval_;
    }
}

}  // namespace systole
