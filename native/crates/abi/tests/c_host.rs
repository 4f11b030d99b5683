// SPDX-License-Identifier: MIT OR Apache-2.0
//! Runs a host in C (`c/`) that is linked to libclearway. The host places out-parameters at the end of a page, and calls every function
//! from every place.
#![cfg(all(unix, not(miri)))]

use std::path::{Path, PathBuf};
use std::process::Command;

/// Returns the folder that contains this package's libraries and this test.
fn built() -> PathBuf {
    std::env::current_exe().unwrap().parent().unwrap().to_owned()
}

fn compile(to: &Path, arguments: &[&str], sources: &[&str]) {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let done = Command::new("cc")
        .args(["-std=c11", "-D_GNU_SOURCE", "-O1", "-g", "-Wall", "-Wextra", "-Werror", "-pthread", "-I"])
        .arg(here.join("../../include"))
        .args(sources.iter().map(|name| here.join("tests/c").join(name)))
        .args(arguments)
        .arg("-o")
        .arg(to)
        .output()
        .unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}

#[test]
fn a_host_in_c_finds_every_out_parameter_bounded_and_every_place_safe() {
    if Command::new("cc").arg("--version").output().is_err() {
        eprintln!("no C compiler (cc): the host in C is left out");
        return;
    }
    if std::env::var("RUSTFLAGS").is_ok_and(|flags| flags.contains("sanitizer")) {
        eprintln!("a library with a sanitizer wants a host with the same: the host in C is left out");
        return;
    }
    let folder = built();
    let (plugin, host) = (folder.join("c_host_plugin.so"), folder.join("c_host"));
    compile(&plugin, &["-fPIC", "-shared", "-fvisibility=hidden"], &["plugin.c"]);
    let (search, found) = (format!("-L{}", folder.display()), format!("-Wl,-rpath,{}", folder.display()));
    compile(&host, &[&search, &found, "-lclearway"], &["main.c", "outs.c", "contexts.c"]);
    // Cargo's search path may list an older library before the one that was built with this test, so the host runs without that path.
    let mut run = Command::new(&host);
    run.arg(&plugin).env_remove("LD_LIBRARY_PATH").env_remove("DYLD_FALLBACK_LIBRARY_PATH");
    let said = run.output().unwrap();
    assert!(said.status.success(), "{}: {}", said.status, String::from_utf8_lossy(&said.stderr));
}
