// SPDX-License-Identifier: MIT OR Apache-2.0
// Makes a thumbnail of given or fetched bytes. Transfers the pixels back explicitly.
import { parent } from "#lab-host";
import { fetchImage, greyThumbnail } from "../isolate/image.js";

const main = parent();

main.listen(async (message) => {
  const { url, rgba } = message as { url?: string; rgba?: Uint8Array };
  const thumbnail = greyThumbnail(rgba ?? (await fetchImage(url!)));
  main.post(thumbnail, [thumbnail.pixels.buffer as ArrayBuffer]);
});
