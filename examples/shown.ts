// SPDX-License-Identifier: MIT OR Apache-2.0
// Opens an example's page as a user would: with the example's server in a separate process, and in a real Chromium.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { type Browser, chromium, type Page } from "playwright-core";
import { chromiumFlags, chromiumPath } from "../scripts/chromium.mjs";

/** Maximum time for any step of a page, in milliseconds. */
export const patienceMs = 600_000;

/** A running example. Disposing it ends its server and its browser. */
export class Shown implements AsyncDisposable {
  readonly url: string;
  readonly #server: ChildProcess;
  readonly #browser: Browser;

  private constructor(server: ChildProcess, url: string, browser: Browser) {
    this.#server = server;
    this.url = url;
    this.#browser = browser;
  }

  /** Starts the script `serve`, which prints its address on loopback, and a browser. `flags` are added to the browser's usual flags. */
  static async by(serve: URL, flags: readonly string[] = []): Promise<Shown> {
    const server = spawn(process.execPath, [fileURLToPath(serve), "--port", "0"], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    try {
      for await (const line of createInterface({ input: server.stdout })) {
        const found = /http:\/\/127\.0\.0\.1:\d+\//.exec(line);
        if (!found) continue;
        const browser = await chromium.launch({
          executablePath: chromiumPath(),
          args: [...chromiumFlags, ...flags],
        });
        return new Shown(server, found[0], browser);
      }
      throw new Error(`${fileURLToPath(serve)} has ended and named no address`);
    } catch (error) {
      server.kill("SIGKILL");
      throw error;
    }
  }

  /** Opens the page at `query`, relative to the address. An error on the page fails the test. `before` runs in the page before its scripts. */
  async open(query = "", viewport = { width: 1280, height: 860 }, before?: () => void): Promise<Page> {
    const page = await this.#browser.newPage({ viewport });
    page.on("pageerror", (error) => {
      throw error;
    });
    page.setDefaultTimeout(patienceMs);
    if (before) await page.addInitScript(before);
    await page.goto(`${this.url}${query}`);
    return page;
  }

  /** Stops the server as Ctrl-C does. Resolves with its exit status and the signal that ended it, if any. */
  async stop(): Promise<[number | null, string | null]> {
    const exited = once(this.#server, "exit");
    this.#server.kill("SIGINT");
    return (await exited) as [number | null, string | null];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#browser.close();
    if (this.#server.exitCode === null) this.#server.kill("SIGKILL");
  }
}
