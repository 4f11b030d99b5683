// SPDX-License-Identifier: MIT OR Apache-2.0
// Bundles the page and its workers in memory, and serves them on loopback. The page is isolated (COOP and COEP), so that it has
// SharedArrayBuffer and fine timers.
import { readdirSync, readFileSync } from "node:fs";
import http from "node:http";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build, transform } from "esbuild";
import { hasRecords } from "../subject/records.mjs";

const file = (path) => fileURLToPath(new URL(`../${path}.mjs`, import.meta.url));

const isolation = {
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-embedder-policy": "require-corp",
  "cross-origin-resource-policy": "same-origin",
};
const document = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Clearway benchmark</title>
<link rel="icon" href="data:,"><body><script type="module" src="/page.js"></script></body></html>`;

const dist = dirname(fileURLToPath(import.meta.resolve("clearway"))).replace(/node$/, "browser");
const isLater = /^(lazy-.*|records)\.js$/;

// As Vite does it: each worker's own code is one file, and lazily loaded parts of the library are separate files. esbuild's own splitting
// would put a helper into one more file, which every worker fetches before it starts.
const later = {
  name: "what is loaded later",
  setup: ({ onResolve }) =>
    onResolve({ filter: /^\.\// }, ({ path, kind }) =>
      kind === "dynamic-import" && isLater.test(path.slice(2)) ? { path, external: true } : undefined,
    ),
};

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
  const entries = {
    page: file("host/in-page"),
    ...Object.fromEntries(Object.entries(workers).map(([name, path]) => [`worker-${name}`, file(path)])),
  };
  const built = await build({
    entryPoints: entries,
    outdir: "/",
    write: false,
    bundle: true,
    minify: true,
    format: "esm",
    target: "es2022",
    platform: "browser",
    conditions: ["browser"],
    logLevel: "error",
    define: { "process.env.NODE_ENV": '"production"' },
    plugins: [later],
    // Imported only behind a test for Node, or missing in this build.
    external: ["node:*", "worker_threads", "os", "child_process", ...(hasRecords ? [] : ["clearway/records"])],
  });
  const files = new Map(built.outputFiles.map(({ path, contents }) => [basename(path), contents]));
  for (const name of readdirSync(dist).filter((each) => isLater.test(each))) {
    const { code } = await transform(readFileSync(join(dist, name), "utf8"), { minify: true, format: "esm" });
    files.set(name, code);
  }
  return files;
}

/** Starts the server. Returns `{ url, close }`. */
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
