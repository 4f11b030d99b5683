// SPDX-License-Identifier: MIT OR Apache-2.0
import { describe, expect, test } from "vitest";
import { detach, prepareArguments } from "../../src/pool/arguments.js";
import { move } from "../../src/transfer/move.js";

describe("arguments of a call that has to wait", () => {
  test("lose what is moved at once", () => {
    const bytes = new Uint8Array(8).fill(1);
    const prepared = prepareArguments([move(bytes)], false);
    detach(prepared);
    expect(bytes.byteLength).toBe(0);
    expect(prepared.args).toEqual([new Uint8Array(8).fill(1)]);
  });

  test("copy the rest once: the copy moves when they leave, and the caller keeps what it had", () => {
    const kept = new Uint8Array(16).fill(2);
    const large = new Uint8Array(64).fill(3);
    const prepared = prepareArguments([move(new Uint8Array(8)), { kept }, large.subarray(4, 8)], false);
    detach(prepared);
    const posted = structuredClone(prepared.args, { transfer: prepared.transfer as Transferable[] });
    expect(posted.slice(1)).toEqual([{ kept }, new Uint8Array(4).fill(3)]);
    expect([kept.byteLength, large.byteLength]).toEqual([16, 64]);
    const [, copies, part] = prepared.args as [Uint8Array, { kept: Uint8Array }, Uint8Array];
    expect([copies.kept.byteLength, part.byteLength]).toEqual([0, 0]);
    expect(prepared.crossing).toMatchObject({
      movedBytes: 8,
      copies: { "argument-not-moved": { count: 2, bytes: 20 } },
    });
  });

  test("are left alone when nothing in them is moved", () => {
    const kept = new Uint8Array(16);
    const prepared = prepareArguments([kept], false);
    detach(prepared);
    expect(prepared.args[0]).toBe(kept);
    expect(prepared.transfer).toEqual([]);
  });

  test("stay one object where a moved and an unmoved argument share it", () => {
    const bytes = new Uint8Array(8);
    const prepared = prepareArguments([move(bytes), bytes], false);
    detach(prepared);
    expect(prepared.args[0]).toBe(prepared.args[1]);
    expect(prepared.transfer).toHaveLength(1);
  });
});
