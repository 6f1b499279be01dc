// SPDX-License-Identifier: Apache-2.0
/// libsystemc's own `main` calls it, so every program linked with the library must have one, or the linker
/// refuses. Nothing reaches it here.
extern "C" int sc_main(int, char**) {
    return 1;
}
