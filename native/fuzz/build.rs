// SPDX-License-Identifier: MIT OR Apache-2.0
//! Builds the C codec for the target that compares it with the Rust codec.

fn main() {
    let folder = "../c/src";
    let sources = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let sources: Vec<_> = sources.filter(|path| path.extension().is_some_and(|end| end == "c")).collect();
    cc::Build::new().files(&sources).include("../c/include").include(folder).std("c11").compile("clearway_codec");
    println!("cargo:rerun-if-changed={folder}");
}
