// SPDX-License-Identifier: MIT OR Apache-2.0
// Makes a photo of a landscape in haze: 3200 x 2400 RGBA, 30.7 MB. All its pixels are in a narrow band of grey. The demo's job stretches
// the contrast to widen this band.

const width = 3200;
const height = 2400;

/** The ridges, the nearest one last. `level` is the height of a ridge; 0 is the top of the picture. */
const ridges = [
  { level: 0.46, rough: 0.07, waves: 2.1, colour: [158, 150, 190] },
  { level: 0.58, rough: 0.08, waves: 3.4, colour: [112, 118, 172] },
  { level: 0.71, rough: 0.07, waves: 5.2, colour: [62, 92, 138] },
  { level: 0.85, rough: 0.06, waves: 7.7, colour: [24, 58, 84] },
];
const skyTop = [64, 104, 196];
const skyBottom = [255, 204, 150];
const sun = { x: 0.68, y: 0.33, radius: 0.075, colour: [255, 246, 214] };

/** @type {Promise<{ width: number, height: number, pixels: Buffer }> | undefined} */
let made;

/** Returns the photo. The first call makes it, which takes about a second and blocks this thread. */
export function hazyPhoto() {
  made ??= Promise.resolve().then(() => ({ width, height, pixels: paint() }));
  return made;
}

function paint() {
  const pixels = Buffer.alloc(width * height * 4);
  const skyline = new Float64Array(ridges.length);
  for (let x = 0; x < width; x++) {
    const across = x / width;
    ridges.forEach((ridge, index) => {
      skyline[index] = ridge.level + ridge.rough * roughness(across * ridge.waves + index * 17);
    });
    for (let y = 0; y < height; y++) {
      const down = y / height;
      let nearest = ridges.length - 1;
      while (nearest >= 0 && down < /** @type {number} */ (skyline[nearest])) nearest--;
      const at = (y * width + x) * 4;
      for (let channel = 0; channel < 3; channel++) {
        const clear = nearest < 0 ? sky(across, down, channel) : slope(nearest, down, channel);
        pixels[at + channel] = 120 + clear * 0.24 + grain(at + channel);
      }
      pixels[at + 3] = 255;
    }
  }
  return pixels;
}

/** Returns noise of at most one level in both directions. Without it, the sixty remaining levels look like bands. @param {number} at */
function grain(at) {
  return ((Math.imul(at ^ (at >>> 9), 0x9e3779b1) >>> 16) & 0xff) / 128 - 0.5;
}

/** Returns a sum of sines that looks like hills, because their periods have no common multiple. @param {number} t */
function roughness(t) {
  return (
    Math.sin(t * 2.3) * 0.6 + Math.sin(t * 5.9 + 1.3) * 0.3 + Math.sin(t * 17.3 + 0.7) * 0.08 + Math.sin(t * 41) * 0.03
  );
}

/** @param {number} across @param {number} down @param {number} channel */
function sky(across, down, channel) {
  const distance = Math.hypot((across - sun.x) * (width / height), down - sun.y);
  const blue = blend(skyTop[channel], skyBottom[channel], Math.min(1, down / 0.55));
  if (distance < sun.radius) return /** @type {number} */ (sun.colour[channel]);
  return blend(sun.colour[channel], blue, Math.min(1, (distance - sun.radius) / 0.45) ** 0.5);
}

/**
 * Returns the colour of a slope. It is darkest at its ridge and fades into mist below.
 *
 * @param {number} ridge
 * @param {number} down
 * @param {number} channel
 */
function slope(ridge, down, channel) {
  const { level, colour } = /** @type {(typeof ridges)[number]} */ (ridges[ridge]);
  return blend(colour[channel], 225, Math.max(0, Math.min(0.55, (down - level + 0.05) * 2.4)));
}

/** @param {number | undefined} from @param {number | undefined} to @param {number} part */
function blend(from = 0, to = 0, part) {
  return from + (to - from) * part;
}
