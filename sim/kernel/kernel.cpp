// SPDX-License-Identifier: Apache-2.0
#include "sim/kernel/kernel.h"

#include <cctype>

#include "sim/base/check.h"

namespace systole {
namespace {

bool begun() {
    return sc_core::sc_get_status() != sc_core::SC_ELABORATION;
}

}  // namespace

std::string instance_name(std::string name) {
    for (char& c : name)
        if (!std::isalnum(static_cast<unsigned char>(c)) && c != '_') c = '_';
    return name;
}

FreshKernel::FreshKernel()
    : outer_current_(sc_core::sc_curr_simcontext),
      outer_default_(sc_core::sc_default_global_context),
      own_(std::make_unique<sc_core::sc_simcontext>()) {
    sc_core::sc_curr_simcontext = own_.get();
    sc_core::sc_default_global_context = own_.get();
}

FreshKernel::~FreshKernel() {
    own_.reset();
    sc_core::sc_curr_simcontext = outer_current_;
    sc_core::sc_default_global_context = outer_default_;
}

bool run_to_the_end(Ticks limit) {
    if (begun() && !sc_core::sc_pending_activity()) return true;
    // A model that reports through SystemC is broken: let it fail loudly instead of printing warnings.
    sc_core::sc_report_handler::set_actions(sc_core::SC_ERROR, sc_core::SC_THROW);
    try {
        sc_core::sc_start(to_sc_time(limit), sc_core::SC_EXIT_ON_STARVATION);
    } catch (const sc_core::sc_report& report) {
        SYSTOLE_CHECK(false, "SystemC at {} ps: {}", now().value(), report.what());
    }
    return !sc_core::sc_pending_activity();
}

/// SystemC stops before the processes that are due at the end of the time it is given.
bool run_until(Ticks time) {
    if (begun() && !sc_core::sc_pending_activity()) return false;
    const sc_core::sc_time wait = begun() ? sc_core::sc_time_to_pending_activity() : sc_core::SC_ZERO_TIME;
    if (now() + Ticks(static_cast<std::int64_t>(wait.value())) >= time) return true;
    return !run_to_the_end(time - now());
}

}  // namespace systole
