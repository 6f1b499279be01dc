// SPDX-License-Identifier: Apache-2.0
#include "sim/kernel/kernel.h"

#include <sys/mman.h>

#include <cctype>
#include <new>
#include <string_view>

#include "sim/base/check.h"

namespace systole {
namespace {

constexpr std::string_view kOutOfMemory = "std::bad_alloc";  // as its what() says

bool begun() {
    return sc_core::sc_get_status() != sc_core::SC_ELABORATION;
}

/// SystemC makes the guard page of each stack writable before it gives the stack back, and falls over where a
/// limit on memory does not allow these pages: so many bytes are enough for 256 processes.
constexpr std::size_t kReserve = std::size_t{1} << 20;

/// Never touched: it counts in limits and takes no memory.
void* reserved() {
    void* const reserve =
        ::mmap(nullptr, kReserve, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (reserve == MAP_FAILED) throw std::bad_alloc();
    return reserve;
}

/// Whether a process, or its stack, got no memory; SystemC makes a report of either.
bool is_out_of_memory(const sc_core::sc_report& report) {
    const std::string_view type = report.get_msg_type();
    return type == sc_core::SC_ID_STACK_SETUP_FAILED_ ||
           (type == sc_core::SC_ID_SIMULATION_UNCAUGHT_EXCEPTION_ && report.get_msg() == kOutOfMemory);
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
      reserve_(reserved()),
      own_(std::make_unique<sc_core::sc_simcontext>()) {
    sc_core::sc_curr_simcontext = own_.get();
    sc_core::sc_default_global_context = own_.get();
}

FreshKernel::~FreshKernel() {
    ::munmap(reserve_, kReserve);
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
        if (is_out_of_memory(report)) throw std::bad_alloc();
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
