// SPDX-License-Identifier: MIT OR Apache-2.0
import { connect as connectSocket } from "node:net";
import { connect, type NatsConnection } from "@nats-io/transport-node";
import { describe, expect, onTestFinished, test } from "vitest";
import { encodeCall } from "../../src/wire/call.js";
import { Op, subjectsOf } from "../../src/wire/protocol.js";
import { noServer } from "../server/nats-server.js";
import { codec, newModule, oneServer, open, pair, peer, serve, until } from "./ends.js";

/** Opens a connection. Notes each time that it is interrupted. */
async function watched(servers: string): Promise<{ connection: NatsConnection; interrupted: () => number }> {
  const connection = await connect({ servers });
  onTestFinished(() => connection.close());
  let interrupted = 0;
  void (async () => {
    for await (const { type } of connection.status()) if (type === "disconnect") interrupted++;
  })();
  return { connection, interrupted: () => interrupted };
}

// NATS closes the connection of a client that sends a line of more than 4,096 bytes.
const long = "a".repeat(4_045);

describe.skipIf(noServer)("a peer that names a subject of thousands of characters", () => {
  const nats = oneServer();

  test("does not make NATS cut the connection of a worker process", async () => {
    const module = newModule();
    const { connection, interrupted } = await watched(nats.url);
    const server = await serve({ connection, module });
    const pool = await open({ servers: nats.url, module });
    const { connection: stranger } = await peer(nats.url);
    const options = { window: { items: 10, bytes: 1_000 } };
    const call = encodeCall(codec, { task: "count", args: [1], options });
    const worker = subjectsOf(module, "0").worker(server.stats().workerId);
    stranger.publish(subjectsOf(module, "0").call, call, { reply: `a.${long}` });
    stranger.publish(worker, codec.encode([Op.advise]), { reply: `a.${"a".repeat(4_000)}` });
    await stranger.flush();
    expect(await pool.call.add(1, 2)).toBe(3);
    await connection.flush();
    expect(interrupted()).toBe(0);
    expect(server.stats().request).toMatchObject({ calls: 1, dropped: { unanswerable: 1 } });
  });

  test("does not make NATS cut the connection of a caller", async () => {
    const module = newModule();
    const { connection, interrupted } = await watched(nats.url);
    const pool = await open({ connection, module });
    const { connection: stranger } = await peer(nats.url);
    const { call, worker } = subjectsOf(module, "0");
    stranger.subscribe(call, {
      callback: (_error, message) => {
        message.respond(codec.encode([Op.large, 2_000_000]), { reply: worker("a".repeat(4_030)) });
        message.respond(codec.encode([Op.result, "mine"]));
      },
    });
    await stranger.flush();
    expect(await pool.call.echo(1)).toBe("mine");
    await connection.flush();
    expect(interrupted()).toBe(0);
    expect(pool.stats().dropped.malformed).toBe(1);
  });
});

describe.skipIf(noServer)("a message with headers that the NATS client cannot read", () => {
  const nats = oneServer();

  test("counts as malformed, at a worker process and at a caller", async () => {
    const errors: unknown[] = [];
    const module = newModule();
    const onError = (error: unknown): void => void errors.push(error);
    const server = await serve({ servers: nats.url, module, onError });
    const pool = await open({ servers: nats.url, module, onError });
    expect(await pool.call.add(1, 2)).toBe(3); // its subscriptions have reached the server
    const { worker, members } = subjectsOf(module, "0");
    const socket = connectSocket(nats.server.port, "127.0.0.1");
    onTestFinished(() => void socket.destroy());
    const headers = "NATS/1.0\r\nan odd name\u00e4: x\r\n\r\n";
    const size = Buffer.byteLength(headers);
    socket.write('CONNECT {"verbose":false,"headers":true}\r\n');
    for (const subject of [worker(server.stats().workerId), members])
      socket.write(`HPUB ${subject} ${size} ${size}\r\n${headers}\r\n`);
    await until(() => server.stats().request!.dropped.malformed === 1 && pool.stats().dropped.malformed === 1);
    expect(await pool.call.add(1, 2)).toBe(3);
    expect(errors).toEqual([]);
  });
});

describe.skipIf(noServer)("a caller that knows a task as a function", () => {
  const nats = oneServer();

  test("learns from the worker process that the task is a stream", async () => {
    const { module } = await pair(nats.url);
    const caller = await peer(nats.url);
    caller.send(subjectsOf(module, "0").call, encodeCall(codec, { task: "count", args: [1], options: undefined }), "a");
    expect(codec.decode((await caller.next("a")).data)).toEqual([Op.accepted, true]);
    expect(await caller.failure("a")).toMatchObject({ code: "protocol" });
  });
});
