// SPDX-License-Identifier: MIT OR Apache-2.0
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { AckPolicy, type ConsumerInfo, type JetStreamManager, jetstreamManager } from "@nats-io/jetstream";
import { nanos } from "@nats-io/transport-node";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { AckRepair } from "../../src/durable/ack-repair.js";
import { namesOf, partitionOf } from "../../src/durable/names.js";
import { useFakeTimers, useRealTimers } from "../fixtures/clocks.js";
import { FakeConnection } from "../fixtures/fake-connection.js";
import { freePort, noServer, startServer, type TestServer } from "../server/nats-server.js";
import { caller, connection, logFile, serve } from "./harness.js";

const names = namesOf("work", "0");
const checkMs = 10_000;

/** The file in which a server keeps what a consumer has delivered and which confirmations it waits for. */
function stateFile({ folder }: TestServer, stream: string, consumer: string): string {
  return join(folder, "store", "jetstream", "$G", "streams", stream, "obs", consumer, "o.dat");
}

/** Ends a server with SIGKILL, puts a file back that it has written before, and starts the server again. */
async function restartWith(server: TestServer, file: string, content: Uint8Array): Promise<void> {
  await server.kill();
  writeFileSync(file, content);
  await server.start();
}

describe.skipIf(noServer)(
  "a partition whose server has forgotten a confirmation and kept the removal of its call",
  () => {
    test("goes on, and the waiting calls run once", async () => {
      const log = logFile();
      const server = await startServer({ port: await freePort() });
      const nats = await connection(server.url);
      const work = await caller(nats);
      const consumer = `key-${partitionOf("k", 16)}`;
      useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
      onTestFinished(() => void useRealTimers());
      const worker = await serve(nats, { pool: { size: 1, concurrency: 4 }, serve: { ackWaitMs: 600_000 } });

      // The oldest call of the queue. The server would otherwise clean up what is older than its queue.
      const oldest = work.call.held(log.path, "oldest", log.beside("gate"));
      await log.until((lines) => lines.includes("begun oldest"));
      const keyed = work.with({ key: "k" }).call;
      const first = keyed.held(log.path, "first", log.beside("first"));
      await log.until((lines) => lines.includes("begun first"));
      // A server writes the state of its consumers when it ends.
      await server.stop();
      const file = stateFile(server, names.calls, consumer);
      const waiting = readFileSync(file);
      await server.start();
      log.create("first");
      await expect(first).resolves.toBe("first");
      // Requests are lost while the server restarts.
      const manager = await jetstreamManager(nats, { timeout: 1_000 });
      await expect.poll(async () => (await manager.streams.info(names.calls)).state.messages).toBe(1);
      await restartWith(server, file, waiting);
      const calls = Promise.all([keyed.effect(log.path, "second"), keyed.effect(log.path, "third")]);
      // The server may not have answered the look at the new connection.
      await expect
        .poll(() => {
          vi.advanceTimersByTime(checkMs);
          return worker.stats().unblocked;
        })
        .toBe(1);
      await expect(calls).resolves.toEqual(["second", "third"]);
      log.create("gate");
      await expect(oldest).resolves.toBe("oldest");
      const effects = log.lines().filter((line) => line === "second" || line === "third");
      expect(effects).toEqual(["second", "third"]);
    });
  },
);

/** A consumer that has delivered a call of its own after one of another consumer, on a real server. */
async function delivered() {
  const server = await startServer();
  const nats = await connection(server.url);
  const manager = await jetstreamManager(nats);
  await manager.streams.add({ name: "S", subjects: ["s.*"], retention: "workqueue" });
  for (const name of ["a", "b"]) {
    await manager.consumers.add("S", {
      durable_name: name,
      filter_subject: `s.${name}`,
      ack_policy: AckPolicy.Explicit,
      ack_wait: nanos(600_000),
      max_ack_pending: 1,
    });
  }
  for (const subject of ["s.a", "s.b", "s.b"]) await nats.request(subject);
  const next = (name: string) =>
    nats.request(`$JS.API.CONSUMER.MSG.NEXT.S.${name}`, '{"batch":1}', { timeout: 60_000, noMux: true });
  const pullers = new Map([["b", { holds: false }]]);
  const repair = new AckRepair({ connection: nats, manager, stream: "S", pullers });
  onTestFinished(() => repair.close());
  const info = (name: string): Promise<ConsumerInfo> => manager.consumers.info("S", name);
  return { manager, repair, next, info };
}

describe.skipIf(noServer)("the repair of confirmations, on a real server", () => {
  test("leaves a call alone that is in the queue", async () => {
    const { repair, next, info, manager } = await delivered();
    await next("b");
    for (let check = 0; check < 5; check++) await repair.check();
    expect((await info("b")).num_ack_pending).toBe(1);
    expect((await manager.streams.info("S")).state.messages).toBe(3);
    expect(repair.unblocked).toBe(0);
  });

  test("is not needed for a call that was deleted while it ran, because the server gives it up", async () => {
    const { repair, next, info, manager } = await delivered();
    await next("b");
    await manager.streams.deleteMessage("S", 2, false);
    expect((await info("b")).num_ack_pending).toBe(0);
    expect((await next("b")).reply).toMatch(/^\$JS\.ACK\.S\.b\.1\.3\./);
    expect(repair.unblocked).toBe(0);
  });
});

/** Servers that describe a consumer `b`, and say which calls are gone. The test changes what they say. */
function described() {
  const state = { created: "1", delivered: 7, pending: 1 };
  const gone = new Set([7]);
  const looked: number[] = [];
  const acks: string[] = [];
  const puller = { holds: false };
  const info = () => ({
    name: "b",
    created: state.created,
    num_ack_pending: state.pending,
    delivered: { stream_seq: state.delivered, consumer_seq: 3 },
    ack_floor: { stream_seq: 4, consumer_seq: 2 },
  });
  const consumers = {
    async *list() {
      yield { ...info(), name: "normal" };
      yield info();
    },
    info: async () => info(),
  };
  const getMessage = async (_stream: string, { seq }: { seq: number }) => {
    looked.push(seq);
    return gone.has(seq) ? null : {};
  };
  const connected = new FakeConnection();
  const nats = Object.assign(connected.nats, {
    request: async (subject: string) => {
      acks.push(subject);
      if (subject.startsWith("$JS.ACK.S.b.1.7.3.")) state.pending = 0;
    },
  });
  const manager = { consumers, streams: { getMessage } } as unknown as JetStreamManager;
  const repair = new AckRepair({ connection: nats, manager, stream: "S", pullers: new Map([["b", puller]]) });
  onTestFinished(() => repair.close());
  return { state, gone, looked, acks, puller, repair, consumers, connected };
}

describe("the repair of confirmations", () => {
  test("confirms the call that is gone, and none that is in the queue", async () => {
    const { repair, acks, looked } = described();
    await repair.check();
    expect(looked).toEqual([]);
    await repair.check();
    expect(acks).toEqual(["$JS.ACK.S.b.1.7.3.0.0"]);
    expect(looked).toEqual([7, 6, 5]);
    expect(repair.unblocked).toBe(1);
  });

  test("finds the call that is gone behind the last delivered place", async () => {
    const { repair, acks, gone, state } = described();
    state.delivered = 9;
    gone.add(9);
    await repair.check();
    await repair.check();
    expect(acks).toEqual(["$JS.ACK.S.b.1.9.3.0.0", "$JS.ACK.S.b.1.7.3.0.0"]);
    expect(repair.unblocked).toBe(1);
  });

  test("looks for a long call ever more rarely", async () => {
    const { repair, looked, gone } = described();
    gone.clear();
    const checks: number[] = [];
    for (let check = 0; check <= 20; check++) {
      await repair.check();
      if (looked.splice(0).length > 0) checks.push(check);
    }
    expect(checks).toEqual([1, 2, 4, 8, 16]);
  });

  test("looks at once when the connection was made again, and then begins again", async () => {
    const { repair, looked, gone, connected } = described();
    gone.clear();
    for (let check = 0; check < 8; check++) await repair.check();
    looked.length = 0;
    await connected.report("disconnect");
    await connected.report("reconnect");
    expect(looked.splice(0)).toEqual([7, 6, 5]);
    await repair.check();
    expect(looked).toEqual([7, 6, 5]);
  });

  test("confirms at once when the connection was made again", async () => {
    const { acks, connected } = described();
    await connected.report("disconnect");
    await connected.report("reconnect");
    expect(acks).toEqual(["$JS.ACK.S.b.1.7.3.0.0"]);
  });

  test.each(["created", "delivered"] as const)("waits when the consumer has moved (%s)", async (part) => {
    const { repair, acks, looked, state } = described();
    for (let check = 0; check < 5; check++) {
      await repair.check();
      if (part === "created") state.created += "1";
      else state.delivered++;
    }
    expect([acks, looked]).toEqual([[], []]);
  });

  test("does not confirm when the consumer moves while the queue is read", async () => {
    const { repair, acks, state, consumers } = described();
    await repair.check();
    const { info } = consumers;
    consumers.info = () => {
      state.delivered++;
      return info();
    };
    await repair.check();
    expect(acks).toEqual([]);
    expect(repair.unblocked).toBe(0);
  });

  test("leaves a consumer alone whose call this process has", async () => {
    const { repair, looked, puller } = described();
    puller.holds = true;
    for (let check = 0; check < 3; check++) await repair.check();
    expect(looked).toEqual([]);
  });

  test("goes on after servers that do not answer", async () => {
    const { repair, acks, consumers } = described();
    await repair.check();
    const { info } = consumers;
    consumers.info = () => Promise.reject(new Error("timeout"));
    await repair.check();
    expect(acks).toEqual([]);
    consumers.info = info;
    await repair.check();
    expect(acks).toHaveLength(1);
  });
});
