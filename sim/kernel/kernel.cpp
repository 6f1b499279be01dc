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

void run_to_the_end() {
    // A model that reports through SystemC is broken: let it fail loudly instead of printing warnings.
    sc_core::sc_report_handler::set_actions(sc_core::SC_ERROR, sc_core::SC_THROW);
    try {
        sc_core::sc_start();
    } catch (const sc_core::sc_report& report) {
        SYSTOLE_CHECK(false, "SystemC at {} ps: {}", now().value(), report.what());
    }
}

}  // namespace systole
