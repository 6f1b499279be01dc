// SPDX-License-Identifier: Apache-2.0
#include "sim/kernel/kernel.h"

#include "sim/base/check.h"

namespace systole {

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
    // A model that reports through SystemC is broken: let it fail loudly instead of printing warnings.
    sc_core::sc_report_handler::set_actions(sc_core::SC_ERROR, sc_core::SC_THROW);
    try {
        sc_core::sc_start(to_sc_time(limit), sc_core::SC_EXIT_ON_STARVATION);
    } catch (const sc_core::sc_report& report) {
        SYSTOLE_CHECK(false, "SystemC at {} ps: {}", now().value(), report.what());
    }
    return !sc_core::sc_pending_activity();
}

bool run_until(Ticks time) {
    const auto next = [] {
        return now() + Ticks(static_cast<std::int64_t>(sc_core::sc_time_to_pending_activity().value()));
    };
    const bool begun = sc_core::sc_get_status() != sc_core::SC_ELABORATION;
    if (begun && !sc_core::sc_pending_activity()) return false;
    if (time <= now() || (begun && next() >= time)) return true;
    return !run_to_the_end(time - now());
}

}  // namespace systole
