// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests with pages of a real browser: their origin, their permissions, and their end.
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import { type Browser, chromium, type Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { chromiumFlags, chromiumPath } from "../../../../scripts/chromium.mjs";
import type { ChannelTransport, CloseReason } from "../../src/channel/transport/transport.js";
import { serveWebSockets, type WebSocketChannels } from "../../src/websocket-server.js";
import { Log, pattern } from "../channel/transports/contract.js";

type Client = typeof import("../../src/websocket.js");

const html = `<!doctype html><title>page</title>
<script type="module">import * as client from "/websocket.js"; Object.assign(globalThis, client);</script>`;

let browser: Browser;
let site: Server;
let foreign: Server;
let channels: WebSocketChannels;
let page: Page;
/** The server's ends, in the order of their connections. The test opens them. */
let met: ChannelTransport[] = [];

async function listening(): Promise<Server> {
  const client = await readFile(new URL("../../dist/browser/websocket.js", import.meta.url));
  const server = createServer((request, response) => {
    const script = request.url === "/websocket.js";
    response.setHeader("Content-Type", script ? "text/javascript" : "text/html").end(script ? client : html);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return server;
}

const portOf = (server: Server): number => (server.address() as { port: number }).port;

beforeAll(async () => {
  browser = await chromium.launch({ executablePath: chromiumPath(), args: chromiumFlags });
  site = await listening();
  foreign = await listening();
  const limits = { frameBytesMax: 1 << 20 };
  channels = await serveWebSockets(
    { server: site, path: "/channel", ...limits },
    (transport) => void met.push(transport),
  );
});
afterAll(async () => {
  await browser.close();
  await channels.close();
  for (const server of [site, foreign]) server.closeAllConnections();
  for (const server of [site, foreign]) server.close();
});
afterEach(async () => {
  await page.close();
  met = [];
});

/** Opens a page with a client that records events. The client connects to the server's address, whatever the page's own is. */
async function open(address: string, token = channels.token, limits = {}): Promise<void> {
  page = await browser.newPage();
  await page.goto(address);
  await page.evaluate(
    ([url, shown, options]) => {
      const { webSocketTransport } = globalThis as unknown as Client;
      const transport = webSocketTransport(url as string, { token: shown as string, ...(options as object) });
      const told = { frames: [] as Uint8Array[], drains: 0 };
      const ended = new Promise((resolve) => {
        transport.open({
          frame: (frame) => told.frames.push(frame),
          drained: () => told.drains++,
          closed: (reason) => resolve({ ...reason, cause: undefined }),
        });
      });
      Object.assign(globalThis, { transport, told, ended });
    },
    [channels.url, token, limits] as const,
  );
}

interface Told {
  transport: ChannelTransport;
  told: { frames: Uint8Array[]; drains: number };
  ended: Promise<CloseReason>;
}

const own = (): string => `http://127.0.0.1:${portOf(site)}/`;
const ended = (): Promise<CloseReason> => page.evaluate(() => (globalThis as unknown as Told).ended);
const send = (...sizes: number[]): Promise<boolean[]> =>
  page.evaluate(
    (all) => all.map((size) => (globalThis as unknown as Told).transport.send(new Uint8Array(size).fill(size & 0xff))),
    sizes,
  );

/** Opens and returns the server's end of the page's connection. */
async function answered(): Promise<{ transport: ChannelTransport; log: Log }> {
  await expect.poll(() => met.length).toBe(1);
  const log = new Log();
  const [transport] = met as [ChannelTransport];
  transport.open(log);
  return { transport, log };
}

describe("a page's channel", () => {
  test("of the server's own origin carries frames of every size both ways", async () => {
    await open(own());
    const { transport, log } = await answered();
    const sizes = [0, 1, 125, 126, 65_535, 65_536, 1 << 20];
    expect(await send(...sizes.slice(0, 4))).toEqual([true, true, true, true]);
    await send(...sizes.slice(4));
    await log.count(sizes.length);
    expect(log.frames.map(({ length }) => length)).toEqual(sizes);
    expect(log.frames.every((frame) => frame.every((byte) => byte === (frame.length & 0xff)))).toBe(true);
    for (const size of sizes) transport.send(pattern(size, size));
    const back = () =>
      page.evaluate(() => (globalThis as unknown as Told).told.frames.map((frame) => [frame.length, frame[5] ?? 0]));
    await expect.poll(async () => (await back()).length).toBe(sizes.length);
    expect(await back()).toEqual(sizes.map((size) => [size, pattern(size, size)[5] ?? 0]));
  });

  test("under another name of this machine must connect by the same name", async () => {
    await open(own().replace("127.0.0.1", "localhost"));
    // The page's origin is localhost, but it connects to 127.0.0.1: another origin.
    expect(await ended()).toMatchObject({ code: "failed" });
    await page.close();
    const named = { ...channels, url: channels.url.replace("127.0.0.1", "localhost") };
    const before = channels;
    channels = named;
    try {
      await open(own().replace("127.0.0.1", "localhost"));
    } finally {
      channels = before;
    }
    const { log } = await answered();
    await send(3);
    await log.count(1);
  });

  test.each(["right", "wrong"])("of another origin is refused: with the %s token", async (token) => {
    await open(`http://127.0.0.1:${portOf(foreign)}/`, token === "right" ? channels.token : token);
    expect(await ended()).toMatchObject({ code: "failed" });
    expect(met).toEqual([]);
  });

  test("of a sandboxed frame, whose origin is null, is refused", async () => {
    page = await browser.newPage();
    await page.goto(own());
    const address = channels.url;
    const protocols = ["clearway.channel.1", `clearway.token.${channels.token}`];
    const outcome = await page.evaluate(
      ([url, offered]) =>
        new Promise((resolve) => {
          addEventListener("message", ({ data }) => resolve(data));
          const frame = document.createElement("iframe");
          frame.sandbox.add("allow-scripts");
          const script = `const s = new WebSocket(${JSON.stringify(url)}, ${JSON.stringify(offered)});
            s.onopen = () => parent.postMessage("open", "*"); s.onclose = ({ code }) => parent.postMessage(code, "*");`;
          frame.srcdoc = `<script>${script}</script>`;
          document.body.append(frame);
        }),
      [address, protocols] as const,
    );
    expect(outcome).toBe(1006);
    expect(met).toEqual([]);
  });

  test("without the right token is refused", async () => {
    await open(own(), "a-guess");
    expect(await ended()).toMatchObject({ code: "failed", message: expect.stringContaining("refused") });
    expect(met).toEqual([]);
  });

  test("gets back-pressure from a server that does not read, and a drain from one that does", async () => {
    await open(own(), channels.token, { windowBytes: 300_000 });
    expect(await send(100_000, 100_000, 100_000, 1)).toEqual([true, true, false, false]);
    const { log } = await answered();
    await log.count(4);
    await expect.poll(() => page.evaluate(() => (globalThis as unknown as Told).told.drains)).toBe(1);
    expect(await send(1)).toEqual([true]);
  });

  test("sends a close reason to the server, and receives the server's", async () => {
    await open(own());
    const { log } = await answered();
    // A page that closes a socket before its own `open` event can send no reason, even when the server has accepted the socket.
    await send(1);
    await log.count(1);
    await page.evaluate(() => (globalThis as unknown as Told).transport.close({ code: "failed", message: "zu früh" }));
    expect(await log.end()).toEqual({ code: "failed", message: "zu früh" });
    expect(await ended()).toEqual({ code: "failed", message: "zu früh" });
    await page.close();
    met = [];
    await open(own());
    const { transport } = await answered();
    transport.close({ code: "refused", message: "not you" });
    expect(await ended()).toEqual({ code: "refused", message: "not you" });
  });

  test("ends when the user leaves the page, and closes for a frame that is too large", async () => {
    await open(own());
    const { log } = await answered();
    await page.goto("about:blank");
    expect(await log.end()).toMatchObject({ code: "closed", detail: { closeCode: 1001 } });
    await page.close();
    met = [];
    await open(own(), channels.token, { frameBytesMax: 1 << 21 });
    const second = await answered();
    await send((1 << 20) + 1);
    expect(await second.log.end()).toMatchObject({ code: "too-large" });
    expect(await ended()).toMatchObject({ code: "too-large", detail: { closeCode: 1009 } });
  });

  test("gets the reason when the server aborts it", async () => {
    await open(own());
    await answered();
    (met[0] as unknown as { abort(reason: CloseReason): void }).abort({ code: "timeout", message: "no answer" });
    expect(await ended()).toMatchObject({ code: "timeout", message: "no answer" });
  });
});
