// SPDX-License-Identifier: MIT OR Apache-2.0
// The metrics, their units and their buckets. The names follow OpenTelemetry's conventions. Prometheus's names follow from them by
// OpenTelemetry's own rules: dots become underscores, the unit is appended, then `_total` for counters.

export interface Instrument {
  readonly name: string;
  /** Unit in the Unified Code for Units of Measure: `s`, or an annotation in braces. */
  readonly unit: "s" | "{frame}";
  readonly description: string;
}

export const stallDuration: Instrument = {
  name: "clearway.stall.duration",
  unit: "s",
  description: "Length of the intervals in which the thread could not answer an event, by cause.",
};

/** The counters. Each counts the part of a stall that its name says. */
export const counters = {
  gc: {
    name: "clearway.stall.gc.time",
    unit: "s",
    description: "Time in stalls for which garbage collection paused the thread.",
  },
  machine: {
    name: "clearway.stall.machine.time",
    unit: "s",
    description: "Time in stalls for which the machine ran other threads.",
  },
  hitch: {
    name: "clearway.hitch.time",
    unit: "s",
    description: "Time by which stalls exceed a frame at the configured rate, 60 Hz by default.",
  },
  frames: {
    name: "clearway.frame.dropped",
    unit: "{frame}",
    description: "Frames that stalls drop at the configured rate, computed from the lengths of the stalls.",
  },
  mark: {
    name: "clearway.mark.stall.time",
    unit: "s",
    description: "Time in stalls that fell into a mark of the app, by the label of the mark.",
  },
} as const satisfies Record<string, Instrument>;

export type CounterName = keyof typeof counters;

/**
 * Upper bounds of the histogram's buckets, in seconds: a frame at 120, 60 and 30 Hz, then 50 ms (a long task), 100 ms (perceived as
 * instant), and powers up to a thread that hangs.
 */
export const boundsS: readonly number[] = [0.00833, 0.01667, 0.03333, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** The attributes of the metrics, by their names in OpenTelemetry and in Prometheus. */
export const causeAttribute = { openTelemetry: "clearway.stall.cause", prometheus: "cause" } as const;
export const markAttribute = { openTelemetry: "clearway.mark.label", prometheus: "mark" } as const;
