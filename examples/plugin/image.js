// SPDX-License-Identifier: MIT OR Apache-2.0
// Resizes and blurs an image with the plugin native/plugins/rust-image, which uses the Rust crate `image`.
import { plugins } from "../../scripts/native.mjs";

const path = plugins.rust.image;

// #region image
import { standardMessageCodec } from "clearway/channel";
import { loadPlugin } from "clearway-native";

const { encode, decode } = standardMessageCodec;
const plugin = await loadPlugin(path);

const photo = plugin.allocate(640 * 480 * 4); // RGBA pixels, in memory that the plugin sees without a copy
photo.bytes.fill(200);
const image = { width: 640, height: 480 };
const resize = encode({ image, to: { width: 64, height: 48 } });
const small = await plugin.channel("image/resize").send(resize, { attachments: [photo] });
const { width, height } = /** @type {{ width: number, height: number }} */ (decode(small.bytes ?? new Uint8Array()));
const thumbnail = small.attachments[0]?.memory; // native memory; the plugin's bytes were not copied
console.log(width, height, thumbnail?.bytes.length, thumbnail?.bytes[0]);
// #endregion image

const attachments = thumbnail ? [thumbnail] : [];
const blurred = await plugin
  .channel("image/blur")
  .send(encode({ image: { width, height }, sigma: 2 }), { attachments });
console.log(blurred.attachments[0]?.bytes?.length, blurred.attachments[0]?.bytes?.[0]);
for (const wrong of [
  { image: { width: 0, height: 1 }, sigma: 2 },
  { image: { width: 64, height: 48 }, sigma: Number.NaN },
  { image: { width: 64, height: 47 }, sigma: 2 },
  { image: { width: 64, height: 48 } },
])
  await plugin
    .channel("image/blur")
    .send(encode(wrong), { attachments })
    .catch((error) => console.log(error.code, error.message));
for (const message of [small, blurred]) message.release();
photo.release();
await plugin.close();
