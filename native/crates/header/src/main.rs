// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cargo run -p clearway-header` compares `native/include/clearway.h` with the header generated from the Rust types. The exit
//! status is 1 when they differ; `-- --write` writes the header.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The files of the header's types and functions, in the header's order.
const SOURCES: [&str; 15] = [
    "sys/src/status",
    "sys/src/text",
    "sys/src/memory",
    "sys/src/content",
    "sys/src/handler",
    "sys/src/host",
    "abi/src/event",
    "abi/src/options",
    "abi/src/open",
    "abi/src/send",
    "abi/src/channel",
    "abi/src/listen",
    "abi/src/drain",
    "abi/src/memory",
    "abi/src/waiter",
];

/// The types' names in C.
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

/// The types of handles. In C each is a struct of its own, so that a compiler refuses a reply where a memory is wanted.
const HANDLES: [&str; 6] =
    ["clearway_memory", "clearway_reply", "clearway_stream", "clearway_plugin_id", "clearway_channel", "clearway_waiter"];

fn main() -> ExitCode {
    let native = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let path = native.join("include/clearway.h");
    let made = made(&native.join("crates"));
    if std::env::args().any(|argument| argument == "--write") {
        std::fs::write(&path, made).expect("the header's folder can be written to");
        return ExitCode::SUCCESS;
    }
    match std::fs::read_to_string(&path) {
        Ok(committed) if committed == made => {
            println!("  clearway.h is what the Rust types make of it");
            ExitCode::SUCCESS
        }
        committed => {
            let committed = committed.unwrap_or_default();
            let at = made.lines().zip(committed.lines()).take_while(|(one, other)| one == other).count();
            eprintln!("  native/include/clearway.h:{}: is not what the Rust types make of it: make fmt", at + 1);
            ExitCode::FAILURE
        }
    }
}

/// Generates the header from the sources in `crates`.
fn made(crates: &Path) -> String {
    let files: Vec<PathBuf> = SOURCES.iter().map(|name| crates.join(name).with_extension("rs")).collect();
    let config = cbindgen::Config {
        language: cbindgen::Language::C,
        style: cbindgen::Style::Both,
        header: Some(include_str!("header.txt").trim_end().to_owned()),
        include_guard: Some("CLEARWAY_H".to_owned()),
        no_includes: true,
        sys_includes: vec!["stddef.h".to_owned(), "stdint.h".to_owned()],
        cpp_compat: true,
        usize_is_size_t: true,
        documentation_style: cbindgen::DocumentationStyle::C99,
        line_length: 120,
        trailer: Some(include_str!("trailer.txt").trim_end().to_owned()),
        ..cbindgen::Config::default()
    };
    let mut builder = cbindgen::Builder::new().with_config(config);
    for path in &files {
        builder = builder.with_src(path);
    }
    for (rust, c) in NAMES {
        builder = builder.rename_item(rust, c).include_item(rust);
    }
    let mut header = Vec::new();
    builder.generate().expect("the sources are Rust").write(&mut header);
    with_handles(without_safety(&String::from_utf8(header).expect("the sources are UTF-8")))
}

/// Makes a struct of each handle. Rust has them as `u64`: a struct of one `uint64_t` is passed and laid out as that number is,
/// and the preamble says so.
fn with_handles(mut header: String) -> String {
    for name in HANDLES {
        let (bare, own) = (format!("typedef uint64_t {name};"), format!("typedef struct {name} {{\n  uint64_t handle;\n}} {name};"));
        assert_eq!(header.matches(&bare).count(), 1, "{name} is a number in the sources");
        header = header.replace(&bare, &own);
    }
    header
}

/// Removes the `# Safety` sections, since the top of the header states the rules for pointers once.
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
