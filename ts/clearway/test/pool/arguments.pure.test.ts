// SPDX-License-Identifier: MIT OR Apache-2.0
import { describe, expect, test } from "vitest";
import { detach, PoolCall, prepareArguments } from "../../src/pool/call/call.js";
import { callSettingsOf, settingsOf } from "../../src/pool/options.js";
import { PoolTask } from "../../src/pool/schedule/scheduler.js";
import { move } from "../../src/transfer/move.js";

const settings = callSettingsOf({}, settingsOf({ size: 1 }));

function prepared(args: unknown[]): PoolCall {
  const call = new PoolCall(1, new PoolTask("task"), args, settings, "");
  prepareArguments(call);
  return call;
}

describe("arguments of a call that must wait", () => {
  test("move at once when they are moved", () => {
    const bytes = new Uint8Array(8).fill(1);
    const call = prepared([move(bytes)]);
    detach(call);
    expect(bytes.byteLength).toBe(0);
    expect(call.args).toEqual([new Uint8Array(8).fill(1)]);
  });

  test("are otherwise copied once: the copy moves when they are sent, and the caller keeps the original", () => {
    const kept = new Uint8Array(16).fill(2);
    const large = new Uint8Array(64).fill(3);
    const call = prepared([move(new Uint8Array(8)), { kept }, large.subarray(4, 8)]);
    detach(call);
    const posted = structuredClone(call.args, { transfer: call.transfer as Transferable[] });
    expect(posted.slice(1)).toEqual([{ kept }, new Uint8Array(4).fill(3)]);
    expect([kept.byteLength, large.byteLength]).toEqual([16, 64]);
    const [, copies, part] = call.args as [Uint8Array, { kept: Uint8Array }, Uint8Array];
    expect([copies.kept.byteLength, part.byteLength]).toEqual([0, 0]);
    expect(call.crossing).toMatchObject({
      movedBytes: 8,
      copies: { "argument-not-moved": { count: 2, bytes: 20 } },
    });
  });

  test("stay as they are when none of them is moved", () => {
    const kept = new Uint8Array(16);
    const call = prepared([kept]);
    detach(call);
    expect(call.args[0]).toBe(kept);
    expect(call.transfer).toEqual([]);
  });

  test("stay one object when a moved and an unmoved argument share it", () => {
    const bytes = new Uint8Array(8);
    const call = prepared([move(bytes), bytes]);
    detach(call);
    expect(call.args[0]).toBe(call.args[1]);
    expect(call.transfer).toHaveLength(1);
  });
});
