// SPDX-License-Identifier: MIT OR Apache-2.0
import { once } from "node:events";
import { createServer } from "node:http";

/**
 * Serves a dim gradient as raw RGBA, on a free port of loopback. The example uses it in place of a real photo server.
 *
 * @param {number} width
 * @param {number} height
 */
export async function serveDimPhoto(width, height) {
  const pixels = Buffer.alloc(width * height * 4);
  for (let at = 0; at < pixels.length; at++) pixels[at] = at % 4 === 3 ? 255 : 100 + (at / pixels.length) * 50;
  const server = createServer((_, response) =>
    response.writeHead(200, { "x-width": width, "x-height": height }).end(pixels),
  );
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
  return { url: `http://127.0.0.1:${port}/`, close: () => server.close() };
}
