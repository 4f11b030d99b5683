// SPDX-License-Identifier: MIT OR Apache-2.0
// Serves the connection of one page. The page's commands go to the screen. The newest frames of the screen go to the page.
import { binaryCodec } from "clearway/channel";
import { commandBytes, commandChannel, remote } from "../remote.mjs";
import { monotonicMs, readStamp } from "./stamp.mjs";

// Minimum and maximum of a page's request, in pixels and frames per second. 1080p at 60 frames per second is 500 MB/s.
/** @type {Record<"width" | "height" | "rate", [least: number, most: number]>} */
const limits = { width: [16, 1920], height: [16, 1080], rate: [1, 120] };

/**
 * @param {import("clearway/channel").Endpoint} endpoint
 * @param {import("./drawn-screen.mjs").Screen} screen
 * @param {ReturnType<typeof import("./link.mjs").createLink>} link
 */
export function serveRemote(endpoint, screen, link) {
  /** The commands that no frame has shown yet, in order. @type {{ command: number, arrivedMs: number }[]} */
  const waiting = [];

  endpoint.messages(commandChannel, binaryCodec).handle((bytes) => {
    if (bytes?.byteLength !== commandBytes) throw new RangeError(`a command has ${commandBytes} bytes`);
    const view = new DataView(bytes.buffer, bytes.byteOffset, commandBytes);
    const command = view.getUint32(0, true);
    waiting.push({ command, arrivedMs: monotonicMs() });
    screen.point(command, view.getInt32(4, true), view.getInt32(8, true), view.getUint32(12, true));
    return undefined;
  });

  remote.handle(endpoint, {
    methods: {
      ping: () => null,
      weather: ({ delayMs, lossRate, bytesPerSecond }) => {
        if (!(delayMs >= 0 && delayMs <= 5_000)) throw new RangeError(`delayMs=${delayMs} must be 0 to 5000`);
        if (!(lossRate >= 0 && lossRate <= 0.5)) throw new RangeError(`lossRate=${lossRate} must be 0 to 0.5`);
        if (!(bytesPerSecond >= 0)) throw new RangeError(`bytesPerSecond=${bytesPerSecond} must be 0 or more`);
        link.set({ delayMs, lossRate, bytesPerSecond: bytesPerSecond || Number.POSITIVE_INFINITY });
        return null;
      },
    },
    events: {
      // Requests a frame when the page has room for one. Until then, newer frames replace older ones.
      frames: async function* (size, { signal }) {
        for (const name of /** @type {const} */ (["width", "height", "rate"])) {
          const [least, most] = limits[name];
          if (!(size[name] >= least && size[name] <= most))
            throw new RangeError(`${name}=${size[name]} must be ${least} to ${most}`);
        }
        const { width, height } = size;
        for await (const pixels of screen.frames(size, signal)) {
          const { number, command, drawnMs } = readStamp(pixels);
          const nowMs = monotonicMs();
          const shown = [];
          while (waiting[0] && waiting[0].command <= command) {
            const { command: seen, arrivedMs } = /** @type {typeof waiting[0]} */ (waiting.shift());
            shown.push(seen, nowMs - arrivedMs, Math.min(drawnMs, nowMs - arrivedMs));
          }
          // Copies the pixels, because the screen reuses the frame on the next request, and the channel keeps a value until it is sent.
          yield { number, width, height, shown: Float64Array.from(shown), pixels: pixels.slice() };
        }
      },
    },
  });
}
