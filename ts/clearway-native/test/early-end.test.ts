// SPDX-License-Identifier: MIT OR Apache-2.0
import { binaryCodec, connect, memoryPair } from "clearway/channel";
import { expect, test } from "vitest";
import { servePlugin } from "../src/channel.js";
import { codeOf, open, suite, told } from "./fixtures/probe.js";

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Resolves when the handler of "pool/hold" has begun with these bytes. */
async function begun(bytes: Uint8Array): Promise<void> {
  while (Atomics.load(bytes, 1) === 0) await turn();
}

suite("the caller's bytes", () => {
  test("belong to the caller again when an abort has rejected their call, whatever the handler still does", async () => {
    await using plugin = await open();
    const leaving = new AbortController();
    const bytes = new Uint8Array(8192).fill(1);
    void plugin.channel("serial/block").send(told(20));
    const sent = plugin.channel("serial/fill").send(bytes, { signal: leaving.signal });
    leaving.abort("left");
    await expect(sent).rejects.toBe("left");
    bytes.fill(7);
    // The serial queue answers this message after the handler of the aborted call has returned.
    await plugin.channel("serial/echo").send(told(1));
    expect(bytes).toEqual(new Uint8Array(8192).fill(7));
  });

  test("can be moved away at once after an abort, and the handler keeps what was sent", async () => {
    await using plugin = await open();
    using _ = plugin.handle("probe/asked", (message) => {
      asked = message.bytes?.slice();
      return null;
    });
    let asked: Uint8Array | undefined;
    const leaving = new AbortController();
    const bytes = new Uint8Array(8192).fill(1);
    void plugin.channel("serial/block").send(told(20));
    const sent = plugin.channel("serial/ask").send(bytes, { signal: leaving.signal });
    leaving.abort("left");
    await expect(sent).rejects.toBe("left");
    structuredClone(bytes, { transfer: [bytes.buffer] });
    await plugin.channel("serial/echo").send(told(1));
    while (asked === undefined) await turn();
    expect(asked).toEqual(new Uint8Array(8192).fill(1));
  });

  test("are copied for a call with a signal, with the reason in the ledger, and lent for a call without one", async () => {
    await using plugin = await open();
    const bytes = new Uint8Array(4096).fill(1);
    const echo = plugin.channel("pool/echo");
    const { signal } = new AbortController();
    expect((await echo.send(bytes, { signal })).bytes).toEqual(bytes);
    expect(plugin.stats().ledger.toNative.copies).toEqual({ "may-outlive": { count: 1, bytes: 4096 } });
    expect((await echo.send(bytes)).bytes).toBe(bytes);
    expect((await echo.send(new Uint8Array(4095), { signal })).bytes).toHaveLength(4095);
    expect(plugin.stats().ledger.toNative.copies).toEqual({
      "may-outlive": { count: 1, bytes: 4096 },
      small: { count: 1, bytes: 4095 },
    });
  });

  test("are not copied for a call with a signal when the caller lends them itself and waits for their return", async () => {
    await using plugin = await open();
    const leaving = new AbortController();
    const bytes = new Uint8Array(8192);
    const lent = plugin.lend(bytes);
    const sent = plugin.channel("pool/hold").send(lent, { signal: leaving.signal });
    await begun(bytes);
    leaving.abort("left");
    await expect(sent).rejects.toBe("left");
    lent.release();
    let returned = false;
    void lent.returned.then(() => {
      returned = true;
    });
    await plugin.channel("pool/echo").send(told(1));
    expect([returned, plugin.stats().lent]).toEqual([false, 1]);
    Atomics.store(bytes, 0, 1);
    await lent.returned;
    expect(Array.from(bytes.subarray(0, 3))).toEqual([1, 1, 1]);
    expect(plugin.stats()).toMatchObject({ lent: 0, ledger: { toNative: { copiedBytes: 4 } } });
  });

  test("stay with a handler that runs while the plugin closes: the call rejects after it has returned", async () => {
    const plugin = await open();
    const bytes = new Uint8Array(8192);
    bytes[3] = 1; // The handler does not answer, so only the close does.
    const never = plugin.channel("never");
    const before = codeOf(() => never.send());
    const sent = codeOf(() => plugin.channel("pool/hold").send(bytes));
    const after = codeOf(() => never.send());
    let over = false;
    void sent.then(() => {
      over = true;
    });
    await begun(bytes);
    const closing = plugin.close();
    // One second after `close`, the core answers the open calls one after another, in any order.
    expect(await Promise.all([before, after])).toEqual(["closed", "closed"]);
    await turn();
    expect([over, plugin.stats().lent]).toEqual([false, 1]);
    Atomics.store(bytes, 0, 1);
    expect(await sent).toBe("closed");
    expect(bytes[2]).toBe(1);
    await closing;
    expect(plugin.stats().lent).toBe(0);
  });

  test("are copied when they are the arguments of a stream, because nothing says when the source has read them", async () => {
    await using plugin = await open();
    const padded = new Uint8Array(8192);
    padded.set(told(3, 16, 0));
    const events = plugin.channel("ticks").listen({ arguments: padded });
    padded.fill(255);
    let count = 0;
    for await (const _event of events) count++;
    expect(count).toBe(3);
    expect(plugin.stats().ledger.toNative.copies).toEqual({ "may-outlive": { count: 1, bytes: 8192 } });
  });

  test("that came by an endpoint are lent, although every served call has a signal", async () => {
    await using plugin = await open();
    const [a, b] = memoryPair();
    const [here, there] = await Promise.all([connect(a), connect(b)]);
    await using _here = here;
    servePlugin(plugin, there, { messages: ["pool/echo"] });
    expect(await here.messages("pool/echo", binaryCodec).send(new Uint8Array(100_000))).toHaveLength(100_000);
    expect(plugin.stats().ledger.toNative).toMatchObject({ sharedBytes: 100_000, copiedBytes: 0 });
  });
});
