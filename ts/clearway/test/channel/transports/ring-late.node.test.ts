// SPDX-License-Identifier: MIT OR Apache-2.0
import { beforeEach, expect, test, vi } from "vitest";
import { portTransport } from "../../../src/channel/transport/port-transports.js";
import { useFakeTimers } from "../../fixtures/fake-timers.js";
import { Log } from "./contract.js";

// The import of the ring's code never settles, as from a server that does not answer.
vi.mock("../../../src/channel/transport/channel-ring-port.js", () => new Promise(() => {}));

beforeEach(() => useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));

test("an endpoint that accepts a ring closes after a timeout when the ring's code does not load", async () => {
  const { port1, port2 } = new MessageChannel();
  const [offers, accepts] = [portTransport(port1, { ring: "offer" }), portTransport(port2, { ring: "accept" })];
  const [atOffers, atAccepts] = [new Log(), new Log()];
  offers.open(atOffers);
  accepts.open(atAccepts);
  // The offering end sends by port until then.
  offers.send(new Uint8Array([1]));
  await atAccepts.count(1);
  const told = new Promise((resolve) => port2.addEventListener("message", resolve, { once: true }));
  port1.postMessage(["clearway.channel", 4, new SharedArrayBuffer(1 << 17)]);
  await told;
  await vi.advanceTimersByTimeAsync(30_000);
  expect(await atAccepts.end()).toMatchObject({ code: "failed", message: "the ring's code could not be loaded" });
  expect(await atOffers.end()).toMatchObject({ code: "failed" });
});
