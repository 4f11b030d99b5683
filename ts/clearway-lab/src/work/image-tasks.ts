// SPDX-License-Identifier: MIT OR Apache-2.0
// Clearway's tasks: Clearway finds the pixels inside the returned object and transfers them.
import { expose, task } from "clearway/worker";
import { fetchImage, greyThumbnail, type Thumbnail } from "../isolate/image.js";

export default expose({
  shrink(rgba: Uint8Array): Thumbnail {
    return greyThumbnail(rgba);
  },
  fetchAndShrink: task(
    async ({ signal }, url: string): Promise<Thumbnail> => greyThumbnail(await fetchImage(url, signal)),
  ),
});
