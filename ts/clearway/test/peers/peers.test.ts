// SPDX-License-Identifier: MIT OR Apache-2.0
// What users of Comlink and workerpool rely on, and no other suite checks. docs/differences.md lists what differs.
import { move } from "clearway";
import { callback } from "clearway/callback";
import { describe, expect, test } from "vitest";
import { gate, plainPool, reasonOf } from "../fixtures/pools.js";

/** Sends a value on a port and returns the first answer. */
async function answerOn(port: MessagePort, value: unknown): Promise<unknown> {
  const heard = gate<unknown>();
  port.onmessage = ({ data }) => heard.tell(data);
  port.postMessage(value);
  const answer = await heard.promise;
  port.close();
  return answer;
}

describe("a task", () => {
  test("receives as many arguments as the caller passes", async () => {
    const { call } = plainPool();
    expect([
      await call.argumentCount(),
      await call.argumentCount(1),
      await call.argumentCount(1, undefined, 3),
    ]).toEqual([0, 1, 3]);
  });

  test("is called by a function that was taken out of the proxy", async () => {
    const { add } = plainPool().call;
    expect(await add(2, 2)).toBe(4);
  });
});

describe("a callback", () => {
  test("answers its own calls when another callback is an argument of the same call", async () => {
    const [a, b] = [callback(() => "a"), callback(() => "b")];
    expect(await plainPool().call.callBoth(a, b)).toBe("ab");
  });

  test("receives any number of arguments", async () => {
    const { call } = plainPool();
    const all = callback((...args: unknown[]) => args);
    for (const args of [[], [1], ["a", { b: [2] }, null]]) expect(await call.callWith(all, args)).toEqual(args);
  });
});

describe("a MessagePort as an argument", () => {
  test("moves under move(), and the worker answers on it", async () => {
    const { port1, port2 } = new MessageChannel();
    await plainPool().call.serve(move(port2));
    expect(await answerOn(port1, 4)).toBe(8);
  });

  test("fails the call without move()", async () => {
    const { port1, port2 } = new MessageChannel();
    expect(await reasonOf(plainPool().call.serve(port2))).toMatchObject({ code: "not-cloneable" });
    port1.close();
  });

  test("connects two workers", async () => {
    const { port1, port2 } = new MessageChannel();
    await plainPool().call.serve(move(port1));
    const forwarded = await plainPool().call.echo(move(port2));
    expect(await answerOn(forwarded as MessagePort, 11)).toBe(22);
  });
});

test("a call of a name that every object has fails with unknown-task", async () => {
  const call = plainPool().call as unknown as Record<string, () => Promise<unknown>>;
  for (const name of ["constructor", "hasOwnProperty", "__proto__", "isPrototypeOf"])
    expect(await reasonOf(call[name]!()), name).toMatchObject({ code: "unknown-task" });
});

test("progress reaches only the listener of its call, before the call's error", async () => {
  const pool = plainPool();
  const seen: unknown[][] = [[], []];
  const listening = (at: number) => pool.with({ onProgress: (value) => void seen[at]?.push(value) }).call;
  const failing = listening(1)
    .reportThenFail("b")
    .catch((error: Error) => seen[1]?.push(error.message));
  await Promise.all([listening(0).reportName("a", 1), failing, pool.call.reportName("nobody listens", 1)]);
  expect(seen).toEqual([["a"], ["b", "after"]]);
});
