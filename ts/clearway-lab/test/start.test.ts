// SPDX-License-Identifier: MIT OR Apache-2.0
// Which packages the command loads before it knows what to do. Each start of the command pays for them.
import { readFileSync } from "node:fs";
import path from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { BuiltCli } from "./built-cli.js";

const cli = new BuiltCli();
afterAll(() => cli.remove());

describe("the start of the command", () => {
  test("loads neither the report nor the compared libraries, which take half a second", () => {
    const dist = path.dirname(cli.program);
    const seen = new Set<string>();
    const packages = new Set<string>();
    const visit = (file: string): void => {
      if (seen.has(file)) return;
      seen.add(file);
      const text = readFileSync(file, "utf8");
      for (const [, name = ""] of text.matchAll(/^(?:import|export)\b[^;]*?"([^"]+)";$/gm)) {
        if (name.startsWith(".")) visit(path.join(dist, name));
        else if (!name.startsWith("node:")) packages.add(name);
      }
    };
    visit(cli.program);
    expect(seen.size).toBeGreaterThan(5);
    expect([...packages].sort()).toEqual([
      "ajv/dist/2020.js",
      "clearway/worker",
      "cli-progress",
      "commander",
      "hdr-histogram-js",
      "leven",
    ]);
  });
});
