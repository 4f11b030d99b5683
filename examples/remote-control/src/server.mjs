// SPDX-License-Identifier: MIT OR Apache-2.0
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { fileURLToPath } from "node:url";
import { connect } from "clearway/channel";
import { serveWebSockets } from "clearway/channel/websocket-server";
import { build } from "esbuild";
import { Screen } from "./screen.js";
import { screenSource } from "./source.mjs";

const here = (/** @type {string} */ path) => fileURLToPath(new URL(path, import.meta.url));
const framesPerSecond = 60;

/** @param {import("clearway/channel").ChannelTransport} transport */
async function control(transport) {
  const endpoint = await connect(transport);
  const source = screenSource();
  Screen.handle(endpoint, {
    methods: {
      point: (command) => source.point(command),
      ping() {},
    },
    events: {
      // Pushed, not drawn: what the page has not read when the next one is there is old, and is dropped.
      frames(_, sink) {
        const timer = setInterval(() => sink.send(source.frame()).catch(sink.fail), 1000 / framesPerSecond);
        sink.signal.addEventListener("abort", () => clearInterval(timer));
      },
    },
  });
}

/**
 * Serves the page and its channel, on this machine. The page is given the token; whoever can load it may control.
 *
 * @param {number} port 0 takes a free one
 */
export async function serveRemote(port) {
  const bundle = await build({
    entryPoints: [here("./page.js")],
    bundle: true,
    write: false,
    format: "esm",
    target: "es2022",
    conditions: ["browser"],
  });
  const script = bundle.outputFiles[0]?.contents ?? new Uint8Array();
  const html = await readFile(here("../index.html"), "utf8");
  const http = createServer(({ url = "/" }, response) => {
    const path = url.split("?")[0];
    if (path === "/page.js") return response.setHeader("Content-Type", "text/javascript").end(script);
    if (path !== "/") return response.writeHead(404).end();
    response.setHeader("Content-Type", "text/html").end(html.replace("TOKEN", channels.token ?? ""));
  });
  await new Promise((resolve) => http.listen(port, "127.0.0.1", () => resolve(undefined)));
  const channels = await serveWebSockets(
    { server: http, path: "/screen", frameBytesMax: 1 << 20 },
    (transport) => void control(transport).catch((error) => console.error(error.message)),
  );
  return {
    url: channels.url.replace("ws:", "http:").replace("/screen", "/"),
    async close() {
      await channels.close();
      http.closeAllConnections();
      http.close();
    },
  };
}
