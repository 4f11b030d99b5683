// SPDX-License-Identifier: MIT OR Apache-2.0
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import os, { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import {
  type ConnectArguments,
  findModule,
  loginOf,
  moduleNameOf,
  parseConcurrency,
  parseDuration,
  parseServers,
  serversOf,
} from "../../src/cli/options.js";

const folder = mkdtempSync(path.join(tmpdir(), "clearway-serve-"));
afterAll(() => rmSync(folder, { recursive: true }));
const file = (name: string, text: string): string => {
  const at = path.join(folder, name);
  writeFileSync(at, text);
  return at;
};

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
    ["nat://localhost", '"nat://localhost" is no address'],
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
    expect(serversOf({ nats: "a:1" }, { NATS_URL: "b:2" })).toEqual(["a:1"]);
    expect(serversOf({}, { NATS_URL: "b:2,c:3" })).toEqual(["b:2", "c:3"]);
    expect(serversOf({}, { NATS_URL: "" })).toEqual(["nats://127.0.0.1:4222"]);
    expect(() => serversOf({}, { NATS_URL: "x://y" })).toThrow('NATS_URL: "x://y" is no address');
  });
});

describe("--concurrency", () => {
  test("is a thread for each core, or a number", () => {
    expect(parseConcurrency("cpu")).toBe(os.availableParallelism());
    expect(parseConcurrency("3")).toBe(3);
  });

  test.each(["0", "-1", "1.5", "", " ", "10250", "many"])("refuses %j", (text) => {
    expect(() => parseConcurrency(text)).toThrow(
      "--concurrency is cpu (a thread for each core), or a number of threads",
    );
  });
});

test("--drain is a duration in milliseconds or seconds", () => {
  expect(["500", "500ms", "2.5s"].map(parseDuration)).toEqual([500, 500, 2500]);
  for (const text of ["", "0", "-1s", "5m", "1e9s"])
    expect(() => parseDuration(text)).toThrow("--drain is a duration such as 500ms or 25s");
});

test("a task module is a file", () => {
  const module = file("images.tasks.js", "");
  expect(findModule(module)).toBe(module);
  for (const name of [folder, path.join(folder, "none.js")]) expect(() => findModule(name)).toThrow("is no file");
});

test("a module without --module has the name of its file", () => {
  expect(moduleNameOf("/a/images.tasks.js")).toBe("images");
  expect(moduleNameOf("/a/images.ts")).toBe("images");
});

describe("a login", () => {
  test("comes from the variables of NATS's command line, or from files", () => {
    expect(loginOf({}, {})).toEqual({});
    expect(loginOf({}, { NATS_USER: "me", NATS_PASSWORD: "secret" })).toEqual({ user: "me", pass: "secret" });
    expect(loginOf({}, { NATS_TOKEN: "secret" })).toEqual({ token: "secret" });
    const nkey = file("user.nk", "SUAB\n");
    expect(new TextDecoder().decode(loginOf({ nkey }, {}).seed)).toBe("SUAB");
    expect(loginOf({ creds: file("user.creds", "x") }, {}).creds).toHaveLength(1);
    const caFile = file("ca.pem", "");
    expect(loginOf({ "tls-ca": caFile }, {})).toEqual({ tls: { caFile } });
  });

  test.each<[string, ConnectArguments, NodeJS.ProcessEnv, string]>([
    ["two logins", { nkey: "x" }, { NATS_TOKEN: "t" }, "there is more than one login: NATS_TOKEN and --nkey"],
    ["a missing file", { creds: path.join(folder, "none") }, {}, "--creds: "],
    ["a certificate without a key", { "tls-cert": file("cert.pem", "") }, {}, "--tls-cert and --tls-key go together"],
  ])("with %s is refused", (_, more, env, message) => {
    expect(() => loginOf(more, env)).toThrow(message);
  });
});
