// SPDX-License-Identifier: MIT OR Apache-2.0
// The schema that both endpoints of the example use, and the handlers of one endpoint.

// #region schema
import { schema } from "clearway/channel";

export const Thermometer = schema({
  channel: "lab/thermometer",
  types: {
    unit: { oneOf: ["celsius", "kelvin"] },
    reading: { struct: { level: "f64", unit: { ref: "unit" }, note: { nullable: "text" } } },
  },
  methods: {
    level: { doc: "Reads once.", args: { struct: { unit: { ref: "unit" } } }, result: { ref: "reading" } },
  },
  events: {
    changed: { doc: "Sends the given number of readings.", args: "i32", value: { ref: "reading" } },
  },
});
// #endregion schema

// #region handlers
/** @param {import("clearway/channel").Endpoint} endpoint */
export function serveThermometer(endpoint) {
  return Thermometer.handle(endpoint, {
    methods: {
      level: ({ unit }) => ({ level: unit === "kelvin" ? 293.15 : 20, unit }),
    },
    events: {
      // The generator waits if the listener falls behind. It ends if the listener stops.
      *changed(count) {
        for (let level = 0; level < count; level++) yield { level, unit: "kelvin" };
      },
    },
  });
}
// #endregion handlers
