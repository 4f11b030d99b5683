// SPDX-License-Identifier: MIT OR Apache-2.0
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";

// Measured on Node 20: a message allocates 208 bytes of heap, and each list or long text in it 115 more, for the view it is copied through.
// Node 24 allocates up to a third more, and its figures vary between runs. The ceilings are about twice the measured figures, to leave
// room for other versions of V8. One object per value, or a copy of the bytes, would exceed them by far.
const bytesMax = 600;
const bytesMaxOfTen = 2500;
// A long list is copied separately: its entry, and views of the bytes before and after it. 920 bytes on Node 20, 1,030 on Node 24.
const bytesMaxOfLong = 2000;

test("encodeInto allocates a constant amount per message, plus one view per list or long text", async () => {
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
