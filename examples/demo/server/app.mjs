// SPDX-License-Identifier: MIT OR Apache-2.0
import { randomFillSync } from "node:crypto";
import { readFile } from "node:fs/promises";
import { refuse, sendPieces, serveLocally, typeOf } from "../../../scripts/local-server.mjs";
import { visible } from "../../../scripts/terminal-text.mjs";
import { bundlePage, sizesOfWays, sourcesOf } from "./bundle.mjs";
import { hazyPhoto } from "./photo.mjs";
import { receiveChunk } from "./receive.mjs";

const styles = ["theme", "page", "controls", "jobs"].map((name) => `styles/${name}.css`);

/** The files whose source the page shows next to its results. */
const shownSources = Object.values(sourcesOf).flat();

/** The headers that a file of an isolated page needs. They have no effect on other pages. */
const subresource = {
  "cross-origin-resource-policy": "same-origin",
  "cross-origin-embedder-policy": "require-corp",
  "cache-control": "no-store",
};

/** The size of the file that the server makes, so that the user need not choose a file to upload. */
const fileBytes = 192 * 1024 * 1024;
const pieceBytes = 1024 * 1024;

/**
 * Serves the demo on 127.0.0.1.
 *
 * @param {{ port?: number, isolated?: boolean }} [options] `port`: 0 takes any free one; `isolated`: always serve the page with cross-origin
 *   isolation, not only on request
 * @returns {Promise<import("../../../scripts/local-server.d.mts").LocalServer>}
 */
export async function serveDemo({ port = 0, isolated = false } = {}) {
  const files = await bundlePage();
  files.set("sizes.json", Buffer.from(JSON.stringify(await sizesOfWays())));
  await hazyPhoto();
  for (const name of ["index.html", "icon.svg", ...styles]) {
    files.set(name, await readFile(new URL(`../${name}`, import.meta.url)));
  }
  files.set("README.txt", await readFile(new URL("../../../README.md", import.meta.url)));
  for (const name of shownSources) {
    files.set(`source/${name}.ts`, await readFile(new URL(`../src/ways/${name}.ts`, import.meta.url)));
  }

  /** The remote control. It starts on first use. @type {Promise<{ url: string, close(): Promise<void> }> | undefined} */
  let remote;
  const server = await serveLocally(
    async ({ method, path, query, request }, response) => {
      if (method === "POST") return path === "/upload" ? receiveChunk(request, response) : refuse(response, 405);
      if (path === "/remote-control") {
        remote ??= import("../../remote-control/server/app.mjs").then(({ serveRemoteControl }) => serveRemoteControl());
        return response.writeHead(302, { location: (await remote).url, "cache-control": "no-store" }).end();
      }
      if (path === "/photo") return sendPhoto(response);
      if (path === "/file") return sendFile(response);

      const name = path === "/" ? "index.html" : path.slice(1);
      const body = files.get(name);
      if (!body) return refuse(response, 404);

      const isolate = name === "index.html" && (isolated || new URLSearchParams(query).has("isolated"));
      response.writeHead(200, {
        "content-type": typeOf(name),
        ...(name === "index.html" ? { "cache-control": "no-store" } : subresource),
        ...(isolate && {
          "cross-origin-opener-policy": "same-origin",
          "cross-origin-embedder-policy": "require-corp",
        }),
      });
      response.end(body);
    },
    { port, methods: ["GET", "HEAD", "POST"], onError: (error) => console.error(visible(String(error))) },
  );
  return {
    ...server,
    close: async () => {
      await server.close();
      await remote?.then(
        (served) => served.close(),
        () => {},
      );
    },
  };
}

/** @param {import("node:http").ServerResponse} response */
async function sendPhoto(response) {
  const { width, height, pixels } = await hazyPhoto();
  response.writeHead(200, {
    ...subresource,
    "content-type": "application/octet-stream",
    "content-length": pixels.length,
    "x-width": width,
    "x-height": height,
  });
  response.end(pixels);
}

/**
 * Sends random bytes, which are made when the client takes them: a client that reads nothing costs one piece of memory.
 *
 * @param {import("node:http").ServerResponse} response
 */
function sendFile(response) {
  function* pieces() {
    for (let sent = 0; sent < fileBytes; sent += pieceBytes) yield randomFillSync(new Uint8Array(pieceBytes));
  }
  return sendPieces(pieces(), response, {
    ...subresource,
    "content-type": "application/octet-stream",
    "content-length": fileBytes,
  });
}
