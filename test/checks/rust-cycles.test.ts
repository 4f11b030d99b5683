// SPDX-License-Identifier: MIT OR Apache-2.0
import { describe, expect, test } from "vitest";
import { paths, rustCycleProblems } from "../../scripts/check/rust-cycles.mjs";

const file = (name: string, text: string, crate = "native/crates/x") => ({ path: `${crate}/src/${name}.rs`, text });

describe("the check of cycles among Rust modules", () => {
  test("finds a cycle through imports, paths in code and groups", () => {
    for (const back of [
      "use crate::a::A;",
      "fn f() { crate::a::g() }",
      "use crate::{a::{A, B}, c};",
      "use super::a;",
    ]) {
      const problems = rustCycleProblems([file("a", "use crate::b::B;"), file("b", back), file("c", "")]);
      expect(problems, back).toEqual([
        "native/crates/x/src/a.rs, native/crates/x/src/b.rs: these modules use one another in a cycle",
      ]);
    }
  });

  test("counts a parent that re-exports a child that uses the parent", () => {
    const parent = file("a/mod", "mod b;\npub use b::B;\npub struct A;");
    expect(rustCycleProblems([parent, file("a/b", "use super::A;")])).toHaveLength(1);
    expect(rustCycleProblems([parent, file("a/b", "use super::c::C;"), file("a/c", "")])).toEqual([]);
  });

  test("leaves out tests, comments, other crates and the crate's root", () => {
    const b = file("b", "// crate::a::A\n#[cfg(test)]\nmod tests { use crate::a::A; }");
    expect(rustCycleProblems([file("a", "use crate::b::B;"), b])).toEqual([]);
    expect(rustCycleProblems([file("a", "use crate::b::B;"), file("b", "use crate::a;", "native/crates/y")])).toEqual(
      [],
    );
    expect(rustCycleProblems([file("lib", "use crate::b::B;"), file("b", "use crate::lib;")])).toEqual([]);
  });

  test("resolves nested groups", () => {
    expect(paths("crate::{a, b::{c, d::e}}")).toEqual(["crate::a", "crate::b::c", "crate::b::d::e"]);
  });
});
