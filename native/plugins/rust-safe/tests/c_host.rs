// SPDX-License-Identifier: MIT OR Apache-2.0
//! Runs a C host that loads the plugin and uses each of its channels.
#![cfg(all(unix, not(miri)))]

use std::path::Path;
use std::process::Command;

#[test]
fn a_host_in_c_loads_the_plugin_and_uses_every_channel() {
    if Command::new("cc").arg("--version").output().is_err() {
        eprintln!("no C compiler (cc): the host in C is left out");
        return;
    }
    if std::env::var("RUSTFLAGS").is_ok_and(|flags| flags.contains("sanitizer")) {
        eprintln!("a library with a sanitizer wants a host with the same: the host in C is left out");
        return;
    }
    let program = std::env::current_exe().unwrap();
    let (here, folder) = (Path::new(env!("CARGO_MANIFEST_DIR")), program.parent().unwrap());
    let host = folder.join("c_host_of_safe");
    let built = Command::new("cc")
        .args(["-std=c11", "-D_GNU_SOURCE", "-O1", "-g", "-Wall", "-Wextra", "-Werror", "-I"])
        .arg(here.join("../../include"))
        .arg(here.join("tests/c/main.c"))
        .args([format!("-L{}", folder.display()), format!("-Wl,-rpath,{}", folder.display())])
        .args(["-lclearway", "-o"])
        .arg(&host)
        .output()
        .unwrap();
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let library = format!("{}clearway_safe_rust{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
    // Removes Cargo's search paths, because they may contain an older library than the one that was built with this test.
    let mut run = Command::new(&host);
    run.arg(folder.join(library)).env_remove("LD_LIBRARY_PATH").env_remove("DYLD_FALLBACK_LIBRARY_PATH");
    let said = run.output().unwrap();
    assert!(said.status.success(), "{}: {}", said.status, String::from_utf8_lossy(&said.stderr));
}
