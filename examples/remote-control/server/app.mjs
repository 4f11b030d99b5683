// SPDX-License-Identifier: MIT OR Apache-2.0
// Serves the page's files. Also serves the channel, through a link that simulates a network.
import { readFile } from "node:fs/promises";
import { createServer as createSocketServer } from "node:net";
import { fileURLToPath } from "node:url";
import { connect } from "clearway/channel";
import { streamTransport } from "clearway/channel/stdio";
import { serveWebSockets } from "clearway/channel/websocket-server";
import { build } from "esbuild";
import { refuse, serveLocally, typeOf } from "../../../scripts/local-server.mjs";
import { visible } from "../../../scripts/terminal-text.mjs";
import { drawnScreen } from "./drawn-screen.mjs";
import { createLink } from "./link.mjs";
import { serveRemote } from "./session.mjs";

const here = (/** @type {string} */ path) => fileURLToPath(new URL(`../${path}`, import.meta.url));

async function pageFiles() {
  const { outputFiles } = await build({
    entryPoints: { page: here("src/page.ts") },
    outdir: here("dist"),
    write: false,
    bundle: true,
    format: "esm",
    target: "es2022",
    logLevel: "warning",
  });
  /** @type {Map<string, Uint8Array>} */
  const files = new Map([["page.js", /** @type {{ contents: Uint8Array }} */ (outputFiles[0]).contents]]);
  for (const [name, path] of /** @type {const} */ ([
    ["index.html", "index.html"],
    ["remote.css", "styles/remote.css"],
    ["theme.css", "../demo/styles/theme.css"],
    ["icon.svg", "../demo/icon.svg"],
  ]))
    files.set(name, await readFile(here(path)));
  return files;
}

/** Returns the native screen if it has been built. Otherwise returns the screen that JavaScript draws. */
async function anyScreen() {
  try {
    const { nativeScreen } = await import("./native-screen.mjs");
    return await nativeScreen();
  } catch (reason) {
    console.error(`The native screen is not there (${String(reason)}): JavaScript draws. To build it: make native`);
    return drawnScreen();
  }
}

/** The maximum size of a frame: 1080p and some overhead. */
const frameBytesMax = 9 << 20;

/**
 * Serves the channel over a plain socket, for programs without a browser. Every program of this machine may connect.
 *
 * @param {number} port
 * @param {import("./drawn-screen.mjs").Screen} screen
 */
async function serveSocket(port, screen) {
  /** @type {ReturnType<typeof createLink>} */
  let link;
  const server = createSocketServer((socket) => {
    socket.setNoDelay(true);
    const transport = streamTransport({ readable: socket, writable: socket }, { frameBytesMax });
    connect(transport).then(
      (endpoint) => serveRemote(endpoint, screen, link),
      (reason) => console.error(visible(String(reason))),
    );
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(undefined)));
  link = createLink(/** @type {import("node:net").AddressInfo} */ (server.address()).port);
  return {
    port: await link.listen(port),
    close: () => {
      link.close();
      server.close();
    },
  };
}

/**
 * Serves the remote control on 127.0.0.1 only. With `socketPort`, also serves it over a plain socket; 0 takes any free port. The window
 * holds two frames unless set. A newer frame replaces one that waits for room.
 *
 * @param {{ port?: number, socketPort?: number | undefined, windowBytes?: number, screen?: import("./drawn-screen.mjs").Screen }} [options]
 * @returns {Promise<{ url: string, kind: string, socketPort: number | undefined, channel: { url: string, token: string }, close(): Promise<void> }>}
 */
export async function serveRemoteControl({ port = 0, socketPort, windowBytes = 2 * frameBytesMax, screen } = {}) {
  const files = await pageFiles();
  const shown = screen ?? (await anyScreen());
  let page = "";
  const http = await serveLocally(
    ({ path }, response) => {
      const name = path.slice(1) || "index.html";
      const body = name === "index.html" ? page : files.get(name);
      if (body === undefined) return refuse(response, 404);
      return response.writeHead(200, { "content-type": typeOf(name), "cache-control": "no-store" }).end(body);
    },
    { port },
  );
  const origins = [`http://127.0.0.1:${http.port}`, `http://localhost:${http.port}`];

  /** @type {ReturnType<typeof createLink>} */
  let link;
  const channels = await serveWebSockets({ origins, frameBytesMax, windowBytes }, (transport) => {
    connect(transport).then(
      (endpoint) => serveRemote(endpoint, shown, link),
      (reason) => console.error(visible(String(reason))),
    );
  });
  link = createLink(Number(new URL(channels.url).port));
  const linkPort = await link.listen();
  // Only the page contains the channel's address and token. A client that cannot read the page cannot connect.
  const channel = { url: `ws://127.0.0.1:${linkPort}/`, token: String(channels.token) };
  page =
    files
      .get("index.html")
      ?.toString()
      .replace("</head>", `<meta name="channel" content="${channel.url}" data-token="${channel.token}">\n</head>`) ??
    "";
  const socket = socketPort === undefined ? undefined : await serveSocket(socketPort, shown);
  return {
    url: http.url,
    kind: shown.kind,
    socketPort: socket?.port,
    channel,
    close: async () => {
      link.close();
      socket?.close();
      await http.close();
      await channels.close();
      await shown.close();
    },
  };
}
