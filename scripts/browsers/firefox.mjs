// SPDX-License-Identifier: MIT OR Apache-2.0
// Drives Firefox by WebDriver BiDi, which Firefox itself serves: https://w3c.github.io/webdriver-bidi/
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { start } from "./own-process.mjs";

/** A connection to the browser's BiDi server: commands and their answers. */
class Bidi {
  #socket;
  #waiting = new Map();
  #id = 0;
  /** Called with the parameters of an event. */
  onEvent = (_method, _params) => {};

  constructor(socket) {
    this.#socket = socket;
    socket.on("message", (text) => {
      const { id, type, method, params, error, message, result } = JSON.parse(text);
      if (type === "event") return this.onEvent(method, params);
      const waiting = this.#waiting.get(id);
      this.#waiting.delete(id);
      if (error) waiting?.reject(new Error(`Firefox: ${error}: ${message}`));
      else waiting?.resolve(result);
    });
    socket.on("close", () => {
      for (const { reject } of this.#waiting.values()) reject(new Error("Firefox is gone"));
      this.#waiting.clear();
    });
  }

  send(method, params) {
    return new Promise((resolve, reject) => {
      if (this.#socket.readyState !== this.#socket.OPEN) return reject(new Error("Firefox is gone"));
      this.#waiting.set(++this.#id, { resolve, reject });
      this.#socket.send(JSON.stringify({ id: this.#id, method, params }));
    });
  }
}

/** Opens a window with an empty profile. `prefs` are preferences of the profile. */
export async function openFirefox(path, { prefs = {}, detached = false } = {}) {
  // Loaded here, because only Firefox needs it.
  const { default: WebSocket } = await import("ws");
  const profile = mkdtempSync(join(tmpdir(), "clearway-firefox-"));
  const lines = Object.entries(prefs).map(
    ([name, value]) => `user_pref(${JSON.stringify(name)}, ${JSON.stringify(value)});\n`,
  );
  writeFileSync(join(profile, "user.js"), lines.join(""));
  const args = ["--headless", "--no-remote", "--width", "1280", "--height", "800", "--profile", profile];
  const browser = start(path, [...args, "--remote-debugging-port", "0"], {
    stdio: ["ignore", "ignore", "pipe"],
    detached,
  });
  const close = async () => {
    await browser.end();
    rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
  };
  try {
    const url = await new Promise((found, failed) => {
      createInterface({ input: browser.child.stderr }).on("line", (line) => {
        const match = /WebDriver BiDi listening on (ws:\/\/\S+)/.exec(line);
        if (match) found(match[1]);
      });
      browser.exited.then(() => failed(new Error(`${path} ended before it was ready`)));
    });
    const socket = new WebSocket(`${url}/session`, { maxPayload: 0 });
    await once(socket, "open");
    const bidi = new Bidi(socket);
    const unhandledPromptBehavior = { default: "dismiss", beforeUnload: "accept" };
    const { capabilities } = await bidi.send("session.new", {
      capabilities: { alwaysMatch: { unhandledPromptBehavior } },
    });
    const { contexts } = await bidi.send("browsingContext.getTree", { maxDepth: 0 });
    const { context } = contexts[0];
    return {
      version: `Firefox ${capabilities.browserVersion}`,
      goto: (url) => bidi.send("browsingContext.navigate", { context, url, wait: "complete" }),
      back: () => bidi.send("browsingContext.traverseHistory", { context, delta: -1 }),
      async evaluate(act, ...args) {
        const call = `Promise.resolve((${act})(...${JSON.stringify(args)})).then((value) => JSON.stringify(value) ?? "null")`;
        const target = { context };
        const answer = await bidi.send("script.evaluate", { expression: call, awaitPromise: true, target });
        if (answer.type !== "success") throw new Error(answer.exceptionDetails.text);
        return JSON.parse(answer.result.value);
      },
      async screenshot() {
        return Buffer.from((await bidi.send("browsingContext.captureScreenshot", { context })).data, "base64");
      },
      act: (actions) => bidi.send("input.performActions", { context, actions }),
      async addEarlyScript(source, receive) {
        bidi.onEvent = (method, { data }) => method === "script.message" && receive(data.value);
        await bidi.send("session.subscribe", { events: ["script.message"] });
        const channel = { type: "channel", value: { channel: "clearway" } };
        await bidi.send("script.addPreloadScript", { functionDeclaration: source, arguments: [channel] });
      },
      exited: browser.exited,
      installExtension: (folder) =>
        bidi.send("webExtension.install", { extensionData: { type: "path", path: folder } }),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}
