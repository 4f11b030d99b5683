// SPDX-License-Identifier: MIT OR Apache-2.0

import { fileURLToPath } from "node:url";
import { beforeAll, expect, test } from "vitest";
import { outputOf } from "../output-of.js";

const config = fileURLToPath(new URL("./tsconfig.json", import.meta.url));

beforeAll(() => outputOf("../node_modules/typescript/bin/tsc", "-p", config));

test("the quick start compiles and prints what its comments say", async () => {
  const output = await outputOf("./quick-start/dist/main.js");
  expect(output.slice(0, -1)).toEqual([
    "Uint8Array(3) [ 255, 155, 0 ]",
    "tile at 0, 0: 65536 bytes",
    "tile at 256, 0: 65536 bytes",
    "50 %",
    "100 %",
    "2 frames",
    "0",
    "timeout",
    "dawn: 4096 bytes",
    "noon: 4096 bytes",
    "dusk: 4096 bytes",
    "connections: 1",
    "night",
    "day",
    "254",
  ]);
  expect(output.at(-1)).toMatch(/^longest stall: \d+ ms here, \d+ ms away$/);
});
