// SPDX-License-Identifier: Apache-2.0
#include "models/devices/systolic/wave/dram_wave.h"

#include <fmt/format.h>

#include <algorithm>

namespace systole::systolic {
namespace {

using Form = WaveSignal::Form;
using Names = std::shared_ptr<const std::vector<std::string>>;

enum BusState : std::int64_t { kBusIdle, kRead, kWrite };

/// By systole::Command, behind "no command".
Names command_names() {
    std::vector<std::string> names{"-"};
    for (int command = 0; command < kCommands; ++command)
        names.emplace_back(to_string(static_cast<systole::Command>(command)));
    return std::make_shared<const std::vector<std::string>>(std::move(names));
}

}  // namespace

void DramWave::add_signals(SignalSink& sink) {
    if (dram_.channels() == 0) return;
    const std::string path = dram_.name();
    sink.add({path + ".clock", Form::Clock, 1, WaveTint::Control, "the command clock of the memory", nullptr,
              dram_.clock().frequency()},
             {});
    const Names commands = command_names();
    const Names states =
        std::make_shared<const std::vector<std::string>>(std::vector<std::string>{"idle", "read", "write"});
    const auto command_bus = [&](const std::string& bus) {
        const auto add = [&](const char* name, Form form, const char* meaning) {
            const bool text = form == Form::Text;
            return sink.add({fmt::format("{}.{}", bus, name),
                             form,
                             text ? 1 : 32,
                             WaveTint::Bus,
                             meaning,
                             text ? commands : nullptr,
                             {}},
                            {});
        };
        const bool shared = dram_.spec().pseudo_channels > 1;
        return CommandBus{add("command", Form::Text, "the command given"),
                          shared ? add("pseudo_channel", Form::Unsigned, "the pseudo-channel that it is for")
                                 : SignalSink::kUnwanted,
                          add("bank", Form::Unsigned, "its bank, counted through the bank groups"),
                          add("row", Form::Unsigned, "the row that it opens, closes, reads or writes")};
    };
    for (int i = 0; i < dram_.channels(); ++i) {
        const std::string own = fmt::format("{}.channel_{}", path, i);
        Channel& channel = channels_.emplace_back();
        if (dram_.one_command_bus()) {
            channel.rows = channel.columns = command_bus(own + ".command_bus");
        } else {
            channel.rows = command_bus(own + ".row_bus");
            channel.columns = command_bus(own + ".column_bus");
        }
        const int buses = dram_.spec().pseudo_channels;
        for (int bus = 0; bus < buses; ++bus) {
            const std::string data = buses == 1 ? own : fmt::format("{}.pseudo_channel_{}", own, bus);
            channel.data.push_back(sink.add(
                {data + ".data_bus", Form::Text, 1, WaveTint::Bus, "what the data bus carries", states, {}},
                {}));
        }
    }
}

bool DramWave::any_wanted() const {
    return std::any_of(channels_.begin(), channels_.end(), [](const Channel& channel) {
        const auto wanted = [](std::size_t signal) { return signal != SignalSink::kUnwanted; };
        const auto bus = [&](const CommandBus& b) {
            return wanted(b.command) || wanted(b.pseudo_channel) || wanted(b.bank) || wanted(b.row);
        };
        return bus(channel.rows) || bus(channel.columns) ||
               std::any_of(channel.data.begin(), channel.data.end(), wanted);
    });
}

void DramWave::follow(WaveRecorder& wave) {
    if (!any_wanted()) return;
    const auto change = [&](std::size_t signal, Ticks at, std::int64_t value) {
        if (signal != SignalSink::kUnwanted) wave.change(signal, at, value);
    };
    for (std::size_t i = 0; i < channels_.size(); ++i) {
        const Channel& channel = channels_[i];
        for (const CommandBus* bus : {&channel.rows, &channel.columns})
            for (const std::size_t signal : {bus->pseudo_channel, bus->bank, bus->row})
                change(signal, Ticks(0), kNoWaveValue);
        dram_.listen(static_cast<int>(i),
                     [this, &wave, &channel](const GivenCommand& given) { told(channel, given, wave); });
    }
}

void DramWave::told(const Channel& channel, const GivenCommand& given, WaveRecorder& wave) const {
    const Ticks seen_from = wave.window().begin_time();
    const auto during = [&](std::size_t signal, Cycles begin, Cycles end, std::int64_t value,
                            std::int64_t after) {
        const Ticks over = dram_.clock().edge(end);
        if (signal == SignalSink::kUnwanted || over <= seen_from) return;
        wave.change(signal, dram_.clock().edge(begin), value);
        wave.change(signal, over, after);
    };
    const Cycles next = given.clock + Cycles(1);
    const bool one_bank = names_bank(given.command);
    const CommandBus& bus = is_column(given.command) ? channel.columns : channel.rows;
    during(bus.command, given.clock, next, static_cast<std::int64_t>(given.command) + 1, 0);
    during(bus.pseudo_channel, given.clock, next, given.pseudo_channel, kNoWaveValue);
    during(bus.bank, given.clock, next, one_bank ? given.bank : kNoWaveValue, kNoWaveValue);
    during(bus.row, given.clock, next, one_bank ? given.row : kNoWaveValue, kNoWaveValue);
    if (!is_column(given.command)) return;
    const TimingParameters& timing = dram_.spec().timing;
    const bool read = is_read(given.command);
    const Cycles first = given.clock + Cycles(timing.at(read ? "CL" : "CWL"));
    during(channel.data[static_cast<std::size_t>(given.pseudo_channel)], first,
           first + Cycles(timing.at("BL")), read ? kRead : kWrite, kBusIdle);
}

}  // namespace systole::systolic
