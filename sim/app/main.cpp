// SPDX-License-Identifier: Apache-2.0
// The program: turns what went wrong into the exit codes of docs/formats.md.
#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <new>
#include <string>

#include "sim/app/commands.h"
#include "sim/app/terminal.h"
#include "sim/base/error.h"
#include "sim/base/heap.h"
#include "sim/kernel/stuck.h"

/// libsystemc's own `main`, which ours replaces, calls it; the linker wants one.
extern "C" int sc_main(int, char**) {
    return 1;
}

namespace {

/// A stream that is closed must not become the next file that is opened. What is written to a closed standard
/// output is lost, which is an error: it can only be read from here.
void open_standard_streams() {
    for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; ++stream)
        if (::fcntl(stream, F_GETFD) < 0 &&
            ::open("/dev/null", stream == STDERR_FILENO ? O_WRONLY : O_RDONLY) < 0)
            std::abort();
}

/// What a shell says of a program that SIGPIPE ended.
constexpr int kReaderGone = 128 + SIGPIPE;

}  // namespace

int main(int argc, char** argv) {
    open_standard_streams();
    systole::keep_free_memory();
    std::signal(SIGPIPE, SIG_IGN);  // a closed pipe is then a failed write: nothing stays half-written
    std::signal(SIGXFSZ, SIG_IGN);  // and so is a file that has become too large for its limit
    try {
        return systole::app::dispatch({argv + 1, argv + argc});
    } catch (const systole::app::ReaderGone&) {
        return kReaderGone;
    } catch (const systole::UserError& error) {
        systole::app::complain(error.what());
        return 2;
    } catch (const std::filesystem::filesystem_error& error) {
        systole::app::complain("systole: error: '" + error.path1().string() + "': " + error.code().message());
        return 2;
    } catch (const systole::Stuck& error) {
        systole::app::complain(error.what());
        return 3;
    } catch (const std::bad_alloc&) {
        systole::app::complain(
            "systole: error: not enough memory; a smaller workload or a larger limit is needed");
        return 2;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "systole: internal error: %s\nThis is a bug of Systole: please report it.\n",
                     error.what());
        std::abort();
    }
}
