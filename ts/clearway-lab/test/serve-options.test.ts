// SPDX-License-Identifier: MIT OR Apache-2.0
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import os, { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import {
  loginOf,
  moduleNameOf,
  parseConcurrency,
  parseModes,
  parseServers,
  parseTasks,
  type ServeArguments,
  serversOf,
} from "../src/cli/serve-options.js";

const folder = mkdtempSync(path.join(tmpdir(), "clearway-serve-"));
afterAll(() => rmSync(folder, { recursive: true }));
const file = (name: string, text: string): string => {
  const at = path.join(folder, name);
  writeFileSync(at, text);
  return at;
};

const options = (more: Partial<ServeArguments> = {}): ServeArguments => ({
  concurrency: 1,
  drain: 1,
  mode: ["request"],
  ...more,
});

describe("--nats", () => {
  test("takes addresses with and without a scheme and a port", () => {
    expect(parseServers("nats://10.0.0.1:4222, tls://nats.example.org,[::1]:4222,localhost")).toEqual([
      "nats://10.0.0.1:4222",
      "tls://nats.example.org",
      "[::1]:4222",
      "localhost",
    ]);
  });

  test.each([
    ["", '"" is no address such as nats://127.0.0.1:4222'],
    ["nats://a,,nats://b", '"" is no address'],
    ["nat://localhost", 'Did you mean "nats"?'],
    ["nats://localhost:99999", '"nats://localhost:99999" is no address'],
    ["nats://localhost/path", "is no address"],
    ["nats://me:secret@localhost", "an address must not contain a password"],
  ])("refuses %j", (text, message) => {
    expect(() => parseServers(text)).toThrow(message);
  });

  test("does not repeat a password in a message", () => {
    for (const address of [
      "nats://me:secret@localhost",
      "nat://me:secret@localhost",
      "nats://me:secret@localhost:99999",
    ])
      expect(() => parseServers(address)).toThrow(
        expect.not.objectContaining({ message: expect.stringContaining("secret") }),
      );
  });

  test("is NATS_URL's by default, and a server on this machine without it", () => {
    expect(serversOf(options({ nats: ["a:1"] }), { NATS_URL: "b:2" })).toEqual(["a:1"]);
    expect(serversOf(options(), { NATS_URL: "b:2,c:3" })).toEqual(["b:2", "c:3"]);
    expect(serversOf(options(), { NATS_URL: "" })).toEqual(["nats://127.0.0.1:4222"]);
    expect(() => serversOf(options(), { NATS_URL: "x://y" })).toThrow("NATS_URL: an address begins with");
  });
});

describe("--concurrency", () => {
  test("is a thread for each core, or a number", () => {
    expect(parseConcurrency("cpu")).toBe(os.availableParallelism());
    expect(parseConcurrency("3")).toBe(3);
  });

  test.each(["0", "-1", "1.5", "", " ", "1025", "many"])("refuses %j", (text) => {
    expect(() => parseConcurrency(text)).toThrow(
      "it is cpu (a thread for each core), or a number of threads from 1 to 1024",
    );
  });

  test("names what is near", () => {
    expect(() => parseConcurrency("cpus")).toThrow('Did you mean "cpu"?');
  });
});

test("--mode takes one mode or both, each once, and names the nearest for another", () => {
  expect(parseModes("durable")).toEqual(["durable"]);
  expect(parseModes("request, durable,request")).toEqual(["request", "durable"]);
  expect(() => parseModes("durabel")).toThrow(
    'unknown mode "durabel". Modes: request, durable. Did you mean "durable"?',
  );
});

test("--idempotent takes names with one comma each", () => {
  expect(parseTasks("resize, rotate")).toEqual(["resize", "rotate"]);
  expect(() => parseTasks("resize,,rotate")).toThrow("separated by one comma each");
});

test("a module without --module has the name of its file", () => {
  expect(moduleNameOf("/a/images.tasks.js")).toBe("images");
  expect(moduleNameOf("/a/images.ts")).toBe("images");
  expect(() => moduleNameOf("/a/my images.js")).toThrow(
    "the name of my images.js cannot be the module's name: give one with --module",
  );
});

describe("a login", () => {
  test("comes from the variables of NATS's command line, or from files", () => {
    expect(loginOf(options(), {})).toEqual({});
    expect(loginOf(options(), { NATS_USER: "me", NATS_PASSWORD: "secret" })).toEqual({ user: "me", pass: "secret" });
    expect(loginOf(options(), { NATS_TOKEN: "secret" })).toEqual({ token: "secret" });
    const nkey = file("user.nk", "SUAB\n");
    expect(new TextDecoder().decode(loginOf(options({ nkey }), {}).seed)).toBe("SUAB");
    expect(loginOf(options({ creds: file("user.creds", "x") }), {}).creds).toHaveLength(1);
    const tlsCa = file("ca.pem", "");
    expect(loginOf(options({ tlsCa }), {})).toEqual({ tls: { caFile: tlsCa } });
  });

  test.each<[string, Partial<ServeArguments>, NodeJS.ProcessEnv, string]>([
    ["two logins", { nkey: "x" }, { NATS_TOKEN: "t" }, "there is more than one login: NATS_TOKEN and --nkey"],
    ["a missing file", { creds: path.join(folder, "none") }, {}, "--creds: "],
    ["a certificate without a key", { tlsCert: file("cert.pem", "") }, {}, "--tls-cert and --tls-key go together"],
  ])("with %s is refused", (_, more, env, message) => {
    expect(() => loginOf(options(more), env)).toThrow(message);
  });
});
