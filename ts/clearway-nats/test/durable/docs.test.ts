// SPDX-License-Identifier: MIT OR Apache-2.0
// The code of docs/durable.md.
import { connect } from "@nats-io/transport-node";
import { readCallback, remotePool } from "clearway-nats";
import { serveTasks } from "clearway-nats/serve";
import { describe, expect, onTestFinished, test } from "vitest";
import { noServer, startServer } from "../server/nats-server.js";

const source = new URL("../fixtures/built/orders.tasks.js", import.meta.url);
type Orders = typeof import("../fixtures/orders.tasks.js");

describe.skipIf(noServer)("the page about durable calls", () => {
  test("shows a worker and a caller that work", async () => {
    const { url: servers } = await startServer();
    // #region serve
    const server = await serveTasks(source, {
      servers,
      module: "orders",
      modes: ["durable"],
      idempotent: ["price"],
    });
    // #endregion serve
    onTestFinished(() => server.close());
    // #region open
    const orders = await remotePool<Orders>({ servers, module: "orders", mode: "durable" });
    const price = await orders.call.price(["book", "pen"]);
    // #endregion open
    onTestFinished(() => orders.terminate());
    expect(price).toBe(7);
  });

  test("shows calls that outlive their caller", async () => {
    const { url: servers } = await startServer();
    const orders = await remotePool<Orders>({ servers, module: "orders", mode: "durable" });
    onTestFinished(() => orders.terminate());
    // #region submit
    const id = await orders.submit("charge", ["order-17", 7], { id: "charge-order-17" });
    // From here on the call runs, also if this process ends.
    // #endregion submit
    const server = await serveTasks(source, { servers, module: "orders", modes: ["durable"] });
    onTestFinished(() => server.close());
    // #region result
    const receipt = await orders.result<string>("charge-order-17", { deadlineMs: 60_000 });
    // #endregion result
    expect([id, receipt]).toEqual(["charge-order-17", "order-17: 7 paid"]);
  });

  test("shows a callback subject", async () => {
    const { url: servers } = await startServer();
    const server = await serveTasks(source, { servers, module: "orders", modes: ["durable"] });
    onTestFinished(() => server.close());
    const orders = await remotePool<Orders>({ servers, module: "orders", mode: "durable" });
    onTestFinished(() => orders.terminate());
    const nats = await connect({ servers });
    onTestFinished(() => nats.close());
    const done = new Promise<unknown>((resolve) => {
      // #region callback
      nats.subscribe("clearway.callback.charges", {
        callback(_error, { data }) {
          const outcome = readCallback(data);
          if (outcome.ok) resolve(outcome.value);
        },
      });
      // #endregion callback
    });
    // #region callback-submit
    await orders.submit("charge", ["order-18", 9], { callback: "clearway.callback.charges" });
    // #endregion callback-submit
    await expect(done).resolves.toBe("order-18: 9 paid");
  });
});
