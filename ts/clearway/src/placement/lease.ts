// SPDX-License-Identifier: MIT OR Apache-2.0
import type { CallSettings } from "../pool/settings.js";
import type { TaskRecord } from "../pool/task-record.js";
import type { TaskDefinition } from "../task/task.js";
import type { Site } from "./site.js";

// Two looks at the clock (40 ns each) and the decision are most of what a run of arithmetic costs. Only tasks that short
// gain by it. By their mean: what is measured one by one then is the first call of each burst, whose caches are cold.
const meanMaxUs = 8;
// That many calls at most, and so few that four times what they are expected to take is half of what is left of the turn.
const callsMax = 128;
const caution = 2 * 4;

/**
 * Leave for the next calls of the same kind in this burst to run inline without being measured one by one. What they took
 * together is measured at the end. Ends with the burst, so that nobody else's code is in between but the caller's loop.
 */
export class Lease {
  left = 0;
  /** Calls that made use of it in this burst. */
  used = 0;
  task: TaskRecord | undefined;
  definition: TaskDefinition | undefined;
  options: CallSettings | undefined;
  kind = -1;
  site: Site | undefined;
  fromUs = 0;

  grant(
    task: TaskRecord,
    definition: TaskDefinition,
    options: CallSettings,
    kind: number,
    site: Site,
    fromUs: number,
    leftUs: number,
  ): void {
    if (!site.measured || site.inlineUs > meanMaxUs) return;
    this.left = Math.min(callsMax, Math.floor(leftUs / caution / Math.max(0.25, site.inlineUs)));
    this.used = 0;
    this.task = task;
    this.definition = definition;
    this.options = options;
    this.kind = kind;
    this.site = site;
    this.fromUs = fromUs;
  }

  end(): void {
    this.left = this.used = 0;
    this.site = undefined;
  }
}
