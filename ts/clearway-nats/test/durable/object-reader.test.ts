// SPDX-License-Identifier: MIT OR Apache-2.0
import { JetStreamApiError } from "@nats-io/jetstream";
import type { ObjectResult } from "@nats-io/obj";
import { TimeoutError } from "@nats-io/transport-node";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { ObjectReader, type ReadableStore } from "../../src/durable/values.js";
import { useFakeTimers, useRealTimers } from "../fixtures/clocks.js";
import { FakeConnection } from "../fixtures/fake-connection.js";

beforeEach(() => {
  useFakeTimers();
});
afterEach(() => {
  useRealTimers();
});

const stallMs = 30_000;

// A store with one object of four bytes, whose chunks a test sends.
function setup(parts: Partial<ReadableStore> = {}) {
  const connection = new FakeConnection();
  const streams: ReadableStreamDefaultController<Uint8Array>[] = [];
  const cancelled = vi.fn();
  const store = {
    info: async () => ({ size: 4, deleted: false }),
    get: async () => {
      const data = new ReadableStream({ start: (each) => void streams.push(each), cancel: cancelled });
      return { data, error: Promise.resolve(null) } as ObjectResult;
    },
    ...parts,
  } as ReadableStore;
  const controller = new AbortController();
  const reader = new ObjectReader(connection.nats, "a", 4, controller.signal);
  return { connection, controller, streams, cancelled, read: () => reader.read(store) };
}

describe("reading an object", () => {
  test("joins its chunks", async () => {
    const { streams, read } = setup();
    const bytes = read();
    await vi.waitFor(() => expect(streams).toHaveLength(1));
    for (const each of [[1], [2, 3, 4]]) streams[0]!.enqueue(Uint8Array.from(each));
    streams[0]!.close();
    await expect(bytes).resolves.toEqual(Uint8Array.of(1, 2, 3, 4));
    expect(vi.getTimerCount()).toBe(0);
  });

  test("whose chunks do not come fails for now twice, and the third time with protocol", async () => {
    const { cancelled, read } = setup();
    const codes: unknown[] = [];
    for (let attempt = 0; attempt < 3; attempt++) {
      const failed = read().catch((reason) => codes.push(reason.code));
      await vi.advanceTimersByTimeAsync(stallMs);
      await failed;
    }
    expect(codes).toEqual([undefined, undefined, "protocol"]);
    expect(cancelled).toHaveBeenCalledTimes(3);
  });

  test("that an interruption ends does not count as a fault of the object", async () => {
    const { connection, streams, read } = setup();
    for (let attempt = 1; attempt < 5; attempt++) {
      const failed = expect(read()).rejects.toThrow("the connection was interrupted");
      await vi.waitFor(() => expect(streams).toHaveLength(attempt));
      await connection.report("disconnect");
      await failed;
    }
  });

  test.each([new TimeoutError(), new JetStreamApiError({ code: 503, err_code: 10008, description: "busy" })])(
    "that servers cannot answer now passes their error on: %s",
    async (error) => {
      const { read } = setup({ info: () => Promise.reject(error) });
      await expect(read()).rejects.toBe(error);
    },
  );

  test("ends with cancelled when the signal aborts, also before it begins", async () => {
    const { controller, streams, cancelled, read } = setup();
    const failed = expect(read()).rejects.toMatchObject({ code: "cancelled" });
    await vi.waitFor(() => expect(streams).toHaveLength(1));
    controller.abort("why");
    await failed;
    expect(cancelled).toHaveBeenCalledOnce();
    await expect(read()).rejects.toMatchObject({ code: "cancelled" });
    expect(vi.getTimerCount()).toBe(0);
  });

  test("that the client cannot read fails with protocol", async () => {
    const { read } = setup({ get: () => Promise.reject(new Error("unknown digest type: x")) });
    await expect(read()).rejects.toMatchObject({ code: "protocol", cause: { message: "unknown digest type: x" } });
  });

  test("that the client opens too late is cancelled", async () => {
    let open: (result: ObjectResult) => void = () => {};
    const cancel = vi.fn();
    const { read } = setup({
      get: () =>
        new Promise((resolve) => {
          open = resolve;
        }),
    });
    const failed = expect(read()).rejects.toThrow("nothing more");
    await vi.advanceTimersByTimeAsync(stallMs);
    await failed;
    open({ data: new ReadableStream({ cancel }), error: Promise.reject(new Error("late")) } as unknown as ObjectResult);
    await vi.waitFor(() => expect(cancel).toHaveBeenCalledOnce());
  });
});
