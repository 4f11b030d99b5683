// SPDX-License-Identifier: MIT OR Apache-2.0
// RxJS on one thread. It has a separate file, because loading RxJS takes as long as starting Node.
import { asapScheduler, asyncScheduler, observeOn, Subject } from "rxjs";
import type { Mechanism } from "../protocol/measured.js";
import { type Send, senderMechanism } from "./measure.js";
import type { PushEvent } from "./pace.js";

function subjectMechanism(
  pipe: (source: Subject<PushEvent>) => { subscribe(receive: Send): { unsubscribe(): void } },
): Mechanism {
  return senderMechanism(({ receive }) => {
    const source = new Subject<PushEvent>();
    const subscription = pipe(source).subscribe(receive);
    return { send: (event) => source.next(event), end: () => subscription.unsubscribe() };
  });
}

export const rxjs: Record<string, Mechanism> = {
  "rxjs-subject": subjectMechanism((source) => source),
  "rxjs-observeon-async": subjectMechanism((source) => source.pipe(observeOn(asyncScheduler))),
  "rxjs-observeon-asap": subjectMechanism((source) => source.pipe(observeOn(asapScheduler))),
};
