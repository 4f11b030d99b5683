// SPDX-License-Identifier: MIT OR Apache-2.0
import { readFileSync } from "node:fs";
import { channelErrorCodes, codecErrorCodes } from "clearway/channel";
import { remoteErrorCodes } from "clearway/remote";
import { describe, expect, test } from "vitest";
import { errorCodes } from "../../src/error/clearway-error.js";
import { decodeError, encodeError } from "../../src/error/wire.js";

const whole = readFileSync(new URL("../../../../spec/errors.md", import.meta.url), "utf8");
const page = whole.slice(0, whole.indexOf("## Native plugins")); // the rest is another package's: ts/clearway-native/test/header.test.ts
const rows = [...page.matchAll(/^\| `([a-z0-9-]+)` \| (.+?) \| (.+?) \|$/gm)].map(([, code, meaning, then]) => ({
  code,
  meaning,
  then,
}));

// A code's meaning is a doc comment in the source: as strings, meanings would be a tenth of a page's download.
const source = readFileSync(new URL("../../src/error/clearway-error.ts", import.meta.url), "utf8");
const meanings = [...source.matchAll(/^ {2}\/\*\* (.+) \*\/\n {2}"([a-z0-9-]+)",$/gm)].map(([, meaning, code]) => [
  code,
  meaning,
]);

test("spec/errors.md lists every error code in order, with the meaning in the source and a remedy", () => {
  expect(rows.map(({ code }) => code)).toEqual([
    ...errorCodes,
    ...codecErrorCodes,
    ...channelErrorCodes,
    ...remoteErrorCodes,
  ]);
  const inPage = rows.map(({ code, meaning }) => [code, meaning]);
  expect(Object.fromEntries(inPage)).toEqual(Object.fromEntries(meanings));
  for (const { then } of rows) expect(then!.length).toBeGreaterThan(10);
});

// The stack of an encoded error, where the library is not in the app's bundle.
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
