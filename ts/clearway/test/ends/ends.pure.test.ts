// SPDX-License-Identifier: MIT OR Apache-2.0
import { describe, expect, test } from "vitest";
import { type ExtensionPort, extensionTransport, fromBase64, toBase64 } from "../../src/browser/extension.js";
import { originsOf, targetOf } from "../../src/browser/window.js";
import { connect } from "../../src/channel/endpoint/endpoint.js";
import { type Connected, channelTransportContract, Log, pattern } from "../channel/transports/contract.js";

// A faithful copy of `chrome.runtime.Port`, as far as the transport can see it: messages cross as JSON, in order and later; a message
// without a listener is dropped; a message of 64 MiB or more is refused; a disconnected port throws; only the other end hears of a
// disconnection. `extension.node.test.ts` runs the same transport in an extension in Chromium.

class FakeEvent<Value> {
  readonly #listeners = new Set<(value: never) => void>();

  addListener(listener: (value: never) => void): void {
    this.#listeners.add(listener);
  }

  removeListener(listener: (value: never) => void): void {
    this.#listeners.delete(listener);
  }

  emit(value: Value): void {
    for (const listener of [...this.#listeners]) (listener as (value: Value) => void)(value);
  }
}

class FakePort implements ExtensionPort {
  readonly onMessage = new FakeEvent<unknown>();
  readonly onDisconnect = new FakeEvent<FakePort>();
  readonly posted: string[] = [];
  other: FakePort | undefined;
  error: { message: string } | undefined;
  #connected = true;

  postMessage(message: unknown): void {
    if (!this.#connected) throw new Error("Attempting to use a disconnected port object");
    const text = JSON.stringify(message);
    if (text === undefined) throw new Error("Could not serialize message.");
    if (text.length >= 64 << 20) throw new Error("Message exceeded maximum allowed size of 64MiB.");
    this.posted.push(text);
    const { other } = this;
    setTimeout(() => other?.arrive(JSON.parse(text)));
  }

  /** Delivers a message as if the other end had posted it. */
  arrive(message: unknown): void {
    if (this.#connected) this.onMessage.emit(message);
  }

  disconnect(): void {
    if (!this.#connected) return;
    this.#connected = false;
    const { other } = this;
    setTimeout(() => other?.gone());
  }

  /** Disconnects this port as the browser does when the other end is gone. */
  gone(error?: string): void {
    if (!this.#connected) return;
    this.#connected = false;
    this.error = error === undefined ? undefined : { message: error };
    this.onDisconnect.emit(this);
  }
}

function fakePorts(): [FakePort, FakePort] {
  const [one, two] = [new FakePort(), new FakePort()];
  one.other = two;
  two.other = one;
  return [one, two];
}

channelTransportContract("extension", (wanted): Connected => {
  const [one, two] = fakePorts();
  return { a: extensionTransport(one, wanted), b: extensionTransport(two, wanted), kill: () => two.disconnect() };
});

const bytesOf = (...bytes: number[]): string => toBase64(new Uint8Array(bytes));
const mark = "clearway.extension";

describe("an extension transport", () => {
  test("splits a large frame into messages far below the browser's limit, and joins them", async () => {
    const [one, two] = fakePorts();
    const [a, b] = [extensionTransport(one), extensionTransport(two)];
    const log = new Log();
    b.open(log);
    const bytes = 7 * (1 << 20) + 5;
    a.send(pattern(bytes, 3));
    a.send(pattern(2));
    await log.count(2);
    expect(log.frames.map(({ byteLength }) => byteLength)).toEqual([bytes, 2]);
    expect(toBase64(log.frames[0]!) === toBase64(pattern(bytes, 3))).toBe(true);
    expect(one.posted.map((text) => text.length <= (4 << 20) + 64)).toEqual([true, true, true, true]);
    a.close();
  });

  test("lets two endpoints call each other, and fails an open call when the port is disconnected", async () => {
    const [one, two] = fakePorts();
    const [here, there] = await Promise.all([connect(extensionTransport(one)), connect(extensionTransport(two))]);
    there.methods("page").handle({ double: (value: number) => value * 2, wait: () => new Promise(() => {}) });
    expect(await here.methods("page").call("double", 21)).toBe(42);
    const open = here.methods("page").call("wait", null);
    open.catch(() => {});
    two.disconnect();
    await expect(open).rejects.toMatchObject({ code: "transport-closed" });
    expect(await here.closed).toMatchObject({ code: "lost", message: "the port was disconnected" });
  });

  test("reports `failed` with the browser's message when no part of the extension listens", async () => {
    const [one] = fakePorts();
    const a = extensionTransport(one);
    const log = new Log();
    a.open(log);
    one.gone("Could not establish connection. Receiving end does not exist.");
    expect(await log.end()).toMatchObject({
      code: "failed",
      message: "Could not establish connection. Receiving end does not exist.",
    });
  });

  test("reports `lost` when the extension was reloaded under it, also from inside a send", async () => {
    const [one] = fakePorts();
    const a = extensionTransport(one);
    const log = new Log();
    a.open(log);
    const invalidated = (): never => {
      throw new Error("Extension context invalidated.");
    };
    Object.assign(one, { postMessage: invalidated, disconnect: invalidated });
    expect(a.send(pattern(3))).toBe(false);
    expect(log.reasons).toEqual([]);
    expect(await log.end()).toMatchObject({ code: "lost", cause: new Error("Extension context invalidated.") });
  });

  test.for([
    ["a kind that does not exist", [mark, "shout", "x"]],
    ["a frame that is no text", [mark, "frame", 7]],
    ["a frame that is not base64", [mark, "frame", "???"]],
    ["a report of no number", [mark, "taken", "all"]],
    ["a part without bytes", [mark, "part", ""]],
    ["a small part", [mark, "part", bytesOf(1)]],
  ] as const)("closes with `protocol` when the other end sends %s", async ([, message]) => {
    const [one] = fakePorts();
    const a = extensionTransport(one);
    const log = new Log();
    a.open(log);
    one.arrive(message);
    expect(await log.end()).toMatchObject({ code: "protocol" });
    expect(log.frames).toEqual([]);
  });

  test("ignores messages that are not of a channel", async () => {
    const [one] = fakePorts();
    const a = extensionTransport(one);
    const log = new Log();
    a.open(log);
    for (const other of [null, 7, "text", {}, [], ["else", "frame", "x"]]) one.arrive(other);
    one.arrive([mark, "frame", bytesOf(1, 2)]);
    await log.count(1);
    expect(log.frames).toEqual([new Uint8Array([1, 2])]);
    a.close();
  });

  test("closes with `too-large` before it decodes a frame over the limit, whole or in parts", async () => {
    const part = toBase64(new Uint8Array(64 << 10));
    for (const messages of [
      [[mark, "frame", toBase64(new Uint8Array(200_000))]],
      [
        [mark, "part", part],
        [mark, "part", part],
      ],
    ]) {
      const [one] = fakePorts();
      const a = extensionTransport(one, { frameBytesMax: 100_000 });
      const log = new Log();
      a.open(log);
      for (const message of messages) one.arrive(message);
      expect(await log.end()).toMatchObject({ code: "too-large" });
    }
  });

  test.each([
    [900, 40],
    [0, 300],
  ])("closes with `too-large` when a sender ignores the window: frames of %i bytes", async (bytes, frames) => {
    const [one] = fakePorts();
    const a = extensionTransport(one, { frameBytesMax: 1000, windowBytes: 1000 });
    for (let sent = 0; sent < frames; sent++) one.arrive([mark, "frame", toBase64(new Uint8Array(bytes))]);
    const log = new Log();
    a.open(log);
    expect(await log.end()).toMatchObject({ code: "too-large" });
  });

  test("refuses a port that is none, and unknown options", () => {
    expect(() => extensionTransport({} as never)).toThrow("port must be a port of chrome.runtime.connect()");
    expect(() => extensionTransport(fakePorts()[0], { windowByte: 1 } as never)).toThrow(
      "windowByte must be a known option (the nearest is windowBytes): windowByte=1",
    );
  });
});

describe("base64 without the browser's own functions", () => {
  test("gives the same text and the same bytes", () => {
    const bytes = pattern(100_001, 5);
    const expected = plainBase64(bytes);
    const text = toBase64(Object.assign(bytes.slice(), { toBase64: undefined }));
    expect(text === expected).toBe(true);
    const own = Object.getOwnPropertyDescriptor(Uint8Array, "fromBase64");
    Object.defineProperty(Uint8Array, "fromBase64", { value: undefined, configurable: true, writable: true });
    try {
      expect(fromBase64(text)?.every((byte, at) => byte === bytes[at])).toBe(true);
      expect(fromBase64("***")).toBeUndefined();
    } finally {
      if (own) Object.defineProperty(Uint8Array, "fromBase64", own);
      else Reflect.deleteProperty(Uint8Array, "fromBase64");
    }
  });
});

// An independent encoder: the host's `btoa` of one string.
function plainBase64(bytes: Uint8Array): string {
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
}

test("origins are taken as they are: of sites, extensions and apps, and opaque ones", () => {
  const origins = ["https://example.com", "http://localhost:8080", "chrome-extension://abc", "app://main", "null"];
  expect(originsOf(origins, undefined)).toEqual(origins);
  expect(originsOf("https://example.com", false)).toEqual(["https://example.com"]);
  expect(originsOf(undefined, true)).toBeUndefined();
  expect(["https://example.com", "null"].map(targetOf)).toEqual(["https://example.com", "*"]);
});

test.for([
  ["*", 'a list of origins (dangerouslyAnyOrigin: true accepts every page of the window): origin="*"'],
  ["https://example.com/", 'an origin alone, here "https://example.com": origin="https://example.com/"'],
  ["https://example.com/a?b", 'an origin alone, here "https://example.com": origin="https://example.com/a?b"'],
  ["https://Example.com:443", 'an origin alone, here "https://example.com": origin="https://Example.com:443"'],
  ["https://me@example.com", 'an origin alone, here "https://example.com": origin="https://me@example.com"'],
  ["example.com", 'an origin such as "https://example.com": origin="example.com"'],
  ["file:///a", 'an origin such as "https://example.com": origin="file:///a"'],
  ["data:text/html,", 'an origin such as "https://example.com": origin="data:text/html,"'],
  [undefined, 'an origin such as "https://example.com": origin=undefined'],
  [7, 'an origin such as "https://example.com": origin=7'],
  [[], "at least one origin: origin=[object]"],
] as const)("the origin %s is refused, with what it must be", ([origin, message]) => {
  expect(() => originsOf(origin, undefined)).toThrow(`origin must be ${message}`);
  expect(() => originsOf(origin, undefined)).toThrowError(expect.objectContaining({ code: "invalid-argument" }));
});

test("any origin is only taken by the option that says so, and not beside a list", () => {
  expect(() => originsOf("https://example.com", true)).toThrow("origin must be left out with dangerouslyAnyOrigin");
  expect(() => originsOf(undefined, "yes")).toThrow(
    'dangerouslyAnyOrigin must be true or false: dangerouslyAnyOrigin="yes"',
  );
});
