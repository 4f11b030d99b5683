// SPDX-License-Identifier: MIT OR Apache-2.0
import { describe, expect, test } from "vitest";
import { Post, portMark } from "../../../src/channel/transport/port-message.js";
import { portTransport } from "../../../src/channel/transport/port-transports.js";
import { Log, pattern } from "./contract.js";

const started = (name = ""): Worker =>
  new Worker(new URL("./contract.worker.ts", import.meta.url), { type: "module", name });

// Resolves to the name of the lock that the worker holds, once the worker has announced it.
const lifelineOf = (worker: Worker): Promise<string> =>
  new Promise((resolve) => {
    worker.addEventListener("message", ({ data }) => {
      if (data[0] === portMark && data[1] === Post.lifeline) resolve(data[2]);
    });
  });

describe("a port to a browser's worker", () => {
  test("carries frames and attachments to the worker and back", async () => {
    const worker = started();
    const end = portTransport(worker);
    const log = new Log();
    end.open(log);
    const attachment = pattern(50_000);
    for (let index = 0; index < 50; index++) end.send(pattern(100 * index, index));
    end.send(pattern(8), [attachment]);
    await log.count(51);
    expect(attachment.byteLength).toBe(0);
    expect(log.frames.slice(0, 50)).toEqual(Array.from({ length: 50 }, (_, index) => pattern(100 * index, index)));
    expect(log.attachments[50]).toEqual([pattern(50_000)]);
    end.close();
    worker.terminate();
  });

  test("reports the end of a terminated worker to each of the endpoints connected to it", async () => {
    const worker = started();
    const told = lifelineOf(worker);
    const ends = [portTransport(worker), portTransport(worker)];
    const logs = ends.map((end) => {
      const log = new Log();
      end.open(log);
      return log;
    });
    // A worker that ends before it has announced its lock ends undetected.
    await told;
    worker.terminate();
    for (const log of logs) expect(await log.end()).toMatchObject({ code: "lost" });
  });

  test("receives the name of the worker's lock only once the worker holds it, also when the worker is busy", async () => {
    const worker = started("busy");
    const told = lifelineOf(worker);
    const end = portTransport(worker);
    const log = new Log();
    end.open(log);
    const name = await told;
    const { held } = await navigator.locks.query();
    expect((held ?? []).map((lock) => lock.name)).toContain(name);
    end.send(pattern(3));
    await log.count(1);
    end.close();
    worker.terminate();
  });

  test("reports the reason of an orderly close, even when the worker ends right after it", async () => {
    const worker = started();
    const end = portTransport(worker);
    const log = new Log();
    end.open(log);
    end.send(pattern(3));
    await log.count(1);
    end.close({ code: "closed", message: "that was all" });
    worker.terminate();
    expect(await log.end()).toEqual({ code: "closed", message: "that was all" });
    await new Promise((resolve) => setTimeout(resolve));
    expect(log.reasons).toHaveLength(1);
  });
});
