// SPDX-License-Identifier: MIT OR Apache-2.0
// Serves a local page and the files below its folder, on 127.0.0.1 only and only while a run lasts.
import { realpathSync } from "node:fs";
import path from "node:path";
import { sendFile, serveLocally } from "../../../../scripts/local-server.mjs";

export interface FolderServer {
  /** The address of the page. */
  readonly url: string;
  close(): Promise<void>;
}

/** Serves the folder of `file`. Files above that folder, hidden files and links that lead out of it are refused. */
export async function serveFolder(file: string): Promise<FolderServer> {
  const root = realpathSync(path.dirname(file));
  const server = await serveLocally((asked, response) =>
    sendFile(root, asked.path, response, { "cache-control": "no-store" }),
  );
  return { url: server.url + encodeURIComponent(path.basename(file)), close: server.close };
}
