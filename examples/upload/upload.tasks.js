// SPDX-License-Identifier: MIT OR Apache-2.0
import { open } from "node:fs/promises";
import { crc32 } from "node:zlib";
import { expose, task } from "clearway/worker";

const chunkBytes = 1024 * 1024;

export default expose({
  /** Reads the file at `path` and sends it chunk by chunk, each with its CRC-32. */
  upload: task(async ({ signal, progress }, /** @type {string} */ path, /** @type {string} */ url) => {
    const file = await open(path);
    try {
      const totalBytes = (await file.stat()).size;
      let sentBytes = 0;
      const buffer = new Uint8Array(chunkBytes);
      for (;;) {
        const { bytesRead } = await file.read(buffer);
        if (bytesRead === 0) return { sentBytes };
        const body = buffer.subarray(0, bytesRead);
        const headers = { "x-crc32": crc32(body).toString(16) };
        const response = await fetch(url, { method: "POST", headers, body, signal });
        if (!response.ok) throw new Error(`refused after ${sentBytes} bytes: ${await response.text()}`);
        sentBytes += bytesRead;
        progress({ sentBytes, totalBytes });
      }
    } finally {
      await file.close();
    }
  }),
});
