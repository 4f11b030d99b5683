// SPDX-License-Identifier: MIT OR Apache-2.0
import { expect, test } from "vitest";
import { memoryPair } from "../../../src/channel/transport/memory.js";
import { endpoints, rejection } from "./pairs.js";

test.each(["clearway", "plain"] as const)(
  "a name that is too long for the other endpoint fails calls, posts and listens, but no handler, on the %s wire",
  async (wire) => {
    const { a, b } = await endpoints(memoryPair(), { wire }, { wire, nameBytesMax: 2 });
    const refused = {
      code: "invalid-argument",
      message: expect.stringContaining("at most 2 bytes, as the other end takes"),
    };
    // Handlers are set up whatever the other end announces.
    const methods = a.methods("long");
    methods.handle({ one: () => 1 });
    a.messages("long 2").handle(() => 1);
    a.events("long 3").serve(() => {});
    expect(await rejection(methods.call("one"))).toMatchObject(refused);
    expect(await rejection(a.messages("long").send(1))).toMatchObject(refused);
    expect(await rejection((async () => a.messages("long").post(1))())).toMatchObject(refused);
    expect(await rejection((async () => a.events("long").listen().next())())).toMatchObject(refused);
    expect(a.stats()).toMatchObject({ calls: 0, listening: 0 });
    b.methods("ok").handle({ one: () => 1 });
    expect(await a.methods("ok").call("one")).toBe(1);
    a.terminate();
    b.terminate();
  },
);

test("a name that is too long for this endpoint is refused when its channel is made", async () => {
  const { a, b } = await endpoints(memoryPair(), { nameBytesMax: 2 });
  for (const make of [() => a.methods("long"), () => a.messages("long"), () => a.events("long")])
    expect(make).toThrow(/name must be at most 2 bytes/);
  a.terminate();
  b.terminate();
});
