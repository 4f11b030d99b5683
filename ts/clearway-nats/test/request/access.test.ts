// SPDX-License-Identifier: MIT OR Apache-2.0
import { connect, nkeyAuthenticator, nkeys } from "@nats-io/transport-node";
import { describe, expect, onTestFinished, test } from "vitest";
import { remotePool } from "../../src/index.js";
import { requestPool } from "../../src/request/remote-pool.js";
import { noServer, startServer } from "../server/nats-server.js";
import { newModule, open, type Sample, serve, until } from "./ends.js";

describe.skipIf(noServer)("access to a module", () => {
  test("a stranger without the token fails with connect-failed, and a caller with it succeeds", async () => {
    const { url } = await startServer({ jetstream: false, access: { token: "open sesame" } });
    const module = newModule();
    await serve({ servers: url, module, nats: { token: "open sesame" } });
    await expect(remotePool({ servers: url, module })).rejects.toMatchObject({ code: "connect-failed" });
    await expect(remotePool({ servers: url, module, nats: { token: "wrong" } })).rejects.toMatchObject({
      code: "connect-failed",
    });
    const pool = await open({ servers: url, module, nats: { token: "open sesame" } });
    expect(await pool.call.add(1, 2)).toBe(3);
  });

  test("NKEY users reach the modules for which they have permissions, with an inbox prefix of their own", async () => {
    const [worker, caller, stranger] = [nkeys.createUser(), nkeys.createUser(), nkeys.createUser()];
    const nkey = (user: typeof worker): string => user.getPublicKey();
    const own = "clearway.photos.0.";
    const { url } = await startServer({
      jetstream: false,
      access: {
        users: [
          {
            nkey: nkey(worker),
            publish: [`${own}members`, "_INBOX_caller.>", "_INBOX.>"],
            subscribe: [`${own}>`, "clearway.photos.who"],
          },
          {
            nkey: nkey(caller),
            publish: [`${own}>`, "clearway.photos.who"],
            subscribe: ["_INBOX_caller.>", `${own}members`],
          },
          { nkey: nkey(stranger), publish: ["other.>"], subscribe: ["_INBOX.>", `${own}members`] },
        ],
      },
    });
    const as = (user: typeof worker): { authenticator: ReturnType<typeof nkeyAuthenticator> } => ({
      authenticator: nkeyAuthenticator(user.getSeed()),
    });
    await serve({ servers: url, module: "photos", nats: as(worker) });
    const pool = await open({
      servers: url,
      module: "photos",
      nats: { ...as(caller), inboxPrefix: "_INBOX_caller" },
    });
    expect(await pool.call.add(1, 2)).toBe(3);
    expect((await pool.call.zeros(2_000_000)).length).toBe(2_000_000);
    expect(await pool.with({ key: "a" }).call.add(1, 2)).toBe(3);
    const denied = await open({ servers: url, module: "photos", nats: as(stranger) });
    await expect(denied.call.add(1, 2)).rejects.toMatchObject({ code: "not-allowed" });
  });
});

describe.skipIf(noServer)("a connection that the NATS client refuses to use", () => {
  test("fails a pool and a server with connect-failed when it is closing", async () => {
    const { url } = await startServer({ jetstream: false });
    const connection = await connect({ servers: url });
    const drained = connection.drain();
    const options = { connection, module: newModule() };
    await expect(open(options)).rejects.toMatchObject({ code: "connect-failed" });
    await expect(serve(options)).rejects.toMatchObject({ code: "connect-failed" });
    await drained;
  });

  test("fails a call that cannot be sent, which counts as unsent and not as sent", async () => {
    const { url } = await startServer({ jetstream: false });
    const connection = await connect({ servers: url });
    const pool = await open({ connection, module: newModule() });
    const { sentBytes } = pool.stats().ledger;
    connection.publish = () => {
      throw new Error("the server has lowered its limit");
    };
    const rejected = expect(pool.call.add(1, 2)).rejects.toMatchObject({ code: "transport-closed" });
    await expect.poll(() => pool.stats().dropped.unsent).toBe(1);
    await connection.close();
    await rejected;
    expect(pool.stats()).toMatchObject({ open: 0, ledger: { sentBytes } });
  });

  test("fails a pool with connect-failed when it closes while the pool subscribes, and leaves nothing behind", async () => {
    const { url } = await startServer({ jetstream: false });
    const connection = await connect({ servers: url });
    connection.subscribe = () => {
      void connection.close();
      throw new Error("the app closed it");
    };
    const options = { connection, module: newModule() };
    await expect(open(options)).rejects.toMatchObject({ code: "connect-failed" });
    await expect(serve(options)).rejects.toMatchObject({ code: "connect-failed" });
    await connection.closed();
  });

  test("fails a pool with connect-failed for an inbox prefix that is no subject, and closes the connection", async () => {
    const server = await startServer({ jetstream: false });
    const options = { servers: server.url, module: newModule(), nats: { inboxPrefix: "a b" } };
    await expect(open(options)).rejects.toMatchObject({ code: "connect-failed" });
    await until(async () => (await server.clients()).connections === 0);
  });
});

test.skipIf(noServer)("pools that are closed leave nothing on the app's connection, and can be collected", async () => {
  const server = await startServer({ jetstream: false });
  const connection = await connect({ servers: server.url });
  onTestFinished(() => connection.close());
  const module = newModule();
  const collected: WeakRef<object>[] = [];
  const use = async (): Promise<void> => {
    const pool = await requestPool<Sample>({ connection, module });
    await pool.call.add(1, 2).catch(() => {}); // there is no worker; `expect` would keep the promise
    await pool.close();
    collected.push(new WeakRef(pool));
  };
  for (let each = 0; each < 10; each++) await use();
  // The NATS client keeps the listeners of its status in a property that its types do not have.
  const { listeners } = (connection as unknown as { protocol: { listeners: unknown[] } }).protocol;
  expect(listeners).toHaveLength(0);
  await connection.flush();
  expect(await server.clients()).toEqual({ connections: 1, subscriptions: 0 });
  await until(() => {
    globalThis.gc?.();
    return collected.every((each) => each.deref() === undefined);
  });
});
