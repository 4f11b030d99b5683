// SPDX-License-Identifier: MIT OR Apache-2.0
// A picture of 3000 x 2500 RGBA pixels (30 MB) and its thumbnail, which is grey and has a quarter of the width and height.

const IMAGE = { width: 3000, height: 2500, channels: 4, shrink: 4 } as const;
const IMAGE_BYTES = IMAGE.width * IMAGE.height * IMAGE.channels;

/** Returns byte k of the picture. The formula gives bytes that compress badly and can be checked. */
function imageByte(k: number): number {
  return (k * 31 + (k >> 8)) & 255;
}

export function makeImage(): Uint8Array {
  const bytes = new Uint8Array(IMAGE_BYTES);
  for (let k = 0; k < bytes.length; k++) bytes[k] = imageByte(k);
  return bytes;
}

export interface Thumbnail {
  width: number;
  height: number;
  pixels: Uint8Array;
  checksum: number;
}

/**
 * Makes a grey thumbnail. Averages the luma (Rec. 601, in integers) of blocks of 4 x 4 pixels. Borrows `rgba`, and allocates only
 * the thumbnail.
 */
export function greyThumbnail(rgba: Uint8Array): Thumbnail {
  if (rgba.length !== IMAGE_BYTES)
    throw new RangeError(`not the expected picture: bytes=${rgba.length} of ${IMAGE_BYTES}`);
  const { shrink } = IMAGE;
  const width = IMAGE.width / shrink;
  const height = IMAGE.height / shrink;
  const pixels = new Uint8Array(width * height);
  let checksum = 0;
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      let sum = 0;
      for (let dy = 0; dy < shrink; dy++) {
        let at = ((y * shrink + dy) * IMAGE.width + x * shrink) * IMAGE.channels;
        for (let dx = 0; dx < shrink; dx++, at += 4) sum += 299 * rgba[at]! + 587 * rgba[at + 1]! + 114 * rgba[at + 2]!;
      }
      const grey = Math.floor(sum / (1000 * shrink * shrink));
      pixels[y * width + x] = grey;
      checksum = (Math.imul(checksum, 31) + grey) >>> 0;
    }
  }
  return { width, height, pixels, checksum };
}

export async function fetchImage(url: string, signal?: AbortSignal): Promise<Uint8Array> {
  const response = await fetch(url, { cache: "no-store", ...(signal ? { signal } : {}) });
  if (!response.ok) throw new Error(`the fixture server answered ${response.status}: url=${url}`);
  return new Uint8Array(await response.arrayBuffer());
}
