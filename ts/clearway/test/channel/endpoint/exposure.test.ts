// SPDX-License-Identifier: MIT OR Apache-2.0
import { describe, expect, test } from "vitest";
import type { EndpointOptions } from "../../../src/channel/endpoint/options.js";
import { RemoteError } from "../../../src/channel/endpoint/outcome.js";
import { endpoints, rejection, transports } from "./pairs.js";

const wires = ["clearway", "plain"] as const;
const secret = "Bearer c2VjcmV0";

/** Returns an error like those of a database client or an HTTP client. */
function leaky(): Error {
  const cause = Object.assign(new Error(`connect with ${secret}`), { sql: `select ${secret}` });
  const error = Object.assign(new Error("no answer", { cause }), { code: "E_DB", authorization: secret });
  error.stack = `Error: no answer\n    at ${secret}`;
  return error;
}

/** Returns everything that is visible in an error, as text. */
function everything(error: unknown, seen = new Set<unknown>()): string {
  if (typeof error !== "object" || error === null || seen.has(error)) return String(error);
  seen.add(error);
  const keys = Reflect.ownKeys(error);
  return keys
    .map((key) => `${String(key)}: ${everything((error as Record<PropertyKey, unknown>)[key], seen)}`)
    .join("\n");
}

/** Returns the errors that a caller and a listener receive for a thrown error. */
async function told(carrier: string, wire: "clearway" | "plain", options: EndpointOptions, thrown: () => unknown) {
  const { a, b } = await endpoints(transports[carrier]!(), { wire, onError: () => {}, ...options });
  b.methods("m").handle({ fails: () => Promise.reject(thrown()) });
  b.events("e").serve(async function* () {
    yield 1;
    throw thrown();
  });
  const stream = a.events("e").listen();
  await stream.next();
  return [await rejection(a.methods("m").call("fails")), await rejection(stream.next())] as RemoteError[];
}

describe.each(wires)("an error of a handler or a source, on the %s wire,", (wire) => {
  // "bytes" behaves like a WebSocket.
  test("crosses only as code and message when the other endpoint is another program", async () => {
    for (const error of await told("bytes", wire, {}, leaky)) {
      expect(error).toMatchObject({ name: "RemoteError", code: "E_DB", message: "no answer", details: null });
      expect(error.cause).toBe(undefined);
      expect(everything(error)).not.toContain(secret);
    }
  });

  test("crosses with the details that its handler chose, but not with the details of a third endpoint's error", async () => {
    const chosen = (): unknown => new RemoteError("BUSY", "later", { details: [7], cause: leaky() });
    for (const error of await told("bytes", wire, {}, chosen)) {
      expect(error).toMatchObject({ code: "BUSY", message: "later", details: [7] });
      expect(everything(error)).not.toContain(secret);
    }
    const passed = (): unknown => new RemoteError("BUSY", "later", { details: secret, channel: "backend" });
    for (const error of await told("bytes", wire, {}, passed)) {
      expect(error).toMatchObject({ code: "BUSY", message: "later", details: null });
      expect(everything(error)).not.toContain(secret);
    }
  });

  test.each(["memory", "port", "port and ring"])(
    "crosses as code and message over %s with exposeErrors: false",
    async (carrier) => {
      for (const error of await told(carrier, wire, { exposeErrors: false }, leaky)) {
        expect(error.code).toBe("E_DB");
        expect(everything(error)).not.toContain(secret);
      }
    },
  );

  test("is replaced by redactError, which receives the channel", async () => {
    const channels: string[] = [];
    const redactError = (error: unknown, channel: string): unknown => {
      channels.push(channel);
      return new RemoteError("HIDDEN", `${(error as Error).message.length} characters`);
    };
    for (const carrier of ["bytes", "memory"])
      for (const error of await told(carrier, wire, { redactError }, leaky)) {
        expect(error).toMatchObject({ code: "HIDDEN", message: "9 characters" });
        expect(everything(error)).not.toContain(secret);
      }
    expect(new Set(channels)).toEqual(new Set(["m", "e"]));
  });

  test.each([new Error(secret), secret, undefined])("is hidden completely when redactError throws", async (thrown) => {
    const redactError = (): never => {
      throw thrown;
    };
    for (const error of await told("bytes", wire, { redactError }, leaky)) {
      expect(error).toMatchObject({ code: "error", message: "an error that is not told" });
      expect(everything(error)).not.toContain(secret);
    }
  });
});

describe("an error of a handler", () => {
  test.each([
    ["memory", {}],
    ["port", {}],
    ["bytes", { exposeErrors: true }],
  ] as const)("crosses with cause and stack over %s with %o", async (carrier, options) => {
    for (const error of await told(carrier, "clearway", options, leaky)) {
      expect(error.cause).toMatchObject({ code: "E_DB", authorization: secret, cause: { sql: `select ${secret}` } });
      expect(error.stack).toContain(secret);
    }
  });
});
