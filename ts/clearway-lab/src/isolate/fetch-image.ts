// SPDX-License-Identifier: MIT OR Apache-2.0
// Fetches a picture and makes its thumbnail. Both run on the main thread, or both run in a worker, or the main thread fetches and a worker
// makes the thumbnail.
import { openWorker } from "#lab-host";
import type { Fixture, Mechanism } from "../protocol/measured.js";
import type { BareRequest } from "../work/isolate-bare.js";
import { fetchImage, greyThumbnail, type Thumbnail } from "./image.js";
import { metered } from "./metered.js";

/** Fetches the picture at `url`. Resolves to its thumbnail, on the main thread. */
type MakeThumbnail = (url: string) => Promise<Thumbnail>;

export function imageMechanism(
  open: (fixture: Fixture) => Promise<{ make: MakeThumbnail; close(): Promise<void> }>,
): Mechanism {
  return async ({ fixture }) => {
    const { make, close } = await open(fixture);
    const url = fixture.httpUrl + "/image";
    try {
      await make(url);
      return await metered(async () => {
        const { width, height, pixels, checksum } = await make(url);
        return { width, height, bytes: pixels.length, checksum };
      });
    } finally {
      await close();
    }
  };
}

const main = imageMechanism(async () => ({
  make: async (url) => greyThumbnail(await fetchImage(url)),
  close: async () => {},
}));

/** Makes a mechanism with a bare worker. `delivery`: the pixels are copied or moved to the worker, or the worker fetches them. */
function bare(delivery: "copy" | "move" | "fetch"): Mechanism {
  return imageMechanism(async () => {
    const worker = openWorker("isolate-bare");
    let onThumbnail: (thumbnail: Thumbnail) => void = () => {};
    const post = (request: BareRequest, transfer: Transferable[] = []) => worker.post(request, transfer);
    worker.listen((message) => onThumbnail(message as Thumbnail));
    return {
      make: async (url) => {
        const rgba = delivery === "fetch" ? undefined : await fetchImage(url);
        return new Promise<Thumbnail>((resolve) => {
          onThumbnail = resolve;
          if (rgba === undefined) post({ op: "image", url });
          else post({ op: "image", rgba }, delivery === "move" ? [rgba.buffer as ArrayBuffer] : []);
        });
      },
      close: () => worker.end(),
    };
  });
}

export const images: Record<string, Mechanism> = {
  "main-thread": main,
  "worker-copy": bare("copy"),
  "worker-move": bare("move"),
  "worker-fetch": bare("fetch"),
};
