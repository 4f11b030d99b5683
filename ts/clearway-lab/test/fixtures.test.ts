// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests the local servers of the scenarios, and the clients of the measured workers.
import { once } from "node:events";
import http from "node:http";
import net, { type AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { EchoConnection } from "../src/isolate/echo-client.js";
import { FeedClient } from "../src/isolate/feed-client.js";
import { fetchStudents, studentsUrl } from "../src/isolate/fetch-json.js";
import { startFeed } from "../src/runner/fixture-feed.js";
import { answerFixture } from "../src/runner/fixture-http.js";

const listen = async (server: net.Server) => {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
};

describe("the HTTP fixture", () => {
  const server = http.createServer((request, response) => {
    if (!answerFixture(request, response, new Uint8Array(3))) response.writeHead(404).end();
  });
  let url = "";
  beforeAll(async () => {
    url = `http://127.0.0.1:${await listen(server)}`;
  });
  afterAll(() => new Promise((done) => server.close(done)));

  test("serves as many students as asked, also when it is asked again", async () => {
    for (const rows of [1, 3, 3, 2, 4, 5, 6, 1]) {
      const students = await fetchStudents(studentsUrl(url, rows));
      expect(students).toHaveLength(rows);
      expect(students.at(-1)).toEqual({ rollNum: rows, name: `student ${rows}` });
    }
  });

  test.each(["0", "2000001", "-1", "1e3", "", "1&rows=2"])("refuses rows=%s", async (rows) => {
    expect((await fetch(`${url}/students?rows=${rows}`)).status).toBe(404);
    await expect(fetchStudents(`${url}/students?rows=${rows}`)).rejects.toThrow("the fixture server answered 404");
  });
});

describe("the HTTP/2 feed", () => {
  const server = startFeed();
  let url = "";
  let client: FeedClient;
  beforeAll(async () => {
    url = `http://127.0.0.1:${await listen(server as unknown as net.Server)}`;
    client = await FeedClient.open(url);
  });
  afterAll(async () => {
    client.close();
    await new Promise<void>((done) => server.close(() => done()));
  });

  test("arrives in chunks of the wanted size, the last one shorter, each with memory of its own", async () => {
    const chunks: Uint8Array[] = [];
    for await (const chunk of client.receive(250_000, 65_536)) chunks.push(chunk);
    expect(chunks.map(({ length }) => length)).toEqual([65_536, 65_536, 65_536, 53_392]);
    expect(new Set(chunks.map(({ buffer }) => buffer)).size).toBe(4);
    expect(chunks.every((chunk) => chunk.every((byte) => byte === 7))).toBe(true);
  });

  test("is counted by the server when it is sent", async () => {
    async function* chunks() {
      for (let i = 0; i < 5; i++) yield new Uint8Array(100_000).fill(i);
    }
    expect(await client.send(chunks())).toBe(500_000);
    expect(client.open).toBe(true);
  });

  test("ends when its reader leaves, and the connection stays usable", async () => {
    for await (const chunk of client.receive(8 << 20, 65_536)) {
      expect(chunk).toHaveLength(65_536);
      break;
    }
    expect(await client.send((async function* () {})())).toBe(0);
  });

  test.each(["/feed?bytes=0&chunk=1", "/feed?bytes=1&chunk=99999999", "/feed?bytes=x&chunk=1", "/feed", "/other"])(
    "refuses %s without a body",
    async (path) => {
      const { default: http2 } = await import("node:http2");
      const session = http2.connect(url);
      const stream = session.request({ ":path": path });
      const [headers] = (await once(stream, "response")) as [{ ":status": number }];
      expect(headers[":status"]).toBe(path === "/other" ? 404 : 400);
      stream.resume();
      await once(stream, "close");
      session.close();
    },
  );
});

describe("a connection to the echo server", () => {
  test("rejects the open question when the server closes it", async () => {
    const server = net.createServer((socket) => socket.once("data", () => socket.end()));
    const connection = await EchoConnection.open(await listen(server));
    await expect(connection.ask(1)).rejects.toThrow("the server closed the connection");
    expect(connection.open).toBe(false);
    await new Promise((done) => server.close(done));
  });
});
