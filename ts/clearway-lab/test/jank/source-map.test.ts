// SPDX-License-Identifier: MIT OR Apache-2.0
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { fileReader, httpReader, MAP_BYTES_MAX, type ReadResult, SourceMapper } from "../../src/jank/source-map.js";

const SOURCE = `export function countPrimes(until: number): number {
  let found = 0;
  for (let n = 2; n < until; n++) found += n % 7;
  return found;
}
console.log(countPrimes(9));
`;
const URL_OF_SCRIPT = "http://a.test/js/app.js";
let bundle: string;
let map: string;
/** The place of the minified function, as a browser names it. */
let place: {
  functionName: string;
  url: string;
  line: number;
  column: number;
  functionLine: number;
  functionColumn: number;
};

beforeAll(async () => {
  const { outputFiles } = await build({
    stdin: { contents: SOURCE, sourcefile: "prime.ts", loader: "ts" },
    bundle: true,
    minify: true,
    sourcemap: true,
    format: "iife",
    outfile: "app.js",
    write: false,
  });
  [map, bundle] = outputFiles.map(({ text }) => text) as [string, string];
  const named = /function (\w+)\(/.exec(bundle)!;
  const loop = bundle.indexOf("%7");
  const functionColumn = named.index + named[0].length;
  place = { functionName: named[1]!, url: URL_OF_SCRIPT, line: 1, column: loop + 1, functionLine: 1, functionColumn };
});

/** A mapper that reads from the given texts. */
function mapper(files: Record<string, ReadResult>): { mapper: SourceMapper; read: string[] } {
  const read: string[] = [];
  const get = (url: string): Promise<ReadResult> => {
    read.push(url);
    return Promise.resolve(files[url] ?? { problem: "there is no such file" });
  };
  return { mapper: new SourceMapper({ readScript: get, readMap: get }), read };
}
const withMap = (text: string) =>
  mapper({ [URL_OF_SCRIPT]: { text: bundle }, "http://a.test/js/app.js.map": { text } });

describe("a source map", () => {
  test("gives the original function, file, line and code of a minified one", async () => {
    const { original, code } = await withMap(map).mapper.locate(place);
    expect(original).toMatchObject({
      functionName: "countPrimes",
      source: "prime.ts",
      line: 3,
      code: "for (let n = 2; n < until; n++) found += n % 7;",
    });
    expect(code).toContain("%7");
  });

  test("is asked for if a script is minified and names none", async () => {
    const minified = mapper({ [URL_OF_SCRIPT]: { text: "a();".repeat(100) } }).mapper;
    await minified.locate(place);
    expect(minified.notes).toEqual([
      "http://a.test/js/app.js has no source map: build with one to see the names and files of its sources",
    ]);
    const written = mapper({ [URL_OF_SCRIPT]: { text: SOURCE } }).mapper;
    await written.locate(place);
    expect(written.notes).toEqual([]);
  });

  test("marks where a long line of code is cut", async () => {
    const line = `${"a;".repeat(100)}here();${"z;".repeat(100)}`;
    const cuts = [0, 200, 400].map(async (at) => {
      const long = { ...place, column: at + 1 };
      return (await mapper({ [URL_OF_SCRIPT]: { text: line } }).mapper.locate(long)).code;
    });
    const [first, middle, last] = await Promise.all(cuts);
    expect(first).toMatch(/^a;.*;…$/);
    expect(middle).toMatch(/^….*here\(\);.*…$/);
    expect(last).toMatch(/^….*z;$/);
  });

  test("is used for a place of which only the function is known", async () => {
    const { column: _, ...rest } = place;
    const { original } = await withMap(map).mapper.locate(rest);
    expect(original).toMatchObject({ functionName: "countPrimes", line: 1 });
  });

  test("is used for a place that a long animation frame names by its index", async () => {
    const { functionName, url, functionColumn } = place;
    const { original } = await withMap(map).mapper.locate({ functionName, url, charPosition: functionColumn - 1 });
    expect(original).toMatchObject({ functionName: "countPrimes", line: 1 });
  });

  test("inside of the script, or named by a header, is used", async () => {
    const bare = bundle.replace(/\/\/# sourceMappingURL.*/, "");
    const inside = `${bare}//# sourceMappingURL=data:application/json;base64,${Buffer.from(map).toString("base64")}`;
    const first = await mapper({ [URL_OF_SCRIPT]: { text: inside } }).mapper.locate(place);
    const files = {
      [URL_OF_SCRIPT]: { text: bare, mapUrl: "../maps/app.map" },
      "http://a.test/maps/app.map": { text: map },
    };
    const second = await mapper(files).mapper.locate(place);
    expect([first.original?.line, second.original?.line]).toEqual([3, 3]);
  });

  test.each([
    ["is no JSON", "root:x:0:0"],
    ["is JSON, but no map", "[]"],
    ["is null", "null"],
    ["has mappings that are no text", `{"version":3,"sources":["a"],"names":[],"mappings":5}`],
    ["has sections that are none", `{"version":3,"sections":[1]}`],
  ])("that %s is a note, and the script's own place is kept", async (_, text) => {
    const { mapper: own } = withMap(text);
    const located = await own.locate(place);
    expect(located.place).toEqual(place);
    expect(located.original).toBeUndefined();
    expect(own.notes).toEqual([`the source map of ${URL_OF_SCRIPT} was not used: it is not a valid source map`]);
  });

  test.each([
    ["has no names for its sources", `{"version":3,"sources":[null],"names":[],"mappings":"AAAA"}`],
    ["has no mappings", `{"version":3,"sources":["a"],"names":[],"mappings":""}`],
  ])("that %s leaves the script's own place", async (_, text) => {
    expect((await withMap(text).mapper.locate(place)).original).toBeUndefined();
  });

  test("is read once for many places", async () => {
    const { mapper: own, read } = withMap(map);
    await Promise.all([own.locate(place), own.locate(place), own.locate({ ...place, functionName: "other" })]);
    expect(read).toEqual([URL_OF_SCRIPT, "http://a.test/js/app.js.map"]);
  });

  test("that cannot be read is a note", async () => {
    const { mapper: own } = mapper({ [URL_OF_SCRIPT]: { text: bundle } });
    await own.locate(place);
    expect(own.notes).toEqual([`the source map of ${URL_OF_SCRIPT} was not used: there is no such file`]);
  });
});

describe("a place that calls JSON.parse", () => {
  const locate = (text: string, column?: number) =>
    mapper({ [URL_OF_SCRIPT]: { text } }).mapper.locate({
      functionName: "f",
      url: URL_OF_SCRIPT,
      line: 1,
      ...(column && { column }),
    });

  test("is recognised near its column, and on a short line", async () => {
    expect((await locate("rows = JSON.parse(text)", 13)).parsesJson).toBe(true);
    expect((await locate("rows = JSON.parse(text)")).parsesJson).toBe(true);
    expect((await locate("rows = count(text)", 13)).parsesJson).toBe(false);
  });

  test("is not recognised far away on a long line", async () => {
    const line = `JSON.parse(text);${"x;".repeat(200)}`;
    expect((await locate(line, 300)).parsesJson).toBe(false);
    expect((await locate(line)).parsesJson).toBe(false);
  });
});

describe("the reader over HTTP", () => {
  let server: http.Server;
  let origin: string;
  const asked: string[] = [];
  beforeAll(async () => {
    server = http.createServer((request, response) => {
      asked.push(request.url!);
      if (request.url === "/huge.map") {
        const part = Buffer.alloc(1 << 20);
        response.on("close", () => response.destroy());
        const send = (): void =>
          void (response.destroyed || (response.write(part) ? setImmediate(send) : response.once("drain", send)));
        send();
      } else if (request.url === "/moved.js") response.writeHead(302, { location: "/app.js" }).end();
      else if (request.url === "/app.js") response.setHeader("sourcemap", "app.map").end("text");
      else response.writeHead(404).end();
    });
    await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => {
    server.close();
    server.closeAllConnections();
  });

  test("reads what the page loaded, with the address of its map", async () => {
    const reader = httpReader(new Set([`${origin}/app.js`]));
    expect(await reader.readScript(`${origin}/app.js`)).toEqual({ text: "text", mapUrl: "app.map" });
  });

  test("asks for nothing that the page did not load", async () => {
    asked.length = 0;
    expect(await httpReader(new Set()).readScript(`${origin}/app.js`)).toEqual({ problem: undefined });
    expect(asked).toEqual([]);
  });

  test("asks for no map on another host than its script", async () => {
    const reader = httpReader(new Set());
    expect(await reader.readMap("http://b.test:81/x.map", `${origin}/app.js`)).toEqual({
      problem: "it is on another host than its script (b.test:81)",
    });
    expect(await reader.readMap("file:///etc/passwd", `${origin}/app.js`)).toHaveProperty("problem");
  });

  test("follows no redirect, and reports a status", async () => {
    const reader = httpReader(new Set([`${origin}/moved.js`]));
    expect(await reader.readScript(`${origin}/moved.js`)).toHaveProperty("problem");
    expect(await reader.readMap(`${origin}/gone.map`, `${origin}/app.js`)).toEqual({
      problem: "it cannot be read again: status 404",
    });
  });

  test("stops reading a map that is too large", async () => {
    expect(await httpReader(new Set()).readMap(`${origin}/huge.map`, `${origin}/app.js`)).toEqual({
      problem: `it is larger than ${MAP_BYTES_MAX >> 20} MB`,
    });
  });
});

describe("the reader of files", () => {
  let folder: string;
  const url = (name: string) => pathToFileURL(path.join(folder, name)).href;
  beforeAll(() => {
    folder = realpathSync(mkdtempSync(path.join(tmpdir(), "clearway-jank-")));
    mkdirSync(path.join(folder, "app/dist"), { recursive: true });
    writeFileSync(path.join(folder, "app/package.json"), "{}");
    writeFileSync(path.join(folder, "app/dist/run.js"), "script");
    writeFileSync(path.join(folder, "app/run.map"), "map");
    writeFileSync(path.join(folder, "secret"), "secret");
    symlinkSync(path.join(folder, "secret"), path.join(folder, "app/link.map"));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const reader = () => fileReader(path.join(folder, "app/dist/run.js"));

  test("reads scripts and maps of the script's package", async () => {
    expect(await reader().readScript(url("app/dist/run.js"))).toEqual({ text: "script" });
    expect(await reader().readMap(url("app/run.map"), "")).toEqual({ text: "map" });
  });

  test("reads nothing else", async () => {
    expect(await reader().readScript(url("secret"))).toEqual({ problem: undefined });
    expect(await reader().readMap(url("secret"), "")).toEqual({ problem: "it is outside of the script's package" });
    expect(await reader().readMap(url("app/link.map"), "")).toEqual({
      problem: "it is outside of the script's package",
    });
    expect(await reader().readMap("http://a.test/x.map", "")).toEqual({ problem: "it is not a file" });
    expect(await reader().readMap(url("app/dist"), "")).toEqual({ problem: "it is not a regular file" });
    expect(await reader().readMap(url("app/gone.map"), "")).toEqual({
      problem: "it cannot be read: there is no such file",
    });
  });
});
