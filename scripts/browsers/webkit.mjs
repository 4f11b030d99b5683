// SPDX-License-Identifier: MIT OR Apache-2.0
// Drives WebKitGTK's MiniBrowser by WebKitWebDriver, on a virtual display: https://w3c.github.io/webdriver/
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { request } from "node:http";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { start } from "./own-process.mjs";

/** Maximum time for the driver to accept its first command, in milliseconds. */
const startMsMax = 60_000;

function freePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

/** Starts a display with the number that the server chooses. */
async function display(detached) {
  const args = ["-displayfd", "3", "-screen", "0", "1280x800x24", "-nolisten", "tcp"];
  const server = start("Xvfb", args, { stdio: ["ignore", "ignore", "ignore", "pipe"], detached });
  const name = await new Promise((found, failed) => {
    server.child.stdio[3].once("data", (digits) => found(`:${String(digits).trim()}`));
    server.exited.then(() => failed(new Error("Xvfb ended before it was ready")));
  });
  return { name, end: server.end };
}

/** Sends a command. Not with `fetch`, which gives up after five minutes: a page on a busy machine may take longer. */
async function command(base, method, path, body) {
  const [response] = await once(request(base + path, { method }).end(body && JSON.stringify(body)), "response");
  const { value } = await json(response);
  if (value?.error) throw new Error(`WebKit: ${value.error}: ${value.message}`);
  return value;
}

async function untilReady(base) {
  const lateAt = performance.now() + startMsMax;
  for (;;) {
    try {
      return await command(base, "GET", "/status");
    } catch (error) {
      if (performance.now() > lateAt) throw error;
      await sleep(50);
    }
  }
}

/** Says which page this is, and whether it has loaded. */
const STATE = "return [location.href, document.readyState, performance.timeOrigin];";

/**
 * Opens a window with an empty profile. WebKitGTK has no SharedArrayBuffer, isolated or not, unless `sharedMemory` asks for it. Without
 * `waitsForLoad`, `goto` resolves at once, and no other command waits until a page has loaded.
 */
export async function openWebkit(
  { driver, browser },
  { sharedMemory = false, detached = false, waitsForLoad = true } = {},
) {
  const screen = await display(detached);
  const home = mkdtempSync(join(tmpdir(), "clearway-webkit-"));
  const port = await freePort();
  const program = start(driver, [`--port=${port}`], {
    detached,
    env: {
      ...process.env,
      DISPLAY: screen.name,
      HOME: home,
      XDG_RUNTIME_DIR: home,
      XDG_DATA_HOME: join(home, "data"),
      XDG_CACHE_HOME: join(home, "cache"),
      XDG_CONFIG_HOME: join(home, "config"),
      GDK_BACKEND: "x11",
      GSETTINGS_BACKEND: "memory",
      LIBGL_ALWAYS_SOFTWARE: "1",
      // The browser's processes would still write there while the profile is removed.
      MESA_SHADER_CACHE_DISABLE: "true",
      NO_AT_BRIDGE: "1",
      // The sandbox needs namespaces, which a container seldom has.
      WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS: "1",
      ...(sharedMemory && { JSC_useSharedArrayBuffer: "1" }),
    },
  });
  const close = async () => {
    await program.end();
    await screen.end();
    rmSync(home, { recursive: true, force: true, maxRetries: 5 });
  };
  try {
    const base = `http://127.0.0.1:${port}`;
    await untilReady(base);
    const options = { binary: browser, args: ["--automation"] };
    const session = await command(base, "POST", "/session", {
      capabilities: {
        alwaysMatch: {
          "webkitgtk:browserOptions": options,
          unhandledPromptBehavior: "dismiss",
          pageLoadStrategy: waitsForLoad ? "normal" : "none",
        },
      },
    });
    const send = (method, path, body) => command(`${base}/session/${session.sessionId}`, method, path, body);
    await send("POST", "/timeouts", { script: 600_000, pageLoad: 600_000 });
    return {
      version: `WebKitGTK ${session.capabilities.browserVersion}`,
      async goto(url) {
        const state = () => send("POST", "/execute/sync", { script: STATE, args: [] });
        const [, , before] = waitsForLoad ? await state() : [];
        await send("POST", "/url", { url });
        // An isolated page gets a process of its own. Until then, the driver answers from the page before it.
        for (const { href } = new URL(url); waitsForLoad; await sleep(20)) {
          const [now, ready, origin] = await state().catch(() => []);
          if (ready !== "complete" || (origin === before && now !== href)) continue;
          // WebKit shows an empty page for one that cannot be loaded.
          if (now === "about:blank" && href !== now) throw new Error(`WebKit: ${url} cannot be loaded`);
          return;
        }
      },
      back: () => send("POST", "/back", {}),
      async evaluate(act, ...args) {
        const script = `const done = arguments[arguments.length - 1];
          Promise.resolve().then(() => (${act})(...${JSON.stringify(args)}))
            .then((value) => done({ value: JSON.stringify(value) ?? "null" }), (error) => done({ error: String(error) }));`;
        const { error, value } = await send("POST", "/execute/async", { script, args: [] });
        if (error !== undefined) throw new Error(error);
        return JSON.parse(value);
      },
      act: (actions) => send("POST", "/actions", { actions }),
      exited: program.exited,
      screenshot: async () => Buffer.from(await send("GET", "/screenshot"), "base64"),
      close: async () => {
        await send("DELETE", "").catch(() => {});
        await close();
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}
