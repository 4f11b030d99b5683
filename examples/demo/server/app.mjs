// SPDX-License-Identifier: MIT OR Apache-2.0
import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { bundlePage } from "./bundle.mjs";
import { hazyPhoto } from "./photo.mjs";
import { receiveChunk } from "./receive.mjs";

const types = {
  html: "text/html",
  css: "text/css",
  js: "text/javascript",
  svg: "image/svg+xml",
  map: "application/json",
};

const styles = ["theme", "page", "controls", "stage", "jobs", "table"].map((name) => `styles/${name}.css`);

/** The files whose source the page shows next to its results. */
const shownSources = [
  "main-thread",
  "by-hand",
  "by-hand.worker",
  "comlink",
  "comlink.worker",
  "clearway",
  "clearway.tasks",
];

/** The headers that a file of an isolated page needs. They have no effect on other pages. */
const subresource = {
  "cross-origin-resource-policy": "same-origin",
  "cross-origin-embedder-policy": "require-corp",
  "cache-control": "no-store",
};

/**
 * Creates the demo's server, which does not listen yet. Make it listen on 127.0.0.1 only, because it accepts uploads from every client
 * that can reach it.
 *
 * @param {{ isolated?: boolean }} [options] `isolated`: always serve the page with cross-origin isolation, not only on request
 * @returns {Promise<import("node:http").Server>}
 */
export async function createDemoServer({ isolated = false } = {}) {
  const files = await bundlePage();
  await hazyPhoto();
  for (const name of ["index.html", "icon.svg", ...styles]) {
    files.set(name, await readFile(new URL(`../${name}`, import.meta.url)));
  }
  for (const name of shownSources) {
    files.set(`source/${name}.ts`, await readFile(new URL(`../src/ways/${name}.ts`, import.meta.url)));
  }

  /** The remote control. It starts on first use. @type {Promise<{ url: string, close(): Promise<void> }> | undefined} */
  let remote;
  const server = createServer(async (request, response) => {
    const url = new URL(request.url ?? "/", "http://127.0.0.1");
    try {
      if (url.pathname === "/remote-control") {
        remote ??= import("../../remote-control/server/app.mjs").then(({ serveRemoteControl }) => serveRemoteControl());
        return response.writeHead(302, { location: (await remote).url, "cache-control": "no-store" }).end();
      }
      if (url.pathname === "/photo") return await sendPhoto(response);
      if (url.pathname === "/file") return sendFile(response);
      if (url.pathname === "/upload") return await receiveChunk(request, response);

      const name = url.pathname === "/" ? "index.html" : url.pathname.slice(1);
      const body = files.get(name);
      if (!body) return response.writeHead(404, subresource).end("not here\n");

      const type = types[/** @type {keyof typeof types} */ (name.split(".").at(-1))] ?? "text/plain";
      const isolate = name === "index.html" && (isolated || url.searchParams.has("isolated"));
      response.writeHead(200, {
        "content-type": `${type}; charset=utf-8`,
        ...(name === "index.html" ? { "cache-control": "no-store" } : subresource),
        ...(isolate && {
          "cross-origin-opener-policy": "same-origin",
          "cross-origin-embedder-policy": "require-corp",
        }),
      });
      response.end(body);
    } catch (error) {
      if (response.headersSent) response.destroy();
      else response.writeHead(500, subresource).end(String(error));
    }
  });
  server.once("close", () => void remote?.then((served) => served.close()));
  return server;
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

/** Sends a file of 192 MB, so that the user need not choose a file to upload. @param {import("node:http").ServerResponse} response */
function sendFile(response) {
  const bytes = randomBytes(192 * 1024 * 1024);
  response.writeHead(200, {
    ...subresource,
    "content-type": "application/octet-stream",
    "content-length": bytes.length,
  });
  response.end(bytes);
}
