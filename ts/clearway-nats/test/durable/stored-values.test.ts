// SPDX-License-Identifier: MIT OR Apache-2.0
import { jetstream, jetstreamManager } from "@nats-io/jetstream";
import { Kvm } from "@nats-io/kv";
import { type ObjectStore, Objm } from "@nats-io/obj";
import { headers, type NatsConnection } from "@nats-io/transport-node";
import { describe, expect, test } from "vitest";
import { writeCall } from "../../src/durable/layout.js";
import { namesOf, objectName } from "../../src/durable/names.js";
import { type DurableCallerOptions, serveSettingsOf } from "../../src/durable/options.js";
import { ensureConsumers } from "../../src/durable/streams.js";
import { encodeCall, wireCodec } from "../../src/wire/call.js";
import { noServer, startServer } from "../server/nats-server.js";
import { caller, connection, type Ends, logFile, serve } from "./harness.js";

const names = namesOf("work", "0");
const args = [new Uint8Array(300_000)];
const call = encodeCall(wireCodec(), { task: "lengthOf", args, options: undefined });

async function ends(settings: Ends = {}) {
  const server = await startServer();
  const nats = await connection(server.url);
  const work = await caller(nats);
  const store = await new Objm(jetstream(nats)).create(names.values);
  return { nats, work, store, start: () => serve(nats, settings) };
}

// Replaces a part of an object's metadata, as a peer can that may write to the bucket.
async function change(nats: NatsConnection, store: ObjectStore, name: string, part: object): Promise<void> {
  const found = (await store.info(name))!;
  const { bucket, nuid, size, chunks, digest, options } = found;
  const once = headers();
  once.set("Nats-Rollup", "sub");
  const body = JSON.stringify({ name, bucket, nuid, size, chunks, digest, options, ...part });
  const subject = `$O.${names.values}.M.${Buffer.from(name)
    .toString("base64url")
    .padEnd(Math.ceil(name.length / 3) * 4, "=")}`;
  await jetstream(nats).publish(subject, body, { headers: once });
}

// Puts a call whose arguments are an object into the queue.
async function queue(nats: NatsConnection, id: string, object: string, objectBytes = call.length): Promise<void> {
  const content = { object, objectBytes };
  const body = writeCall({ id, caller: "", callback: "", cancellable: false, content });
  await jetstream(nats).publish(names.plain("normal"), body);
}

describe.skipIf(noServer)("a stored value that a worker process cannot read", () => {
  test.each([
    ["has another digest", { digest: `SHA-256=${Buffer.alloc(32).toString("base64url")}=` }, call.length],
    ["has a digest of an unknown kind", { digest: "MD5=x" }, call.length],
    ["has no digest", { digest: undefined }, call.length],
    ["has more bytes than its size", { size: 1_000 }, 1_000],
    ["has fewer bytes than its size", { size: 400_000 }, 400_000],
    ["has another size than its call says", {}, 400_000],
    ["is deleted", { deleted: true }, call.length],
    ["is a link to a bucket", { options: { link: { bucket: "other" } } }, call.length],
  ])("because it %s fails its call, and the process goes on", async (_what, part, objectBytes) => {
    const { nats, work, store, start } = await ends();
    const object = objectName("x");
    await store.putBlob({ name: object }, call);
    await change(nats, store, object, part);
    await queue(nats, "x", object, objectBytes);
    await start();
    await expect(work.result("x")).rejects.toMatchObject({ code: "protocol" });
    await expect(work.call.lengthOf(args[0]!)).resolves.toBe(300_000);
  });

  test("because it is a link to itself fails its call, and the process goes on", async () => {
    const { nats, work, store, start } = await ends();
    const object = objectName("x");
    await store.putBlob({ name: object }, call);
    await change(nats, store, object, { options: { link: { bucket: names.values, name: object } } });
    await queue(nats, "x", object);
    await start();
    await expect(work.result("x")).rejects.toMatchObject({ code: "protocol" });
  });

  test("and has been tried too often is given up without another read", async () => {
    const { nats, work, start } = await ends({ serve: { tries: 2 } });
    const manager = await jetstreamManager(nats);
    await ensureConsumers(manager, names, serveSettingsOf({}));
    await queue(nats, "x", objectName("x"));
    const claims = await new Kvm(jetstream(nats)).create(names.claims);
    await claims.put("begun.x", "1");
    // Another process receives the call and ends.
    const consumer = await jetstream(nats).consumers.get(names.calls, "normal");
    (await consumer.next())!.nak();
    const worker = await start();
    await expect(work.result("x")).rejects.toMatchObject({ code: "dead-letter" });
    expect(worker.stats()).toMatchObject({ deadLetters: 1 });
    expect((await manager.streams.info(names.dead)).state.messages).toBe(1);
  });
});

describe.skipIf(noServer)("the object with the arguments of a call", () => {
  // Opens a caller that stores every call's arguments as an object. No worker process runs the calls.
  async function large(options: DurableCallerOptions = {}) {
    const server = await startServer();
    const nats = await connection(server.url);
    const work = await caller(nats, { call: { objectBytesMin: 1, ...options } });
    const manager = await jetstreamManager(nats);
    const objects = async (): Promise<number> => {
      const { state } = await manager.streams.info(`OBJ_${names.values}`, { subjects_filter: "$O.*.C.>" });
      return Object.keys(state.subjects ?? {}).length;
    };
    return { work, objects };
  }

  test("is deleted when the servers refuse the call", async () => {
    const { work, objects } = await large({ queue: { items: 1 } });
    await work.submit("add", [1, 1]);
    await expect(work.submit("add", [1, 1])).rejects.toMatchObject({ code: "queue-full" });
    await expect.poll(objects).toBe(1);
  });

  test("is deleted when a call with the same id is stored already", async () => {
    const { work, objects } = await large();
    for (let call = 0; call < 2; call++) await work.submit("add", [1, 1], { id: "once" });
    await expect.poll(objects).toBe(1);
  });

  test("is deleted when the call is cancelled", async () => {
    const { work, objects } = await large();
    const controller = new AbortController();
    const call = work.with({ signal: controller.signal }).call.add(1, 1);
    await expect.poll(() => work.stats().unconfirmed).toBe(0);
    await expect.poll(objects).toBe(1);
    controller.abort(new Error("enough"));
    await expect(call).rejects.toThrow("enough");
    await expect.poll(objects).toBe(0);
  });
});

describe.skipIf(noServer)("the stored arguments of calls", () => {
  test("have a limit for a worker process, and a call above it waits until another one has ended", async () => {
    const log = logFile();
    const server = await startServer();
    const nats = await connection(server.url);
    const worker = await serve(nats, { limits: { bytesMax: 1 } });
    const work = await caller(nats, { call: { objectBytesMin: 1 } });
    const held = (id: string) => work.call.held(log.path, id, log.beside(`gate-${id}`));
    const first = held("a");
    await log.until((lines) => lines.includes("begun a"));
    const second = held("b");
    // It is given back again and again while it waits.
    await expect.poll(() => worker.stats().received).toBeGreaterThanOrEqual(2);
    log.create("gate-b");
    // The second call would begin during these round trips.
    for (let trip = 0; trip < 50; trip++) await nats.flush();
    log.create("gate-a");
    await expect(Promise.all([first, second])).resolves.toEqual(["a", "b"]);
    expect(log.lines()).toEqual(["begun a", "ended a", "begun b", "ended b"]);
  });
});
