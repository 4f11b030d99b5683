// SPDX-License-Identifier: MIT OR Apache-2.0
// A pool in a page that requires Trusted Types.
/// <reference types="vite/client" />

// The compiler's types of the DOM do not have Trusted Types.
interface Policy {
  createScriptURL(url: string): string;
}
declare global {
  var trustedTypes: { createPolicy(name: string, policy: Policy): Policy } | undefined;
}

// #region strict
import { pool } from "clearway";
import script from "./find.tasks.ts?worker&url";

const policy = globalThis.trustedTypes?.createPolicy("workers", {
  createScriptURL(url) {
    if (new URL(url).origin !== location.origin) throw new TypeError(`a worker of another origin: ${url}`);
    return url;
  },
});
const words = pool<typeof import("./find.tasks.js")>(() => {
  const { href } = new URL(script, import.meta.url);
  return new Worker(policy?.createScriptURL(href) ?? href, { type: "module" });
});
// #endregion strict

const found = await words.call.find("zz");
document.title = `${found.length} words`;
