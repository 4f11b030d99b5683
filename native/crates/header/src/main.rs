// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cargo run -p clearway-header` generates `clearway.h` and `clearway_host.h` from the Rust types, and compares them
//! with the files in `native/include`. The exit status is 1 if a file differs. With `-- --write`, the program writes
//! both files instead.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// One header, and the parts that it is made from.
struct Header {
    file: &'static str,
    guard: &'static str,
    /// The Rust files of the header's types and functions, in the order of the header.
    sources: &'static [&'static str],
    /// The types that the header declares, by their Rust names.
    declares: &'static [&'static str],
    preamble: &'static str,
    trailer: &'static str,
    includes: &'static [&'static str],
}

const HEADERS: [Header; 2] = [
    Header {
        file: "clearway.h",
        guard: "CLEARWAY_H",
        sources: &[
            "sys/src/status",
            "sys/src/text",
            "sys/src/memory",
            "sys/src/content",
            "sys/src/handler",
            "sys/src/host",
        ],
        declares: &[
            "Status",
            "Text",
            "Memory",
            "View",
            "ReleaseMemory",
            "Content",
            "Reply",
            "Stream",
            "OnMessage",
            "OnListen",
            "OnStream",
            "OnDrop",
            "OnAnswer",
            "Handler",
            "Source",
            "PluginId",
            "Host",
            "Plugin",
            "OnClose",
            "Init",
        ],
        preamble: PLUGIN_PREAMBLE,
        trailer: PLUGIN_TRAILER,
        includes: &[],
    },
    Header {
        file: "clearway_host.h",
        guard: "CLEARWAY_HOST_H",
        sources: &[
            "abi/src/event",
            "abi/src/options",
            "abi/src/open",
            "abi/src/send",
            "abi/src/channel",
            "abi/src/listen",
            "abi/src/memory",
            "abi/src/waiter",
        ],
        declares: &["Event", "Options", "Window", "Stats", "Wake", "ChannelId", "Waiter"],
        preamble: HOST_PREAMBLE,
        trailer: "",
        includes: &["clearway.h"],
    },
];

const PLUGIN_PREAMBLE: &str = r##"// SPDX-License-Identifier: MIT OR Apache-2.0
//
// clearway.h: one C ABI for native plugins, the same for every host (Node, the JVM, Swift, C). This header is for authors of
// plugins. clearway_host.h is for hosts.
//
// `make fmt` generates this file from the Rust types in native/crates; do not edit it. `make check` compares the two.
//
// A plugin is a shared library that exports
//
//     CLEARWAY_EXPORT clearway_status clearway_plugin_init(const clearway_host *host, clearway_plugin *plugin);
//
// A plugin calls only the functions of `host`, and links to no library of Clearway. Any thread may call any function of that
// table. Handles (memory, replies, streams, plugins) have generations. A handle that was released, answered or ended is
// refused with CLEARWAY_STALE, and never names another object. Pointers are lent during a call. A pointer must be null, or
// valid for its stated size. A null pointer, a wrong length, a wrong range and a misaligned pointer return a status.
//
// Each kind of handle is a struct of one uint64_t, so that the compiler refuses a reply where the code needs a memory. `{0}`
// is no handle. In the ABI such a struct is the same as that number: it has the same size, alignment, and register or stack
// slot, on x86-64 (System V), aarch64 (AAPCS64) and Windows. Other languages may declare a handle as 64 bits.
//
// Structs that may get further fields have a field `size`. They are clearway_handler, clearway_source, clearway_host and
// clearway_plugin. The side that writes such a struct sets `size` to `sizeof`, as that side was compiled. The side that reads
// it ignores fields that it does not know, and takes missing fields as 0. The other structs never change.
//
// No C++ exception and no panic may unwind out of a plugin. A plugin in Rust uses the crate clearway-plugin, which catches
// panics and answers CLEARWAY_PANICKED. An exception that leaves a plugin ends the process."##;

const HOST_PREAMBLE: &str = r##"// SPDX-License-Identifier: MIT OR Apache-2.0
//
// clearway_host.h: the functions for hosts of plugins. Link to libclearway.
//
// `make fmt` generates this file from the Rust types in native/crates; do not edit it. `make check` compares the two.
//
// Any thread may call any function. Only clearway_plugin_close and clearway_waiter_wait wait for work.
// clearway_plugin_set_wake, clearway_waiter_watch and clearway_plugin_free wait only for a wake function that runs. A handle
// of another plugin, a stale handle, and a null, misaligned or impossible argument return a status. A panic or an exception
// that unwinds out of a host's callback (a wake, a release) ends the process.
//
// A pointer must be null, or valid for its stated size, during the call.
//
// Structs that may get further fields have a field `size`: clearway_options, clearway_window and clearway_stats. The host
// sets it to `sizeof`, as the host was compiled. A smaller struct of an older host and a larger one of a newer host are
// accepted. clearway_event never changes, because hosts have arrays of it."##;

const PLUGIN_TRAILER: &str = r##"// Makes the library export clearway_plugin_init.
#if defined(_WIN32)
#define CLEARWAY_EXPORT __declspec(dllexport)
#else
#define CLEARWAY_EXPORT __attribute__((visibility("default")))
#endif

// Makes a clearway_text from a string literal, in an initialiser: `.channel = CLEARWAY_TEXT("echo")`.
#define CLEARWAY_TEXT(literal) {(literal), sizeof(literal) - 1}

// This declaration lets the compiler check the definition in a plugin.
#ifdef __cplusplus
extern "C"
#endif
CLEARWAY_EXPORT clearway_status clearway_plugin_init(const clearway_host *host, clearway_plugin *plugin);"##;

/// The C names of the types.
const NAMES: [(&str, &str); 27] = [
    ("Status", "clearway_status"),
    ("Text", "clearway_text"),
    ("Memory", "clearway_memory"),
    ("View", "clearway_view"),
    ("ReleaseMemory", "clearway_release_memory"),
    ("Content", "clearway_content"),
    ("Reply", "clearway_reply"),
    ("Stream", "clearway_stream"),
    ("OnMessage", "clearway_on_message"),
    ("OnListen", "clearway_on_listen"),
    ("OnStream", "clearway_on_stream"),
    ("OnDrop", "clearway_on_drop"),
    ("OnAnswer", "clearway_on_answer"),
    ("Handler", "clearway_handler"),
    ("Source", "clearway_source"),
    ("PluginId", "clearway_plugin_id"),
    ("Host", "clearway_host"),
    ("Plugin", "clearway_plugin"),
    ("OnClose", "clearway_on_close"),
    ("Init", "clearway_init"),
    ("Event", "clearway_event"),
    ("Options", "clearway_options"),
    ("Window", "clearway_window"),
    ("Stats", "clearway_stats"),
    ("Wake", "clearway_wake"),
    ("ChannelId", "clearway_channel"),
    ("Waiter", "clearway_waiter"),
];

/// The types of handles. Each is a separate struct in C, so that a compiler refuses a reply where the code needs a
/// memory.
const HANDLES: [&str; 6] = [
    "clearway_memory",
    "clearway_reply",
    "clearway_stream",
    "clearway_plugin_id",
    "clearway_channel",
    "clearway_waiter",
];

fn main() -> ExitCode {
    let native = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let write = std::env::args().any(|argument| argument == "--write");
    let mut right = true;
    for header in &HEADERS {
        let path = native.join("include").join(header.file);
        let made = header.made(&native.join("crates"));
        if write {
            std::fs::write(&path, made).expect("the header's folder can be written to");
            continue;
        }
        let committed = std::fs::read_to_string(&path).unwrap_or_default();
        if committed == made {
            println!("  {} is what the Rust types make of it", header.file);
            continue;
        }
        let at = made.lines().zip(committed.lines()).take_while(|(one, other)| one == other).count();
        eprintln!("  native/include/{}:{}: is not what the Rust types make of it: make fmt", header.file, at + 1);
        right = false;
    }
    if right { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

impl Header {
    /// Generates the header from the sources in `crates`.
    fn made(&self, crates: &Path) -> String {
        let files: Vec<PathBuf> = self.sources.iter().map(|name| crates.join(name).with_extension("rs")).collect();
        let config = cbindgen::Config {
            language: cbindgen::Language::C,
            style: cbindgen::Style::Both,
            header: Some(self.preamble.to_owned()),
            include_guard: Some(self.guard.to_owned()),
            no_includes: true,
            sys_includes: vec!["stddef.h".to_owned(), "stdint.h".to_owned()],
            includes: self.includes.iter().map(|name| (*name).to_owned()).collect(),
            cpp_compat: true,
            usize_is_size_t: true,
            documentation_style: cbindgen::DocumentationStyle::C99,
            line_length: 120,
            trailer: Some(self.trailer.to_owned()),
            ..cbindgen::Config::default()
        };
        let mut builder = cbindgen::Builder::new().with_config(config);
        for path in &files {
            builder = builder.with_src(path);
        }
        for (rust, c) in NAMES {
            builder = builder.rename_item(rust, c);
        }
        for rust in self.declares {
            builder = builder.include_item(*rust);
        }
        let mut header = Vec::new();
        builder.generate().expect("the sources are Rust").write(&mut header);
        with_handles(without_safety(&String::from_utf8(header).expect("the sources are UTF-8")))
    }
}

/// Replaces each handle type by a struct. In Rust a handle is a `u64`. A struct with one `uint64_t` has the same layout
/// and is passed in the same way, as the preamble says.
fn with_handles(mut header: String) -> String {
    for name in HANDLES {
        let (bare, own) =
            (format!("typedef uint64_t {name};"), format!("typedef struct {name} {{\n  uint64_t handle;\n}} {name};"));
        header = header.replace(&bare, &own);
    }
    header
}

/// Removes the `# Safety` sections, because the top of the header states the rules for pointers once.
fn without_safety(header: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    let mut dropping = false;
    for line in header.lines() {
        let comment = line.trim_start().starts_with("//");
        if line.trim() == "// # Safety" {
            dropping = true;
            if kept.last().is_some_and(|last| last.trim() == "//") {
                kept.pop();
            }
        }
        dropping &= comment;
        if !dropping {
            kept.push(line);
        }
    }
    kept.join("\n") + "\n"
}
