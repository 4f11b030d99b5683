// SPDX-License-Identifier: MIT OR Apache-2.0
import { serveLocally } from "../../scripts/local-server.mjs";

/**
 * Serves a dim gradient as raw RGBA, on a free port of loopback. The example uses it in place of a real photo server.
 *
 * @param {number} width
 * @param {number} height
 */
export async function serveDimPhoto(width, height) {
  const pixels = Buffer.alloc(width * height * 4);
  for (let at = 0; at < pixels.length; at++) pixels[at] = at % 4 === 3 ? 255 : 100 + (at / pixels.length) * 50;
  return serveLocally((_, response) => response.writeHead(200, { "x-width": width, "x-height": height }).end(pixels));
}
