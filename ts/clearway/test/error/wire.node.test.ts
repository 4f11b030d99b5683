// SPDX-License-Identifier: MIT OR Apache-2.0
// The stack of an encoded error, where the library is not in the app's bundle.
import { describe, expect, test } from "vitest";
import { decodeError, encodeError } from "../../src/error/wire.js";

describe("the stack of an error that crosses", () => {
  test("has no frames of the library below those of the app", () => {
    const own = "    at Runner.pump (file:///app/node_modules/clearway/dist/node/worker.mjs:507:121)";
    const node = "    at MessagePort.exports.emitMessage (node:internal/per_context/messageport:23:28)";
    const app = ["Error: m", "    at task (file:///app/work.js:1:1)", "    at node:internal/timers:1:1"].join("\n");
    const stackOf = (stack: string) =>
      (decodeError(encodeError(Object.assign(new Error("m"), { stack }))) as Error).stack;
    expect(stackOf([app, own, own, node].join("\n"))).toBe(app);
    expect(stackOf([app, own, app].join("\n"))).toBe([app, own, app].join("\n"));
    for (const stack of [app, ["Error: m", own, node].join("\n"), "", own]) expect(stackOf(stack)).toBe(stack);
  });
});
