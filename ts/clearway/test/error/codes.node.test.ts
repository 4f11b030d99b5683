// SPDX-License-Identifier: MIT OR Apache-2.0
import { readFileSync } from "node:fs";
import { channelErrorCodes, codecErrorCodes } from "clearway/channel";
import { remoteErrorCodes } from "clearway/remote";
import { expect, test } from "vitest";
import { errorCodes } from "../../src/error/clearway-error.js";

const whole = readFileSync(new URL("../../../../spec/errors.md", import.meta.url), "utf8");
const page = whole.slice(0, whole.indexOf("## Native plugins")); // the rest is another package's: ts/clearway-native/test/codes.test.ts
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
