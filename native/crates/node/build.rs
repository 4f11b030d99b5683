// SPDX-License-Identifier: MIT OR Apache-2.0
//! Compiles `shared_map.cc`, which maps native memory as a `SharedArrayBuffer` on versions of Node whose Node-API cannot.
//! Without a C++ compiler, the addon is built without this file. On those versions of Node, JavaScript then gets an `ArrayBuffer` over the
//! memory, or a copy.

fn main() {
    println!("cargo:rerun-if-changed=src/shared_map.cc");
    println!("cargo:rustc-check-cfg=cfg(shared_map)");
    let os = std::env::var("CARGO_CFG_TARGET_OS").unwrap_or_default();
    if os == "macos" {
        // Node provides its symbols when it loads the addon. They are missing when the addon is linked.
        println!("cargo:rustc-cdylib-link-arg=-Wl,-undefined,dynamic_lookup");
    }
    if os == "windows" {
        return; // Windows has no weak symbols, which `shared_map.cc` needs. An addon for Windows would also have to pin its module.
    }
    if os != "macos" {
        // Node unloads an addon when its last thread that has loaded it ends. The threads of plugins, and buffers that other threads
        // still have, use the addon's code after that. So the system must never unload it. macOS's linker has no such option.
        println!("cargo:rustc-cdylib-link-arg=-Wl,-z,nodelete");
    }
    let built = cc::Build::new()
        .cpp(true)
        .std("c++17")
        .file("src/shared_map.cc")
        .flag_if_supported("-fno-rtti") // Node is built without RTTI, so the linker would not find its classes' type information
        .flag_if_supported("-fno-exceptions")
        .warnings_into_errors(true)
        .try_compile("clearway_shared_map");
    match built {
        Ok(()) => println!("cargo:rustc-cfg=shared_map"),
        Err(error) => println!(
            "cargo:warning=no C++ compiler: native memory is not mapped as SharedArrayBuffer before Node 22.20 ({error})"
        ),
    }
}
