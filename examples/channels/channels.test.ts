// SPDX-License-Identifier: MIT OR Apache-2.0
import { expect, test } from "vitest";
import { outputOf } from "../output-of.js";

test("a child process is called, streams, is held to the schema, and says how it died", async () => {
  expect(await outputOf("./channels/child.js")).toEqual([
    "{ level: 20, unit: 'celsius', note: null }",
    "0",
    "1",
    "2",
    'lab/thermometer, level: args.unit must be one of "celsius", "kelvin": args.unit="fahrenheit"',
    "lost - the process was killed by SIGKILL",
  ]);
});

test("a WebSocket carries the readings to who has the token, and refuses who has not", async () => {
  expect(await outputOf("./channels/ticker.js")).toEqual([
    "127.0.0.1 43",
    "999",
    "transport-closed - before the hello: Unexpected server response: 401",
  ]);
});
