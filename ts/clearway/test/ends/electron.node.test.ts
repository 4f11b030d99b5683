// SPDX-License-Identifier: MIT OR Apache-2.0
import { EventEmitter } from "node:events";
import { describe, expect, test } from "vitest";
import { connect } from "../../src/channel/endpoint/connect.js";
import { RemoteError } from "../../src/channel/endpoint/remote-error.js";
import { electronTransport } from "../../src/electron/transport.js";
import { type Connected, channelTransportContract, Log, pattern } from "../channel/transports/contract.js";
import { FakePortMain, FakePortRenderer, pair } from "./fake-electron-port.js";

const connected = (wanted: object, ports: ReturnType<typeof pair>): Connected => {
  const [one, two] = ports;
  return { a: electronTransport(one, wanted), b: electronTransport(two, wanted), kill: () => two.close() };
};

channelTransportContract("electron, the main process's end", (wanted) =>
  connected(wanted, pair(new FakePortMain(), new FakePortRenderer())),
);
channelTransportContract("electron, the renderer's end", (wanted) =>
  connected(wanted, pair(new FakePortRenderer(), new FakePortMain())),
);

describe("an Electron transport", () => {
  test("keeps the memory of large frames, which Electron would lose", async () => {
    const [main, renderer] = pair(new FakePortMain(), new FakePortRenderer());
    const [atMain, atRenderer] = [new Log(), new Log()];
    const [a, b] = [electronTransport(main), electronTransport(renderer)];
    a.open(atMain);
    b.open(atRenderer);
    a.send(pattern(100_000, 1));
    b.send(pattern(100_000, 2));
    await Promise.all([atMain.count(1), atRenderer.count(1)]);
    expect(atMain.frames).toEqual([pattern(100_000, 2)]);
    expect(atRenderer.frames).toEqual([pattern(100_000, 1)]);
    a.close();
    expect(main.closes).toBe(1);
    expect(await atRenderer.end()).toMatchObject({ code: "closed" });
  });

  test("copies a list of numbers that an endpoint sends, and hides the stack of a handler's error from a renderer", async () => {
    const [main, renderer] = pair(new FakePortMain(), new FakePortRenderer());
    const [app, page] = await Promise.all([connect(electronTransport(main)), connect(electronTransport(renderer))]);
    app.methods("files").handle({
      read: (bytes: number) => new Uint8Array(bytes).fill(7),
      write: () => {
        throw Object.assign(new Error("no room"), { path: "/secret" });
      },
    });
    expect((await page.methods("files").call("read", 50_000)) as Uint8Array).toEqual(new Uint8Array(50_000).fill(7));
    const error = await page
      .methods("files")
      .call("write", null)
      .catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(RemoteError);
    expect(JSON.stringify(error)).not.toContain("secret");
    await app.close();
    expect(await page.closed).toMatchObject({ code: "closed" });
  });

  test("closes with `failed` when a message arrives that Electron could not read", async () => {
    const [main, renderer] = pair(new FakePortMain(), new FakePortRenderer());
    const a = electronTransport(main);
    const log = new Log();
    a.open(log);
    const { buffer } = pattern(10);
    renderer.postMessage([buffer], [buffer]);
    expect(await log.end()).toMatchObject({ code: "failed" });
  });

  test("reads the plain messages of a utility process, does not close it, and reports its exit", async () => {
    // `UtilityProcess` of the main process: emits messages, not events, and has no `close`.
    const child = Object.assign(new EventEmitter(), {
      sent: [] as unknown[],
      postMessage(message: unknown) {
        child.sent.push(message);
      },
    });
    const a = electronTransport(child);
    const log = new Log();
    a.open(log);
    child.emit("message", ["clearway.channel", 0, [3], pattern(3)]);
    expect(log.frames).toEqual([pattern(3)]);
    child.emit("exit", 7);
    expect(await log.end()).toMatchObject({ code: "lost", detail: { exitCode: 7 } });
    expect(child.listenerCount("message") + child.listenerCount("exit")).toBe(0);
  });

  test("ignores messages of other code, whatever their form", async () => {
    const [main] = pair(new FakePortMain(), new FakePortRenderer());
    const a = electronTransport(main);
    const log = new Log();
    a.open(log);
    for (const event of [{ data: 7, ports: [] }, { data: undefined }, undefined, null, "text"])
      main.emit("message", event);
    main.receive(["clearway.channel", 0, [1], pattern(1)]);
    main.emit("message", { data: ["clearway.channel", 0, [2], pattern(2)], ports: [] });
    await log.until(() => log.frames.some(({ byteLength }) => byteLength === 2));
    expect(log.reasons).toEqual([]);
    a.close();
  });

  test("refuses a port that is none, and unknown options", () => {
    expect(() => electronTransport({} as never)).toThrow("port must be a port of Electron");
    expect(() => electronTransport(new FakePortMain(), { ring: "offer" } as never)).toThrow(
      "ring must be a known option (the nearest is",
    );
  });
});
