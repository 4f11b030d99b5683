// SPDX-License-Identifier: MIT OR Apache-2.0
// Serves the bundled page on loopback. The page is isolated (COOP and COEP), so it has SharedArrayBuffer and precise timers.
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { type Answer, type LocalServer, refuse, serveLocally } from "../../../../scripts/local-server.mjs";
import { makeImage } from "../isolate/image.js";
import { answerFixture, FIXTURE_METHODS } from "./fixture-http.js";

const ISOLATION = {
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-embedder-policy": "require-corp",
  "cross-origin-resource-policy": "same-origin",
};

const documentOf = (
  script: string,
): string => `<!doctype html><html lang="en"><meta charset="utf-8"><title>Clearway lab</title>
<link rel="icon" href="data:,"><body><script type="module" src="./${script}"></script></body></html>`;

/** The page of an arm (arm/page.ts). */
export const ARM_PAGE = "arm";

/** Reads the whole folder into memory, so that a rebuild during a run cannot mix two builds in one page. */
async function readBundle(programs: string | URL): Promise<Map<string, Buffer>> {
  const folder = fileURLToPath(new URL("./page/", programs));
  const names = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith(".js"));
  const read = async (name: string) => [name.replaceAll(path.sep, "/"), await readFile(folder + name)] as const;
  return new Map(await Promise.all(names.map(read)));
}

/** Serves the page of the built lab in this folder: by default, of the lab that runs. The caller closes the server. */
export async function servePage(programs: string | URL = import.meta.url): Promise<LocalServer> {
  const image = makeImage();
  const bundle = await readBundle(programs);
  const answer: Answer = (asked, response) => {
    if (answerFixture(asked, response, image)) return;
    if (asked.method === "POST") return refuse(response, 405);
    const name = asked.path.slice(1);
    if (name === "" || name === ARM_PAGE) {
      const script = name === ARM_PAGE ? "arm.js" : "page.js";
      response.writeHead(200, { ...ISOLATION, "content-type": "text/html" }).end(documentOf(script));
      return;
    }
    const body = bundle.get(name);
    if (body === undefined) refuse(response, 404);
    else response.writeHead(200, { ...ISOLATION, "content-type": "text/javascript" }).end(body);
  };
  return serveLocally(answer, { methods: FIXTURE_METHODS });
}
