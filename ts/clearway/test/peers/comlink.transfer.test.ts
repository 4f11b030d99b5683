// SPDX-License-Identifier: MIT OR Apache-2.0
import { move } from "clearway";
import { expect } from "vitest";
import { gate } from "../fixtures/pools.js";
import { behaviours, outcomes, peerPool } from "./behaviours.js";

/** Sends a value on a port and returns the first answer. */
async function answerOn(port: MessagePort, value: unknown): Promise<unknown> {
  const heard = gate<unknown>();
  port.onmessage = ({ data }) => heard.tell(data);
  port.postMessage(value);
  const answer = await heard.promise;
  port.close();
  return answer;
}

behaviours("a buffer", {
  "leaves the caller under move()": async () => {
    const buffer = new Uint8Array([1, 2, 3]).buffer;
    expect(await peerPool().call.length(move(buffer))).toBe(3);
    expect(buffer.byteLength).toBe(0);
  },
  "stays with the caller without the mark": async () => {
    const buffer = new Uint8Array([1, 2, 3]).buffer;
    expect(await peerPool().call.length(buffer)).toBe(3);
    expect(buffer.byteLength).toBe(3);
  },
  "inside an object leaves the caller if it is listed": async () => {
    const bytes = new Uint8Array(10);
    expect(await peerPool().call.echo(move({ inner: bytes }, [bytes.buffer]))).toEqual({ inner: new Uint8Array(10) });
    expect(bytes.byteLength).toBe(0);
  },
  "inside an object leaves the caller without a list, too": async () => {
    const bytes = new Uint8Array(10);
    await peerPool().call.echo(move({ inner: [bytes] }));
    expect(bytes.byteLength).toBe(0);
  },
  "of a result reaches the caller with its contents": async () =>
    expect(await peerPool().call.bytes(9)).toEqual(new Uint8Array(9).fill(9)),
  "that was moved before fails the call": async () => {
    const { call } = peerPool();
    const bytes = new Uint8Array(10);
    await call.length(move(bytes));
    expect(await outcomes([call.length(move(bytes))])).toEqual(["not-cloneable"]);
  },
  "may move there and back many times": async () => {
    const { call, stats } = peerPool();
    let bytes = new Uint8Array(1000);
    for (let at = 0; at < 10; at++) bytes = (await call.echo(move(bytes))) as Uint8Array<ArrayBuffer>;
    expect(bytes).toHaveLength(1000);
    expect(stats().ledger.toWorkers).toMatchObject({ movedBytes: 10_000, copiedBytes: 0 });
  },
});

behaviours("a MessagePort", {
  "moves to the worker, which answers on it": async () => {
    const { port1, port2 } = new MessageChannel();
    await peerPool().call.serve(move(port2));
    expect(await answerOn(port1, 4)).toBe(8);
  },
  "moves to the caller, who speaks with the worker on it": async () => {
    const pool = peerPool();
    const port = (await pool.call.channel()) as unknown as MessagePort;
    expect(await answerOn(port, "hello")).toBe("hello!");
  },
  "without the mark fails the call": async () => {
    const { port1, port2 } = new MessageChannel();
    expect(await outcomes([peerPool().call.serve(port2)])).toEqual(["not-cloneable"]);
    port1.close();
  },
  "connects two workers": async () => {
    const { port1, port2 } = new MessageChannel();
    const [one, two] = [peerPool(), peerPool()];
    await one.call.serve(move(port1));
    const forwarded = await two.call.echo(move(port2));
    expect(await answerOn(forwarded as unknown as MessagePort, 11)).toBe(22);
  },
});

behaviours("a sequence", {
  "that a generator of the worker gives is read value by value": async () => {
    const seen: string[] = [];
    for await (const letter of peerPool().call.letters("abc")) seen.push(letter);
    expect(seen).toEqual(["a", "b", "c"]);
  },
  "may be left early": async () => {
    const pool = peerPool();
    for await (const letter of pool.call.letters("abc")) {
      expect(letter).toBe("a");
      break;
    }
    expect(await pool.call.add(1, 1)).toBe(2);
  },
});
