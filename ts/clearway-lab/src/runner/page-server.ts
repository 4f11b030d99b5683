// SPDX-License-Identifier: MIT OR Apache-2.0
// Serves the bundled page on loopback. The page is isolated (COOP and COEP), so it has SharedArrayBuffer and precise timers.
import { readdir, readFile } from "node:fs/promises";
import http from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { makeImage } from "../isolate/image.js";
import { answerFixture } from "./fixture-http.js";

const ISOLATION = {
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-embedder-policy": "require-corp",
  "cross-origin-resource-policy": "same-origin",
};

const DOCUMENT = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Clearway lab</title>
<link rel="icon" href="data:,"><body><script type="module" src="./page.js"></script></body></html>`;

export interface PageServer {
  url: string;
  close(): Promise<void>;
}

/** The path of the page of the profile `promises`. That page is bundled as Vite bundles an app, in a separate folder. */
export const PROMISES_PAGE = "promises/";

/** Reads the whole folder into memory, so that a rebuild during a run cannot mix two builds in one page. */
async function readBundle(): Promise<Map<string, Buffer>> {
  const folder = fileURLToPath(new URL("./page/", import.meta.url));
  const names = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith(".js"));
  const read = async (name: string) => [name.replaceAll(path.sep, "/"), await readFile(folder + name)] as const;
  return new Map(await Promise.all(names.map(read)));
}

export async function servePage(): Promise<PageServer> {
  const image = makeImage();
  const bundle = await readBundle();
  const server = http.createServer((request, response) => {
    if (answerFixture(request, response, image)) return;
    const name = (request.url ?? "/").slice(1);
    if (name === "" || name === PROMISES_PAGE) {
      response.writeHead(200, { ...ISOLATION, "content-type": "text/html" }).end(DOCUMENT);
      return;
    }
    const body = bundle.get(name);
    if (body === undefined) response.writeHead(404, ISOLATION).end();
    else response.writeHead(200, { ...ISOLATION, "content-type": "text/javascript" }).end(body);
  });
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    close: () =>
      new Promise((done) => {
        server.close(() => done());
        server.closeAllConnections();
      }),
  };
}
