// SPDX-License-Identifier: MIT OR Apache-2.0
import { kind, observe } from "#meter-host";
import type { Observer } from "./host/host.js";
import { floorMsDefault, hzDefault, type MeterOptions, stallsMaxDefault } from "./options.js";
import { Recorder, type RecorderOptions } from "./recorder.js";

/** Settings of one kind of run, in addition to the common options. */
export interface RunSettings extends Pick<RecorderOptions, "onStall" | "onDetected"> {
  readonly stallsMax?: number | undefined;
  /** See `ObserveOptions.brief`. */
  readonly brief?: boolean;
}

/** Starts to observe this thread and records the observations. The caller must have checked the options. */
export function start(options: MeterOptions, settings: RunSettings): { recorder: Recorder; observer: Observer } {
  const floorMs = options.floorMs ?? floorMsDefault;
  const recorder: Recorder = new Recorder({
    host: kind,
    label: options.label,
    hz: options.hz ?? hzDefault,
    floorMs,
    stallsMax: settings.stallsMax ?? stallsMaxDefault,
    sources: () => observer.sources(),
    onStall: settings.onStall,
    onDetected: settings.onDetected,
  });
  const observer = observe(
    {
      floorMs,
      stacks: options.stacks ?? true,
      frames: options.frames ?? true,
      beatMs: options.beatMs,
      brief: settings.brief ?? false,
    },
    recorder,
  );
  return { recorder, observer };
}
