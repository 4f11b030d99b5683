// SPDX-License-Identifier: MIT OR Apache-2.0
import { refuse, sendFile, serveLocally } from "../../scripts/local-server.mjs";

const base = "/some/base/";

/** Serves a folder below `/some/base/`, on this machine only. */
export async function serve(folder: string): Promise<{ url: string; close(): Promise<void> }> {
  const server = await serveLocally(({ path }, response) =>
    path.startsWith(base) ? sendFile(folder, path.slice(base.length - 1), response) : refuse(response, 404),
  );
  return { url: new URL(base, server.url).href, close: server.close };
}
