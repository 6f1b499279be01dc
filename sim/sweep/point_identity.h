// SPDX-License-Identifier: Apache-2.0
// Which point a combination is: a digest of everything that its result depends on, so that equal points have
// equal ids in every sweep and on every machine, and a changed file gives other ones.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/sweep/simulator.h"

namespace systole::sweep {

/// Splits a point's settings by whom they concern: `workload.*`, `run.*`, and all others.
struct SortedSettings {
    std::vector<Setting> device, workload, run;
    explicit SortedSettings(const std::vector<Setting>& settings);
};

/// Asks the simulator once for what many points share, and patches it with what each moves.
class PointIdentity {
public:
    explicit PointIdentity(const Simulator& simulator) : simulator_(simulator) {}

    /// The first 16 hexadecimal digits of the SHA-256 over the program, every value of the resolved device,
    /// trace and protocol with the settings in their place, and the trace's digest. Throws UserError if the
    /// device or the trace cannot be read.
    std::string id(const std::string& device, const std::string& trace, const std::vector<Setting>& settings);

    /// The value of a key where no setting moves it: of `workload.*` the trace's, of `run.*` the protocol's,
    /// else the device's. Nothing if there is no such key.
    std::optional<std::string> value(const std::string& device, const std::string& trace,
                                     const std::string& path, const std::vector<Setting>& settings);

    /// Paths that value() knows, for messages.
    std::vector<std::string> paths(const std::string& device, const std::string& trace);

    static constexpr std::size_t kDigits = 16;

private:
    using Known = std::map<std::string, std::string>;
    struct Base {
        Known values;
        std::string digest;
    };

    /// Settings that put another document in place (`.preset`) make another base.
    const Base& device(const std::string& name, const std::vector<Setting>& settings);
    const Base& device_or_own(const std::string& name, const std::vector<Setting>& settings);
    const Base& trace(const std::string& name);
    const Base& protocol(const std::vector<Setting>& settings);

    const Simulator& simulator_;
    std::map<std::string, Base> devices_, traces_, protocols_;
};

}  // namespace systole::sweep
