// SPDX-License-Identifier: MIT OR Apache-2.0
import { expect, onTestFinished, test, vi } from "vitest";
import { builtUrl, testPool } from "../fixtures/pools.js";

type Streams = typeof import("../fixtures/streams.tasks.js");

/** Returns the registrations of streams since this call, and takes away those that were removed. */
function registrations(): Set<unknown> {
  const registered = new Set<unknown>();
  const { register, unregister } = FinalizationRegistry.prototype;
  vi.spyOn(FinalizationRegistry.prototype, "register").mockImplementation(function (
    this: FinalizationRegistry<unknown>,
    ...args
  ) {
    // The pool registers a stream with itself as the token.
    if (args[1] === args[2]) registered.add(args[2]);
    return register.apply(this, args);
  });
  vi.spyOn(FinalizationRegistry.prototype, "unregister").mockImplementation(function (
    this: FinalizationRegistry<unknown>,
    token,
  ) {
    registered.delete(token);
    return unregister.call(this, token);
  });
  onTestFinished(() => vi.restoreAllMocks());
  return registered;
}

test("a stream that was read to its end, left or cancelled is not kept until the garbage collector runs", async () => {
  const streams = testPool<Streams>(builtUrl("streams"));
  await streams.ready();
  const registered = registrations();
  for await (const value of streams.call.count(3)) expect(value).toBeLessThan(3);
  for await (const _ of streams.call.count(1_000_000)) break;
  await expect(async () => {
    for await (const _ of streams.call.failAfter(2));
  }).rejects.toThrow();
  const controller = new AbortController();
  await expect(async () => {
    for await (const _ of streams.with({ signal: controller.signal }).call.count(1_000_000)) controller.abort();
  }).rejects.toThrow();
  expect(registered.size).toBe(0);
});
