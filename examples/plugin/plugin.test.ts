// SPDX-License-Identifier: MIT OR Apache-2.0
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { plugins } from "../../scripts/native.mjs";
import { outputOf } from "../output-of.js";

const addon = fileURLToPath(import.meta.resolve("clearway-native")).replace(/index\.js$/, "clearway.node");
const ready = existsSync(addon) && existsSync(plugins.c.example);

test.skipIf(!ready)(
  "a plugin is called, shares memory both ways, and sends events; its ledger says what was copied",
  async () => {
    expect(await outputOf("./plugin/main.js")).toEqual([
      "{ kind: 'success', value: 'hello' }",
      "{ kind: 'success', value: [ 1, 2 ] }",
      "8294400 7",
      "0",
      "9",
      "5 readings, 0 dropped",
      "8294400 detachable",
      "true { small: { count: 3, bytes: 56 } } 0",
    ]);
  },
);
