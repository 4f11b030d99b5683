// SPDX-License-Identifier: MIT OR Apache-2.0
// Finds and opens the browsers beside Chromium that tests run in: Firefox, and WebKitGTK, which has Safari's engine.
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { openFirefox } from "./firefox.mjs";
import { openWebkit } from "./webkit.mjs";

const firstOf = (paths) => paths.find((path) => path && existsSync(path));
/** The path that the user gave for an engine's browser. Only that path then counts. */
const given = (engine) => process.env[`CLEARWAY_${engine.toUpperCase()}`];

function firefoxPath() {
  return firstOf(given("firefox") ? [given("firefox")] : ["/usr/bin/firefox-esr", "/usr/bin/firefox"]);
}

function webkitPaths() {
  const driver = firstOf(["/usr/bin/WebKitWebDriver"]);
  const libraries = [
    "/usr/lib",
    ...(existsSync("/usr/lib")
      ? readdirSync("/usr/lib")
          .filter((name) => name.endsWith("-linux-gnu"))
          .map((name) => join("/usr/lib", name))
      : []),
  ];
  const browsers = libraries.flatMap((folder) =>
    ["webkit2gtk-4.1", "webkitgtk-6.0", "webkit2gtk-4.0"].map((name) => join(folder, name, "MiniBrowser")),
  );
  const browser = firstOf(given("webkit") ? [given("webkit")] : browsers);
  return driver && browser && firstOf(["/usr/bin/Xvfb"]) ? { driver, browser } : undefined;
}

const engines = {
  firefox: { find: firefoxPath, open: openFirefox, packages: "firefox-esr" },
  webkit: { find: webkitPaths, open: openWebkit, packages: "webkit2gtk-driver xvfb dbus" },
};

/** Returns whether this machine has the engine. */
export const has = (engine) => engines[engine].find() !== undefined;

/** Returns the line that says that an engine is missing, and how to add it. */
export const missing = (engine) =>
  given(engine) && !existsSync(given(engine))
    ? `CLEARWAY_${engine.toUpperCase()} names a file that does not exist: ${given(engine)}. Set it to a browser's path, or unset it`
    : `${engine} is missing. Add it with: apt-get install -y --no-install-recommends ${engines[engine].packages}`;

/** Opens a window of the engine. Throws if the machine does not have it. Close it when done. */
export async function open(engine, options) {
  const { find, open } = engines[engine];
  const found = find();
  if (found === undefined) throw new Error(missing(engine));
  return open(found, options);
}
