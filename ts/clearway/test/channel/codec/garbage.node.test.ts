// SPDX-License-Identifier: MIT OR Apache-2.0
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";

// On Node 20 a message takes 208 bytes of the heap, a list or a long text in it 115: the view that it is copied through.
// Node 24 takes up to a third more, and not the same in every run. The ceilings are twice of what was seen, which is room
// for other versions of V8; one object a value, or a copy of the bytes, would be far over them.
const bytesMax = 600;
const bytesMaxOfTen = 2500;
// A long list is copied by itself: its entry, and views of what stands before and behind it. 920 bytes, 1,030 on Node 24.
const bytesMaxOfLong = 2000;

test("encodeInto leaves no garbage that grows with the message, but a view a list and a long text", async () => {
  const child = fileURLToPath(new URL("garbage.child.mjs", import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, ["--no-opt", child]);
  const taken = JSON.parse(stdout) as Record<string, number>;
  expect(Object.keys(taken)).toHaveLength(6);
  for (const [name, bytes] of Object.entries(taken))
    expect
      .soft(bytes, name)
      .toBeLessThanOrEqual(
        name.startsWith("10 ") ? bytesMaxOfTen : name.startsWith("1 MB") ? bytesMaxOfLong : bytesMax,
      );
});
