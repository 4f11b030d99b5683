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
        preamble: include_str!("header.txt"),
        trailer: include_str!("trailer.txt"),
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
            "abi/src/drain",
            "abi/src/memory",
            "abi/src/waiter",
        ],
        declares: &["Event", "Options", "Window", "Stats", "Wake", "ChannelId", "Waiter"],
        preamble: include_str!("host_header.txt"),
        trailer: "",
        includes: &["clearway.h"],
    },
];

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
            header: Some(self.preamble.trim_end().to_owned()),
            include_guard: Some(self.guard.to_owned()),
            no_includes: true,
            sys_includes: vec!["stddef.h".to_owned(), "stdint.h".to_owned()],
            includes: self.includes.iter().map(|name| (*name).to_owned()).collect(),
            cpp_compat: true,
            usize_is_size_t: true,
            documentation_style: cbindgen::DocumentationStyle::C99,
            line_length: 120,
            trailer: Some(self.trailer.trim_end().to_owned()),
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
