// SPDX-License-Identifier: MIT OR Apache-2.0
import { connect, type Msg } from "@nats-io/transport-node";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { connected } from "../../src/options/connect.js";
import { callSettingsOf, requestSettingsOf } from "../../src/options/pool.js";
import { Caller } from "../../src/request/caller.js";
import { gatherMs } from "../../src/request/members.js";
import { Op, protocolVersion, subjectsOf } from "../../src/wire/protocol.js";
import { ManualClock } from "../fixtures/clocks.js";
import { FakeConnection } from "../fixtures/fake-connection.js";
import { noServer } from "../server/nats-server.js";
import { startProxy } from "../server/proxy.js";
import { codec, newModule, oneServer, open, pair, serve, until } from "./ends.js";

const second = 1_000;

describe.skipIf(noServer)("a sign of life", () => {
  const nats = oneServer();

  test("a call whose worker gives no sign of life fails with worker-lost after silenceMs", async () => {
    const module = newModule();
    const clock = new ManualClock();
    const silent = await connect({ servers: nats.url });
    onTestFinished(() => silent.close());
    let received = 0;
    silent.subscribe(subjectsOf(module, "0").call, {
      callback: () => {
        received++;
      },
    });
    await silent.flush();
    const pool = await open({ servers: nats.url, module, silenceMs: 3_000 }, clock);
    const call = pool.call.add(1, 2);
    const failed = expect(call).rejects.toMatchObject({ code: "worker-lost" });
    await until(() => received === 1);
    clock.advance(3 * second);
    expect(pool.stats().open).toBe(1);
    clock.advance(second);
    await failed;
    expect(pool.stats().open).toBe(0);
  });

  test("a call that runs for longer than silenceMs goes on while its worker gives signs of life", async () => {
    const module = newModule();
    const [callers, workers] = [new ManualClock(), new ManualClock()];
    const server = await serve({ servers: nats.url, module }, workers);
    const pool = await open({ servers: nats.url, module, silenceMs: 3_000 }, callers);
    const controller = new AbortController();
    const call = pool.with({ signal: controller.signal }).call.untilCancelled();
    const failed = expect(call).rejects.toBe("end");
    await until(() => server.stats().request!.open === 1);
    workers.advance(second); // the first tick only notes that the call is there
    for (let each = 0; each < 10; each++) {
      const before = pool.stats().ledger.receivedBytes;
      workers.advance(second);
      await until(() => pool.stats().ledger.receivedBytes > before);
      callers.advance(2 * second);
      expect(pool.stats().open).toBe(1);
    }
    controller.abort("end");
    await failed;
  });

  test("a worker process cancels the calls of a caller that gives no sign of life", async () => {
    const module = newModule();
    const clock = new ManualClock();
    const server = await serve({ servers: nats.url, module, silenceMs: 3_000 }, clock);
    const caller = await connect({ servers: nats.url });
    const pool = await open({ connection: caller, module }, new ManualClock());
    // A call without options can be stopped after an earlier one has shown that its task is long.
    const controller = new AbortController();
    const first = expect(pool.with({ signal: controller.signal }).call.untilCancelled()).rejects.toBe("enough");
    await until(() => server.stats().request!.open === 1);
    clock.advance(2 * second);
    controller.abort("enough");
    await first;
    await until(() => server.stats().request!.open === 0);
    const lost = expect(pool.call.untilCancelled()).rejects.toMatchObject({ code: "transport-closed" });
    await until(() => server.stats().request!.open === 1);
    await caller.close();
    await lost;
    for (let each = 0; each < 3; each++) clock.advance(second);
    expect(server.stats().request!.open).toBe(1);
    clock.advance(2 * second);
    expect(server.stats().request).toMatchObject({ open: 0, abandoned: 1 });
    await until(() => server.stats().request!.bytes === 0);
    const other = await open({ servers: nats.url, module });
    expect(await other.call.add(1, 2)).toBe(3);
  });

  test("a worker process keeps the calls of a caller that answers its signs of life", async () => {
    const module = newModule();
    const clock = new ManualClock();
    const server = await serve({ servers: nats.url, module, silenceMs: 3_000 }, clock);
    const pool = await open({ servers: nats.url, module });
    const call = pool.call.untilCancelled();
    const ended = expect(call).rejects.toMatchObject({ code: "pool-terminated" });
    await until(() => server.stats().request!.open === 1);
    clock.advance(second);
    for (let each = 0; each < 8; each++) {
      const before = server.stats().request!.ledger.receivedBytes;
      clock.advance(second);
      await until(() => server.stats().request!.ledger.receivedBytes > before);
    }
    expect(server.stats().request!.open).toBe(1);
    await pool.terminate();
    await ended;
  });

  test("a call fails when its connection is cut, and the next one succeeds when it is back", async () => {
    const module = newModule();
    const clock = new ManualClock();
    await serve({ servers: nats.url, module });
    const proxy = await startProxy(nats.server.port);
    const pool = await open({ servers: proxy.url, module, silenceMs: 3_000, nats: { reconnectTimeWait: 20 } }, clock);
    expect(await pool.call.add(1, 1)).toBe(2);
    const cutOff = expect(pool.call.untilCancelled()).rejects.toMatchObject({ code: "worker-lost" });
    proxy.cut();
    await until(() => proxy.accepted > 1);
    // A call that was made while the connection is cut is held back, and is not sent after it has failed.
    const held = expect(pool.call.echo("never")).rejects.toMatchObject({ code: "transport-closed" });
    clock.advance(4 * second);
    await cutOff;
    await held;
    const waits = pool.call.add(2, 2);
    proxy.mend();
    expect(await waits).toBe(4);
  });

  test("a call that was held back has the whole silenceMs from the moment at which it is sent", async () => {
    const module = newModule();
    const clock = new ManualClock();
    const server = await serve({ servers: nats.url, module }, new ManualClock());
    const proxy = await startProxy(nats.server.port);
    const pool = await open({ servers: proxy.url, module, silenceMs: 3_000, nats: { reconnectTimeWait: 20 } }, clock);
    expect(await pool.call.add(1, 1)).toBe(2);
    proxy.cut();
    await until(() => proxy.accepted > 1);
    const controller = new AbortController();
    const held = pool.with({ signal: controller.signal }).call.untilCancelled();
    const ended = expect(held).rejects.toBe("end");
    clock.advance(3 * second);
    proxy.mend();
    await until(() => server.stats().request!.open === 1);
    clock.advance(3 * second);
    expect(pool.stats().open).toBe(1);
    controller.abort("end");
    await ended;
  });

  test("a call fails with worker-lost at once when its worker is gone and the caller sends it something", async () => {
    const { pool, server } = await pair(nats.url);
    const stream = pool.with({ window: { items: 2 } }).call.count(1_000_000);
    await stream.next();
    await server.close({ timeoutMs: 0 });
    const rest = async (): Promise<void> => {
      for await (const _ of stream);
    };
    await expect(rest()).rejects.toMatchObject({ code: expect.stringMatching(/^(worker-lost|pool-closed)$/) });
  });

  test("a stream that the app forgets ends its task", async () => {
    if (globalThis.gc === undefined) return;
    const { pool, server } = await pair(nats.url);
    await pool.call.count(1).next();
    const forget = async (): Promise<void> => {
      await pool
        .with({ window: { items: 2 } })
        .call.count(1_000_000)
        .next();
    };
    await forget();
    await until(() => {
      globalThis.gc!();
      return server.stats().request!.open === 0;
    });
  });

  test.each([
    ["runs", 1_000, false],
    ["has ended", 2, false],
    ["was cancelled", 1_000, true],
  ])("a forgotten stream that %s gives back the memory of its unread values", async (_what, values, cancelled) => {
    if (globalThis.gc === undefined) return;
    const { pool, module } = await pair(nats.url);
    await pool.call.count(1).next();
    const settings = requestSettingsOf({ servers: nats.url, module });
    const made = await connected(settings);
    const caller = new Caller(made, settings, codec, new ManualClock());
    onTestFinished(() => caller.terminate());
    let charged = 0;
    const { take, give } = caller.charge;
    vi.spyOn(caller.charge, "take").mockImplementation((bytes) => {
      take(bytes);
      charged += bytes;
    });
    vi.spyOn(caller.charge, "give").mockImplementation((bytes) => {
      give(bytes);
      charged -= bytes;
    });
    const controller = new AbortController();
    const options = callSettingsOf({ signal: controller.signal, window: { items: 2 } }, settings);
    const forget = async (): Promise<void> => {
      const stream = caller.submit("count", [values], options) as AsyncIterator<unknown>;
      await stream.next();
      await until(() => charged > 0 && (values > 2 || caller.openCount === 0));
      if (cancelled) controller.abort();
    };
    await forget();
    expect(charged).toBeGreaterThan(0);
    await until(() => {
      globalThis.gc!();
      return charged === 0;
    });
  });
});

test("a call with a key that is made while the connection is interrupted waits for it, as one without a key does", async () => {
  const fake = new FakeConnection();
  const clock = new ManualClock();
  const settings = requestSettingsOf({ servers: "nats://localhost", module: "sample" });
  const caller = new Caller({ connection: fake.nats, own: false, inboxPrefix: undefined }, settings, codec, clock);
  const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  await fake.report("disconnect");
  const outcomes: unknown[] = [];
  for (const key of ["k", undefined]) {
    const call = caller.submit("add", [1, 2], callSettingsOf({ ...(key && { key }) }, settings)) as Promise<unknown>;
    call.catch((reason) => outcomes.push(reason.code));
  }
  for (let at = 0; at < 4; at++) {
    clock.advance(gatherMs);
    await turn();
  }
  expect([outcomes, caller.openCount]).toEqual([[], 2]);
  fake.take();
  await fake.report("reconnect");
  const worker = "abcdefghijklmnopqrstuv";
  caller.members.announced({
    data: codec.encode([Op.worker, worker, settings.version, protocolVersion]),
  } as unknown as Msg);
  clock.advance(gatherMs);
  await turn();
  const { call, worker: subjectOf } = subjectsOf("sample", settings.version);
  const sent = fake.take().map(({ subject }) => subject);
  expect(sent).toEqual(expect.arrayContaining([call, subjectOf(worker)]));
  // A call that is not sent within silenceMs fails, also if it has a key.
  await fake.report("disconnect");
  caller.members.remove(worker);
  const late = caller.submit("add", [1, 2], callSettingsOf({ key: "k" }, settings)) as Promise<unknown>;
  late.catch((reason) => outcomes.push(reason.code));
  await turn();
  clock.advance(settings.silenceMs + 2 * second);
  await turn();
  expect(outcomes).toContain("transport-closed");
});
