// SPDX-License-Identifier: MIT OR Apache-2.0
import { describe, expect, onTestFinished, test } from "vitest";
import { inheritedFlags, processEnvironment } from "../../src/host/node/options.js";

describe("a child process", () => {
  test.each([
    ["a script", ["-e", "code"], "code"],
    ["a script that looks like a flag", ["-p", "-1"], "-1"],
    ["a script in the flag", ["--eval=code"], "code"],
    ["the kind of a script", ["--input-type=module", "-e", "code"], "code"],
    ["the kind of a script as a separate argument", ["--input-type", "module", "-pe", "code"], "code"],
    ["the inspector", ["--inspect", "--inspect-brk=9229", "--inspect-port", "9230"]],
    ["the test runner", ["--test", "--test-reporter", "spec"]],
    ["watching", ["--watch", "--watch-path", "./src"]],
    ["a check of the syntax", ["--check"]],
    ["the name of a profile", ["--cpu-prof-name=one.cpuprofile"]],
  ])("does not inherit %s", (_name, flags, script?: string) => {
    expect(inheritedFlags(["--no-warnings", ...flags, "--expose-gc"], script)).toEqual([
      "--no-warnings",
      "--expose-gc",
    ]);
  });

  test("inherits loaders, conditions, permissions and limits", () => {
    const flags = [
      "--import",
      "./hook.mjs",
      "-r",
      "./a.cjs",
      "-C",
      "dev",
      "--permission",
      "--allow-fs-read=*",
      "--max-old-space-size=64",
    ];
    expect(inheritedFlags(flags)).toEqual(flags);
  });

  test("inherits NODE_OPTIONS in the same way, and keeps what the app has set for it", () => {
    const before = process.env["NODE_OPTIONS"];
    onTestFinished(() => {
      if (before === undefined) delete process.env["NODE_OPTIONS"];
      else process.env["NODE_OPTIONS"] = before;
    });
    process.env["NODE_OPTIONS"] = '--inspect=9229 --import "./a b.mjs"';
    expect(processEnvironment({})?.["NODE_OPTIONS"]).toBe('--import "./a b.mjs"');
    const env = { NODE_OPTIONS: "--inspect=0" };
    expect(processEnvironment({ env })).toBe(env);
  });
});
