// SPDX-License-Identifier: MIT OR Apache-2.0
import { describe, expect, test } from "vitest";
import { packageNames, whyMissing } from "../src/addon-file.js";

const linux = (head: string) => packageNames({ platform: "linux", arch: "arm64", head });

describe("the packages that may have the addon", () => {
  test("are chosen by the dynamic loader that the program's file names", () => {
    expect(linux("\u007fELF\0/lib/ld-linux-aarch64.so.1\0")).toEqual(["clearway-native-linux-arm64-gnu"]);
    expect(linux("\u007fELF\0/nix/store/x-glibc-2.40/lib/ld-linux-aarch64.so.1\0")).toEqual([
      "clearway-native-linux-arm64-gnu",
    ]);
    expect(linux("\u007fELF\0/lib/ld-musl-aarch64.so.1\0")).toEqual(["clearway-native-linux-arm64-musl"]);
  });

  test("include both C libraries when the program's file names no loader", () => {
    expect(linux("")).toEqual(["clearway-native-linux-arm64-gnu", "clearway-native-linux-arm64-musl"]);
  });

  test("have no C library on other systems", () => {
    expect(packageNames({ platform: "darwin", arch: "arm64", head: "" })).toEqual(["clearway-native-darwin-arm64"]);
  });
});

describe("the message about a missing addon", () => {
  const names = ["clearway-native-linux-x64-gnu"];

  test("names the package to install when there is one for the system", () => {
    const said = whyMissing(names, { "clearway-native-linux-x64-gnu": "1.2.3" });
    expect(said).toContain("the package clearway-native-linux-x64-gnu is not installed");
    expect(said).toContain("npm install clearway-native-linux-x64-gnu@1.2.3");
    expect(said).toContain("npx clearway-native build");
  });

  test("names the systems that have a package, and what a build needs, when the system has none", () => {
    const said = whyMissing(["clearway-native-darwin-arm64"], { "clearway-native-linux-x64-gnu": "1.2.3" });
    expect(said).toContain("no prebuilt addon for this system (darwin-arm64); there is one for linux-x64-gnu.");
    expect(said).toMatch(/Rust 1\.88 .*rustup\.rs.* C\+\+ compiler.* npx clearway-native build$/);
  });

  test("names what a build needs when no package is known, as in a clone", () => {
    expect(whyMissing(names, {})).toMatch(/^there is no prebuilt addon for this system \(linux-x64-gnu\)\. To build/);
  });
});
