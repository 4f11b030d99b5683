// SPDX-License-Identifier: MIT OR Apache-2.0
// Channels between windows of a real browser: other origins, hostile frames, and pages that are left.
import type { Browser, Frame, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { ChannelTransport, CloseReason, Endpoint } from "../../src/channel.js";
import { framed, launch, opened, Site } from "./sites.js";

declare global {
  // What a page of these tests keeps between two steps.
  var endpoint: Promise<Endpoint>;
  var transport: ChannelTransport;
  var heard: unknown[];
  var timers: Map<number | undefined, () => void>;
  var pending: Promise<unknown>;
}

const site = new Site({});
let browser: Browser;
let page: Page;
let home: string;
/** The origin of another site. */
let away: string;

beforeAll(async () => {
  await site.listen();
  home = site.origin();
  away = site.origin("localhost");
  browser = await launch();
});
afterAll(async () => {
  await browser.close();
  site.close();
});
beforeEach(async () => {
  page = await opened(browser, home);
});
afterEach(() => page.close());

type Options = Parameters<typeof lib.windowTransport>[1];

/** Connects the page to its frame of this index, and keeps the promise of the endpoint. */
const fromParent = (options: Options, index = 0): Promise<void> =>
  page.evaluate(
    ({ options, index }) => {
      const target = document.querySelectorAll("iframe")[index]!.contentWindow!;
      globalThis.transport = lib.windowTransport(target, options);
      globalThis.endpoint = lib.connect(globalThis.transport);
      globalThis.endpoint.catch(() => {});
    },
    { options, index },
  );

/** Connects a frame to its parent, and answers calls. */
const fromFrame = (frame: Frame, options: Options): Promise<void> =>
  frame.evaluate((options) => {
    globalThis.endpoint = lib.connect(lib.windowTransport(parent, options));
    globalThis.endpoint.catch(() => {});
    void globalThis.endpoint.then((endpoint) => {
      endpoint.methods("frame").handle({
        where: () => globalThis.origin,
        size: (bytes: Uint8Array) => bytes.length,
        fail: () => {
          throw Object.assign(new Error("no"), { secret: "s3cret" });
        },
        wait: () => new Promise(() => {}),
      });
    });
  }, options);

/**
 * Connects the page to its frame. `openMs` is over once a message of the frame has arrived, and not before. Returns when the page waits
 * for that message.
 */
const untilHeard = (options: Options): Promise<void> =>
  page.evaluate(async (options) => {
    // The library uses the timers of its start.
    const own = (globalThis as unknown as Record<symbol, { setTimeout: unknown }>)[Symbol.for("clearway.globals")]!;
    const { setTimeout } = own;
    globalThis.timers = new Map();
    own.setTimeout = (act: () => void, ms?: number) => globalThis.timers.set(ms, act);
    const openMs = 3000;
    const target = document.querySelector("iframe")!.contentWindow!;
    globalThis.endpoint = lib.connect(lib.windowTransport(target, { ...options, openMs }));
    globalThis.endpoint.catch(() => {});
    await null; // the transport listens, and has set its timer, in a microtask
    own.setTimeout = setTimeout;
    // This listener is called after the transport's own.
    addEventListener("message", () => globalThis.timers.get(openMs)!(), { once: true });
  }, options);

const called = (method: string): Promise<unknown> =>
  page.evaluate(async (method) => (await globalThis.endpoint).methods("frame").call(method, null), method);

/** Returns why the page's transport closed, before or after it had an endpoint. */
const reason = (): Promise<CloseReason> =>
  page.evaluate(() =>
    globalThis.endpoint.then(
      (endpoint) => endpoint.closed,
      (error) => error.reason,
    ),
  );

/** Records the messages that a window receives. */
const recorded = (frame: Frame): Promise<void> =>
  frame.evaluate(() => {
    globalThis.heard = [];
    addEventListener("message", ({ data }) => globalThis.heard.push(data));
  });

/** Starts a call that is never answered, and keeps how it ends. */
const openCall = (): Promise<void> =>
  page.evaluate(async () => {
    const { call } = (await globalThis.endpoint).methods("frame");
    globalThis.pending = call("wait", null).catch(({ code }) => code);
    await call("where", null);
  });

describe("a window transport between two sites", () => {
  test.for(["parent", "frame"])("connects when the %s is first", async (first) => {
    const frame = await framed(page, away);
    const steps = [() => fromParent({ origin: away }), () => fromFrame(frame, { origin: home })];
    for (const step of first === "parent" ? steps : steps.reverse()) await step();
    expect(await called("where")).toBe(away);
  });

  test("moves memory to the other site", async () => {
    const frame = await framed(page, away);
    await fromParent({ origin: [home, away] });
    await fromFrame(frame, { origin: home });
    const sizes = await page.evaluate(async () => {
      const bytes = new Uint8Array(100_000);
      const size = await (await globalThis.endpoint).methods("frame").call("size", lib.move(bytes));
      return [size, bytes.length];
    });
    expect(sizes).toEqual([100_000, 0]);
  });

  test("does not show a handler's error in full to another origin, and does to its own", async () => {
    const told: string[] = [];
    for (const origin of [away, home]) {
      const frame = await framed(page, origin);
      await fromParent({ origin }, told.length);
      await fromFrame(frame, { origin: home });
      told.push(
        await page.evaluate(async () => {
          const failed = (await globalThis.endpoint).methods("frame").call("fail", null);
          return failed.then(String, (error) => JSON.stringify({ ...error, cause: { ...error.cause } }));
        }),
      );
    }
    expect(told.map((each) => each.includes("s3cret"))).toEqual([false, true]);
  });

  test("carries two connections between the same two windows, by name", async () => {
    const frame = await framed(page, away);
    const answers = await page.evaluate((origin) => {
      const target = document.querySelector("iframe")!.contentWindow!;
      const ends = ["first", "second"].map((name) => lib.connect(lib.windowTransport(target, { origin, name })));
      let refused = "";
      try {
        lib.windowTransport(target, { origin, name: "second" });
      } catch (error) {
        refused = String(error);
      }
      globalThis.pending = Promise.all(ends.map(async (end) => (await end).methods("name").call("get", null))).then(
        (names) => [...names, refused],
      );
    }, away);
    expect(answers).toBeUndefined();
    await frame.evaluate(async (origin) => {
      for (const name of ["second", "first"]) {
        const endpoint = await lib.connect(lib.windowTransport(parent, { origin, name }));
        endpoint.methods("name").handle({ get: () => name });
      }
    }, home);
    expect(await page.evaluate(() => globalThis.pending)).toEqual([
      "first",
      "second",
      'ClearwayError: name must be of no other handshake with this window: name="second"',
    ]);
  });

  test("can be closed and made again before the other page is there", async () => {
    const frame = await framed(page, away);
    await page.evaluate((origin) => {
      const target = document.querySelector("iframe")!.contentWindow!;
      lib.windowTransport(target, { origin }).close();
    }, away);
    await fromParent({ origin: away });
    await fromFrame(frame, { origin: home });
    expect(await called("where")).toBe(away);
  });
});

describe("a window transport with a hostile page", () => {
  test("ignores messages that other windows forge, of any origin", async () => {
    await framed(page, away);
    const forger = await framed(page, away);
    await fromParent({ origin: away });
    await forger.evaluate(async () => {
      const { port1, port2 } = new MessageChannel();
      globalThis.heard = [];
      port1.onmessage = ({ data }) => globalThis.heard.push(data);
      parent.postMessage(["clearway.window", 1, "ask", "", "1"], "*");
      parent.postMessage(["clearway.window", 1, "port", "", "1", "2"], "*", [port2]);
      addEventListener("message", ({ data }) => globalThis.heard.push(data));
    });
    await fromFrame(page.frames()[1]!, { origin: home });
    expect(await called("where")).toBe(away);
    expect(await forger.evaluate(() => globalThis.heard)).toEqual([]);
  });

  test("sends nothing to a page of an origin that it does not list, and names that origin when the time is over", async () => {
    const frame = await framed(page, away);
    await recorded(frame);
    await untilHeard({ origin: "https://example.com" });
    await fromFrame(frame, { origin: home });
    expect(await reason()).toEqual({
      code: "timeout",
      message: `the window did not connect within 3000 ms; its page has the origin "${away}", which the option origin does not contain`,
    });
    expect(await frame.evaluate(() => globalThis.heard)).toEqual([]);
  });

  test("ignores messages of the right window that are not of the protocol", async () => {
    const frame = await framed(page, away);
    await fromParent({ origin: away });
    await frame.evaluate(() => {
      const mark = "clearway.window";
      const { port1 } = new MessageChannel();
      for (const message of [
        null,
        7,
        [],
        [mark],
        [mark, 2, "ask", "", "1"],
        [mark, 1, "ask", 7, "1"],
        [mark, 1, "tell", "", "1"],
      ])
        parent.postMessage(message, "*");
      parent.postMessage([mark, 1, "port", "", "1", "not its id"], "*", [port1]);
      parent.postMessage([mark, 1, "port", "", "1"], "*");
    });
    await fromFrame(frame, { origin: home });
    expect(await called("where")).toBe(away);
  });

  test("closes with `timeout` when the other page never connects", async () => {
    await framed(page, away);
    await fromParent({ origin: away, openMs: 20 });
    expect(await reason()).toEqual({ code: "timeout", message: "the window did not connect within 20 ms" });
  });

  test("connects to an opaque origin only if the options say so", async () => {
    const frame = await framed(page, away, "allow-scripts");
    await untilHeard({ origin: away });
    await frame.evaluate((origin) => parent.postMessage(["clearway.window", 1, "ask", "", "1"], origin), home);
    expect((await reason()).message).toContain('its page has the origin "null"');
    await fromParent({ origin: "null" });
    await fromFrame(frame, { origin: home });
    expect(await called("where")).toBe("null");
  });

  test("connects to any origin with `dangerouslyAnyOrigin`, and still to that window only", async () => {
    const frame = await framed(page, away);
    await fromParent({ dangerouslyAnyOrigin: true });
    await fromFrame(frame, { dangerouslyAnyOrigin: true });
    expect(await called("where")).toBe(away);
  });
});

describe("a window transport to a page that is left", () => {
  test.for(["remove", "navigate", "blank"])("closes, and fails open calls, after the parent did: %s", async (how) => {
    const frame = await framed(page, away);
    await fromParent({ origin: away });
    await fromFrame(frame, { origin: home });
    await openCall();
    await page.evaluate(
      ({ how, url }) => {
        const element = document.querySelector("iframe")!;
        if (how === "remove") element.remove();
        else element.src = how === "blank" ? "about:blank" : url;
      },
      { how, url: `${home}/other` },
    );
    expect(await page.evaluate(() => globalThis.pending)).toBe("transport-closed");
    expect(await reason()).toEqual({ code: "closed", message: "the page was left" });
  });

  test("closes when the opener of a popup navigates", async () => {
    const popupOpened = page.waitForEvent("popup");
    await page.evaluate(
      ({ url, origin }) => {
        const popup = window.open(url)!;
        globalThis.endpoint = lib.connect(lib.windowTransport(popup, { origin }));
      },
      { url: away, origin: away },
    );
    const popup = await popupOpened;
    await popup.waitForLoadState();
    await popup.evaluate(async (origin) => {
      globalThis.endpoint = lib.connect(lib.windowTransport(opener, { origin }));
      await globalThis.endpoint;
    }, home);
    await page.goto(`${home}/other`);
    expect(await popup.evaluate(async () => (await globalThis.endpoint).closed)).toEqual({
      code: "closed",
      message: "the page was left",
    });
    await popup.close();
  });

  test("connects again after the frame was loaded again", async () => {
    const frame = await framed(page, away);
    await fromParent({ origin: away });
    await fromFrame(frame, { origin: home });
    expect(await called("where")).toBe(away);
    await frame.goto(`${away}/again`);
    expect(await reason()).toMatchObject({ code: "closed" });
    await fromParent({ origin: away });
    await fromFrame(frame, { origin: home });
    expect(await called("where")).toBe(away);
  });

  test("closes with `lost` when the window is closed already, and when its page was replaced during the handshake", async () => {
    const frame = await framed(page, away);
    await fromParent({ origin: away });
    await frame.evaluate(() => {
      for (const id of ["1", "2"]) parent.postMessage(["clearway.window", 1, "ask", "", id], "*");
    });
    expect(await reason()).toEqual({
      code: "lost",
      message: "the page in the other window was replaced during the handshake",
    });
    await page.evaluate((origin) => {
      const element = document.querySelector("iframe")!;
      const target = element.contentWindow!;
      element.remove();
      globalThis.endpoint = lib.connect(lib.windowTransport(target, { origin }));
      globalThis.endpoint.catch(() => {});
    }, away);
    expect(await reason()).toEqual({ code: "lost", message: "the window is closed" });
  });
});
