// SPDX-License-Identifier: MIT OR Apache-2.0
// Calls the addon's functions with arguments that the package never passes. The process must survive.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { plugins } from "../../../scripts/native.mjs";
import { addon } from "../src/addon.js";
import { statuses } from "../src/error.js";
import { loadPlugin } from "../src/index.js";
import { field } from "../src/record.js";
import { codeOf, collect, open, probes, suite, told } from "./fixtures/probe.js";

type Wrong = (...given: unknown[]) => unknown;
const wrong = [
  undefined,
  null,
  0,
  -1,
  1.5,
  Number.NaN,
  2 ** 60,
  "text",
  {},
  [],
  Symbol("s"),
  new Uint8Array(3),
  () => 0,
];

/** The results that a function of the addon may have for wrong arguments. */
const answers = /^(invalid-argument|nothing thrown)$/;

suite("misuse", () => {
  test("every function refuses a wrong port, and refuses or survives wrong arguments", async () => {
    const native = addon() as unknown as Record<string, Wrong>;
    const scratch = () => [new Float64Array(4096), new Uint8Array(1 << 17)];
    const answerHeads = new Float64Array(4096);
    const port = native["open"]?.(probes.whole.path, ...scratch(), answerHeads, new Uint8Array(1 << 17), () => {});
    /** Makes a direct call. Returns whether it was answered or refused. The answer is null, or in the first answer record. */
    const answerOf = (...given: unknown[]): string => {
      const written = native["call"]?.(...given);
      if (written === undefined) return "answered";
      return answerHeads[field.status] === statuses.OK ? "answered" : "refused";
    };
    expect(typeof port).toBe("object");
    for (let at = 0; at < 4; at++) await collect(() => true); // the addon must keep the arrays that it writes to alive
    const echo = native["prepareLine"]?.(port, "echo") as number;
    for (const [name, call] of Object.entries(native)) {
      for (const value of wrong) {
        // These functions need no port: `features` has no argument, `open` takes a path, `adjust` ignores its port, `call` takes a line.
        if (!["features", "open", "adjust", "call"].includes(name))
          expect([name, value, await codeOf(() => call(value))]).toEqual([name, value, "invalid-argument"]);
        if (name === "close") continue;
        for (const given of [[value], [port, value], [port, value, value], [port, "echo", value, value, value]]) {
          expect([name, given, await codeOf(() => call(...given))]).toEqual([
            name,
            given,
            expect.stringMatching(answers),
          ]);
        }
      }
    }
    for (const value of wrong) {
      const bytes = value instanceof Uint8Array || value === undefined;
      expect([value, answerOf(echo, value)]).toEqual([value, bytes ? "answered" : "refused"]);
      expect(["attached", value, answerOf(echo, undefined, value)]).toEqual(["attached", value, "refused"]);
    }
    expect(native["drain"]?.(port)).toBeTypeOf("number");
    native["close"]?.(port);
  });

  test("open refuses scratch memory that is too small", async () => {
    const native = addon() as unknown as Record<string, Wrong>;
    expect(await codeOf(() => native["open"]?.(probes.whole.path, new Float64Array(1), new Uint8Array(1)))).toBe(
      "invalid-argument",
    );
  });

  test("one plugin's memory can be sent to another, and lent memory comes back from there as a copy", async () => {
    await using one = await open();
    await using two = await open();
    using memory = one.allocate(64);
    memory.bytes.fill(6);
    using same = two.channel("echo").call(memory);
    expect(same.bytes).toEqual(memory.bytes);
    same.bytes?.fill(7);
    expect(memory.bytes[0]).toBe(7);
    const lent = one.lend(new Uint8Array(64).fill(5));
    expect(two.channel("echo").call(lent).bytes).toBe(lent.bytes);
    const answer = await two.channel("pool/echo").send(lent);
    expect([answer.bytes, answer.memory?.kind]).toEqual([lent.bytes, "copied"]);
    answer.release();
    lent.release();
  });

  test("call and send refuse released memory and values that are not memory", async () => {
    await using plugin = await open();
    const memory = plugin.allocate(64);
    memory.release();
    for (const [given, code] of [
      [memory, "released"],
      ["text", "invalid-argument"],
      [{}, "invalid-argument"],
      [1, "invalid-argument"],
      [{ handle: 77 }, "invalid-argument"],
      [{ handle: 77, size: 1 }, "released"],
    ] as const) {
      expect(await codeOf(() => plugin.channel("echo").call(given as typeof memory))).toBe(code);
      expect(await codeOf(() => plugin.channel("pool/echo").send(given as typeof memory))).toBe(code);
      expect(await codeOf(() => plugin.channel("echo").call(null, [given as typeof memory]))).toBe(code);
    }
  });

  test("an attachment that is no memory is refused by its index, and stats().ledger stays a number", async () => {
    await using plugin = await open();
    const [good, gone] = [plugin.allocate(64), plugin.allocate(64)];
    gone.release();
    const before = plugin.stats().ledger.toNative.sharedBytes;
    for (const [wrong, code] of [
      [new Uint8Array(4), "invalid-argument"],
      [null, "invalid-argument"],
      [{ handle: 77 }, "invalid-argument"],
      [gone, "released"],
    ] as const) {
      const attachments = [good, wrong as typeof good];
      const calls = [
        () => plugin.channel("echo").call(null, attachments),
        () => plugin.channel("pool/echo").send(null, { attachments }),
      ];
      const message = expect.stringContaining(
        code === "released" ? "" : "attachments[1] must be a NativeMemory or a Lent",
      );
      for (const call of calls) await expect(async () => call()).rejects.toMatchObject({ code, message });
    }
    expect(plugin.stats().ledger.toNative.sharedBytes).toBe(before);
    good.release();
  });

  test.skipIf(!existsSync(plugins.c.misbehave))("a misbehaving plugin gets a status for each misdeed", async () => {
    await using plugin = await loadPlugin(plugins.c.misbehave);
    const { OK, INVALID_ARGUMENT, STALE, TOO_LARGE } = statuses;
    const said = {
      "garbage/length": [OK, INVALID_ARGUMENT, TOO_LARGE, INVALID_ARGUMENT, INVALID_ARGUMENT],
      "garbage/memory": [STALE, TOO_LARGE, OK, OK, STALE, STALE, STALE, STALE],
      "garbage/null": [INVALID_ARGUMENT, STALE, ...Array(4).fill(INVALID_ARGUMENT)],
    };
    for (const [name, expected] of Object.entries(said)) {
      const channel = plugin.channel(name);
      for (const { bytes } of [channel.call(), await channel.send()])
        expect([name, ...new Int32Array(bytes!.slice().buffer)]).toEqual([name, ...expected]);
    }
  });

  test.skipIf(!existsSync(plugins.c.misbehave))(
    "a misbehaving plugin's answers count once, and its caller gets one",
    async () => {
      await using plugin = await loadPlugin(plugins.c.misbehave);
      const status = plugin.channel("garbage/status");
      expect([await codeOf(() => status.call()), await codeOf(() => status.send())]).toEqual([
        "bad-answer",
        "bad-answer",
      ]);
      const twice = plugin.channel("reply/twice");
      for (const { bytes } of [twice.call(told(5)), await twice.send(told(5))]) expect(bytes).toEqual(told(5));
      expect(await codeOf(() => plugin.channel("reply/never").call())).toBe("not-direct");
      expect((await plugin.channel("reply/thread").send()).bytes).toBe(null);
      const events: string[] = [];
      for await (const event of plugin.channel("events/after-end").listen()) {
        events.push(new TextDecoder().decode(event.bytes ?? undefined));
        event.release();
      }
      expect(events).toEqual(["last"]);
      expect(plugin.stats()).toMatchObject({ leaked: 0, native: { held: 0 } });
    },
  );

  test("a missing library fails with load-failed", async () => {
    expect(await codeOf(() => loadPlugin(join(probes.whole.path, "..", "gone.so")))).toBe("load-failed");
  });
});

suite("leaks", () => {
  test("messages of each kind leave no memory behind", async () => {
    await using plugin = await open();
    const before = plugin.stats().native["slabsLive"] ?? 0;
    const [echo, make, pool] = ["echo", "make", "pool/echo"].map((name) => plugin.channel(name));
    const [small, large] = [told(1), new Uint8Array(5000)];
    const lent = plugin.lend(large);
    for (let at = 0; at < 100_000; at++) {
      echo?.call(small);
      echo?.call(lent);
    }
    for (let at = 0; at < 20_000; at++) make?.call(told(100)).release();
    for (let round = 0; round < 100; round++) {
      await Promise.all(Array.from({ length: 200 }, (_, at) => pool?.send(at % 2 === 0 ? small : large)));
    }
    lent.release();
    await lent.returned;
    expect(plugin.stats()).toMatchObject({ leaked: 0, native: { held: 0 } });
    expect(plugin.stats().native["slabsLive"]).toBeLessThanOrEqual(before);
  });
});
