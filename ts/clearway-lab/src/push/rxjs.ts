// SPDX-License-Identifier: MIT OR Apache-2.0
// RxJS on one thread. It has a separate file, because loading RxJS takes as long as starting Node.
import { asapScheduler, asyncScheduler, observeOn, Subject } from "rxjs";
import type { Mechanism } from "../protocol/measured.js";
import type { PushEvent } from "./pace.js";
import { type Send, sending } from "./sending.js";

function subject(
  observed: (source: Subject<PushEvent>) => { subscribe(receive: Send): { unsubscribe(): void } },
): Mechanism {
  return sending(({ receive }) => {
    const source = new Subject<PushEvent>();
    const subscription = observed(source).subscribe(receive);
    return { send: (event) => source.next(event), end: () => subscription.unsubscribe() };
  });
}

export const rxjs: Record<string, Mechanism> = {
  "rxjs-subject": subject((source) => source),
  "rxjs-observeon-async": subject((source) => source.pipe(observeOn(asyncScheduler))),
  "rxjs-observeon-asap": subject((source) => source.pipe(observeOn(asapScheduler))),
};
