// SPDX-License-Identifier: MIT OR Apache-2.0
import { describe, expect, test } from "vitest";
import { decodeReply, encodeCall, encodeResult, fields } from "../../src/wire/call.js";
import { Op, protocolVersion, subjectsOf } from "../../src/wire/protocol.js";
import fc from "../fixtures/fast-check.js";
import { noServer } from "../server/nats-server.js";
import { codec, newModule, oneServer, open, pair, peer, until } from "./ends.js";

describe.skipIf(noServer)("a hostile caller", () => {
  const nats = oneServer();

  test("a worker process answers a malformed call with a typed error, and goes on", async () => {
    const { pool, module } = await pair(nats.url);
    const stranger = await peer(nats.url);
    const { call } = subjectsOf(module, "0");
    const bad: Uint8Array[] = [
      new Uint8Array(),
      new Uint8Array([12, 255, 255, 255, 255, 255]),
      new Uint8Array([200]),
      codec.encode("text"),
      codec.encode([]),
      codec.encode([Op.call]),
      codec.encode([Op.call, "add", "no list"]),
      codec.encode([Op.call, "add", [1, 2], "no list"]),
      codec.encode([Op.call, "add", [1, 2], [-1]]),
      codec.encode([Op.call, "add", [1, 2], [null, null, null, Number.NaN]]),
      codec.encode([Op.call, "add", [1, 2], [null, null, null, null, null, null, [7]]]),
      codec.encode([Op.call, "sum", [1, 2], [null, null, null, null, null, null, [1, 0]]]),
      codec.encode([Op.call, "count", [3]]),
      codec.encode([Op.call, "", []]),
      codec.encode([Op.call, "__proto__", []]),
      codec.encode([Op.call, "then", []]),
      codec.encode([Op.part, new Uint8Array(10)]),
      codec.encode([Op.large, -1]),
      codec.encode([Op.large, Number.MAX_SAFE_INTEGER]),
      codec.encode([Op.large, 1e300]),
      codec.encode([Op.more, 10]),
      codec.encode([Op.result, 1]),
      codec.encode([99]),
    ];
    for (const [at, bytes] of bad.entries()) {
      stranger.send(call, bytes, `t${at}`);
      for (;;) {
        const message = fields(codec, (await stranger.next(`t${at}`)).data, false);
        if (message[0] === Op.accepted) continue; // the stream is known before its caller is
        expect(message[0], `message ${at}`).toBe(Op.failure);
        break;
      }
    }
    expect(await pool.call.add(1, 2)).toBe(3);
  });

  test("random bytes to every subject of a worker process change nothing for others", async () => {
    const { pool, server, module } = await pair(nats.url);
    const stranger = await peer(nats.url);
    const subjects = subjectsOf(module, "0");
    const targets = [subjects.call, subjects.cancel, subjects.members, subjects.who];
    targets.push(subjects.worker(server.stats().workerId));
    const ops = fc.integer({ min: 0, max: 25 });
    const anything = fc.anything({ withBigInt: true, withNullPrototype: false, maxDepth: 2 });
    const structured = fc.tuple(ops, fc.array(anything, { maxLength: 4 })).map(([op, rest]) => {
      try {
        return codec.encode([op, ...rest]);
      } catch {
        return codec.encode([op]);
      }
    });
    const bytes = fc.oneof(fc.uint8Array({ maxLength: 64 }), structured);
    const one = fc.record({ target: fc.nat({ max: targets.length - 1 }), bytes, token: fc.option(fc.nat({ max: 5 })) });
    let sent = 0;
    for (const { target, bytes: data, token } of fc.sample(one, 2_000)) {
      stranger.send(targets[target]!, data, token === null ? undefined : `${token}`);
      if (++sent % 100 === 0) expect(await pool.call.add(sent, 1)).toBe(sent + 1);
    }
    await stranger.connection.flush();
    expect(await pool.call.add(1, 2)).toBe(3);
    const stats = server.stats().request!;
    expect(stats.dropped.unanswerable + stats.dropped.malformed + stats.dropped.forNobody).toBeGreaterThan(0);
  });

  test("a worker process does not answer to a subject that it or NATS reads itself", async () => {
    const { pool, server, module } = await pair(nats.url);
    const stranger = await peer(nats.url);
    const subjects = subjectsOf(module, "0");
    const call = encodeCall(codec, { task: "add", args: [1, 2], options: undefined });
    for (const reply of [subjects.call, subjects.who, "$SYS.REQ.SERVER.PING", "$JS.API.INFO"])
      stranger.connection.publish(subjects.call, call, { reply });
    stranger.connection.publish(subjects.call, call);
    await stranger.connection.flush();
    expect(await pool.call.add(1, 2)).toBe(3);
    expect(server.stats().request).toMatchObject({ calls: 1, dropped: { unanswerable: 5 } });
  });

  test("announced sizes are charged to their caller before anything is allocated", async () => {
    const limits = { messageBytesMax: 1_000_000, bytesPerCallerMax: 2_500_000 };
    const { pool, server, module } = await pair(nats.url, { limits });
    const stranger = await peer(nats.url);
    const { call } = subjectsOf(module, "0");
    for (const token of ["a", "b", "c"]) stranger.send(call, codec.encode([Op.large, 1_000_000]), token);
    expect(await stranger.failure("c")).toMatchObject({ code: "queue-full" });
    stranger.send(call, codec.encode([Op.large, 1_000_001]), "d");
    expect(await stranger.failure("d")).toMatchObject({ code: "too-large" });
    expect(server.stats().request).toMatchObject({ open: 2, bytes: 2_000_000 });
    expect(await pool.call.add(1, 2)).toBe(3);
    const worker = (await stranger.next("a")).reply!;
    stranger.send(worker, codec.encode([Op.cancel, "cancelled"]), "a");
    expect(await stranger.failure("a")).toMatchObject({ code: "cancelled" });
    expect(server.stats().request!.bytes).toBe(1_000_000);
  });

  test("a part beyond its credit fails its call", async () => {
    const { server, module } = await pair(nats.url);
    const stranger = await peer(nats.url);
    const subjects = subjectsOf(module, "0");
    stranger.send(subjects.call, codec.encode([Op.large, 10_000_000]), "a");
    const worker = (await stranger.next("a")).reply!;
    expect(worker).toBe(subjects.worker(server.stats().workerId));
    for (const bytes of [300_000, 900_000]) stranger.send(worker, codec.encode([Op.part, new Uint8Array(bytes)]), "a");
    await until(async () => {
      const message = fields(codec, (await stranger.next("a")).data, false);
      if (message[0] !== Op.failure) return false;
      expect(decodeReply(codec, codec.encode(message))).toMatchObject({ ok: false, error: { code: "protocol" } });
      return true;
    });
    expect(server.stats().request).toMatchObject({ open: 0, bytes: 0 });
  });

  test("values of a stream beyond their credit fail the call", async () => {
    const { server, module } = await pair(nats.url);
    const stranger = await peer(nats.url);
    const { call } = subjectsOf(module, "0");
    const options = { inputs: [0] };
    stranger.send(call, encodeCall(codec, { task: "sum", args: [null], options }), "a");
    const { reply } = await stranger.next("a");
    const values = Array.from({ length: 300 }, () => 1);
    stranger.send(reply!, codec.encode([Op.items, 0, values]), "a");
    expect(await stranger.failure("a")).toMatchObject({ code: "protocol" });
    await until(() => server.stats().request!.open === 0);
    expect(server.stats().request!.bytes).toBe(0);
  });

  test("endless credit does not make a worker process send without end", async () => {
    const { pool, server, module } = await pair(nats.url);
    const stranger = await peer(nats.url);
    const window = { items: Number.MAX_SAFE_INTEGER, bytes: Number.POSITIVE_INFINITY };
    const { call } = subjectsOf(module, "0");
    stranger.send(call, encodeCall(codec, { task: "count", args: [1e9], options: { window } }), "a");
    const { reply } = await stranger.next("a");
    await until(() => stranger.received.length > 50);
    stranger.send(reply!, codec.encode([Op.cancel, "cancelled"]), "a");
    await until(() => server.stats().request!.open === 0);
    expect(await pool.call.add(1, 2)).toBe(3);
  });

  test("a second call with the subject of an open one is dropped", async () => {
    const { server, module } = await pair(nats.url);
    const stranger = await peer(nats.url);
    const { call } = subjectsOf(module, "0");
    const body = encodeCall(codec, { task: "untilCancelled", args: [], options: {} });
    stranger.send(call, body, "a");
    stranger.send(call, body, "a");
    await stranger.connection.flush();
    await until(() => server.stats().request!.dropped.malformed === 1);
    expect(server.stats().request!.open).toBe(1);
  });
});

describe.skipIf(noServer)("a hostile worker", () => {
  const nats = oneServer();

  /** A worker that answers the first call of a pool with these messages. */
  async function answersWith(...messages: (unknown[] | Uint8Array)[]): Promise<Awaited<ReturnType<typeof open>>> {
    const module = newModule();
    const subjects = subjectsOf(module, "0");
    const worker = await peer(nats.url);
    const reply = subjects.worker("evil");
    worker.connection.subscribe(subjects.call, {
      callback: (_error, call) => {
        for (const each of messages) call.respond(each instanceof Uint8Array ? each : codec.encode(each), { reply });
      },
    });
    worker.connection.subscribe(reply, { callback: () => {} });
    await worker.connection.flush();
    return open({ servers: nats.url, module, limits: { messageBytesMax: 1_000_000 } });
  }

  test.each<[string, (unknown[] | Uint8Array)[]]>([
    ["bytes that are no message", [new Uint8Array([1, 2, 3])]],
    ["an unknown op", [[99]]],
    ["a result with too many fields", [[Op.result, 1, 2]]],
    ["an error without its form", [[Op.failure, { base: 1 }]]],
    ["values without credit", [[Op.items, -1, Array.from({ length: 1_000 }, () => 1)]]],
    ["values that are no list", [[Op.items, -1, "text"]]],
    ["credit for a stream that does not exist", [[Op.credit, 0, 1, 1]]],
    ["progress without a listener", [[Op.progress, [1]]]],
    ["a part of no message", [[Op.part, new Uint8Array(5)]]],
    ["credit that is no amount", [[Op.more, "much"]]],
    [
      "a large message within another one",
      [
        [Op.large, 500_000],
        [Op.large, 500_000],
      ],
    ],
    ["a size that is none", [[Op.large, 0.5]]],
  ])("%s fails the call with a typed error", async (_name, messages) => {
    const pool = await answersWith(...messages);
    const code = expect.stringMatching(/^(protocol|malformed|truncated|unknown-tag|trailing-bytes|bad-utf8)$/);
    await expect(pool.call.echo(1)).rejects.toMatchObject({ code });
    expect(pool.stats().open).toBe(0);
  });

  test("a task that another worker process has as a stream, or as a function, fails one call and not the next", async () => {
    const module = newModule();
    const subjects = subjectsOf(module, "0");
    const { connection } = await peer(nats.url);
    const answers: unknown[][][] = [
      [[Op.result, 1]],
      [[Op.accepted, true]],
      [
        [Op.accepted, true],
        [Op.end, -1, null],
      ],
      [[Op.result, 2]],
      [[Op.result, 3]],
    ];
    connection.subscribe(subjects.call, {
      callback: (_error, call) => {
        for (const each of answers.shift()!) call.respond(codec.encode(each), { reply: subjects.worker("other") });
      },
    });
    connection.subscribe(subjects.worker("other"), { callback: () => {} });
    await connection.flush();
    const pool = await open({ servers: nats.url, module });
    expect(await pool.call.echo(0)).toBe(1);
    await expect(pool.call.echo(0)).rejects.toMatchObject({
      code: "protocol",
      message: expect.stringMatching(/stream/),
    });
    const stream = (await pool.call.echo(0)) as AsyncIterator<unknown>;
    expect(await stream.next()).toMatchObject({ done: true });
    const again = pool.call.echo(0) as unknown as AsyncIterator<unknown>;
    await expect(again.next()).rejects.toMatchObject({ code: "protocol", message: expect.stringMatching(/result/) });
    expect(await pool.call.echo(0)).toBe(3);
    expect(pool.stats()).toMatchObject({ open: 0, tasks: { echo: { calls: 5, ok: 3, cancelled: 2 } } });
  });

  test("a result that is larger than the limit fails the call before anything is allocated", async () => {
    const pool = await answersWith([Op.large, 1_000_001]);
    await expect(pool.call.echo(1)).rejects.toMatchObject({ code: "too-large" });
  });

  test("results for no call are counted and change nothing", async () => {
    const { pool } = await pair(nats.url);
    await pool.call.add(1, 1);
    const stranger = await peer(nats.url);
    const spy = await peer(nats.url);
    let inbox = "";
    const done = new Promise<void>((resolve) => {
      spy.connection.subscribe("_INBOX.>", {
        callback: (_error, { subject }) => {
          if (inbox === "") inbox = subject.slice(0, subject.lastIndexOf("."));
          resolve();
        },
      });
    });
    await spy.connection.flush();
    await pool.call.add(1, 1);
    await done;
    for (const token of ["-zz", "x", "alive", "who"]) stranger.send(`${inbox}.${token}`, encodeResult(codec, "mine"));
    await stranger.connection.flush();
    expect(await pool.call.add(2, 2)).toBe(4);
    expect(pool.stats().dropped.forNobody).toBeGreaterThanOrEqual(2);
  });

  test("made-up worker processes do not fill a pool's memory or break its keys", async () => {
    const { pool, module, server } = await pair(nats.url);
    const stranger = await peer(nats.url);
    const { members } = subjectsOf(module, "0");
    for (const id of ["a.b", "", "x".repeat(100), 5, null])
      stranger.send(members, codec.encode([Op.worker, id, "0", 1]));
    for (let fake = 0; fake < 50; fake++)
      stranger.send(members, codec.encode([Op.worker, `fake${fake}`, "0", protocolVersion]));
    await stranger.connection.flush();
    await until(() => pool.stats().workers >= 50);
    // Each made-up worker has no receiver, so the pool forgets it and asks the next one.
    expect(await pool.with({ key: "k" }).call.add(1, 2)).toBe(3);
    expect(server.stats().request!.calls).toBe(1);
    expect(pool.stats().dropped.malformed).toBe(5);
  });
});
