// SPDX-License-Identifier: MIT OR Apache-2.0
// Reads a sensor with the plugin native/plugins/rust-sensor: node sensor.js DEVICE
import { plugins } from "../../scripts/native.mjs";

const path = plugins.rust.sensor;
const device = process.argv[2] ?? "/dev/ttyUSB0";

// #region sensor
import { standardMessageCodec } from "clearway/channel";
import { loadPlugin } from "clearway-native";

const { encode, decode } = standardMessageCodec;
const plugin = await loadPlugin(path);

// Eight readings may wait on the native side. If this loop is slower than the sensor, the plugin reads no further line from the device.
const readings = plugin.channel("readings").listen({ arguments: encode({ path: device }), items: 8 });
let count = 0;
let last;
for await (const event of readings) {
  last = decode(event.bytes ?? new Uint8Array());
  count++;
}
console.log(count, JSON.stringify(last), readings.dropped);
// #endregion sensor

for (const wrong of [{ path: "/no/such/device" }, {}])
  try {
    for await (const _ of plugin.channel("readings").listen({ arguments: encode(wrong) }));
  } catch (error) {
    console.log(/** @type {Error} */ (error).message);
  }
await plugin.close();
