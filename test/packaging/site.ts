// SPDX-License-Identifier: MIT OR Apache-2.0
import { sendFile, serveLocally } from "../../scripts/local-server.mjs";

export interface Site extends AsyncDisposable {
  /** The address of the site. It ends with a slash. */
  readonly url: string;
}

/** Serves a folder of static files on loopback, on a free port, without cross-origin isolation headers. */
export async function serve(folder: string): Promise<Site> {
  const { url, close } = await serveLocally(({ path }, response) => sendFile(folder, path, response));
  return { url, [Symbol.asyncDispose]: close };
}
