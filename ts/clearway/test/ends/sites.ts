// SPDX-License-Identifier: MIT OR Apache-2.0
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import { type Browser, type BrowserContext, chromium, type Frame, type Page } from "playwright-core";
import { chromiumFlags, chromiumPath } from "../../../../scripts/chromium.mjs";

/** The built library, in a page. Tests refer to it as the global variable `lib`. */
export type Library = typeof import("../../src/channel.js") &
  typeof import("../../src/window.js") &
  typeof import("../../src/shared-worker.js") &
  typeof import("../../src/service-worker.js");

declare global {
  // Set by the script of each page.
  var lib: Library;
}

const imports = `import * as channel from "/channel.js";
import * as windows from "/window.js";
import * as shared from "/shared-worker.js";
import * as service from "/service-worker.js";`;
const page = `<!doctype html><title>page</title>
<script type="module">${imports} globalThis.lib = { ...channel, ...windows, ...shared, ...service };</script>`;

/** A server on this machine that has the built library, and the scripts of a test. */
export class Site {
  readonly #server: Server;
  readonly #scripts: Record<string, string>;

  constructor(scripts: Record<string, string>) {
    this.#scripts = scripts;
    this.#server = createServer(async ({ url = "/" }, response) => {
      const path = url.split("?")[0]!;
      if (!path.endsWith(".js")) return void response.setHeader("Content-Type", "text/html").end(page);
      const text =
        this.#scripts[path] ??
        (await readFile(new URL(`../../dist/browser${path}`, import.meta.url)).catch(() => null));
      response.setHeader("Content-Type", "text/javascript");
      // A module of a sandboxed page has the origin "null".
      response.setHeader("Access-Control-Allow-Origin", "*");
      response.writeHead(text === null ? 404 : 200).end(text ?? "");
    });
  }

  async listen(): Promise<void> {
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
  }

  /** Returns the origin. `host` is "127.0.0.1" or "localhost", which are two sites. */
  origin(host = "127.0.0.1"): string {
    return `http://${host}:${(this.#server.address() as { port: number }).port}`;
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}

export const launch = (): Promise<Browser> => chromium.launch({ executablePath: chromiumPath(), args: chromiumFlags });

/** Opens a page that has the library. */
export async function opened(context: Browser | BrowserContext, url: string): Promise<Page> {
  const page = await context.newPage();
  await page.goto(url);
  return page;
}

/** Adds a frame to the page, waits until it has loaded, and returns it. */
export async function framed(page: Page, url: string, sandbox?: string): Promise<Frame> {
  const name = `frame-${Math.random()}`;
  await page.evaluate(
    ({ url, name, sandbox }) =>
      new Promise<void>((loaded) => {
        const frame = Object.assign(document.createElement("iframe"), { name, src: url, onload: () => loaded() });
        if (sandbox !== undefined) frame.setAttribute("sandbox", sandbox);
        document.body.append(frame);
      }),
    { url, name, sandbox },
  );
  const frame = page.frame({ name });
  if (frame === null) throw new Error(`no frame shows ${url}`);
  return frame;
}
