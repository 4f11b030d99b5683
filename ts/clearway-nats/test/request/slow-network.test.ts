// SPDX-License-Identifier: MIT OR Apache-2.0
import type { Msg } from "@nats-io/transport-node";
import { describe, expect, test } from "vitest";
import { Op, subjectsOf } from "../../src/wire/protocol.js";
import { noServer } from "../server/nats-server.js";
import { startProxy } from "../server/proxy.js";
import { codec, newModule, oneServer, open, peer, serve, until } from "./ends.js";

const mebibyte = 2 ** 20;

// No sign of life crosses while the network stands still.
const silenceMs = Number.POSITIVE_INFINITY;

async function turns(): Promise<void> {
  for (let turn = 0; turn < 100; turn++) await new Promise((resolve) => setImmediate(resolve));
}

describe.skipIf(noServer)("a network that is slower than what is sent", () => {
  const nats = oneServer();

  test("holds back the values of a task's stream, whatever credit its reader has given", async () => {
    const module = newModule();
    const proxy = await startProxy(nats.server.port);
    const server = await serve({ servers: proxy.url, module, silenceMs });
    const pool = await open({ servers: nats.url, module, silenceMs });
    const window = { items: 100, bytes: 64 * mebibyte };
    // The next call knows that the task is a stream, so the credit crosses with it.
    await pool.call.large(1, 1).next();
    proxy.stallWriter();
    const read = async (): Promise<number> => {
      let bytes = 0;
      for await (const value of pool.with({ window }).call.large(60, 900_000)) bytes += (value as Uint8Array).length;
      return bytes;
    };
    const all = read();
    const sent = (): number => server.stats().request!.ledger.sentBytes;
    await until(() => sent() > 16 * mebibyte);
    await turns();
    expect(sent()).toBeLessThan(18 * mebibyte);
    proxy.resume();
    expect(await all).toBe(60 * 900_000);
  });

  test("holds back the values of a source, whatever credit a worker process has given", async () => {
    const module = newModule();
    const proxy = await startProxy(nats.server.port);
    const { connection } = await peer(nats.url);
    const { call, worker } = subjectsOf(module, "0");
    const calls: Msg[] = [];
    let received = 0;
    connection.subscribe(call, { callback: (_error, message) => void calls.push(message) });
    connection.subscribe(worker("w"), {
      callback: () => {
        received++;
      },
    });
    await connection.flush();
    const pool = await open({ servers: proxy.url, module, silenceMs });
    async function* chunks(): AsyncGenerator<Uint8Array> {
      for (let chunk = 0; chunk < 60; chunk++) yield new Uint8Array(900_000);
    }
    const sum = pool.call.bytesOf(chunks());
    await until(() => calls.length === 1);
    proxy.stallWriter();
    calls[0]!.respond(codec.encode([Op.credit, 0, 100, 64 * mebibyte]), { reply: worker("w") });
    const sent = (): number => pool.stats().ledger.sentBytes;
    await until(() => sent() > 16 * mebibyte);
    await turns();
    expect(sent()).toBeLessThan(18 * mebibyte);
    proxy.resume();
    await until(() => received === 61); // the values and their end
    calls[0]!.respond(codec.encode([Op.result, "received"]));
    expect(await sum).toBe("received");
  });

  test("makes a caller pay for the results that wait to be sent", async () => {
    const module = newModule();
    const proxy = await startProxy(nats.server.port);
    const limits = { bytesPerCallerMax: 8 * mebibyte };
    const server = await serve({ servers: proxy.url, module, limits, silenceMs });
    const pool = await open({ servers: nats.url, module, silenceMs });
    expect(await pool.call.add(1, 2)).toBe(3);
    proxy.stallWriter();
    const codes = Array.from({ length: 60 }, () =>
      pool.call.zeros(900_000).then(
        () => "ok",
        (reason: unknown) => (reason as { code: string }).code,
      ),
    );
    await until(() => server.stats().request!.open === 0 && server.stats().request!.calls === 61);
    expect(server.stats().request!.ledger.sentBytes).toBeLessThan(26 * mebibyte);
    expect(server.stats().request!.bytes).toBeGreaterThan(7 * mebibyte);
    proxy.resume();
    const outcomes = await Promise.all(codes);
    expect(new Set(outcomes)).toEqual(new Set(["ok", "queue-full"]));
    await until(() => server.stats().request!.bytes === 0);
    expect(await pool.call.zeros(900_000)).toHaveLength(900_000);
  });
});
