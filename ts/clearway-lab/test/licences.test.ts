// SPDX-License-Identifier: MIT OR Apache-2.0
// The licences of other projects ask that their texts are in every copy of their code.
import { readFileSync } from "node:fs";
import path from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { BuiltCli, here } from "./built-cli.js";

describe("the licence text of other code", () => {
  const cli = new BuiltCli();
  afterAll(() => cli.remove());

  test("is in the built folder, for each package in the bundles", () => {
    const texts = readFileSync(path.join(path.dirname(cli.program), "THIRD-PARTY-LICENSES.txt"), "utf8");
    // The tests' build has no page, so Comlink is the only package in it.
    expect([...texts.matchAll(/^=== (\S+)/gm)].map(([, name]) => name)).toEqual(["comlink"]);
    expect(texts).toContain(readFileSync(here("../../../node_modules/comlink/LICENSE"), "utf8").trim());
  });
});
