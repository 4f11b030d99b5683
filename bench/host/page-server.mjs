// SPDX-License-Identifier: MIT OR Apache-2.0
// The page and its workers, bundled in memory and served on loopback, isolated (COOP and COEP), so that the page has
// SharedArrayBuffer and fine timers.
import http from "node:http";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { hasRecords } from "../subject/records.mjs";

const file = (path) => fileURLToPath(new URL(`../${path}.mjs`, import.meta.url));

const isolation = {
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-embedder-policy": "require-corp",
  "cross-origin-resource-policy": "same-origin",
};
const document = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Clearway benchmark</title>
<link rel="icon" href="data:,"><body><script type="module" src="/page.js"></script></body></html>`;

async function bundle() {
  const workers = {
    "clearway.tasks": "worker/clearway.tasks",
    "placed.tasks": "worker/placed.tasks",
    workerpool: "worker/workerpool",
    ...Object.fromEntries(
      ["raw", "comlink", "capnweb", "osra", "students"].map((name) => [name, `worker/page/${name}`]),
    ),
    ...(hasRecords ? { "records.tasks": "worker/records.tasks" } : {}),
  };
  const { outputFiles } = await build({
    entryPoints: {
      page: file("host/in-page"),
      ...Object.fromEntries(Object.entries(workers).map(([name, path]) => [`worker-${name}`, file(path)])),
    },
    outdir: "/",
    write: false,
    bundle: true,
    splitting: true,
    minify: true,
    format: "esm",
    target: "es2022",
    platform: "browser",
    conditions: ["browser"],
    logLevel: "error",
    define: { "process.env.NODE_ENV": '"production"' },
    // Reached only behind a test for Node, or where this build has no such entry.
    external: ["node:*", "worker_threads", "os", "child_process", ...(hasRecords ? [] : ["clearway/records"])],
  });
  return new Map(outputFiles.map(({ path, contents }) => [basename(path), contents]));
}

/** `{ url, close }` of the page. */
export async function servePage() {
  const files = await bundle();
  const server = http.createServer((request, response) => {
    const name = (request.url ?? "/").slice(1);
    const body = files.get(name);
    if (name === "") response.writeHead(200, { ...isolation, "content-type": "text/html" }).end(document);
    else if (body === undefined) response.writeHead(404, isolation).end();
    else response.writeHead(200, { ...isolation, "content-type": "text/javascript" }).end(body);
  });
  await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
  return {
    url: `http://127.0.0.1:${server.address().port}/`,
    close: () =>
      new Promise((done) => {
        server.close(done);
        server.closeAllConnections();
      }),
  };
}
